"""For pytest, which loads it by name: the fixture ``profile_budget`` profiles steps and holds them to budgets.

Nothing else is imported before a test asks for it. The framework is the one that the test has imported.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..compare.side import Side
    from .decide import Outcome

MARKER = "profile_budget"
_METRICS = {"memory_peak": "memory.peak:*", "memory_growth": "memory.growth:*", "device_idle": "device.idle"}
"""Metrics whose names are none of Python's."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    group = parser.getgroup("tb-profile", "budgets of profiled steps")
    group.addoption("--profile-baseline", metavar="DIR", help="folder of baselines, one for each name")
    group.addoption("--profile-update", action="store_true", help="keep what passes as a baseline")
    group.addoption("--profile-strict", action="store_true", help="unproven estimates beyond limits fail, too")
    group.addoption("--profile-keep", metavar="DIR", help="keep captures there")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{MARKER}(**limits): what profiled steps of a test may take, e.g. launches=410")


def _bound(name: str) -> str:
    from .metrics import find

    found = find(name)
    return "min" if found and found.metric.higher else "max"


class Metric:
    """One figure of a run, and what it is held to; each check gives the metric again."""

    def __init__(self, run: Run, name: str):
        self._run, self._name = run, name

    @property
    def value(self) -> float | None:
        """Times in ps; None where the capture does not tell it."""
        from .measure import value_of

        found = value_of(self._name, self._run.side)
        return found.value if found else None

    def max(self, limit: str | int) -> Metric:
        """At most that; raises AssertionError where it is proven to be more."""
        self._run.check({"metric": self._name, "max": limit})
        return self

    def min(self, limit: str | int) -> Metric:
        """At least that, of what is better the higher."""
        self._run.check({"metric": self._name, "min": limit})
        return self

    def change(self, limit: str) -> Metric:
        """At most that against the baseline, where there is one; at least, of what is better the higher."""
        self._run.check({"metric": self._name, f"{_bound(self._name)}-change": limit})
        return self


class Run:
    """Steps that are profiled: see docs/check.md."""

    def __init__(self, name: str, steps: int, warmup: int, folder: Path, config: pytest.Config):
        self.name, self._steps, self._warmup = name, steps, warmup
        self._folder, self._config = folder, config
        self._profiler = _profiler()
        self._profiling = ExitStack()
        self._side: Side | None = None
        self._base: Side | None = None
        self.outcomes: list[Outcome] = []

    def steps(self) -> Iterator[int]:
        """Numbers of steps: those that warm up first, then the ones that are profiled, each marked."""
        yield from range(-self._warmup, 0)
        self._profiling.enter_context(self._profiler.trace(self._folder))
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
            raise RuntimeError("The run is judged after its block: check it there.")
        return self._side

    @property
    def step(self) -> Metric:
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

    def metric(self, name: str) -> Metric:
        """Any metric of docs/check.md."""
        return Metric(self, name)

    def check(self, table: dict[str, Any]) -> None:
        """Hold the run to a budget; raises AssertionError where it is broken."""
        __tracebackhide__ = True
        from .config import Config, budget
        from .decide import BROKEN, decide, exit_code

        outcomes = decide(Config(budgets=(budget(table),)), self.side, self._base, missing_passes=True)
        self.outcomes += outcomes
        if exit_code(outcomes, bool(self._config.getoption("--profile-strict"))) == BROKEN:
            raise AssertionError(" ".join(each.text for each in outcomes))

    def _finish(self) -> None:
        from ..compare.load import load, source
        from ..compare.side import side
        from ..store.kept import Kept
        from . import baselines

        self._profiling.close()
        digest = load(source(str(self._folder)), Kept(False))
        self._side = side([(self.name, digest)])
        root = self._config.getoption("--profile-baseline")
        known = baselines.read(baselines.folder(Path(root), self.name), digest) if root else []
        self._base = side(known) if known else None

    def _keep(self) -> None:
        from . import baselines

        root = self._config.getoption("--profile-baseline")
        if root and self._config.getoption("--profile-update"):
            baselines.write(baselines.folder(Path(root), self.name), list(self.side.digests))


class _Profiler:
    """What a framework's profiler is asked for."""

    def __init__(self, trace: Callable[[Path], Any], mark: Callable[[int], Any], block: Callable[[Any], Any]):
        self.trace, self.mark, self.block = trace, mark, block


def _profiler() -> _Profiler:
    jax, tensorflow = sys.modules.get("jax"), sys.modules.get("tensorflow")
    if jax is not None:
        return _Profiler(
            lambda folder: jax.profiler.trace(str(folder)),
            lambda number: jax.profiler.StepTraceAnnotation("train", step_num=number),
            lambda value: jax.block_until_ready(value),
        )
    if tensorflow is not None:
        profiler = tensorflow.profiler.experimental
        return _Profiler(
            lambda folder: profiler.Profile(str(folder)),
            lambda number: profiler.Trace("train", step_num=number, _r=1),
            lambda value: tensorflow.nest.map_structure(lambda each: getattr(each, "numpy", lambda: each)(), value),
        )
    raise RuntimeError("profile_budget profiles JAX or TensorFlow: import one of them in the test.")


@pytest.fixture
def profile_budget(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Called with a name, ``steps`` and ``warmup``: a context that gives the `Run`."""

    @contextmanager
    def budget(name: str, steps: int = 30, warmup: int = 5) -> Iterator[Run]:
        kept = request.config.getoption("--profile-keep")
        place = nullcontext(str(Path(kept) / name)) if kept else tempfile.TemporaryDirectory(prefix="tb-profile-")
        with place as folder:
            run = Run(name, steps, warmup, Path(folder), request.config)
            with run._profiling:
                yield run
            run._finish()
            for marker in request.node.iter_markers(MARKER):
                for metric, limit in marker.kwargs.items():
                    name = _METRICS.get(metric, metric)
                    run.check({"metric": name, _bound(name): limit})
            run._keep()

    return budget
