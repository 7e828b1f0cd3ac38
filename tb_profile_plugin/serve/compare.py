"""The route of the page Compare for a file that somebody opens there: its digest is sent, compared, and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ..problems import Problem, ProblemError
from . import answers
from .gate import refuse_others
from .query import ALL_HOSTS, bad, required
from .workspace import Workspace

if TYPE_CHECKING:
    from ..model.session import Session

PARAMETERS = ("run", "host", "steps", "step_event", "base_items", "new_items", "name", "side")
_MOST_BYTES = 1 << 20
"""Digests that we make are a tenth of that; more is not taken by `tb-profile serve`, either."""
_LONGEST_NAME = 200


def compare(workspace: Workspace, request: Request) -> Response:
    """The answer of the tool of that name, with the digest as one of its sides."""
    from ..analysis.chosen import TYPICAL, checked
    from ..analysis.digest.record import Digest
    from ..compare.load import known_digest
    from ..compare.side import side
    from ..contract.answer import named
    from ..tools.compare import ITEMS, compared_sides, hosts_of

    refuse_others(request)
    session, tool = workspace.session(required(request, "run")), workspace.tool("compare")
    name, role = request.args.get("name", "")[:_LONGEST_NAME] or "the file", request.args.get("side", "base")
    if role not in ("base", "new"):
        raise bad("side", f"side={role!r} is neither base nor new.")
    items = dict(
        zip(("base", "new"), (each.value(request.args.get(each.name, each.default)) for each in ITEMS), strict=True)
    )
    given = side([(name, Digest.from_json(_body(request), name))], int(items.pop(role)))
    lacking = workspace.unavailable(session, tool)
    if lacking:
        raise ProblemError(lacking)
    steps, event = checked(request.args.get("steps", "") or TYPICAL), request.args.get("step_event", "")
    own = side([(session.name, known_digest(session, _host(session, request), event, steps))], int(*items.values()))
    known = hosts_of(session)
    answer = compared_sides(given, own, ({}, known)) if role == "base" else compared_sides(own, given, (known, {}))
    return answers.data_json(request, named(tool.name, tool.facts, tool.tables, answer))


def _host(session: Session, request: Request) -> str:
    """As digests know it: empty for all there are."""
    host = request.args.get("host", "")
    return "" if host == ALL_HOSTS or [host] == [*session.hosts] else host


def _body(request: Request) -> bytes:
    request.max_content_length = _MOST_BYTES
    try:
        return request.get_data(cache=False)
    except HTTPException as error:
        raise ProblemError(Problem("too_large", "This is too large for a digest.", "Send a digest."), 413) from error
