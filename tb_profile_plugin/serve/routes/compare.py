"""The route of the page Compare for digest files that are opened there: they are sent, compared, and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message, listed
from ...runtime.problems import ProblemError, problem_error
from .. import responses
from ..access import require_own_page
from ..workspace import Workspace
from .query import ALL_HOSTS, parameter_error, required

if TYPE_CHECKING:
    from ...analysis.digest.record import Digest
    from ...model.session import Session
    from ...tools.answers.answer import Answer
    from ...tools.answers.tool import Tool

PARAMETERS = ("run", "host", "steps", "step_event", "base_items", "new_items", "name", "new_name", "side")
_MOST_BODY_BYTES = 1 << 20
"""Room for two of the largest digests; `tb-profile serve` takes no larger bodies, either."""
_LONGEST_NAME = 200
_ROLES = ("base", "new", "both")


def compare(workspace: Workspace, request: Request) -> Response:
    """The answer of the tool `compare` with a digest in the body as one side, or with two digests as both."""
    from ...tools.answers.answer import answer_json

    require_own_page(request)
    tool, role = workspace.tool("compare"), request.args.get("side", "base")
    if role not in _ROLES:
        raise parameter_error("side", Message("side={side} is none of {sides}.", side=repr(role), sides=listed(_ROLES)))
    answer = (
        _answer_of_two_files(request) if role == "both" else _answer_of_file_and_session(workspace, tool, request, role)
    )
    return responses.data_json(request, answer_json(tool.name, tool.facts, tool.tables, answer))


def _answer_of_two_files(request: Request) -> Answer:
    """The answer for the body's two digests, the base's first."""
    from ...analysis.compare.side import side_of_captures
    from ...analysis.digest.record import Digest
    from ...tools.compare import comparison_answer

    names = _name(request, "name", "the base"), _name(request, "new_name", "the new side")
    digests = Digest.all_from_json(_body(request), names)
    sides = zip(names, digests, _items(request), strict=True)
    base, new = (side_of_captures([(name, digest)], items) for name, digest, items in sides)
    return comparison_answer(base, new, ({}, {}))


def _answer_of_file_and_session(workspace: Workspace, tool: Tool, request: Request, role: str) -> Answer:
    """The answer for the body's digest, as the side that ``role`` says, and a session."""
    from ...analysis.compare.side import side_of_captures
    from ...analysis.digest.record import Digest
    from ...tools.compare import comparison_answer, hosts_of

    session, name = workspace.session(required(request, "run")), _name(request, "name", "the file")
    base_items, new_items = _items(request)
    file_digest = Digest.from_json(_body(request), name)
    unavailable = workspace.unavailable(session, tool)
    if unavailable:
        raise ProblemError(unavailable)
    session_digest, host_names = (session.name, _session_digest(session, request)), hosts_of(session)
    if role == "base":
        base, new = side_of_captures([(name, file_digest)], base_items), side_of_captures([session_digest], new_items)
        return comparison_answer(base, new, ({}, host_names))
    base, new = side_of_captures([session_digest], base_items), side_of_captures([(name, file_digest)], new_items)
    return comparison_answer(base, new, (host_names, {}))


def _session_digest(session: Session, request: Request) -> Digest:
    """The digest of the host and steps that the request names."""
    from ...analysis.compare.load import digest_of_session
    from ...analysis.steps.step_choice import TYPICAL, checked

    host = request.args.get("host", "")
    # Digests of all hosts are kept under the empty name.
    host = "" if host == ALL_HOSTS or [host] == [*session.hosts] else host
    steps = checked(request.args.get("steps", "") or TYPICAL)
    return digest_of_session(session, host, request.args.get("step_event", ""), steps)


def _items(request: Request) -> tuple[int, int]:
    from ...tools.compare import ITEMS

    base, new = (int(param.value(request.args.get(param.name, param.default))) for param in ITEMS)
    return base, new


def _name(request: Request, parameter: str, otherwise: str) -> str:
    return request.args.get(parameter, "")[:_LONGEST_NAME] or otherwise


def _body(request: Request) -> bytes:
    request.max_content_length = _MOST_BODY_BYTES
    try:
        return request.get_data(cache=False)
    except HTTPException as error:
        raise problem_error("too_large", "The file is too large for a digest.", "Send a digest.", status=413) from error
