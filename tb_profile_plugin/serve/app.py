"""The application: all routes."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from ..analysis.steps.choice_names import TYPICAL
from ..runtime.problems import ProblemError
from . import responses
from .dispatch import Dispatcher, find_route
from .routes import share
from .routes.query import required
from .routes.table import ROUTES as ROUTES_WITHOUT_REPORT
from .routes.table import Route
from .workspace import Workspace


def _report(workspace: Workspace, request: Request) -> Response:
    """The pages of a session as one file to save, made of the answers of the other routes."""
    from .report import report

    session, redacted = workspace.session(required(request, "run")), share.is_redacted(request)
    steps = request.args.get("steps", TYPICAL)
    window = share.window(workspace, request) if "begin" in request.args else None
    with share.one_at_a_time():
        html = report(session, not redacted, steps=steps, window=window).html
        return responses.binary_file(request, html.encode("utf-8", "replace"), "report.html")


_REPORT_PARAMETERS = ("run", "redact", "steps", "host", "clocks", "begin", "end")
ROUTES = (*ROUTES_WITHOUT_REPORT, Route("/share/report", _REPORT_PARAMETERS, _report))


class App(Dispatcher):
    """Answers all routes for one logdir, below a prefix of the path."""

    routes = ROUTES


def is_light(path: str) -> bool:
    """Whether the route at a path is answered at once, as is an unknown path: it needs no work, see `Route.light`."""
    try:
        return find_route(ROUTES, path).light
    except ProblemError:
        return True
