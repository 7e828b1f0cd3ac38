"""The class `Capture`, which `tb_profile_plugin.open` returns: a session that answers by the names of its tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path

from . import compat, store, tools
from .analysis.compare import load
from .analysis.compare.engine import Comparison, compare
from .analysis.compare.side import side_of_digests
from .analysis.compare.verdict import ComparisonVerdict, verdict
from .analysis.diagnosis.scaled import Scaled, scaled
from .analysis.digest.record import Digest
from .analysis.ops.device_ops import device_ops
from .analysis.ops.gpu_kernels import launches
from .analysis.ops.host_ops import host_ops
from .analysis.steps.choice_names import TYPICAL, checked_choice
from .analysis.steps.step_time import NEEDS
from .export.frames import details, events, figures, tables
from .export.frames.frame import Frame
from .export.report import compare as comparison
from .export.report import summary
from .export.report import why as diagnosis
from .export.sql.query import QueryResult
from .export.sql.query import sql as query_tables
from .model.host import window
from .model.per_host import need
from .model.session import Session
from .runtime.executors import executor
from .runtime.problems import ProblemError
from .runtime.records import record
from .runtime.settings import DEFAULT_ROWS, DEFAULT_SECONDS, DEFAULT_THRESHOLD
from .runtime.terminal import printable
from .store.result_cache import ResultCache
from .tools.answers.answer import Json


@record
class Summary:
    """The most important of a session on one page."""

    data: Json
    """As docs/summary.schema.json describes it."""

    def __repr__(self) -> str:
        return printable(self.data["verdict"]["text"])

    def __str__(self) -> str:
        return summary.markdown(self.data)

    _repr_markdown_ = __str__


@record
class Why:
    """Why steps take as long as they do, and what would help."""

    answer: Json
    """The answer of the tool ``why``; see docs/answers.md."""

    @property
    def data(self) -> Json:
        """As ``tb-profile why --format json`` writes it; see docs/why.md."""
        return diagnosis.as_json(self.answer)

    def __repr__(self) -> str:
        return printable(self.answer["headline"]["text"])

    def __str__(self) -> str:
        return diagnosis.text(self.answer)

    def _repr_markdown_(self) -> str:
        return diagnosis.markdown(self.answer)


@record
class Compared:
    """The comparison of two sides, and the verdict on it."""

    comparison: Comparison
    verdict: ComparisonVerdict

    @property
    def data(self) -> Json:
        """As ``tb-profile compare --format json`` writes it; see docs/compare.md."""
        return comparison.as_json(self.comparison, self.verdict)

    def __repr__(self) -> str:
        return printable(self.verdict.text)

    def __str__(self) -> str:
        return comparison.text(self.comparison, self.verdict)

    def _repr_markdown_(self) -> str:
        return comparison.markdown(self.comparison, self.verdict)


@record
class NotebookPage:
    """Pages in a notebook, which need no server."""

    html: str
    height: int

    def _repr_html_(self) -> str:
        # The sandbox keeps the pages from reaching the notebook, which can run code.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(self.html)}" '
            f'style="width:100%;height:{self.height:d}px;border:0"></iframe>'
        )


_NAMES = (
    *("name", "hosts", "tool", "table", "xprof", "summary", "why", "compare", "scaled", "events", "steps", "ops"),
    *("kernels", "allocations", "args", "arrows", "sql", "report", "show", "close"),
)
"""Names that completion offers; the other ones are for this package."""


class Capture(Session):
    """A session that answers by the names of its tools."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], spec: str = "") -> Capture:
        """The capture at a logdir (its newest session), a run folder or a single file."""
        return cls(store.resolve(path), executor=executor(spec))

    @classmethod
    def below(cls, logdir: str | os.PathLike[str], spec: str = "") -> list[Capture]:
        """All captures below a logdir, the newest first."""
        return [cls(stored, executor=executor(spec)) for stored in store.Logdir(os.fspath(logdir)).sessions()]

    def __dir__(self) -> list[str]:
        return list(_NAMES)

    def __repr__(self) -> str:
        hosts = f"{len(self.hosts)} host{'' if len(self.hosts) == 1 else 's'}"
        return printable(f"<Capture {self.name!r}: {hosts}, {self.stored.size / 1e6:.1f} MB>")

    def _repr_html_(self) -> str:
        """The headline of Why and how to go on; or why the capture cannot be read."""
        try:
            text = self.why().answer["headline"]["text"]
        except ProblemError as error:
            text = str(error.problem)
        more = "<code>.summary()</code> <code>.why()</code> <code>.steps()</code> <code>.show()</code>"
        return f"<p><b>{escape(repr(self)[1:-1])}</b><br>{escape(printable(text))}<br>{more}</p>"

    def table(self, name: str, table: str = "", host: str = "", **options: str) -> Frame:
        """A table of a tool's answer, the first one with nothing, for data frames.

        Raises `ProblemError` as `answer` does, and where the answer has no table of that name.
        """
        return Frame.of_answer(self.answer(name, host, **options), table)

    def tool(self, name: str, host: str = "", **options: str) -> Json:
        """A tool's answer by name (see docs/answers.md) for one host, or for all with nothing.

        Options as ``tb-profile tool`` takes them. Raises `ProblemError` for a tool, a host or an option that does not
        exist, and for an unreadable capture.
        """
        return tools.get(name).run(self, host, **options)

    answer = tool

    def xprof(self, name: str, host: str = "", **options: str) -> Json:
        """A tool's answer in the shape of the existing plugin, for scripts that were made for it."""
        return compat.answer(tools.get(name), self, host, **options)

    def summary(self, host: str = "") -> Summary:
        """The most important on one page, as ``tb-profile summary`` writes it; shows itself in notebooks."""
        return Summary(summary.summary(self.name, {name: self.answer(name, host) for name in summary.TOOLS}))

    def why(self, host: str = "", **options: str) -> Why:
        """Why steps take so long; prints as ``tb-profile why`` does, and shows itself in notebooks."""
        return Why(self.answer("why", host, **options))

    def compare(
        self,
        base: str | os.PathLike[str],
        *bases: str | os.PathLike[str],
        also: Sequence[str | os.PathLike[str]] = (),
        items: tuple[int, int] = (1, 1),
        threshold: float = DEFAULT_THRESHOLD,
    ) -> Compared:
        """Whether this one is faster than the base, by how much, why, and whether that is noise.

        The base is a path, or several, as ``tb-profile compare`` takes them, reports and digests too; so are more
        captures of this side, ``also``. ``items`` are what a step of the base and of this side works through,
        ``threshold`` what matters in practice, as a share of the step. Raises `ProblemError` for what cannot be read.
        """
        result_cache = ResultCache(True)

        def digests(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str, Digest]]:
            sources = [load.named_source(os.fspath(path)) for path in paths]
            return [(source.name, load.load(source, result_cache)) for source in sources]

        own = self.name, load.digest_of(load.Source(self.name, self.stored, None), result_cache, lambda: self)
        base_side = side_of_digests(digests([base, *bases]), items[0])
        comparison = compare(base_side, side_of_digests([own, *digests(also)], items[1]))
        return Compared(comparison, verdict(comparison, threshold))

    def scaled(
        self, op: str, factor: float = 0.5, host: str = "", *, steps: str = TYPICAL, step_event: str = ""
    ) -> Scaled:
        """What a step would take at least if one op took another time; see `analysis.diagnosis.scaled`."""
        return scaled(self.select(host, step_event=step_event), op, factor, checked_choice(steps))

    def events(
        self,
        host: str = "",
        *,
        line: str = "",
        name: str = "",
        begin_ps: int | None = None,
        end_ps: int | None = None,
        details: bool = False,
    ) -> Frame:
        """Every event of one host, or of all with nothing, as a table for data frames (see docs/frames.md).

        ``line`` and ``name`` are patterns such as ``Stream*`` and ``*gemm*``; an event lies between two moments, ps
        since the first event, if a part of it does. With ``details``, which must be worked out, it has columns for its
        thread, self time, op, category, correlation and bytes. Raises `ProblemError` for an unreadable capture, as
        those below.
        """
        return events.events(self.select(host), line, name, begin_ps, end_ps, details)

    def args(self, host: str = "") -> Frame:
        """The stats of all events, a row for each stat."""
        return details.args(self.select(host))

    def arrows(self, host: str = "") -> Frame:
        """Links from one event to another, which the Timeline draws as arrows."""
        return details.arrows(self.select(host))

    def steps(self, host: str = "", *, steps: str = TYPICAL, step_event: str = "") -> Frame:
        """Each host's steps and their parts, which sum to each; options as the tools take them."""
        needs = [need(function, step_event=step_event) for function in (window, *NEEDS)]
        return figures.steps(self.select(host, needs, step_event), steps)

    def ops(self, host: str = "") -> Frame:
        """What each op cost on each host, as the tool ``framework_op_stats`` counts."""
        return figures.ops(self.select(host, [need(device_ops), need(host_ops)]))

    def kernels(self, host: str = "") -> Frame:
        """What each kernel cost on each host, as the tool ``kernel_stats`` counts."""
        return figures.kernels(self.select(host, [need(launches)]))

    def allocations(self, host: str = "") -> Frame:
        """Every allocation and what gave it back, as the tool ``memory_profile`` reads them."""
        return figures.allocations(self.select(host))

    def sql(
        self,
        query: str,
        host: str = "",
        *,
        also: Sequence[Capture] = (),
        rows: int = DEFAULT_ROWS,
        seconds: float = DEFAULT_SECONDS,
    ) -> Frame:
        """The rows of one SELECT over these tables, by DuckDB in a process of its own (see docs/sql.md).

        The column ``session`` tells this capture from those that are asked ``also``. Raises `ProblemError` for a query
        that is refused, wrong, or takes too long or too much.
        """
        return self.sql_result(query, host, rows, seconds, also).frame

    def sql_result(
        self,
        query: str,
        host: str = "",
        rows: int = DEFAULT_ROWS,
        seconds: float = DEFAULT_SECONDS,
        also: Sequence[Capture] = (),
    ) -> QueryResult:
        """What `sql` returns, and whether there are more rows."""
        return query_tables(self.sql_tables(host, also), query, rows, seconds)

    def sql_tables(self, host: str = "", also: Sequence[Capture] = ()) -> dict[str, Callable[[], Frame]]:
        """Functions that make SQL's tables, by the tables' names; each table is made once."""
        names = [capture.name for capture in (self, *also)]
        labels = [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]
        captures = list(zip(labels, (self, *also), strict=True))

        def table_of_captures(name: str) -> Frame:
            return tables.table_of_sessions(name, [(label, capture._table(name, host)) for label, capture in captures])

        return {name: cache(partial(table_of_captures, name)) for name in tables.TABLES}

    def _table(self, name: str, host: str) -> Frame:
        if name == "hosts":
            return details.hosts(self.select(host))
        if name == "events":
            return self.events(host, details=True)
        return getattr(self, name)(host)

    def report(
        self, path: str | os.PathLike[str], as_is: bool = False, base: str | os.PathLike[str] | None = None
    ) -> None:
        """Write the pages of this session into one HTML file, redacted unless ``as_is``, as ``tb-profile report``.

        With the path of a ``base`` it holds both sessions, before and after.
        """
        from .serve.report import report

        base_capture = None if base is None else Capture.at(base)
        Path(path).write_text(report(self, as_is, base=base_capture).html, encoding="utf-8", errors="replace")

    def show(self, height: int = 700) -> NotebookPage:
        """The pages of this capture, not redacted, in a frame that cannot reach the notebook."""
        from .serve.report import report

        return NotebookPage(report(self, as_is=True).html, height)
