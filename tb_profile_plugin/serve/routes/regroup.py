"""Routes that join sessions, or split what was joined, as long as the server runs."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from .. import responses
from ..access import require_own_page
from ..workspace import Workspace
from .query import required


def join(workspace: Workspace, request: Request) -> Response:
    """Two sessions become one."""
    require_own_page(request)
    stored = workspace.logdir.join(required(request, "run"), required(request, "with"))
    return responses.data_json(request, {"run": stored.name})


def split(workspace: Workspace, request: Request) -> Response:
    """The parts of a session become sessions."""
    require_own_page(request)
    stored = workspace.logdir.split(required(request, "run"))
    return responses.data_json(request, {"run": stored.name})
