"""For pytest, which loads it by name: the fixture ``profile_budget`` profiles steps and holds them to budgets.

Nothing else is imported before a test asks for it. The framework is the one that the test has imported. What became of
each budget stands in a section of its own at the end, also of those that pass without having been proven.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..analysis.compare.side import Side
    from .decide import Outcome

MARKER = "profile_budget"
_TITLE = "profile budgets"
_METRIC_NAMES = {"memory_peak": "memory.peak:*", "memory_growth": "memory.growth:*", "device_idle": "device.idle"}
"""Metrics whose names are none of Python's."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("tb-profile", "budgets of profiled steps")
    group.addoption("--profile-baseline", metavar="DIR", help="folder of baselines")
    group.addoption("--profile-update", action="store_true", help="save passing runs as baselines")
    group.addoption("--profile-strict", action="store_true", help="fail on inconclusive results above the limit")
    group.addoption("--profile-keep", metavar="DIR", help="folder to keep captures in")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{MARKER}(**limits): what profiled steps of a test may take, e.g. launches=410")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what became of each budget."""
    from ..runtime.terminal import printable

    teardowns = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
    ]
    # They travel as properties of reports: so they come from other processes, and into JUnit's file, too.
    lines = [
        f"{report.nodeid}: {text}" for report in teardowns for key, text in report.user_properties if key == MARKER
    ]
    if lines:
        terminalreporter.section(_TITLE)
        for line in lines:
            terminalreporter.write_line(printable(line))


class UnprovenBudget(pytest.PytestWarning):
    """A budget that passes because nothing proves that it is broken, nor that it is met."""


def _limit_key(name: str) -> str:
    from .metrics import find_metric

    measured = find_metric(name)
    return "min" if measured and measured.metric.higher else "max"


class RunMetric:
    """One figure of a run, and what it is held to; each check gives the metric again."""

    def __init__(self, run: Run, name: str):
        self._run, self._name = run, name

    @property
    def value(self) -> float | None:
        """Times in ps; None where the capture does not tell it."""
        from .measure import value_of

        measured = value_of(self._name, self._run.side)
        return measured.value if measured else None

    def max(self, limit: str | int) -> RunMetric:
        """At most that; raises AssertionError where it is proven to be more."""
        self._run.check({"metric": self._name, "max": limit})
        return self

    def min(self, limit: str | int) -> RunMetric:
        """At least that, of what is better the higher."""
        self._run.check({"metric": self._name, "min": limit})
        return self

    def change(self, limit: str) -> RunMetric:
        """At most that against the baseline, where there is one; at least, of what is better the higher."""
        self._run.check({"metric": self._name, f"{_limit_key(self._name)}-change": limit})
        return self


class Run:
    """Steps that are profiled: see docs/check.md."""

    def __init__(self, name: str, steps: int, warmup: int, folder: Path, node: pytest.Item, framework: str):
        self.name, self._steps, self._warmup = name, steps, warmup
        self._folder, self._node = folder, node
        self._root: str | None = node.config.getoption("--profile-baseline")
        self._updates: bool = node.config.getoption("--profile-update")
        self._strict: bool = node.config.getoption("--profile-strict")
        self._profiler = _profiler(framework)
        self._profiler_stack = ExitStack()
        self._side: Side | None = None
        self._base: Side | None = None
        self.outcomes: list[Outcome] = []

    def steps(self) -> Iterator[int]:
        """Numbers of steps: those that warm up first, then the ones that are profiled, each marked."""
        yield from range(-self._warmup, 0)
        self._profiler_stack.enter_context(self._profiler.trace(self._folder))
        for number in range(self._steps):
            with self._profiler.mark(number):
                yield number

    def block(self, value: Any = None) -> Any:
        """Wait for the device; give the value back."""
        return self._profiler.block(value)

    @property
    def side(self) -> Side:
        """The run's digest; raises RuntimeError before the steps are over."""
        if self._side is None:
            raise RuntimeError("Read the outcome after the block, when the run is judged.")
        return self._side

    @property
    def step(self) -> RunMetric:
        """The time from step to step."""
        return self.metric("step")

    @property
    def compiles(self) -> float | None:
        """Compilations in steps that count."""
        return self.metric("compiles").value

    @property
    def launches(self) -> float | None:
        """Ops and kernels in a step."""
        return self.metric("launches").value

    def metric(self, name: str) -> RunMetric:
        """Any metric of docs/check.md."""
        return RunMetric(self, name)

    def check(self, table: dict[str, Any]) -> None:
        """Hold the run to a budget; raises AssertionError where it is broken, or no baseline at all is there."""
        __tracebackhide__ = True
        from . import output
        from .config import Config, budget
        from .decide import BROKEN, decide, exit_code

        outcomes = decide(Config(budgets=(budget(table),)), self.side, self._base)
        for outcome in outcomes:
            self.outcomes.append(outcome)
            self._node.user_properties.append((MARKER, output.outcome_line(outcome)))
            if outcome.state == "unclear" or (outcome.state == "unjudged" and not self._updates):
                warnings.warn(UnprovenBudget(f"{outcome.text}{self._baseline_hint(outcome)}"), stacklevel=3)
        if exit_code(outcomes, self._strict) == BROKEN:
            raise AssertionError(" ".join(outcome.text for outcome in outcomes))

    def _baseline_hint(self, outcome: Outcome) -> str:
        """What to do for a baseline where a change has none; raises AssertionError where those named are not there."""
        __tracebackhide__ = True
        if self._base or not outcome.budget.is_of_change:
            return ""
        if not self._root:
            return " Name a folder of baselines with --profile-baseline."
        if not any(Path(self._root).glob("*/*.json")):
            raise AssertionError(f"{outcome.text} {self._root} holds no baselines: create them with --profile-update.")
        return f" {self._root} has no baseline of {self.name!r} for this machine: create it with --profile-update."

    def _finish(self) -> None:
        from ..analysis.compare.load import load, named_source
        from ..analysis.compare.side import side_of_digests
        from ..store.result_cache import ResultCache
        from . import baselines

        self._profiler_stack.close()
        digest = load(named_source(str(self._folder)), ResultCache(False))
        self._side = side_of_digests([(self.name, digest)])
        earlier_digests = baselines.read(baselines.folder(Path(self._root), self.name), digest) if self._root else []
        self._base = side_of_digests(earlier_digests) if earlier_digests else None

    def _save_baseline(self) -> None:
        from . import baselines

        if self._root and self._updates:
            baselines.write(baselines.folder(Path(self._root), self.name), list(self.side.digests))


class _Profiler:
    """What a framework's profiler is asked for."""

    def __init__(self, trace: Callable[[Path], Any], mark: Callable[[int], Any], block: Callable[[Any], Any]):
        self.trace, self.mark, self.block = trace, mark, block


def _jax(jax: Any) -> _Profiler:
    return _Profiler(
        lambda folder: jax.profiler.trace(str(folder)),
        lambda number: jax.profiler.StepTraceAnnotation("train", step_num=number),
        jax.block_until_ready,
    )


def _tensorflow(tensorflow: Any) -> _Profiler:
    profiler = tensorflow.profiler.experimental
    return _Profiler(
        lambda folder: profiler.Profile(str(folder)),
        lambda number: profiler.Trace("train", step_num=number, _r=1),
        lambda value: tensorflow.nest.map_structure(lambda leaf: getattr(leaf, "numpy", lambda: leaf)(), value),
    )


def _torch(torch: Any) -> _Profiler:
    def block(value: Any) -> Any:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return value

    profiler = torch.profiler
    return _Profiler(
        lambda folder: profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(folder))),
        # As its own profiler marks them where it has a schedule.
        lambda number: profiler.record_function(f"ProfilerStep#{number}"),
        block,
    )


_FRAMEWORKS = {"jax": _jax, "tensorflow": _tensorflow, "torch": _torch}


def _profiler(framework: str) -> _Profiler:
    """The profiler of the framework, or without one of the first that is imported."""
    for name in [framework] if framework else _FRAMEWORKS:
        if name in _FRAMEWORKS and name in sys.modules:
            return _FRAMEWORKS[name](sys.modules[name])
    names = ", ".join(_FRAMEWORKS)
    raise RuntimeError(f"profile_budget profiles {names}: import {framework or 'one of them'} in the test.")


@pytest.fixture
def profile_budget(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Called with a name, ``steps``, ``warmup`` and a ``framework`` where several are imported: gives the `Run`."""

    @contextmanager
    def budget(name: str, steps: int = 30, warmup: int = 5, framework: str = "") -> Iterator[Run]:
        keep_folder = request.config.getoption("--profile-keep")
        folder_context = (
            nullcontext(str(Path(keep_folder) / name))
            if keep_folder
            else tempfile.TemporaryDirectory(prefix="tb-profile-")
        )
        with folder_context as folder:
            run = Run(name, steps, warmup, Path(folder), request.node, framework)
            with run._profiler_stack:
                yield run
            run._finish()
            for marker in request.node.iter_markers(MARKER):
                for metric, limit in marker.kwargs.items():
                    name = _METRIC_NAMES.get(metric, metric)
                    run.check({"metric": name, _limit_key(name): limit})
            run._save_baseline()

    return budget
