"""A report: the pages of a session in one HTML file, with the server's answers in it, so that it needs no server.

The answers come from the application that serves the pages, asked without a server. Unless a report is to be ``as_is``,
it is asked about a redacted copy of the capture: what is not in the copy cannot be in the report.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .. import store
from ..analysis.digest import embedded
from ..analysis.digest.digest import digest
from ..analysis.digest.record import Digest
from ..analysis.steps.choice_names import TYPICAL, checked_choice
from ..export import share
from ..export.pseudonyms import Pseudonyms
from ..export.report import summary
from ..export.report.page import Cover, page
from ..export.report.picture import picture
from ..model.profiler_options import versions
from ..model.session import Session
from ..runtime import cancellation
from ..runtime.messages import Message, listed, localized, sentences
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.records import NamedTuple, record
from ..store import ALL_HOSTS, Logdir
from ..store.result_cache import pack, to_json
from ..timeline.tiles import timeline
from ..tools import get
from .dispatch import Dispatcher
from .report_window import ReportWindow, window_html
from .responses import STATIC

MOST_BYTES = 4_000_000
"""Answers, compressed, that a report holds at most."""
_MOST_ROWS = 5_000
"""Rows of a table that a report holds at most."""
_PSEUDONYMS = ("session", "base")
"""Pseudonyms of the sessions in a redacted report."""
_AnswersByView = dict[tuple[str, str, str], Any]
"""Answers by name of the session, name of the base, and name of the tool."""


@record
class Report:
    """A report's HTML, and which pages it holds."""

    html: str
    titles: tuple[str, ...]
    """Titles of the pages in it."""
    left_out: tuple[str, ...]
    """Titles of the pages that were too large."""


class _ReportView(NamedTuple):
    """What a reader of a report can look at: a session, alone or compared with the other one as its baseline."""

    run: str
    base: str
    """Empty for none."""
    steps: str
    first_host: str
    in_summary: bool
    """Whether the summary before the pages is made of its answers, so that tools are asked even if unavailable."""
    tools: Mapping[str, dict[str, Any]]
    """The tools that a report can hold, by name, as the route `tools` describes them."""


def report(  # noqa: PLR0913 - its options
    session: Session,
    as_is: bool = False,
    most_bytes: int = MOST_BYTES,
    title: str = "",
    notes: str = "",
    pseudonyms: Pseudonyms | None = None,
    base: Session | None = None,
    steps: str = TYPICAL,
    window: ReportWindow | None = None,
) -> Report:
    """The pages of a session in one file, redacted unless ``as_is``, below a title and notes, which are not redacted.

    With a ``base`` it holds both sessions, each alone and compared with the other; the pages open with the comparison.
    Figures cover ``steps``: typical, all, or a range of numbers such as 5-20.
    A ``window`` of the session's timeline stands above the pages as a drawing.
    ``pseudonyms`` are the pseudonyms; by default they are made for this session, see `share.redacted_hosts`.
    Raises `ProblemError` for a capture that cannot be read or redacted, for bad ``steps``, and where the pages are not
    built.
    """
    script, notices = _script_and_notices()
    if base is not None and base.stored.files == session.stored.files:
        raise problem_error("same_session", "The base is this session itself.", "Choose another session.")
    checked_steps = checked_choice(steps)
    if window and not as_is:
        window = window._replace(shifts={share.alias(session, name): ps for name, ps in window.shifts.items()})
    sessions = [session] if base is None else [session, base]
    about = Message("Not redacted.") if as_is else Message("Redacted: words that are not of frameworks are pseudonyms.")
    with _temporary_logdir(sessions, as_is, pseudonyms) as (logdir, runs):
        app = Dispatcher(logdir, hide_capture=True, keep=False)
        recorder = _AnswerRecorder(app)
        views = _views(recorder, runs, checked_steps)
        answers, left_out = _tool_answers(recorder, views, most_bytes)
        titles = _record_tools(recorder, views, {name for _, _, name in answers})
        report_session, run, base_run = app.session(runs[0]), runs[0], runs[1] if base else ""
        digest_element, step_drawing = _digest_element_and_drawing(report_session, checked_steps)
        cover = Cover(
            title=title,
            notes=notes.strip(),
            about=sentences(_capture_sentence(report_session), about),
            base=base_run,
            comparison=answers.get((run, base_run, "compare")),
            steps=steps,
            window=window_html(report_session, window) if window else "",
        )
    html = page(
        summary.summary(run, {question: answers[run, "", question] for question in summary.TOOLS}),
        cover,
        script,
        pack(to_json(recorder.answers)),
        embedded=digest_element,
        charts=step_drawing,
        notices=notices,
    )
    return Report(html, tuple(titles), tuple(left_out))


def _script_and_notices() -> tuple[str, str]:
    """The bundle of a report's pages, and its licences' texts; raises `ProblemError` where they are not built."""
    script, notices = (STATIC / name for name in ("report.js", "report.notices.txt"))
    if not (script.is_file() and notices.is_file()):
        raise problem_error("not_built", "The pages are not built.", "Run scripts/build once.", status=500)
    return script.read_text(encoding="utf-8"), notices.read_text(encoding="utf-8")


def _record_tools(recorder: _AnswerRecorder, views: Sequence[_ReportView], tool_names: Container[str]) -> list[str]:
    """Record the lists of tools, of those with answers and of unavailable ones; returns the titles of pages."""
    for view in views:
        tools = [tool for name, tool in view.tools.items() if name in tool_names or tool["unavailable"]]
        recorder.keep(tools, "tools", run=view.run)
    tools_with_answers = [tool for name, tool in views[0].tools.items() if name in tool_names]
    return [tool["title"] for tool in tools_with_answers if not (tool["unavailable"] or tool["shown_on"])]


def _views(recorder: _AnswerRecorder, runs: Sequence[str], steps: str) -> list[_ReportView]:
    """The views of the report, the first session alone first; records the lists of sessions and what each holds."""
    session_list = recorder.get("sessions")
    # Pages of a report need no folders, which would tell where it was made.
    no_folder = {"folder": ""}
    entry_of = {session["run"]: session | no_folder for session in session_list["sessions"]}
    session_list |= {"logdir": "", "searched": [], "sessions": [entry_of[run] for run in runs]}
    recorder.keep(session_list, "sessions")
    recorder.keep(recorder.get("config"), "config")
    views = []
    for run in runs:
        recorder.keep(recorder.get("session", run=run) | no_folder, "session", run=run)
        tools = {tool["name"]: tool for tool in recorder.get("tools", run=run) if _fits_report(tool, len(runs))}
        for base in ("", *(other for other in runs if other != run)):
            in_summary = run == runs[0] and not base
            views.append(_ReportView(run, base, steps, entry_of[run]["hosts"][0], in_summary, tools))
    return views


def _fits_report(tool: dict[str, Any], session_count: int) -> bool:
    """Whether a report of so many sessions can hold the tool's answers; ``tool`` as the route `tools` has it."""
    kinds = {param["kind"] for param in tool["params"]}
    needs_others = "session" in kinds or "sessions" in kinds
    return not (tool["streamed"] or tool["page"]) and (not needs_others or (session_count > 1 and "session" in kinds))


def _capture_sentence(session: Session) -> Message:
    """When, and by which software, the first host that states one of them was captured; empty if none does."""
    for host in session.host_by_host():
        software = listed([f"{name} {version}" for name, version in versions(host).items()])
        when = f"{datetime.fromtimestamp(host.origin_ns / 1e9, timezone.utc):%Y-%m-%d %H:%M}" if host.origin_ns else ""
        if when and software:
            return Message("Captured on {when} UTC with {software}.", when=when, software=software)
        if when:
            return Message("Captured on {when} UTC.", when=when)
        if software:
            return Message("Captured with {software}.", software=software)
    return Message("")


def _digest_element_and_drawing(session: Session, steps: str) -> tuple[str, str]:
    """HTML elements: the session's digest, so that the report can be compared, and a drawing of a typical step.

    Both are empty where the session has no digest.
    """
    try:
        session_digest = digest(session, step_choice=steps)
    except ProblemError:
        return "", ""
    return embedded.element(session_digest), _typical_step_drawing(session, session_digest)


def _typical_step_drawing(session: Session, digest: Digest) -> str:
    """The typical step that is nearest to the mean, on the first host that can be read and has it, as HTML."""
    steps, typical_steps = digest.steps, digest.steps.selected
    mean_ps = sum(steps.ps[i] for i in typical_steps) / len(typical_steps)
    number = steps.number[min(typical_steps, key=lambda i: abs(steps.ps[i] - mean_ps))]
    for name in session.hosts:
        try:
            host = session.host(name)
        except ProblemError:
            continue
        host_steps = host.steps
        matches = np.flatnonzero(host_steps.number == number)
        if len(matches):
            row = matches[0]
            svg = picture(timeline(host), int(host_steps.begin[row]), int(host_steps.end[row]))
            step = host_steps.name[row]
            title = (
                localized("A typical step: {step}, {host}", step=step, host=host.name)
                if len(session.hosts) > 1
                else localized("A typical step: {step}", step=step)
            )
            return f"<h2>{escape(title)}</h2>{svg}" if svg else ""
    return ""


class _AnswerRecorder:
    """Asks the application, and keeps answers for the report's pages."""

    def __init__(self, app: Dispatcher):
        self._app = app
        self.answers: dict[str, Any] = {}
        """By route and query, as frontend/src/api/embedded.ts looks them up."""

    def get(self, route: str, **query: str) -> Any:
        """The application's answer, not kept; raises `Cancelled` once the client who asked for the report is gone."""
        cancellation.check()
        return json.loads(self._app.answer(f"/{route}", query))

    def keep(self, answer: Any, route: str, **query: str) -> None:
        """Put an answer, which may have been changed, into the report."""
        self.answers[json.dumps([route, sorted(query.items())], separators=(",", ":"), ensure_ascii=False)] = answer


def _tool_answers(
    recorder: _AnswerRecorder, views: Sequence[_ReportView], most_bytes: int
) -> tuple[_AnswersByView, list[str]]:
    """The tools' answers that fit into ``most_bytes``, those of the summary first; and the titles of the other tools.

    A tool's answers for all views are recorded, or none.
    """
    answers: _AnswersByView = {}
    left_out = []
    bytes_left = most_bytes
    tools = {name: tool for view in reversed(views) for name, tool in view.tools.items()}
    for name in sorted(tools, key=lambda name: name not in summary.TOOLS):
        queries = [(view, query) for view in views if (query := _tool_query(view, name))]
        tool_answers = [(view, query, _with_first_rows(recorder.get("answer", **query))) for view, query in queries]
        bytes_left -= sum(len(pack(to_json(answer))) for _, _, answer in tool_answers)
        if tool_answers and bytes_left < 0 and name not in summary.TOOLS:
            left_out.append(tools[name]["title"])
            continue
        for view, query, answer in tool_answers:
            recorder.keep(answer, "answer", **query, part="1")
            answers[view.run, view.base, name] = answer
            bytes_left -= _record_call_trees(recorder, name, query)
    return answers, left_out


def _record_call_trees(recorder: _AnswerRecorder, name: str, query: Mapping[str, str]) -> int:
    """Record the flame graphs of the tool's tables, by each weight; returns how many bytes they are, compressed."""
    packed_bytes = 0
    for table in (table.id for table in get(name).tables if table.stacks):
        # Pages do not name the first weight when they ask for it.
        (_, *other_weights) = recorder.get("calls", **query, table=table)["weights"]
        for weight in ({}, *({"weight": other_weight["id"]} for other_weight in other_weights)):
            for inverted in ({}, {"inverted": "1"}):
                tree_query = {**query, "table": table, **weight, **inverted}
                tree = recorder.get("calls", **tree_query)
                recorder.keep(tree, "calls", **tree_query)
                packed_bytes += len(pack(to_json(tree)))
    return packed_bytes


def _tool_query(view: _ReportView, name: str) -> dict[str, str]:
    """The query by which a page asks the tool in a view; empty where it does not, or not differently without a base."""
    tool = view.tools.get(name)
    if not tool or (tool["unavailable"] and (name not in summary.TOOLS or not view.in_summary)):
        return {}
    kinds = {param["kind"] for param in tool["params"]}
    if view.base and kinds.isdisjoint(("session", "baseline")):
        return {}
    host = ALL_HOSTS if tool["all_hosts"] else view.first_host
    steps = view.steps if view.steps != TYPICAL and any(param["name"] == "steps" for param in tool["params"]) else ""
    options = {"base": view.base, "steps": steps}
    return {"run": view.run, "tag": name, "host": host} | {key: value for key, value in options.items() if value}


def _with_first_rows(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with at most `_MOST_ROWS` rows in each table, and a note about tables that were cut."""
    for table in answer["tables"].values():
        if table["rows"] > _MOST_ROWS:
            message = Message(
                "{label}: the first {shown} of {rows} rows are in this report.",
                label=table["label"],
                shown=_MOST_ROWS,
                rows=table["rows"],
            )
            answer["notes"].append(Problem("cut_in_report", message, "", "", "info").as_json())
            for column in table["columns"]:
                for cells in {"values", "messages"} & {*column}:
                    column[cells] = column[cells][:_MOST_ROWS]
            table["rows"] = _MOST_ROWS
    return answer


@contextmanager
def _temporary_logdir(
    sessions: Sequence[Session], as_is: bool, pseudonyms: Pseudonyms | None
) -> Iterator[tuple[Logdir, list[str]]]:
    """A logdir with copies of those sessions alone, redacted unless ``as_is``, and their names in it."""
    if len(sessions) > 1 and not (as_is or pseudonyms):
        # The same name gets the same pseudonym in both, so that they can be compared.
        pseudonyms = share.shared_pseudonyms(sessions)
    with tempfile.TemporaryDirectory(prefix="tb-profile-report-") as folder:
        run_folders = []
        for session, pseudonym in zip(sessions, _PSEUDONYMS, strict=False):
            own_name = session.name.replace("\\", "/").rpartition("/")[2]
            # Two folders of one job would be taken for one session if they stood side by side.
            parent = Path(folder, pseudonym) if as_is and session is not sessions[0] else Path(folder)
            run_folder = parent / "plugins" / "profile" / (own_name if as_is else pseudonym)
            run_folder.mkdir(parents=True)
            for file in session.stored.files:
                own_file_name = file.where.replace("\\", "/").rpartition("/")[2]
                file_name = own_file_name if as_is else share.file_name(session, file.host, True)
                content = memoryview(store.read(file)) if as_is else share.capture(session, file.host, True, pseudonyms)
                (run_folder / file_name).write_bytes(content)
            run_folders.append(run_folder)
        logdir = Logdir(folder)
        name_of = {session.folder: session.name for session in logdir.sessions()}
        yield logdir, [name_of[run_folder] for run_folder in run_folders]
