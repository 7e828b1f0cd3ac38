"""One file for a colleague: the pages of a session, with what the server answers about it; it needs no server any more.

The answers are asked of our own application, so that the pages in the file are those that are served. Unless it is to
be as it is, they are asked of a redacted copy of the capture: what is not in that cannot be in the report.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from werkzeug.test import Client

from .. import store
from ..analysis.digest import embedded
from ..analysis.digest.digest import digest
from ..analysis.digest.record import Digest
from ..export import share
from ..export.names import Names
from ..export.report import summary
from ..export.report.page import Cover, page
from ..export.report.picture import picture
from ..model.profiler_options import versions
from ..model.session import ALL_HOSTS, Session
from ..runtime import cancellation
from ..runtime.problems import Problem, ProblemError
from ..store import Logdir
from ..store.result_cache import pack, to_json
from ..timeline.tiles import timeline
from .answers import STATIC
from .dispatch import Dispatcher

MOST_BYTES = 4_000_000
"""Of compressed answers."""
_ROWS = 5_000
"""Of a table; of longer ones the first."""
_ALIAS = "session"
"""What a session is called where nothing about it is told."""


@dataclass(frozen=True)
class Report:
    """A file, and what it holds."""

    html: str
    titles: tuple[str, ...]
    """Of the pages in it."""
    left_out: tuple[str, ...]
    """Of those that were too large."""


def report(
    session: Session,
    as_is: bool = False,
    most_bytes: int = MOST_BYTES,
    title: str = "",
    notes: str = "",
    names: Names | None = None,
) -> Report:
    """The pages of a session in one file, redacted unless ``as_is``; a title and notes stand before them as they are.

    Its words are called as ``names`` has it; by default they are the session's own, see `share.redacted`.
    Raises `ProblemError` for a capture that cannot be read or redacted, and where the pages are not built.
    """
    bundle, notices = STATIC / "report.js", STATIC / "report.notices.txt"
    if not (bundle.is_file() and notices.is_file()):
        raise ProblemError(Problem("not_built", "The pages are not built.", "Run scripts/build once."), 500)
    with _logdir(session, as_is, names) as logdir:
        app = Dispatcher(logdir, hide_capture=True, keep=False)
        asked = _Asked(Client(app))
        run = logdir.sessions()[0].name
        entry = {"folder": ""}
        listed = asked.get("sessions")
        listed |= {"logdir": "", "searched": [], "sessions": [each | entry for each in listed["sessions"][:1]]}
        asked.keep(listed, "sessions")
        asked.keep(asked.get("session", run=run) | entry, "session", run=run)
        asked.keep(asked.get("config"), "config")
        tools = [tool for tool in asked.get("tools", run=run) if not (tool["streamed"] or tool["page"])]
        tools = [
            tool for tool in tools if not any(param["kind"] in ("session", "sessions") for param in tool["params"])
        ]
        held, left_out = _answers(asked, tools, run, logdir.sessions()[0].hosts[0], most_bytes)
        element, drawn = _digest(app.session(run))
        recorded = _recorded(app.session(run))
        asked.keep([tool for tool in tools if tool["name"] in held or tool["unavailable"]], "tools", run=run)
    name = run if as_is else _ALIAS
    about = "As it was captured." if as_is else "Redacted: words other than those of frameworks are pseudonyms."
    told = summary.summary(name, {question: held[question] for question in summary.QUESTIONS})
    texts = [file.read_text(encoding="utf-8") for file in (bundle, notices)]
    cover = Cover(title, notes.strip(), f"{recorded}{about}")
    html = page(told, cover, texts[0], pack(to_json(asked.held)), element, drawn, texts[1])
    shown = [tool["title"] for tool in tools if tool["name"] in held and not tool["unavailable"]]
    return Report(html, tuple(shown), tuple(left_out))


def _recorded(session: Session) -> str:
    """When, and with which versions, as the first host that tells says it."""
    for host in session.each():
        when = f"on {datetime.fromtimestamp(host.origin_ns / 1e9, timezone.utc):%Y-%m-%d %H:%M} UTC"
        known = ", ".join(f"{name} {version}" for name, version in versions(host).items())
        told = [*([when] if host.origin_ns else []), *([f"with {known}"] if known else [])]
        if told:
            return f"Captured {' '.join(told)}. "
    return ""


def _digest(session: Session) -> tuple[str, str]:
    """The element that holds the session's digest, by which a report can be compared, and a drawing of a typical step.

    Both are empty where there is no digest.
    """
    try:
        found = digest(session)
    except ProblemError:
        return "", ""
    return embedded.element(found), _drawn(session, found)


def _drawn(session: Session, found: Digest) -> str:
    """The kept step that is nearest to the mean, on the first host that can be read and has it."""
    steps, kept = found.steps, found.steps.kept
    mean = sum(steps.ps[i] for i in kept) / len(kept)
    number = steps.number[min(kept, key=lambda i: abs(steps.ps[i] - mean))]
    for name in session.hosts:
        try:
            host = session.host(name)
        except ProblemError:
            continue
        at = np.flatnonzero(host.steps.number == number)
        if len(at):
            begin, end = int(host.steps.begin[at[0]]), int(host.steps.end[at[0]])
            svg = picture(timeline(host), begin, end)
            where = f", {host.name}" if len(session.hosts) > 1 else ""
            return f"<h2>A typical step: {escape(host.steps.name[at[0]] + where)}</h2>{svg}" if svg else ""
    return ""


class _Asked:
    """Asks the application, and keeps answers as pages ask for them."""

    def __init__(self, client: Client):
        self._client = client
        self.held: dict[str, Any] = {}
        """As frontend/src/api/embedded.ts looks them up."""

    def get(self, route: str, **query: str) -> Any:
        # Who asked for the report may hang up: then nothing more is worked out for it.
        wanted = cancellation.wanted_now()
        environ = {"waitress.client_disconnected": lambda: not wanted()}
        response = self._client.get(f"/{route}", query_string=query, environ_overrides=environ)
        cancellation.check()
        answer = json.loads(response.get_data())
        if response.status_code >= 400:
            raise ProblemError(
                Problem(**{key: answer[key] for key in ("code", "message", "remedy")}), response.status_code
            )
        return answer

    def keep(self, answer: Any, route: str, **query: str) -> None:
        self.held[json.dumps([route, sorted(query.items())], separators=(",", ":"), ensure_ascii=False)] = answer


def _answers(
    asked: _Asked, tools: list[dict[str, Any]], run: str, first_host: str, most_bytes: int
) -> tuple[dict[str, Any], list[str]]:
    """Answers by tool, those of the summary first, as many as fit; and the titles of the others."""
    held: dict[str, Any] = {}
    left_out = []
    for tool in sorted(tools, key=lambda tool: tool["name"] not in summary.QUESTIONS):
        if tool["unavailable"] and tool["name"] not in summary.QUESTIONS:
            continue
        host = ALL_HOSTS if tool["all_hosts"] else first_host
        answer = _cut(asked.get("answer", run=run, tag=tool["name"], host=host))
        most_bytes -= len(pack(to_json(answer)))
        if most_bytes < 0 and tool["name"] not in summary.QUESTIONS:
            left_out.append(tool["title"])
            continue
        held[tool["name"]] = answer
        asked.keep(answer, "answer", run=run, tag=tool["name"], host=host, part="1")
    return held, left_out


def _cut(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the rows of very long tables beyond the first, which a note says."""
    for table in answer["tables"].values():
        if table["rows"] > _ROWS:
            message = f"{table['label']}: the first {_ROWS:,} of {table['rows']:,} rows are in this report."
            answer["notes"].append(Problem("cut_in_report", message, "", "", "info").as_json())
            for column in table["columns"]:
                column["values"] = column["values"][:_ROWS]
            table["rows"] = _ROWS
    return answer


@contextmanager
def _logdir(session: Session, as_is: bool, names: Names | None) -> Iterator[Logdir]:
    """A logdir of that session alone, of other names and content unless it is to be as it is."""
    with tempfile.TemporaryDirectory(prefix="tb-profile-report-") as folder:
        run = Path(
            folder, "plugins", "profile", session.name.replace("\\", "/").rpartition("/")[2] if as_is else _ALIAS
        )
        run.mkdir(parents=True)
        for file in session.stored.files:
            name = (
                file.where.replace("\\", "/").rpartition("/")[2] if as_is else share.file_name(session, file.host, True)
            )
            content = memoryview(store.read(file)) if as_is else share.capture(session, file.host, True, names)
            (run / name).write_bytes(content)
        yield Logdir(folder)
