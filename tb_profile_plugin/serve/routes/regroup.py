"""Routes that join sessions, or split what was joined, as long as the server runs."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from .. import answers
from ..access import refuse_others
from ..workspace import Workspace
from .query import required


def join(workspace: Workspace, request: Request) -> Response:
    """Two sessions become one."""
    refuse_others(request)
    stored = workspace.logdir.join(required(request, "run"), required(request, "with"))
    return answers.data_json(request, {"run": stored.name})


def split(workspace: Workspace, request: Request) -> Response:
    """The parts of a session become sessions."""
    refuse_others(request)
    stored = workspace.logdir.split(required(request, "run"))
    return answers.data_json(request, {"run": stored.name})
