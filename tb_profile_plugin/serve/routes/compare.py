"""The route of the page Compare for files that somebody opens there: digests are sent, compared, and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message, listed
from ...runtime.problems import ProblemError, problem_error
from .. import answers
from ..access import refuse_others
from ..workspace import Workspace
from .query import ALL_HOSTS, bad, required

if TYPE_CHECKING:
    from ...analysis.digest.record import Digest
    from ...model.session import Session
    from ...tools.answers.answer import Answer
    from ...tools.answers.tool import Tool

PARAMETERS = ("run", "host", "steps", "step_event", "base_items", "new_items", "name", "new_name", "side")
_MOST_BYTES = 1 << 20
"""Two of the largest digests that we make fit; more is not taken by `tb-profile serve`, either."""
_LONGEST_NAME = 200
_ROLES = ("base", "new", "both")


def compare(workspace: Workspace, request: Request) -> Response:
    """The answer of the tool of that name, with the digest as one of its sides, or with two as both."""
    from ...tools.answers.answer import answer_json

    refuse_others(request)
    tool, role = workspace.tool("compare"), request.args.get("side", "base")
    if role not in _ROLES:
        raise bad("side", Message("side={side} is none of {sides}.", side=repr(role), sides=listed(_ROLES)))
    answer = _of_files(request) if role == "both" else _of_file(workspace, tool, request, role)
    return answers.data_json(request, answer_json(tool.name, tool.facts, tool.tables, answer))


def _of_files(request: Request) -> Answer:
    """Of two digests, the base's first."""
    from ...analysis.compare.side import side
    from ...analysis.digest.record import Digest
    from ...tools.compare import compared_sides

    names = _name(request, "name", "the base"), _name(request, "new_name", "the new side")
    digests = Digest.all_from_json(_body(request), names)
    sides = zip(names, digests, _items(request), strict=True)
    base, new = (side([(name, digest)], items) for name, digest, items in sides)
    return compared_sides(base, new, ({}, {}))


def _of_file(workspace: Workspace, tool: Tool, request: Request, role: str) -> Answer:
    """Of a digest and a session."""
    from ...analysis.compare.side import side
    from ...analysis.digest.record import Digest
    from ...tools.compare import compared_sides, hosts_of

    session, name = workspace.session(required(request, "run")), _name(request, "name", "the file")
    base_items, new_items = _items(request)
    file_digest = Digest.from_json(_body(request), name)
    lacking = workspace.unavailable(session, tool)
    if lacking:
        raise ProblemError(lacking)
    own, session_digest = (session.name, _session_digest(session, request)), hosts_of(session)
    if role == "base":
        return compared_sides(side([(name, file_digest)], base_items), side([own], new_items), ({}, session_digest))
    return compared_sides(side([own], base_items), side([(name, file_digest)], new_items), (session_digest, {}))


def _session_digest(session: Session, request: Request) -> Digest:
    """The session's, of the host and steps that are asked for."""
    from ...analysis.compare.load import digest_of_session
    from ...analysis.steps.step_choice import TYPICAL, checked

    host = request.args.get("host", "")
    # As digests know it: empty for all there are.
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
    request.max_content_length = _MOST_BYTES
    try:
        return request.get_data(cache=False)
    except HTTPException as error:
        raise problem_error("too_large", "The file is too large for a digest.", "Send a digest.", status=413) from error
