"""The route of hangs: what the flight recorder's dumps in a folder of the logdir tell, as a page."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...runtime.problems import problem_error
from .. import responses
from ..workspace import Workspace
from .query import required


def hang(workspace: Workspace, request: Request) -> Response:
    """The page of a folder that `sessions` lists; raises `ProblemError` for others, and where no dump can be read."""
    from ...export.report.hang import analysis_of
    from ...export.report.hang_page import page

    name, folders = required(request, "folder"), workspace.logdir.survey().dumps
    if name not in folders:
        message = Message("No folder of the logdir is named {name} and holds dumps.", name=repr(name))
        remedy = Message("There are: {close}.", close=", ".join(folders)) if folders else Message("Reload the page.")
        raise problem_error("no_dumps", message, remedy, status=404)
    return responses.page(request, page(analysis_of(folders[name], name), "./"))
