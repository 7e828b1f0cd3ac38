"""The table of routes, with the functions that answer the plain ones; `app` adds reports, which ask these routes.

docs/http.md describes them; a test holds it to this.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message, message, pages_catalogue
from ...runtime.problems import problem_error
from ...runtime.records import record
from ...runtime.version import __version__
from ...store import ALL_HOSTS
from ...store.result_cache import LEGACY, NAMED, unpack
from .. import responses
from ..access import require_own_page
from ..captures import ADDRESS_PARAMETERS, PARAMETERS
from ..listing import session_entry
from ..workspace import Workspace
from . import calls, capture, compare, rows, share, timeline, timeline_calls, timeline_events
from .query import DATA_PARAMETERS, LANGUAGE_PARAMETER, data_request, parameter_error, required, table_request

if TYPE_CHECKING:
    from ...model.session import Session
    from ...tools.answers.tool import Tool

RouteFunction = Callable[[Workspace, Request], Response]

_TIMELINE_PARAMETERS = ("run", "host", "clocks")
"""Parameters of the timeline's routes whose answers hold times of several hosts."""


@record
class Route:
    """A route; a path that ends in ``/*`` stands for all paths below."""

    path: str
    parameters: tuple[str, ...]
    """Names in the query; routes for a tool's data take the tool's options, too."""
    answer: RouteFunction
    method: str = "GET"
    light: bool = False
    """Whether it takes no work, so that it is answered at once, whatever else the server works on."""


def _page(workspace: Workspace, request: Request) -> Response:
    return responses.static_file(request, "index.html")


def _file(workspace: Workspace, request: Request) -> Response:
    return responses.static_file(request, request.path.lstrip("/"))


def _messages(workspace: Workspace, request: Request) -> Response:
    return responses.data_json(request, pages_catalogue())


def _sessions(workspace: Workspace, request: Request) -> Response:
    listing = workspace.listing.packed_json()
    workspace.import_decoder()
    return responses.packed_json(request, listing)


def _session(workspace: Workspace, request: Request) -> Response:
    session = workspace.session(required(request, "run"))
    facts, problems = workspace.health(session)
    tracer_levels = workspace.tracer_levels(session)
    problems += capture.ignored_options(workspace, session.stored.folder, tracer_levels)
    answer = session_entry(session.stored, facts) | {
        "recorded": tracer_levels,
        "problems": [problem.as_json() for problem in problems],
    }
    return responses.data_json(request, answer)


def _tools(workspace: Workspace, request: Request) -> Response:
    session = workspace.session(required(request, "run"))
    return responses.data_json(request, [_tool_entry(workspace, session, tool) for tool in workspace.tools().values()])


def _tool_entry(workspace: Workspace, session: Session, tool: Tool) -> dict[str, Any]:
    unavailable = workspace.unavailable(session, tool)
    return {
        "name": tool.name,
        "title": message(tool.title),
        "doc": message(tool.doc),
        "group": tool.group,
        "heading": message(tool.group),
        "order": tool.order,
        "shown_on": tool.shown_on,
        "all_hosts": tool.all_hosts,
        "streamed": tool.streamed,
        "params": [param._asdict() | {"doc": message(param.doc)} for param in tool.params],
        "page": f"tool_page?tag={tool.name}" if tool.page else "",
        "unavailable": unavailable and unavailable.as_json(),
    }


def _tool_page(workspace: Workspace, request: Request) -> Response:
    tool = workspace.tool(required(request, "tag"))
    if not tool.page:
        raise problem_error(
            "no_such_file", Message("The tool {name} has no page of its own.", name=tool.name), status=404
        )
    return responses.script(request, tool.page.read_bytes())


def _progress(workspace: Workspace, request: Request) -> Response:
    session = workspace.session(required(request, "run"))
    hosts = session.progress()
    # Imported with the decoder, which the session has imported by now.
    from ...runtime.jit import compiled_share

    compiled_fraction = compiled_share()
    if compiled_fraction is not None:
        phase = Message("Compiling; this takes long only the first time")
        hosts.append({"host": Message("this server"), "phase": phase, "fraction": compiled_fraction})
    answer = {"busy": workspace.busy(session), "hosts": hosts, "computing": workspace.computing(session)}
    return responses.data_json(request, answer)


def _data(workspace: Workspace, request: Request) -> Response:
    from ... import compat

    if compat.wants_csv(request.args.get("tqx", "")):
        return _data_csv(workspace, request)
    tool_question = data_request(workspace, request)
    session, tool, host, options = tool_question
    if tool.streamed:
        return responses.streamed_json(request, tool.pieces(session, host, **options))
    document = compat.graph_document(tool, session, host, request.args)
    if document:
        return responses.document(request, document.body, f"{tool.name}_{session.name}.{document.suffix}")
    return responses.packed_json(request, workspace.result(tool_question, LEGACY))


def _answer(workspace: Workspace, request: Request) -> Response:
    tool_question = table_request(workspace, request, ("part",))
    if request.args.get("part") == "1":
        return responses.packed_json(request, workspace.cut_answer(tool_question))
    return responses.packed_json(request, workspace.result(tool_question, NAMED))


def _data_csv(workspace: Workspace, request: Request) -> Response:
    from ...compat import datatable

    tool_question = data_request(workspace, request)
    name = "_".join([tool_question.tool.name, tool_question.session.name, tool_question.host or ALL_HOSTS])
    answer = None if tool_question.tool.streamed else json.loads(unpack(workspace.result(tool_question, LEGACY)))
    return responses.csv_file(request, datatable.csv_rows(answer), f"{name}.csv")


def _runs(workspace: Workspace, request: Request) -> Response:
    names = sorted((stored.name for stored in workspace.logdir.sessions()), reverse=True)
    return responses.data_json(request, names)


def _run_tools(workspace: Workspace, request: Request) -> Response:
    session = _session_or_none(workspace, request)
    names = [tool.name for tool in workspace.tools().values() if session and not workspace.unavailable(session, tool)]
    return responses.data_json(request, names)


def _hosts(workspace: Workspace, request: Request) -> Response:
    from ... import compat

    session = _session_or_none(workspace, request)
    tag = required(request, "tag").rstrip("@^")
    tool = workspace.tools().get(compat.NEW_NAMES.get(tag, tag))
    names = list(session.hosts) if session and tool else []
    if tool and tool.all_hosts and len(names) > 1:
        names.append(ALL_HOSTS)
    return responses.data_json(request, [{"hostname": name} for name in sorted(names)])


def _module_list(workspace: Workspace, request: Request) -> Response:
    session = _session_or_none(workspace, request)
    modules = [module for host in (session.select() if session else []) for module in host.modules.values()]
    names = sorted({module.title for module in modules})
    return responses.text(request, ",".join(names) or "NO_MODULE")


def _session_or_none(workspace: Workspace, request: Request) -> Session | None:
    """The session that the request names; the existing plugin's routes answer with empty lists where there is none."""
    run = required(request, "run")
    return workspace.session(run) if workspace.logdir.survey().find_by_name(run) else None


def _scaled(workspace: Workspace, request: Request) -> Response:
    """The typical step if the op took ``factor`` times as long: a replay, which takes a few hundredths of a second."""
    from ...analysis.diagnosis import scaled as replays
    from ...analysis.steps.choice_names import TYPICAL, checked_choice

    session = workspace.session(required(request, "run"))
    op, factor_text = required(request, "op"), required(request, "factor")
    try:
        factor = float(factor_text)
    except ValueError:
        raise parameter_error("factor", Message("factor={factor} is not a number.", factor=repr(factor_text))) from None
    steps = checked_choice(request.args.get("steps", "") or TYPICAL)
    hosts = session.select(request.args.get("host", ""), step_event=request.args.get("step_event", ""))
    replay = replays.scaled(hosts, op, factor, steps)
    return responses.data_json(request, replay.as_json())


def _join(workspace: Workspace, request: Request) -> Response:
    """Two sessions become one."""
    require_own_page(request)
    stored = workspace.logdir.join(required(request, "run"), required(request, "with"))
    return responses.data_json(request, {"run": stored.name})


def _split(workspace: Workspace, request: Request) -> Response:
    """The parts of a session become sessions."""
    require_own_page(request)
    stored = workspace.logdir.split(required(request, "run"))
    return responses.data_json(request, {"run": stored.name})


def _hang(workspace: Workspace, request: Request) -> Response:
    """The page of a folder that `sessions` lists; raises `ProblemError` for others, and where no dump can be read."""
    from ...export.report.hang import analysis_of
    from ...export.report.hang_page import page

    name, folders = required(request, "folder"), workspace.logdir.survey().dumps
    if name not in folders:
        message = Message("No folder of the logdir is named {name} and holds dumps.", name=repr(name))
        remedy = Message("There are: {close}.", close=", ".join(folders)) if folders else Message("Reload the page.")
        raise problem_error("no_dumps", message, remedy, status=404)
    return responses.page(request, page(analysis_of(folders[name], name), "./"))


def _config(workspace: Workspace, request: Request) -> Response:
    return responses.data_json(
        request,
        {"hideCaptureProfileButton": workspace.captures.hidden, "srcPathPrefix": "", "enableTabNameLabel": False},
    )


def _version(workspace: Workspace, request: Request) -> Response:
    return responses.text(request, __version__)


ROUTES = (
    Route("/", (), _page, light=True),
    Route("/index.html", (), _page, light=True),
    Route("/index.js", (), _file, light=True),
    Route("/static/*", (), _file, light=True),
    Route("/messages", (LANGUAGE_PARAMETER,), _messages, light=True),
    Route("/sessions", (), _sessions),
    Route("/session", ("run",), _session),
    Route("/tools", ("run",), _tools),
    Route("/tool_page", ("tag",), _tool_page),
    Route("/progress", ("run",), _progress, light=True),
    Route("/data", DATA_PARAMETERS, _data),
    Route("/answer", (*DATA_PARAMETERS, "part"), _answer),
    Route("/rows", (*DATA_PARAMETERS, *rows.ROW_QUERY, *rows.ROW_WINDOW), rows.rows),
    Route("/rows_file", (*DATA_PARAMETERS, *rows.ROW_QUERY, "format"), rows.rows_file),
    Route("/calls", (*DATA_PARAMETERS, *calls.PARAMETERS), calls.calls),
    Route("/compare", compare.PARAMETERS, compare.compare, "POST"),
    Route("/scaled_op", ("run", "host", "op", "factor", "step_event", "steps"), _scaled),
    Route("/data_csv", DATA_PARAMETERS, _data_csv),
    Route("/share", ("run", "host"), share.contents),
    Route("/share/summary", ("run", "steps", "step_event"), share.summary),
    Route("/share/capture", ("run", "host", "redact"), share.capture),
    Route("/timeline/lanes", (*_TIMELINE_PARAMETERS, "why"), timeline.lanes),
    Route("/timeline/slices", (*_TIMELINE_PARAMETERS, "why", "lanes", "begin", "end", "width"), timeline.slices),
    Route("/timeline/names", ("run", "host", "why", "blocks"), timeline.names),
    Route("/timeline/glance", ("run", "host", "begin", "end", "width"), timeline.glance),
    Route("/timeline/steps", _TIMELINE_PARAMETERS, timeline.steps),
    Route("/timeline/aligned", (*_TIMELINE_PARAMETERS, "base", "step", "base_step"), timeline.aligned),
    Route("/timeline/event", (*_TIMELINE_PARAMETERS, "why", "event"), timeline_events.event),
    Route("/timeline/arrows", (*_TIMELINE_PARAMETERS, "why", "lanes", "begin", "end"), timeline_events.arrows),
    Route("/timeline/search", (*_TIMELINE_PARAMETERS, "text", "regex", "args", "longest"), timeline_events.search),
    Route(
        "/timeline/flame",
        (
            *(*_TIMELINE_PARAMETERS, "why", "lanes", "begin", "end", "weight", "inverted", "format"),
            *("base", "base_begin", "base_end"),
        ),
        timeline_calls.flame,
    ),
    Route("/timeline/statistics", (*_TIMELINE_PARAMETERS, "why", "lanes", "begin", "end"), timeline_events.statistics),
    Route("/runs", (), _runs),
    Route("/run_tools", ("run",), _run_tools),
    Route("/hosts", ("run", "tag"), _hosts),
    Route("/module_list", ("run",), _module_list),
    Route("/join", ("run", "with"), _join, "POST"),
    Route("/split", ("run",), _split, "POST"),
    Route("/hang", ("folder", LANGUAGE_PARAMETER), _hang),
    Route("/config", (), _config, light=True),
    Route("/version", (), _version, light=True),
    Route("/capture_profile", PARAMETERS, capture.capture_profile, "POST"),
    Route("/capture/start", PARAMETERS, capture.start, "POST"),
    Route("/capture/state", (), capture.state, light=True),
    Route("/capture/stop", (), capture.stop, "POST", light=True),
    Route("/capture/ping", ADDRESS_PARAMETERS, capture.ping, "POST"),
    Route("/doctor", (), capture.doctor),
)
