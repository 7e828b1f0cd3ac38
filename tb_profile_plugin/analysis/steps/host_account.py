"""What one host's time went into: in each step, between steps, before and after them, and under which names."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import covered
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.steps.replicas import are_on_different_devices
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.device_events import device_work, host_work
from ..activity.event_classes import class_of
from ..activity.partition import ScopeTimes, partition, scope_times, time_in_windows
from ..activity.states import STATES, State
from ..activity.thread_classes import have_state
from ..labels.calling_lines import lines_of_names
from ..labels.calls_between import LongestCall, call_after_silence
from ..labels.device_timeline import DeviceTimeline, timeline
from ..labels.event_labels import event_labels
from ..labels.event_names import display_name
from ..labels.first_launches import LEAST_STARTING_PS, LOADING_CALL
from ..labels.xla_origins import XlaTimes, xla_times
from ..ops.device_event_kinds import DeviceKind, event_kinds

_MOST_NAMES = 64
"""So many names are told apart, those that took most time."""
_MOST_EVIDENCE = 5
"""So many intervals are kept of each state and name, the longest."""
_LONG_PS = 10**9
"""No time between two calls, one of many that follow one another, lasts so long (1 ms); what does is no such time."""
_START = regex(r"\$profiler(?:_v2)?\.py:\d+ start(?:_trace)?")
_STOP = regex(r"\$profiler(?:_v2)?\.py:\d+ stop(?:_trace)?")
"""Python's frames in which the profiler itself starts and stops."""
_COMPUTE, _EXPOSED_COLLECTIVE = int(State.COMPUTE), int(State.EXPOSED_COLLECTIVE)
_EXPOSED_COPY = int(State.EXPOSED_COPY)
_COMPUTE_OTHER, _COLLECTIVE = int(DeviceKind.COMPUTE_OTHER), int(DeviceKind.COLLECTIVE)
_ON_DEVICE = int(DeviceKind.ON_DEVICE)


class Interval(NamedTuple):
    """A time in one state: evidence that can be looked at in the timeline. Times are ps."""

    host: str
    state: str
    begin: int
    end: int
    event: int
    """The event that tells the state, as the trace numbers them; -1 for none."""
    name: str
    """By which of `HostFigures.names` it counts, else the event's own."""


class NamedTimes(NamedTuple):
    """Times by step, ps; of the window that stands for the only one where there are none."""

    state_ps: Array
    """int64[steps, states]: where steps overlap, the later one has what is left."""
    names: list[tuple[str, str]]
    """State and name of what took most time."""
    name_ps: Array
    """int64[steps, names]."""


class HostFigures(NamedTuple):
    """Times of one host, ps. The rows of each matrix are windows that follow one another without a gap: the profiler's
    start, before the first step, the first step, the time until the second, … the last step, after it, the profiler's
    stop. Without steps the time from the first to the last work of a device stands for the only one, with the driver's
    start before it.
    """

    has_steps: bool
    begins_before: bool
    """Whether the host began the first step before its window, which begins with its work."""
    are_replicas: bool
    """Whether the steps are not turns of a loop: each does its work on a device of its own."""
    edges: Array
    """int64[windows + 1]: where the windows begin, and where the last one ends."""
    state_ps: Array
    """int64[windows, states]: each row sums to its window."""
    step_ps: Array
    """int64[steps, states]: each row sums to its step, also where steps overlap; no rows without steps."""
    device_kind_ps: Array
    """int64[windows, len(DeviceKind)]: of the states in which devices work, by what they do."""
    names: list[tuple[str, str]]
    """State and name of what took most time."""
    name_ps: Array
    """int64[windows, names]."""
    name_count: Array
    """int64[windows, names]: events of that name that tell why in the window; one that tells it twice counts once."""
    lines: list[str]
    """Of each of the names the line of the program that it comes from, see `lines_of_names`."""
    name_long_ps: Array
    """int64[windows, names]: the part of ``name_ps`` in stretches of 1 ms and more that only that name tells."""
    evidence: list[Interval]
    """The longest intervals of each state and of each of the names, in steps and between them."""
    devices: list[str]
    """Those that did something."""
    device_ps: Array
    """int64[devices, states]: without the profiler's start and stop; each row sums to that time."""
    unrecorded_devices: list[str]
    """Devices that the capture names and of which it holds no event."""
    long_silent_ps: Array
    """int64[steps]: of the time in which nothing was recorded, what lies in intervals of 1 ms and more."""
    after_silence: LongestCall
    """What comes after most of these intervals."""
    xla: XlaTimes
    """What programs of XLA do, by where they come from."""
    scopes: ScopeTimes
    """What ops of TensorFlow compute, by their scopes."""

    @property
    def steps(self) -> slice:
        """The windows that are steps, or the one that stands for them."""
        return slice(2, len(self.edges) - 3, 2)

    @property
    def between(self) -> slice:
        """The windows between a step and the next."""
        return slice(3, len(self.edges) - 4, 2)

    @property
    def phases(self) -> Array:
        """str[windows]: ``steps``, ``between``, ``before``, ``after``, ``profiler``; without steps ``capture``."""
        phases = np.full(len(self.edges) - 1, "between", object)
        phases[self.steps] = "steps" if self.has_steps else "capture"
        phases[1], phases[-2] = "before", "after"
        phases[[0, -1]] = "profiler"
        return phases

    @property
    def named_times(self) -> NamedTimes:
        """All devices as one."""
        return NamedTimes(self.state_ps[self.steps], self.names, self.name_ps[self.steps])

    @property
    def window_ps(self) -> int:
        """From the first to the last event."""
        return int(self.edges[-1] - self.edges[0])


@per_host(keep=True)
def figures(host: HostWithSteps) -> HostFigures:
    """The times of one host."""
    host_timeline, edges = timeline(host), _window_edges(host)
    labelled = _labelled_timeline(host, host_timeline)
    names = labelled.names
    state_ps, name_ps, name_count, name_long_ps = _time_sums(
        edges, labelled.columns, len(STATES), len(names), len(host.trace)
    )
    step_begin, step_end = (np.ascontiguousarray(ps, np.int64) for ps in (host.steps.begin, host.steps.end))
    silent = _long_silences(host_timeline)
    first = host.steps.marker[:1][host.steps.marker[:1] >= 0]
    return HostFigures(
        has_steps=len(host.steps) > 0,
        begins_before=bool((host.trace.begin[first] < host.steps.begin[: len(first)]).any()),
        are_replicas=are_on_different_devices(host.trace, host.grouped_steps),
        edges=edges,
        state_ps=state_ps,
        step_ps=_step_ps(step_begin, step_end, edges, state_ps, host_timeline),
        device_kind_ps=_device_kind_ps(host, edges, host_timeline),
        names=names,
        name_ps=name_ps,
        name_count=name_count,
        name_long_ps=name_long_ps,
        lines=lines_of_names(host, *labelled.columns),
        evidence=_evidence(host, host_timeline, labelled, (edges[1], edges[-2])),
        devices=[work.name for work in device_work(host)],
        device_ps=partition(host, edges[1:2], edges[-2:-1])[0],
        unrecorded_devices=[plane.name for plane in host.gpus or host.tpus if not len(plane.events)],
        long_silent_ps=covered(step_begin, step_end, host_timeline.edges[silent], host_timeline.edges[silent + 1]),
        after_silence=call_after_silence(host, host_timeline.edges[silent], host_timeline.edges[silent + 1]),
        xla=xla_times(host, edges, host_timeline),
        scopes=scope_times(host, edges, host_timeline.edges, host_timeline.state, host_timeline.event),
    )


def named_times(host: HostWithSteps, device_timeline: DeviceTimeline) -> NamedTimes:
    """What another timeline of a host, such as one device's, says of the steps of its account."""
    of_host, labelled = figures(host), _labelled_timeline(host, device_timeline)
    names = labelled.names
    state_ps, name_ps, *_ = _time_sums(of_host.edges, labelled.columns, len(STATES), len(names), len(host.trace))
    return NamedTimes(state_ps[of_host.steps], names, name_ps[of_host.steps])


def _step_ps(begin: Array, end: Array, edges: Array, state_ps: Array, host_timeline: DeviceTimeline) -> Array:
    """``step_ps`` of `HostFigures`; ``state_ps`` is that of the windows with these ``edges``. What of a step lies
    outside of the record is unexplained.
    """
    # Windows are shorter where steps overlap, and what lies beyond the record is in none.
    are_windows = np.array_equal(edges[2:-2:2], begin) and np.array_equal(edges[3:-2:2], end)
    if are_windows:
        step_ps = state_ps[2:-2:2].copy()
    else:
        step_ps = time_in_windows(begin, end, host_timeline.edges, host_timeline.state, len(STATES))
    step_ps[:, State.UNEXPLAINED] += end - begin - step_ps.sum(axis=1)
    return step_ps


def _long_silences(host_timeline: DeviceTimeline) -> Array:
    """int64[k]: the long intervals of which nothing was recorded."""
    long = host_timeline.indices_lasting(_LONG_PS)
    return long[have_state(host_timeline.state[long], State.UNRECORDED)]


def _device_kind_ps(host: Host, edges: Array, host_timeline: DeviceTimeline) -> Array:
    """`HostFigures.device_kind_ps`; without devices nothing."""
    if not host.devices:
        return np.zeros((len(edges) - 1, len(DeviceKind)), np.int64)
    return _sums_by_kind(
        edges, host_timeline.edges, host_timeline.state, host_timeline.event, event_kinds(host), len(DeviceKind)
    )


@jit
def _sums_by_kind(edges: I64, interval_edges: I64, state: I8, event: I32, kind: I8, kinds: Int) -> I64Matrix:
    """int64[windows, kinds] ps: how long devices do what; the state says whether they compute, communicate or copy.

    ``kind`` is that of each event, and in the end what counts for work that no event tells.
    """
    device_kind_ps = np.zeros((len(edges) - 1, kinds), np.int64)
    first = 0
    for i in range(len(state)):
        if state[i] > _EXPOSED_COPY:
            continue
        own = np.int64(kind[event[i]] if event[i] >= 0 else kind[len(kind) - 1])
        if state[i] == _COMPUTE and own > _COMPUTE_OTHER:
            own = np.int64(_COMPUTE_OTHER)
        elif state[i] == _EXPOSED_COLLECTIVE:
            own = np.int64(_COLLECTIVE)
        elif state[i] == _EXPOSED_COPY and own <= _COLLECTIVE:
            own = np.int64(_ON_DEVICE)
        begin, end = interval_edges[i], interval_edges[i + 1]
        while first < len(device_kind_ps) - 1 and edges[first + 1] <= begin:
            first += 1
        window = first
        while begin < end and window < len(device_kind_ps):
            until = min(end, edges[window + 1])
            device_kind_ps[window, own] += until - begin
            begin = until
            window += 1
    return device_kind_ps


def _window_edges(host: HostWithSteps) -> Array:
    """int64[windows + 1]: see `HostFigures`."""
    steps, (low, high) = host.steps, host.window
    start = host.trace.end[host.trace.events_named(_START.fullmatch)].min(initial=high)
    stop = host.trace.begin[host.trace.events_named(_STOP.fullmatch)].max(initial=low)
    begin, end = (steps.begin, steps.end) if len(steps) else _work_span(host)
    start = min(start, begin[0]) if start < high else low
    stop = max(stop, end.max()) if stop > start else high
    step_edges = np.stack((begin, end), axis=1).reshape(-1)
    # Steps that overlap share no time: the later one has what is left.
    return np.maximum.accumulate(np.concatenate(([low, start], step_edges, [stop, high]))).clip(low, high)


def _work_span(host: Host) -> tuple[Array, Array]:
    """(begin, end), int64[1] each: from the first to the last work of any device, with the driver's start before it;
    everything where none worked.
    """
    works, trace = host_work(host), host.trace
    begin = min((int(work.begin[0]) for work in works if len(work)), default=host.window[0])
    end = max((int(work.end.max()) for work in works if len(work)), default=host.window[1])
    calls = trace.events_named(lambda name: LOADING_CALL.match(name) and class_of(name) != State.SYNC)
    starting = calls[(trace.end[calls] - trace.begin[calls] >= LEAST_STARTING_PS) & ~trace.on_device[calls]]
    return np.array([trace.begin[starting].min(initial=begin)]), np.array([end])


class _LabelColumns(NamedTuple):
    """Intervals that touch, and what tells each of them."""

    edges: I64
    """ps, one more than intervals."""
    state: I8
    event: I32
    label: I32
    """Row of its text among all labels, -1 for none."""
    row_of_name: I8
    """[states * labels]: which of `HostFigures.names` each label in each state is, -1 for none."""


class _LabelledTimeline(NamedTuple):
    names: list[tuple[str, str]]
    """The states and names that took most time."""
    columns: _LabelColumns


def _labelled_timeline(host: HostWithSteps, host_timeline: DeviceTimeline) -> _LabelledTimeline:
    """The intervals of a timeline with what tells them."""
    labels = event_labels(host, host_timeline, np.sort(host.steps.begin))
    count = len(labels.texts)
    label_ps = _sums_by_label(host_timeline.edges, host_timeline.state, labels.text, len(STATES), count)
    longest = np.argsort(-label_ps, kind="stable")[: min(_MOST_NAMES, np.count_nonzero(label_ps))]
    row_of_name = np.full(len(label_ps), -1, np.int8)
    row_of_name[longest] = np.arange(len(longest))
    names = [(STATES[key // count], labels.texts[key % count]) for key in longest.tolist()]
    columns = _LabelColumns(host_timeline.edges, host_timeline.state, labels.event, labels.text, row_of_name)
    return _LabelledTimeline(names, columns)


@jit
def _sums_by_label(edges: I64, state: I8, label: I32, states: Int, labels: Int) -> I64:
    """int64[states * labels] ps: of each label in each state."""
    label_ps = np.zeros(states * labels, np.int64)
    for i in range(len(state)):
        if label[i] >= 0:
            label_ps[np.int64(state[i]) * labels + label[i]] += edges[i + 1] - edges[i]
    return label_ps


@jit
def _time_sums(
    edges: I64, columns: _LabelColumns, states: Int, names: Int, events: Int
) -> tuple[I64Matrix, I64Matrix, I64Matrix, I64Matrix]:
    """(state_ps, name_ps, name_count, name_long_ps), see `HostFigures`: what goes on after it was interrupted has
    happened once.

    The intervals last from the first of the windows' edges to the last.
    """
    interval_edges, state, event, label, row_of_name = columns
    windows, labels = len(edges) - 1, len(row_of_name) // states
    state_ps, name_ps = np.zeros((windows, states), np.int64), np.zeros((windows, names), np.int64)
    name_count, name_long_ps = np.zeros((windows, names), np.int64), np.zeros((windows, names), np.int64)
    run_end, run_ps = 0, np.int64(0)
    # The window in which each event was met last, and a bit for each of its states there.
    last_window, state_bits = np.full(events, -1, np.int32), np.zeros(events, np.int32)
    first = 0
    for i in range(len(state)):
        begin, end, current = interval_edges[i], interval_edges[i + 1], np.int64(state[i])
        while first < windows - 1 and edges[first + 1] <= begin:
            first += 1
        if i >= run_end:
            run_end = i + 1
            while run_end < len(state) and state[run_end] == state[i] and label[run_end] == label[i]:
                run_end += 1
            run_ps = interval_edges[run_end] - begin
        name = np.int64(row_of_name[current * labels + label[i]]) if label[i] >= 0 else np.int64(-1)
        if name >= 0:
            row, bit = event[i], np.int32(1) << np.int32(current)
            state_bits[row] = state_bits[row] if last_window[row] == first else np.int32(0)
            last_window[row] = first
            name_count[first, name] += (state_bits[row] & bit) == 0
            state_bits[row] |= bit
        window = first
        while begin < end and window < windows:
            until = min(end, edges[window + 1])
            state_ps[window, current] += until - begin
            if name >= 0:
                name_ps[window, name] += until - begin
                name_long_ps[window, name] += (until - begin) * (run_ps >= _LONG_PS)
            begin = until
            window += 1
    return state_ps, name_ps, name_count, name_long_ps


def _evidence(
    host: Host, host_timeline: DeviceTimeline, labelled: _LabelledTimeline, window: tuple[int, int]
) -> list[Interval]:
    """The longest intervals of each name, and of each state those without one, from one moment to another (ps)."""
    keys = [*labelled.names, *((state, "") for state in STATES)]
    longest = _longest(labelled.columns, window, len(STATES), len(labelled.names), _MOST_EVIDENCE)
    evidence = []
    for (state, label), rows in zip(keys, longest.tolist(), strict=True):
        for i in filter(lambda i: i >= 0, rows):
            event = int(labelled.columns.event[i] if label else host_timeline.event[i])
            name = label or (display_name(host.trace.name(event)) if event >= 0 else "")
            begin, end = int(host_timeline.begin[i]), int(host_timeline.end[i])
            evidence.append(Interval(host.name, state, begin, end, event, name))
    return evidence


@jit
def _longest(columns: _LabelColumns, window: tuple[Int, Int], states: Int, names: Int, most: Int) -> I64Matrix:
    """int64[names + states, most]: the intervals of each name, and of each state those without one, that last longest
    between two moments, the earlier of equal ones first; -1 where there are no more.
    """
    low, high = window
    edges, state, _, label, row_of_name = columns
    labels = len(row_of_name) // states
    longest = np.full((names + states, most), -1, np.int64)
    longest_ps = np.zeros((names + states, most), np.int64)
    for i in range(len(state)):
        ps = min(edges[i + 1], high) - max(edges[i], low)
        row = np.int64(row_of_name[np.int64(state[i]) * labels + label[i]]) if label[i] >= 0 else np.int64(-1)
        row = row if row >= 0 else names + np.int64(state[i])
        rank = most
        while rank > 0 and ps > longest_ps[row, rank - 1]:
            if rank < most:
                longest_ps[row, rank], longest[row, rank] = longest_ps[row, rank - 1], longest[row, rank - 1]
            rank -= 1
        if rank < most:
            longest_ps[row, rank], longest[row, rank] = ps, i
    return longest
