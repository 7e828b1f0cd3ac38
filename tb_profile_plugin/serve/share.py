"""Routes for giving a capture to somebody else: what it tells, and the file, with or without that."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from .. import patience
from ..problems import Problem, ProblemError
from . import answers
from .desk import Desk
from .query import required

if TYPE_CHECKING:
    from ..model.session import Session

_redacting = threading.Lock()
"""A capture that is redacted takes several times its size in memory: one at a time."""


def contents(desk: Desk, request: Request) -> Response:
    """What the capture of a host tells about machines and people."""
    session, host = _asked(desk, request)
    return answers.data_json(request, desk.contents(session, host))


def capture(desk: Desk, request: Request) -> Response:
    """The capture of a host as a file to save."""
    from ..analysis import share

    session, host = _asked(desk, request)
    redacted = request.args.get("redact", "1")
    if redacted not in ("0", "1"):
        raise ProblemError(
            Problem("bad_parameter", f"redact={redacted!r} is neither 0 nor 1.", "Choose one.", "redact")
        )
    name = share.file_name(session, host, redacted == "1")
    if redacted == "0":
        return answers.binary_file(share.capture(session, host, False), name)
    with _redacting:
        patience.check()
        return answers.binary_file(share.capture(session, host, True), name)


def _asked(desk: Desk, request: Request) -> tuple[Session, str]:
    session = desk.session(required(request, "run"))
    return session, request.args.get("host", "") or session.hosts[0]
