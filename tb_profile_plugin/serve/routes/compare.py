"""The route of the page Compare for digest files that are opened there: they are sent, compared, and not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from ...runtime.messages import localized
from ...runtime.problems import ProblemError, problem_error
from ...store import ALL_HOSTS
from .. import responses
from ..access import require_own_page
from ..workspace import Workspace
from .query import required, selected_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...analysis.digest.record import Digest
    from ...model.session import Session
    from ...tools.answers.answer import Answer
    from ...tools.answers.tool import Tool

PARAMETERS = ("run", "host", "steps", "step_event", "base_items", "new_items", "name", "new_name", "side")
_MOST_BODY_BYTES = 1 << 20
"""Room for two of the largest digests; `tb-profile serve` takes no larger bodies, either."""
_LONGEST_NAME = 200
"""Letters of a name that a digest gets in the answer."""
_ROLES = ("base", "new", "both")
"""What the body's digests can be of what is compared: the parameter ``side``."""


def compare(workspace: Workspace, request: Request) -> Response:
    """The answer of the tool `compare` with a digest in the body as one side, or with two digests as both."""
    from ...tools.answers.answer import answer_json

    require_own_page(request)
    tool = workspace.tool("compare")
    role = selected_choice(request, "side", _ROLES, "base")
    if role == "both":
        answer = _answer_of_two_files(request)
    else:
        answer = _answer_of_file_and_session(workspace, tool, request, role)
    return responses.data_json(request, answer_json(tool.name, tool.facts, tool.tables, answer))


def _answer_of_two_files(request: Request) -> Answer:
    """The answer for the body's two digests, the base's first."""
    from ...analysis.compare.side import side_of_digests
    from ...analysis.digest.record import Digest
    from ...tools.compare import comparison_answer

    base_name = _name(request, "name", localized("the base"))
    new_name = _name(request, "new_name", localized("the new side"))
    base_items, new_items = _items_per_step(request)
    base_digest, new_digest = Digest.all_from_json(_body(request), (base_name, new_name))
    base = side_of_digests([(base_name, base_digest)], base_items)
    new = side_of_digests([(new_name, new_digest)], new_items)
    return comparison_answer(base, new, base_hosts={}, new_hosts={})


def _answer_of_file_and_session(workspace: Workspace, tool: Tool, request: Request, role: str) -> Answer:
    """The answer for a session and the body's digest, which is the base or the new side: ``role``."""
    from ...analysis.compare.side import side_of_digests
    from ...analysis.digest.record import Digest
    from ...tools.compare import comparison_answer, host_names

    session = workspace.session(required(request, "run"))
    file_name = _name(request, "name", localized("the file"))
    base_items, new_items = _items_per_step(request)
    file_capture = (file_name, Digest.from_json(_body(request), file_name))
    unavailable = workspace.unavailable(session, tool)
    if unavailable:
        raise ProblemError(unavailable)
    own_capture = session.name, _session_digest(session, request)
    sides: list[tuple[tuple[str, Digest], Mapping[str, str]]] = [(file_capture, {}), (own_capture, host_names(session))]
    (base, base_hosts), (new, new_hosts) = sides if role == "base" else reversed(sides)
    return comparison_answer(
        side_of_digests([base], base_items),
        side_of_digests([new], new_items),
        base_hosts=base_hosts,
        new_hosts=new_hosts,
    )


def _session_digest(session: Session, request: Request) -> Digest:
    """The digest of the host and steps that the request names."""
    from ...analysis.compare.load import digest_of_session
    from ...analysis.steps.choice_names import TYPICAL, checked_choice

    host = request.args.get("host", "")
    # `digest_of_session` calls all hosts "", also where there is only one: it is kept under that name.
    host = "" if host == ALL_HOSTS or [host] == [*session.hosts] else host
    steps = checked_choice(request.args.get("steps", "") or TYPICAL)
    return digest_of_session(session, host, request.args.get("step_event", ""), steps)


def _items_per_step(request: Request) -> tuple[int, int]:
    """What a step of the base and of the new side works through; raises `ProblemError` for what is no such number."""
    from ...tools.compare import ITEMS

    base, new = (int(param.value(request.args.get(param.name, param.default))) for param in ITEMS)
    return base, new


def _name(request: Request, parameter: str, default: str) -> str:
    """What a digest is called in the answer: the parameter, cut where it is very long, or the default for none."""
    return request.args.get(parameter, "")[:_LONGEST_NAME] or default


def _body(request: Request) -> bytes:
    """The request's body; raises `ProblemError` (413) for one that no digests need."""
    request.max_content_length = _MOST_BODY_BYTES
    try:
        return request.get_data(cache=False)
    except HTTPException as error:
        raise problem_error("too_large", "The file is too large for a digest.", "Send a digest.", status=413) from error
