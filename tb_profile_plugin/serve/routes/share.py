"""Routes for sharing a capture: what it tells about machines and people, and the file, redacted or as it is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from ...runtime import cancellation
from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...store.result_cache import NAMED, unpack
from .. import responses
from ..workspace import ToolQuestion, Workspace
from .query import required
from .timeline_hosts import Hosts, time_range

if TYPE_CHECKING:
    from ...model.session import Session
    from ..report_window import ReportWindow

_redaction_lock = threading.Lock()
"""Redacting takes several times a capture's size in memory, so that one is redacted at a time."""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until nothing else is redacted; raises `Cancelled` where the client has left meanwhile."""
    with _redaction_lock:
        cancellation.check()
        yield


def contents(workspace: Workspace, request: Request) -> Response:
    """Information about machines and people in a host's capture."""
    session, host = _session_and_host(workspace, request)
    return responses.data_json(request, workspace.contents(session, host))


def summary(workspace: Workspace, request: Request) -> Response:
    """A session's headline, causes and remedies as Markdown, as `tb-profile summary` writes them."""
    from ...export.report import summary as report

    session = workspace.session(required(request, "run"))
    options = {name: request.args[name] for name in ("steps", "step_event") if name in request.args}
    tool_questions = {name: ToolQuestion(session, workspace.tool(name), "", options) for name in report.TOOLS}
    packed = {name: workspace.result(tool_question, NAMED) for name, tool_question in tool_questions.items()}
    data = report.summary(session.name, {name: json.loads(unpack(answer)) for name, answer in packed.items()})
    return responses.text(request, report.markdown(data))


def capture(workspace: Workspace, request: Request) -> Response:
    """The capture of a host as a file to save."""
    from ...export import share

    session, host = _session_and_host(workspace, request)
    redacted = is_redacted(request)
    name = share.file_name(session, host, redacted)
    if not redacted:
        return responses.binary_file(request, share.capture(session, host, False), name)
    with one_at_a_time():
        return responses.binary_file(request, share.capture(session, host, True), name)


def window(workspace: Workspace, request: Request) -> ReportWindow:
    """The range of time that the request names, with the clocks of its hosts."""
    from ..report_window import ReportWindow

    hosts = Hosts(workspace, request)
    names = [view.host for view in hosts.views]
    return ReportWindow(*time_range(request, hosts), dict(zip(names, hosts.shifts, strict=True)))


def is_redacted(request: Request) -> bool:
    """Whether the answer is to be redacted; by default it is. Raises `ProblemError` for a bad value."""
    redact = request.args.get("redact", "1")
    if redact not in ("0", "1"):
        raise problem_error(
            "bad_parameter",
            Message("redact={redact} is neither 0 nor 1.", redact=repr(redact)),
            "Choose one.",
            "redact",
        )
    return redact == "1"


def _session_and_host(workspace: Workspace, request: Request) -> tuple[Session, str]:
    session = workspace.session(required(request, "run"))
    return session, request.args.get("host", "") or session.hosts[0]
