"""What `tb_profile_plugin.open` returns: a session with its tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import compat, store, tools
from .analysis.chosen import TYPICAL, checked
from .analysis.deviceops import device_ops
from .analysis.diagnosis.scaled import Scaled, scaled
from .analysis.digest.record import Digest
from .analysis.hostops import host_ops
from .analysis.kernelstats import launches
from .analysis.steptime import NEEDS
from .compare import load
from .compare.engine import Comparison, compare
from .compare.side import side
from .compare.verdict import THRESHOLD, Verdict, verdict
from .contract.answer import Json
from .frames import events, figures
from .frames.frame import Frame
from .model.host import window
from .model.per_host import need
from .model.session import Session
from .report import compare as comparison
from .report import summary
from .runtime.executors import executor
from .sql import ask
from .store.kept import Kept

TABLES = ("events", "steps", "ops", "kernels", "allocations")
"""What SQL can ask of: the methods of `Capture` of these names."""


@dataclass(frozen=True)
class Summary:
    """A session on a page."""

    data: Json
    """See docs/summary.schema.json."""

    def __str__(self) -> str:
        return summary.markdown(self.data)

    _repr_markdown_ = __str__


@dataclass(frozen=True)
class Compared:
    """Two sides held against each other."""

    found: Comparison
    verdict: Verdict

    @property
    def data(self) -> Json:
        """As ``tb-profile compare --format json`` writes it; see docs/compare.md."""
        return comparison.nested(self.found, self.verdict)

    def __str__(self) -> str:
        return comparison.text(self.found, self.verdict)

    def _repr_markdown_(self) -> str:
        return comparison.markdown(self.found, self.verdict)


class Capture(Session):
    """A session that answers by the names of its tools."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], spec: str = "") -> Capture:
        """The capture at a logdir (its newest session), a run folder or a single file."""
        return cls(store.resolve(path), executor=executor(spec))

    def answer(self, name: str, host: str = "", **options: str) -> Json:
        """A tool's named answer (see docs/answers.md) for one host, or for all with nothing.

        Options as ``tb-profile tool`` takes them. Raises `ProblemError` for a tool, a host or an option that does not
        exist, and for an unreadable capture.
        """
        return tools.get(name).run(self, host, **options)

    def tool(self, name: str, host: str = "", **options: str) -> Json:
        """The same in the shape of the existing plugin, for scripts that were made for it."""
        return compat.answer(tools.get(name), self, host, **options)

    def summary(self, host: str = "") -> Summary:
        """The most important on a page: as ``tb-profile summary`` writes it, and as a notebook shows it."""
        return Summary(summary.summary(self.name, {name: self.answer(name, host) for name in summary.QUESTIONS}))

    def compare(
        self,
        base: str | os.PathLike[str],
        *bases: str | os.PathLike[str],
        also: Sequence[str | os.PathLike[str]] = (),
        items: tuple[int, int] = (1, 1),
        threshold: float = THRESHOLD,
    ) -> Compared:
        """Whether this one is faster than the base, by how much, why, and whether that is noise.

        The base is a path, or several, as ``tb-profile compare`` takes them, reports and digests too; so are more
        captures of this side, ``also``. ``items`` are what a step of the base and of this side works through,
        ``threshold`` what matters in practice, as a share of the step. Raises `ProblemError` for what cannot be read.
        """
        kept = Kept(True)

        def loaded(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str, Digest]]:
            return [(one.name, load.load(one, kept)) for one in (load.source(os.fspath(path)) for path in paths)]

        own = self.name, load.digest_of(load.Source(self.name, self.stored, None), kept, lambda: self)
        found = compare(side(loaded([base, *bases]), items[0]), side([own, *loaded(also)], items[1]))
        return Compared(found, verdict(found, threshold))

    def scaled(
        self, op: str, factor: float = 0.5, host: str = "", *, steps: str = TYPICAL, step_event: str = ""
    ) -> Scaled:
        """What a step would take at least if one op took another time; see `analysis.diagnosis.scaled`."""
        return scaled(self.select(host), op, factor, step_event, checked(steps))

    def events(
        self, host: str = "", *, line: str = "", name: str = "", begin_ps: int | None = None, end_ps: int | None = None
    ) -> Frame:
        """Every event of one host, or of all with nothing, as a table for data frames (see docs/frames.md).

        ``line`` and ``name`` are patterns such as ``Stream*`` and ``*gemm*``; an event lies between two moments, ps
        since the first event, if a part of it does. Raises `ProblemError` for an unreadable capture, as those below.
        """
        return events.events(self.select(host), line, name, begin_ps, end_ps)

    def steps(self, host: str = "", *, steps: str = TYPICAL, step_event: str = "") -> Frame:
        """Each host's steps and their parts, which sum to each; options as the tools take them."""
        needs = [need(each, step_event=step_event) for each in (window, *NEEDS)]
        return figures.steps(self.select(host, needs), step_event, steps)

    def ops(self, host: str = "") -> Frame:
        """What each op cost on each host, as the tool ``framework_op_stats`` counts."""
        return figures.ops(self.select(host, [need(device_ops), need(host_ops)]))

    def kernels(self, host: str = "") -> Frame:
        """What each kernel cost on each host, as the tool ``kernel_stats`` counts."""
        return figures.kernels(self.select(host, [need(launches)]))

    def allocations(self, host: str = "") -> Frame:
        """Every allocation and what gave it back, as the tool ``memory_profile`` reads them."""
        return figures.allocated(self.select(host))

    def sql(self, query: str, host: str = "", *, rows: int = ask.ROWS, seconds: float = ask.SECONDS) -> Frame:
        """The rows of one SELECT over the tables above, by DuckDB in a process of its own (see docs/sql.md).

        Raises `ProblemError` for a query that is refused, wrong, or takes too long or too much.
        """
        return self.sql_result(query, host, rows, seconds).frame

    def sql_result(self, query: str, host: str = "", rows: int = ask.ROWS, seconds: float = ask.SECONDS) -> ask.Result:
        """The same, and whether there are more rows."""
        tables = {name: partial(getattr(self, name), host) for name in TABLES}
        return ask.sql(tables, query, rows, seconds)

    def report(self, path: str | os.PathLike[str], as_is: bool = False) -> None:
        """Write the pages of this session into one HTML file, redacted unless ``as_is``, as ``tb-profile report``."""
        from .serve.report import report

        Path(path).write_text(report(self, as_is).html, encoding="utf-8", errors="replace")
