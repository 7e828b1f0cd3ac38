"""One host of a capture: its planes by role, its steps, and what is worked out of them, once for all tools.

Its events can be evicted from memory. Then it knows its problems and the results of the per-host functions that keep
theirs, and decodes its capture anew for whatever else is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.columns import Plane, XSpace, vocabulary
from ..formats.xspace import hlo
from ..runtime.arrays import Array
from ..runtime.memo import Memo, lazy
from ..runtime.messages import Message
from ..runtime.problems import Problem
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from .events.event_table import is_derived
from .events.ownership import work_events
from .events.tpu_runs import with_shifted_tpu_clocks
from .events.trace import Trace
from .names.host_events import is_frame
from .per_host import Need, name_of, per_host
from .steps import step_rules
from .steps.recorded_steps import with_recorded
from .steps.step_rules import Steps

if TYPE_CHECKING:
    from ..formats.xspace.hlo.module import Module

UNKNOWN_HOSTNAME = "localhost"
"""Name of hosts whose captures do not name them."""

_MOST_ARGUMENTS = 8
"""Combinations of arguments for which results of a per-host function are held: people may choose any number."""
_NO_RESULT = object()
_REMEDIES = {
    "libcupti": Message(
        "Add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH, and check with `ldconfig -p | grep "
        "libcupti`: TensorFlow could not load CUPTI."
    ),
    "INSUFFICIENT_PRIVILEGES": Message(
        "Load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run the container with "
        "--cap-add SYS_ADMIN: only administrators may profile."
    ),
}
"""By a part of what the profiler reports, what helps."""


class HostSummary(NamedTuple):
    """What is known of a host without its events: plain data, which travels between processes."""

    hostname: str
    origin_ns: int
    problems: list[Problem]
    results: dict[str, dict[tuple[Any, ...], Any]]
    """Results of the per-host functions that keep theirs, by the function's name and its arguments."""


class Host:
    """What one host's capture holds, in the field's terms."""

    def __init__(
        self,
        name: str,
        space: XSpace | None = None,
        load: Callable[[Host], XSpace] | None = None,
        on_loaded: Callable[[Host], None] = lambda host: None,
    ):
        """With a decoded ``space``, or one that ``load`` decodes when it is needed; then ``on_loaded`` is called."""
        self.name = name
        """As the file names it."""
        self._space = space and with_shifted_tpu_clocks(space)
        self._load = load
        self._on_loaded = on_loaded
        self._loading: Memo[XSpace] = Memo()
        self._lasting_memos: dict[str, Memo[Any]] = {}
        self._event_memos: dict[str, Memo[Any]] = {}
        self.is_known = space is not None
        """Whether it was decoded, here or by a worker whose summary it has."""

    @property
    def is_decoded(self) -> bool:
        """Whether its events are in memory."""
        return self._space is not None

    @property
    def space(self) -> XSpace:
        """The decoded capture; raises `ProblemError` where it cannot be read (again)."""
        if self._space is None:
            load = self._load
            assert load, "a host has its capture or can load it"
            space = self._loading.get("space", lambda: with_shifted_tpu_clocks(load(self)))
            if self._space is None:
                self._space, self.is_known = space, True
                self._on_loaded(self)
        return self._space

    def results(self, function: str, keep: bool) -> Memo[Any]:
        """The results of a per-host function by its arguments."""
        memos = self._lasting_memos if keep else self._event_memos
        memo = memos.get(function)
        return memos.setdefault(function, Memo(_MOST_ARGUMENTS)) if memo is None else memo

    def knows(self, need: Need) -> bool:
        """Whether the result of this need is known, and stays when the events are evicted."""
        memo = self._lasting_memos.get(name_of(need.function))
        return memo is not None and memo.peek(need.key, _NO_RESULT) is not _NO_RESULT

    def evicted(self) -> Host:
        """This host without its events, which are decoded anew when they are needed.

        This one stays as it is for those who work with it.
        """
        host = Host(self.name, load=self._load, on_loaded=self._on_loaded)
        host.adopt(self.summary())
        return host

    def summary(self) -> HostSummary:
        """What is known without the events."""
        results = {name: dict(memo.items()) for name, memo in list(self._lasting_memos.items())}
        return HostSummary(self.hostname, self.origin_ns, self.problems, results)

    def adopt(self, summary: HostSummary) -> None:
        """Know what was worked out elsewhere."""
        vars(self).update(hostname=summary.hostname, origin_ns=summary.origin_ns, problems=summary.problems)
        for name, results in summary.results.items():
            for arguments, result in results.items():
                self.results(name, keep=True).put(arguments, result)
        self.is_known = True

    @lazy
    def cpu(self) -> Plane | None:
        """The plane of the host's threads."""
        return self.space.plane(vocabulary.HOST_CPU)

    @lazy
    def gpus(self) -> list[Plane]:
        """All GPU planes, those without events too."""
        return self.space.planes_with_prefix(vocabulary.GPU)

    @lazy
    def tpus(self) -> list[Plane]:
        """TensorCore planes of TPUs."""
        planes = self.space.planes_with_prefix(vocabulary.TPU)
        return [plane for plane in planes if plane.name.removeprefix(vocabulary.TPU).isdigit()]

    @lazy
    def devices(self) -> list[Plane]:
        """Planes of devices that recorded events: of GPUs on streams, since lines derived from others are no record."""
        if self.gpus:
            return [plane for plane in self.gpus if self.on_streams(plane).any()]
        return [plane for plane in self.tpus if len(plane.events)]

    @lazy
    def origin_ns(self) -> int:
        """What the wall clock said when the host's own times were 0: ns since the epoch, 0 where it is not known.

        Times that are no times of day count from the start of the profile, which the Task Environment states.
        """
        plane = self.space.plane(vocabulary.TASK_ENVIRONMENT)
        start = plane.facts().get("profile_start_time") if plane else None
        return self.space.origin_ns or (start if isinstance(start, int) and start > 0 else 0)

    @lazy
    def hostname(self) -> str:
        """As the capture itself names its host."""
        return self.space.hostnames[0] if self.space.hostnames else UNKNOWN_HOSTNAME

    @lazy
    def trace(self) -> Trace:
        """All events with nesting and links."""
        return Trace(self.space)

    @lazy
    def modules(self) -> dict[int, Module]:
        """XLA programs by id."""
        return hlo.modules(self.space)

    @property
    def underlying(self) -> Host:
        """The host itself, also where it is asked `with_steps`."""
        return self

    def with_steps(self, step_event: str = "") -> HostWithSteps:
        """This host with its steps: by the events of that name, or by the best rule where it is empty."""
        return HostWithSteps(self.underlying, step_event)

    @property
    def window(self) -> tuple[int, int]:
        """Begin and end of everything recorded, ps."""
        return window(self)

    @lazy
    def problems(self) -> list[Problem]:
        """What the capture itself says went wrong, and what could not be read."""
        problems = list(self.space.problems)
        problems += [_profiler_problem(text, self.name, "error") for text in dict.fromkeys(self.space.errors)]
        problems += [_profiler_problem(text, self.name, "warning") for text in dict.fromkeys(self.space.warnings)]
        return problems

    def stream_lines(self, plane: Plane) -> Array:
        """int64[k]: lines of a device that hold its own record, not what was derived from it."""
        return np.flatnonzero(~is_derived(plane.lines.id))

    def on_streams(self, plane: Plane) -> Array:
        """bool[events]: whether each event of a device lies on one of its `stream_lines`."""
        is_stream = np.zeros(len(plane.lines), bool)
        is_stream[self.stream_lines(plane)] = True
        return is_stream[plane.events.line]


class HostWithSteps(Host):
    """A host and which of its events are counted as steps.

    It shares all state with the host that it was made of: what one decodes or works out, the other knows.
    """

    __slots__ = ("_underlying", "step_event")

    def __init__(self, host: Host, step_event: str):
        self.__dict__ = host.__dict__
        self._underlying = host
        self.step_event = step_event
        """Their name; empty where a rule finds the steps."""

    @property
    def underlying(self) -> Host:
        """The host that it was made of."""
        return self._underlying

    @property
    def space(self) -> XSpace:
        """As the host itself has it, which the session knows by what it has loaded."""
        return self._underlying.space

    @property
    def steps(self) -> Steps:
        """Without each event's group."""
        return steps_of(self)

    @property
    def grouped_steps(self) -> Steps:
        """With each event's group."""
        return _grouped_steps(self)


@per_host(keep=True)
def steps_of(host: HostWithSteps) -> Steps:
    """The steps by the events of that name, or by the best rule that finds any; without each event's group."""
    return host.grouped_steps.without_events()


@per_host
def _grouped_steps(host: HostWithSteps) -> Steps:
    return with_recorded(host.trace, step_rules.find(host.trace, host.step_event))


@per_host(keep=True)
def window(host: Host) -> tuple[int, int]:
    """Begin and end of everything recorded, ps; (0, 0) where nothing is. Counters, of which samples may follow long
    after the program, count only where nothing else is recorded.
    """
    trace = host.trace
    is_counter = np.zeros(len(trace), bool)
    for offset, plane in trace.parts:
        for line, name in enumerate(plane.lines.name):
            events = plane.lines.events(line)
            is_counter[offset + events.start : offset + events.stop] = name == vocabulary.COUNTERS
    selected = ~is_counter if is_counter.any() and not is_counter.all() else slice(None)
    return (int(trace.begin[selected].min()), int(trace.end[selected].max())) if len(trace) else (0, 0)


_START_FRAMES = regex(r"\$profiler\w*\.py:\d+ (?:start_trace|start)$")
_STOP_FRAMES = regex(r"\$profiler\w*\.py:\d+ (?:stop_trace|stop)$")
"""Frames of JAX's and TensorFlow's profiler at work on itself."""


@per_host(keep=True)
def run_window(host: Host) -> tuple[int, int]:
    """`window` without the profiler's own start and stop, where Python's tracer recorded these and nothing computed.

    A program without any work, such as one of a device that was not recorded, ran where it recorded anything.
    """
    trace, (begin, end) = host.trace, window(host)
    starts, stops = trace.events_named(_START_FRAMES.match), trace.events_named(_STOP_FRAMES.match)
    if not len(starts) and not len(stops):
        return begin, end
    of_profiler = np.zeros(len(trace), bool)
    for frame in [*starts.tolist(), *stops.tolist()]:
        of_profiler[frame : trace.nesting.stop[frame]] = True
    work = trace.once(work_events)
    work = work[~of_profiler[work]]
    if not len(work):
        of_profiler[trace.events_named(is_frame)] = True
        work = np.flatnonzero(~of_profiler)
    if not len(work):
        return begin, end
    low, high = int(trace.begin[work].min()), int(trace.end[work].max())
    starts, stops = starts[trace.begin[starts] <= low], stops[trace.end[stops] >= high]
    if len(starts):
        begin = min(int(trace.end[starts].max()), low)
    if len(stops):
        end = max(int(trace.begin[stops].min()), high)
    return begin, end


def _profiler_problem(text: str, host: str, severity: str) -> Problem:
    remedy = next((advice for key, advice in _REMEDIES.items() if key in text), "")
    return Problem("reported_by_profiler", text, remedy, host, severity)
