"""Reading a request's query: session, tool, host, options and numbers, or the error to answer with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request

from ...runtime.messages import Message
from ...runtime.problems import ProblemError, problem_error
from ...store import ALL_HOSTS
from ..workspace import ToolQuestion, Workspace

if TYPE_CHECKING:
    from ...model.session import Session

DATA_PARAMETERS = ("run", "tag", "host", "hosts")
"""Parameters of the routes for a tool's data."""
LANGUAGE_PARAMETER = "lang"
"""Parameter of every route: the language of texts."""
_IGNORED_PARAMETERS = frozenset(
    "tqx use_saved_result format type group_by module_name program_id memory_space view_memory_allocation_timeline "
    "node_name graph_width show_metadata merge_fusion perfetto refresh_suggestion names_only device_type full_dma "
    "event_name duration_ms unique_id search_prefix search_metadata".split()
)
"""Parameters of the data route that scripts for the existing plugin send: tools without such an option ignore them."""
_MOST_DIGITS = 12
"""Longer numbers name nothing."""


def required(request: Request, name: str) -> str:
    """The parameter of that name; raises `ProblemError` where it is missing or empty."""
    value = request.args.get(name, "")
    if not value:
        raise problem_error(
            "missing_parameter",
            Message("The parameter {name} is missing.", name=repr(name)),
            Message("Add {name}=…", name=name),
        )
    return value


def data_request(workspace: Workspace, request: Request, route_parameters: Sequence[str] = ()) -> ToolQuestion:
    """What a request for data asks of which tool.

    ``route_parameters`` are the route's parameters besides `DATA_PARAMETERS`.
    """
    for name in ("session_path", "run_path"):
        if name in request.args:
            raise problem_error(
                "paths_refused",
                Message("{name} is refused, since it could read any folder.", name=name),
                "Name a session below the logdir with run=…",
                status=403,
            )
    session = workspace.session(required(request, "run"))
    tool = workspace.tool(required(request, "tag"))
    host = _host(request, session)
    names = {param.name for param in tool.params}
    ignored = {LANGUAGE_PARAMETER, *DATA_PARAMETERS, *route_parameters, *(_IGNORED_PARAMETERS - names)}
    options = {name: value for name, value in request.args.items() if name not in ignored}
    return ToolQuestion(session, tool, host, options)


def table_request(workspace: Workspace, request: Request, route_parameters: Sequence[str]) -> ToolQuestion:
    """What `data_request` returns; raises `ProblemError` (422) for a tool that is streamed, which has no tables."""
    tool_question = data_request(workspace, request, route_parameters)
    if tool_question.tool.streamed:
        raise problem_error("no_table", "This tool's answer has no tables.", "Use the data route.", status=422)
    return tool_question


def _host(request: Request, session: Session) -> str:
    """The host in ``host`` or, as the existing plugin's scripts send it, in ``hosts``, which may list one or all."""
    host_names = [name for name in request.args.get("hosts", "").split(",") if name]
    host = request.args.get("host", "")
    if host or not host_names:
        return host
    if len(host_names) > 1 and set(host_names) != set(session.hosts):
        raise problem_error("some_hosts", "Tools show one host or all hosts.", "Name one host or all hosts.")
    return host_names[0] if len(host_names) == 1 else ALL_HOSTS


def is_number(text: str) -> bool:
    """Whether it is a whole number of few digits."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def parameter_error(name: str, message: str) -> ProblemError:
    """The error for a parameter that cannot be read."""
    return problem_error(
        "bad_parameter", message, Message("See {name} in the description of the route.", name=name), name
    )


def selected_choice(request: Request, name: str, choices: Sequence[str], default: str) -> str:
    """The parameter, or ``default`` where it is missing; raises `ProblemError` where it is none of the choices."""
    value = request.args.get(name) or default
    if value not in choices:
        message = Message(
            "{name}={text} is none of {choices}.", name=name, text=repr(value), choices=", ".join(choices)
        )
        raise parameter_error(name, message)
    return value


def bounded_integer(request: Request, name: str, low: int, high: int, default: int | None = None) -> int:
    """A parameter as a whole number, clamped to ``low`` … ``high``; raises `ProblemError` for any other text."""
    text = request.args.get(name, "")
    if not text and default is not None:
        return default
    try:
        value = round(float(text))
    except (ValueError, OverflowError):
        raise parameter_error(name, Message("{name}={text} is not a number.", name=name, text=repr(text))) from None
    return min(max(value, low), high)
