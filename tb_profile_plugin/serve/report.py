"""One file for a colleague: the pages of a session, with what the server answers about it; it needs no server any more.

The answers are asked of our own application, so that the pages in the file are those that are served. Unless it is to
be as it is, they are asked of a redacted copy of the capture: what is not in that cannot be in the report.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import store
from ..analysis.digest import embedded
from ..analysis.digest.digest import digest
from ..analysis.digest.record import Digest
from ..analysis.steps.step_choice import TYPICAL, checked
from ..export import share
from ..export.pseudonyms import Pseudonyms
from ..export.report import summary
from ..export.report.page import Cover, page
from ..export.report.picture import picture
from ..model.profiler_options import versions
from ..model.session import ALL_HOSTS, Session
from ..runtime import cancellation
from ..runtime.messages import Message, listed, localized, sentences
from ..runtime.problems import Problem, ProblemError, problem_error
from ..store import Logdir
from ..store.result_cache import pack, to_json
from ..timeline.tiles import timeline
from ..tools import get
from .answers import STATIC
from .dispatch import Dispatcher
from .report_window import Window, drawing

MOST_BYTES = 4_000_000
"""Of compressed answers."""
_ROWS = 5_000
"""Of a table; of longer ones the first."""
_ALIASES = ("session", "base")
"""What sessions are called where nothing about them is told."""


@dataclass(frozen=True)
class Report:
    """A file, and what it holds."""

    html: str
    titles: tuple[str, ...]
    """Of the pages in it."""
    left_out: tuple[str, ...]
    """Of those that were too large."""


class _View(NamedTuple):
    """What a reader can choose: a session, and the one that its figures are held against."""

    run: str
    base: str
    """Empty for none."""
    steps: str
    first_host: str
    summed_up: bool
    """Whether the text before the pages is made of its answers: then they are asked for, whatever they can say."""
    tools: Mapping[str, dict[str, Any]]
    """By name, as the route `tools` describes them: those that a report can hold."""


def report(  # noqa: PLR0913 - its options
    session: Session,
    as_is: bool = False,
    most_bytes: int = MOST_BYTES,
    title: str = "",
    notes: str = "",
    names: Pseudonyms | None = None,
    base: Session | None = None,
    steps: str = TYPICAL,
    window: Window | None = None,
) -> Report:
    """The pages of a session in one file, redacted unless ``as_is``; a title and notes stand before them as they are.

    With a ``base`` it holds both, each as it is and against the other; the pages open with the base chosen.
    Figures go over ``steps``, chosen as on the pages: typical, all, or a range of numbers such as 5-20.
    A ``window`` of the session's timeline stands above the pages as a drawing.
    Words are called as ``names`` has it; by default they are the session's own, see `share.redacted`.
    Raises `ProblemError` for a capture that cannot be read or redacted, for what is no choice of steps, and where the
    pages are not built.
    """
    bundle, notices = STATIC / "report.js", STATIC / "report.notices.txt"
    if not (bundle.is_file() and notices.is_file()):
        raise problem_error("not_built", "The pages are not built.", "Run scripts/build once.", status=500)
    sessions = [session] if base is None else [session, base]
    if base is not None and base.stored.files == session.stored.files:
        raise problem_error("same_session", "The base is this session itself.", "Choose another session.")
    chosen_steps = checked(steps)
    with _logdir(sessions, as_is, names) as (logdir, runs):
        app = Dispatcher(logdir, hide_capture=True, keep=False)
        recorder = _Recorder(app)
        views = _views(recorder, runs, chosen_steps)
        answers, left_out = _answers(recorder, views, most_bytes)
        included = {name for _, _, name in answers}
        for view in views:
            tools = [tool for name, tool in view.tools.items() if name in included or tool["unavailable"]]
            recorder.keep(tools, "tools", run=view.run)
        element, drawn = _digest(app.session(runs[0]), steps)
        part = ""
        if window:
            shifts = {name if as_is else share.alias(session, name): ps for name, ps in window.shifts.items()}
            part = drawing(app.session(runs[0]), window._replace(shifts=shifts))
        recorded = _recorded(app.session(runs[0]))
    about = Message("Not redacted.") if as_is else Message("Redacted: words that are not of frameworks are pseudonyms.")
    run, base_run = runs[0], runs[1] if base else ""
    summary_of_run = summary.summary(run, {question: answers[run, "", question] for question in summary.QUESTIONS})
    texts = [file.read_text(encoding="utf-8") for file in (bundle, notices)]
    comparison = answers.get((run, base_run, "compare"))
    cover = Cover(title, notes.strip(), sentences(recorded, about), base_run, comparison, steps, part)
    html = page(summary_of_run, cover, texts[0], pack(to_json(recorder.answers)), element, drawn, texts[1])
    titles = [
        tool["title"]
        for name, tool in views[0].tools.items()
        if name in included and not (tool["unavailable"] or tool["shown_on"])
    ]
    return Report(html, tuple(titles), tuple(left_out))


def _views(recorder: _Recorder, runs: Sequence[str], steps: str) -> list[_View]:
    """Those of the report, the first session by itself first; keeps what pages ask of sessions."""
    listed = recorder.get("sessions")
    # Nothing of where it was made, and nothing that is asked of a server.
    entry = {"folder": ""}
    by_run = {session["run"]: session | entry for session in listed["sessions"]}
    listed |= {"logdir": "", "searched": [], "sessions": [by_run[run] for run in runs]}
    recorder.keep(listed, "sessions")
    recorder.keep(recorder.get("config"), "config")
    views = []
    for run in runs:
        recorder.keep(recorder.get("session", run=run) | entry, "session", run=run)
        tools = {tool["name"]: tool for tool in recorder.get("tools", run=run) if _fits(tool, len(runs))}
        for base in ("", *(other for other in runs if other != run)):
            summed_up = run == runs[0] and not base
            views.append(_View(run, base, steps, by_run[run]["hosts"][0], summed_up, tools))
    return views


def _fits(tool: dict[str, Any], sessions: int) -> bool:
    """Whether a report of so many sessions can hold what the tool answers."""
    kinds = {param["kind"] for param in tool["params"]}
    others = "session" in kinds or "sessions" in kinds
    return not (tool["streamed"] or tool["page"]) and (not others or (sessions > 1 and "session" in kinds))


def _recorded(session: Session) -> Message:
    """When, and with which versions, as the first host that tells says it."""
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


def _digest(session: Session, steps: str) -> tuple[str, str]:
    """The element that holds the session's digest, by which a report can be compared, and a drawing of a typical step.

    Both are empty where there is no digest.
    """
    try:
        session_digest = digest(session, wanted=steps)
    except ProblemError:
        return "", ""
    return embedded.element(session_digest), _drawn(session, session_digest)


def _drawn(session: Session, digest: Digest) -> str:
    """The kept step that is nearest to the mean, on the first host that can be read and has it."""
    steps, typical_steps = digest.steps, digest.steps.selected
    mean = sum(steps.ps[i] for i in typical_steps) / len(typical_steps)
    number = steps.number[min(typical_steps, key=lambda i: abs(steps.ps[i] - mean))]
    for name in session.hosts:
        try:
            host = session.host(name)
        except ProblemError:
            continue
        host_steps = host.steps
        at = np.flatnonzero(host_steps.number == number)
        if len(at):
            begin, end = int(host_steps.begin[at[0]]), int(host_steps.end[at[0]])
            svg = picture(timeline(host), begin, end)
            step = host_steps.name[at[0]]
            title = (
                localized("A typical step: {step}, {host}", step=step, host=host.name)
                if len(session.hosts) > 1
                else localized("A typical step: {step}", step=step)
            )
            return f"<h2>{escape(title)}</h2>{svg}" if svg else ""
    return ""


class _Recorder:
    """Asks the application, and keeps answers as pages ask for them."""

    def __init__(self, app: Dispatcher):
        self._app = app
        self.answers: dict[str, Any] = {}
        """As frontend/src/api/embedded.ts looks them up."""

    def get(self, route: str, **query: str) -> Any:
        # Who asked for the report may hang up: then nothing more is worked out for it.
        cancellation.check()
        return json.loads(self._app.answer(f"/{route}", query))

    def keep(self, answer: Any, route: str, **query: str) -> None:
        self.answers[json.dumps([route, sorted(query.items())], separators=(",", ":"), ensure_ascii=False)] = answer


_AnswersByView = dict[tuple[str, str, str], Any]
"""Answers by session, base and tool."""


def _answers(recorder: _Recorder, views: Sequence[_View], most_bytes: int) -> tuple[_AnswersByView, list[str]]:
    """What is kept of the tools' answers, those of the summary first, as many as fit; and the titles of the others.

    Of a tool all views are kept, or none.
    """
    answers: _AnswersByView = {}
    left_out = []
    tools = {name: tool for view in reversed(views) for name, tool in view.tools.items()}
    for name in sorted(tools, key=lambda name: name not in summary.QUESTIONS):
        queries = [(view, query) for view in views if (query := _query(view, name))]
        cut_answers = [(view, query, _cut(recorder.get("answer", **query))) for view, query in queries]
        most_bytes -= sum(len(pack(to_json(answer))) for _, _, answer in cut_answers)
        if cut_answers and most_bytes < 0 and name not in summary.QUESTIONS:
            left_out.append(tools[name]["title"])
            continue
        for view, query, answer in cut_answers:
            recorder.keep(answer, "answer", **query, part="1")
            answers[view.run, view.base, name] = answer
            most_bytes -= _keep_calls(recorder, name, query)
    return answers, left_out


def _keep_calls(recorder: _Recorder, name: str, query: Mapping[str, str]) -> int:
    """The trees of calls that pages draw of the tool's tables, by each weight; how many bytes they are, compressed."""
    packed_bytes = 0
    for table in (table.id for table in get(name).tables if table.stacks):
        (_, *others) = recorder.get("calls", **query, table=table)["weights"]
        for weight in ({}, *({"weight": other["id"]} for other in others)):
            for inverted in ({}, {"inverted": "1"}):
                question = {**query, "table": table, **weight, **inverted}
                tree = recorder.get("calls", **question)
                recorder.keep(tree, "calls", **question)
                packed_bytes += len(pack(to_json(tree)))
    return packed_bytes


def _query(view: _View, name: str) -> dict[str, str]:
    """How a page of the view asks the tool; empty where it does not, or as it does without a base."""
    tool = view.tools.get(name)
    if not tool or (tool["unavailable"] and (name not in summary.QUESTIONS or not view.summed_up)):
        return {}
    kinds = {param["kind"] for param in tool["params"]}
    if view.base and kinds.isdisjoint(("session", "baseline")):
        return {}
    host = ALL_HOSTS if tool["all_hosts"] else view.first_host
    steps = view.steps if view.steps != TYPICAL and any(param["name"] == "steps" for param in tool["params"]) else ""
    options = {"base": view.base, "steps": steps}
    return {"run": view.run, "tag": name, "host": host} | {key: value for key, value in options.items() if value}


def _cut(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the rows of very long tables beyond the first, which a note says."""
    for table in answer["tables"].values():
        if table["rows"] > _ROWS:
            message = Message(
                "{label}: the first {shown} of {rows} rows are in this report.",
                label=table["label"],
                shown=_ROWS,
                rows=table["rows"],
            )
            answer["notes"].append(Problem("cut_in_report", message, "", "", "info").as_json())
            for column in table["columns"]:
                for cells in {"values", "messages"} & {*column}:
                    column[cells] = column[cells][:_ROWS]
            table["rows"] = _ROWS
    return answer


@contextmanager
def _logdir(sessions: Sequence[Session], as_is: bool, names: Pseudonyms | None) -> Iterator[tuple[Logdir, list[str]]]:
    """A logdir of those sessions alone, and what they are called there: the second is the base.

    They are of other names and content unless they are to be as they are.
    """
    if len(sessions) > 1 and not (as_is or names):
        # What has one name in both is found in both.
        names = share.shared_pseudonyms(sessions)
    with tempfile.TemporaryDirectory(prefix="tb-profile-report-") as folder:
        folders = []
        for session, alias in zip(sessions, _ALIASES, strict=False):
            own = session.name.replace("\\", "/").rpartition("/")[2]
            # Beside one another, folders of one job are taken for one session.
            above = Path(folder, alias) if as_is and session is not sessions[0] else Path(folder)
            run_folder = above / "plugins" / "profile" / (own if as_is else alias)
            run_folder.mkdir(parents=True)
            for file in session.stored.files:
                where = file.where.replace("\\", "/").rpartition("/")[2]
                name = where if as_is else share.file_name(session, file.host, True)
                content = memoryview(store.read(file)) if as_is else share.capture(session, file.host, True, names)
                (run_folder / name).write_bytes(content)
            folders.append(run_folder)
        logdir = Logdir(folder)
        called = {session.folder: session.name for session in logdir.sessions()}
        yield logdir, [called[run_folder] for run_folder in folders]
