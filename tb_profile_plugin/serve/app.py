"""The application: all routes."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from ..analysis.steps.step_choice import TYPICAL
from ..runtime.problems import ProblemError
from . import answers
from .dispatch import Dispatcher, find
from .routes import share
from .routes.query import required
from .routes.table import ROUTES as ASKED_BY_REPORTS
from .routes.table import Route
from .workspace import Workspace


def _report(workspace: Workspace, request: Request) -> Response:
    """The pages of a session as one file to save; it asks the other routes."""
    from .report import report

    session, redacted = workspace.session(required(request, "run")), share.is_redacted(request)
    steps = request.args.get("steps", TYPICAL)
    window = share.window(workspace, request) if "begin" in request.args else None
    with share.one_at_a_time():
        html = report(session, not redacted, steps=steps, window=window).html
        return answers.binary_file(request, html.encode("utf-8", "replace"), "report.html")


_OF_REPORTS = ("run", "redact", "steps", "host", "clocks", "begin", "end")
ROUTES = (*ASKED_BY_REPORTS, Route("/share/report", _OF_REPORTS, _report))


class App(Dispatcher):
    """Answers all routes for one logdir, below a prefix of the path."""

    routes = ROUTES


def is_light(path: str) -> bool:
    """Whether what is at a path is answered at once, whatever else the server works on; so is that there is nothing."""
    try:
        return find(ROUTES, path).light
    except ProblemError:
        return True
