"""What one host's time went into: in each step, between steps, before and after them, and under which names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.events.steps import Steps
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.regex import regex
from ..activity.device_events import device_work, host_work
from ..activity.partition import partition, time_in_windows
from ..activity.states import STATES, State
from ..activity.thread_classes import have_state
from ..ops.device_event_kinds import DeviceKind, device_kinds
from .device_timeline import Timeline, timeline
from .event_labels import EventLabels, event_labels
from .event_names import display_name

_NAMES = 64
"""So many names are told apart, those that took most time."""
_EVIDENCE = 5
"""So many stretches of time are kept of each state, the longest."""
_LONG_PS = 10**9
"""No stretch between two calls, one of many that follow one another, lasts so long (1 ms)."""
_START = regex(r"\$profiler(?:_v2)?\.py:\d+ start(?:_trace)?")
_STOP = regex(r"\$profiler(?:_v2)?\.py:\d+ stop(?:_trace)?")
"""Python's frames in which the profiler itself starts and stops."""


_COMPUTE, _EXPOSED_COLLECTIVE = int(State.COMPUTE), int(State.EXPOSED_COLLECTIVE)
_EXPOSED_COPY = int(State.EXPOSED_COPY)
_COMPUTE_OTHER, _COLLECTIVE = int(DeviceKind.COMPUTE_OTHER), int(DeviceKind.COLLECTIVE)
_ON_DEVICE = int(DeviceKind.ON_DEVICE)


class Interval(NamedTuple):
    """A stretch of time in one state: evidence that can be looked at in the timeline. Times are ps."""

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
    stop. Without steps the time from the first to the last work of a device stands for the only one.
    """

    counted: bool
    """Whether there are steps."""

    edges: Array
    """int64[windows + 1]: where the windows begin, and where the last one ends."""
    state_ps: Array
    """int64[windows, states]: each row sums to its window."""
    step_ps: Array
    """int64[steps, states]: each row sums to its step, also where steps overlap; no rows without steps."""
    kind_ps: Array
    """int64[windows, len(DeviceKind)]: of the states in which devices work, by what they do."""
    names: list[tuple[str, str]]
    """State and name of what took most time."""
    name_ps: Array
    """int64[windows, names]."""
    name_count: Array
    """int64[windows, names]: events of that name that tell why in the window; one that tells it twice counts once."""
    evidence: list[Interval]
    """The longest stretches of each state and of each of the names, in steps and between them."""
    devices: list[str]
    """Those that did something."""
    device_ps: Array
    """int64[devices, states]: without the profiler's start and stop; each row sums to that time."""
    silent: list[str]
    """Devices that the capture names and of which it holds no event."""
    long_share: float
    """Of the time in steps of which nothing was recorded, 0–1: what lies in stretches of 1 ms and more."""

    @property
    def steps(self) -> slice:
        """The windows that are steps, or the one that stands for them."""
        return slice(2, len(self.edges) - 3, 2)

    @property
    def gaps(self) -> slice:
        """The windows between a step and the next."""
        return slice(3, len(self.edges) - 4, 2)

    @property
    def phases(self) -> Array:
        """str[windows]: ``steps``, ``between``, ``before``, ``after``, ``profiler``; without steps ``capture``."""
        answer = np.full(len(self.edges) - 1, "between", object)
        answer[self.steps] = "steps" if self.counted else "capture"
        answer[1], answer[-2] = "before", "after"
        answer[[0, -1]] = "profiler"
        return answer

    @property
    def named(self) -> NamedTimes:
        """All devices as one."""
        return NamedTimes(self.state_ps[self.steps], self.names, self.name_ps[self.steps])

    @property
    def window_ps(self) -> int:
        """From the first to the last event."""
        return int(self.edges[-1] - self.edges[0])


@per_host(keep=True)
def figures(host: HostWithSteps) -> HostFigures:
    """The times of one host."""
    line, edges = timeline(host), _edges(host)
    steps = host.steps
    names, labelled = _labelled(host, line)
    state_ps, name_ps, name_count = _summed(edges, labelled, len(STATES), len(names), len(host.trace))
    step_ps, long_share = _of_steps(steps, line)
    return HostFigures(
        len(steps) > 0,
        edges,
        state_ps,
        step_ps,
        _of_kinds(host, edges, line),
        names,
        name_ps,
        name_count,
        _evidence(host, line, labelled, names, edges),
        [work.name for work in device_work(host)],
        partition(host, edges[1:2], edges[-2:-1])[0],
        [plane.name for plane in host.gpus or host.tpus if not len(plane.events)],
        long_share,
    )


def named_times(host: HostWithSteps, line: Timeline) -> NamedTimes:
    """What another timeline of a host, such as one device's, says of the steps of its account."""
    of_host, (names, labelled) = figures(host), _labelled(host, line)
    state_ps, name_ps, _ = _summed(of_host.edges, labelled, len(STATES), len(names), len(host.trace))
    return NamedTimes(state_ps[of_host.steps], names, name_ps[of_host.steps])


def _of_steps(steps: Steps, line: Timeline) -> tuple[Array, float]:
    """`HostFigures.step_ps`: what of a step lies outside of what was recorded is unexplained; and ``long_share``."""
    begin, end = np.ascontiguousarray(steps.begin, np.int64), np.ascontiguousarray(steps.end, np.int64)
    long, state = line.indices_lasting(_LONG_PS), line.state.copy()
    state[long[have_state(state[long], State.UNRECORDED)]] = len(STATES)
    times = time_in_windows(begin, end, line.edges, state, len(STATES) + 1)
    answer: Array = np.ascontiguousarray(times[:, :-1])
    answer[:, State.UNRECORDED] += times[:, -1]
    answer[:, State.UNEXPLAINED] += end - begin - answer.sum(axis=1)
    return answer, float(times[:, -1].sum() / max(answer[:, State.UNRECORDED].sum(), 1))


def _of_kinds(host: Host, edges: Array, line: Timeline) -> Array:
    """`HostFigures.kind_ps`; without devices nothing."""
    if not host.devices:
        return np.zeros((len(edges) - 1, len(DeviceKind)), np.int64)
    answer: Array = _by_kind(edges, line.edges, line.state, line.event, event_kinds(host), len(DeviceKind))
    return answer


def event_kinds(host: Host) -> Array:
    """int8[events + 1]: the `DeviceKind` of each event of a device; the last for work that no event tells."""
    answer = np.full(len(host.trace) + 1, DeviceKind.COMPUTE_OTHER, np.int8)
    for plane in host.devices:
        answer[host.trace.rows(plane)] = device_kinds(host, plane)
    return answer


@jit
def _by_kind(edges: I64, tiles: I64, state: I8, event: I32, kind: I8, kinds: Int) -> I64Matrix:
    """int64[windows, kinds] ps: how long devices do what; the state says whether they compute, meet or copy.

    ``kind`` is that of each event, and in the end what counts for work that no event tells.
    """
    answer = np.zeros((len(edges) - 1, kinds), np.int64)
    window = 0
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
        while window < len(answer) - 1 and edges[window + 1] <= tiles[i]:
            window += 1
        k, at = window, tiles[i]
        while at < tiles[i + 1] and k < len(answer):
            until = min(tiles[i + 1], edges[k + 1])
            answer[k, own] += until - at
            at = until
            k += 1
    return answer


def _edges(host: HostWithSteps) -> Array:
    """int64[windows + 1]: see `HostFigures`."""
    steps, (low, high) = host.steps, host.window
    start = host.trace.end[host.trace.named(lambda name: bool(_START.fullmatch(name)))].min(initial=high)
    stop = host.trace.begin[host.trace.named(lambda name: bool(_STOP.fullmatch(name)))].max(initial=low)
    begin, end = (steps.begin, steps.end) if len(steps) else _worked(host)
    start = min(start, begin[0]) if start < high else low
    stop = max(stop, end.max()) if stop > start else high
    of_steps = np.stack((begin, end), axis=1).reshape(-1)
    # Steps that overlap share no time: the later one has what is left.
    answer: Array = np.maximum.accumulate(np.concatenate(([low, start], of_steps, [stop, high]))).clip(low, high)
    return answer


def _worked(host: Host) -> tuple[Array, Array]:
    """(begin, end), int64[1] each: from the first to the last work of any device; everything where none worked."""
    works = host_work(host)
    begin = min((int(work.begin[0]) for work in works if len(work)), default=host.window[0])
    end = max((int(work.end.max()) for work in works if len(work)), default=host.window[1])
    return np.array([begin]), np.array([end])


class _Labelled(NamedTuple):
    """Stretches that touch, and what tells each of them."""

    edges: I64
    """ps, one more than stretches."""
    state: I8
    event: I32
    text: I32
    """Number of its label, -1 for none."""
    name_rows: I8
    """That of `_named`."""


@jit
def _summed(
    edges: I64, labelled: _Labelled, states: Int, names: Int, events: Int
) -> tuple[I64Matrix, I64Matrix, I64Matrix]:
    """(state_ps, name_ps, name_count), see `HostFigures`: what is interrupted and goes on has happened once.

    The stretches last from the first of the windows' edges to the last.
    """
    tiles, state, event, text, name_rows = labelled
    windows, words = len(edges) - 1, len(name_rows) // states
    state_ps, name_ps = np.zeros((windows, states), np.int64), np.zeros((windows, names), np.int64)
    name_count = np.zeros((windows, names), np.int64)
    # The window in which each event was met last, and a bit for each of its states there.
    met, bits = np.full(events, -1, np.int32), np.zeros(events, np.int32)
    first = 0
    for i in range(len(state)):
        at, end, of_state = tiles[i], tiles[i + 1], np.int64(state[i])
        while first < windows - 1 and edges[first + 1] <= at:
            first += 1
        name = np.int64(name_rows[of_state * words + text[i]]) if text[i] >= 0 else np.int64(-1)
        if name >= 0:
            row, bit = event[i], np.int32(1) << np.int32(of_state)
            bits[row] = bits[row] if met[row] == first else np.int32(0)
            met[row] = first
            name_count[first, name] += (bits[row] & bit) == 0
            bits[row] |= bit
        window = first
        while at < end and window < windows:
            until = min(end, edges[window + 1])
            state_ps[window, of_state] += until - at
            if name >= 0:
                name_ps[window, name] += until - at
            at = until
            window += 1
    return state_ps, name_ps, name_count


def _labelled(host: HostWithSteps, line: Timeline) -> tuple[list[tuple[str, str]], _Labelled]:
    """The states and names that took most time, and the timeline's stretches with what tells them."""
    text = event_labels(host, line, np.sort(host.steps.begin))
    names, name_rows = _named(line, text)
    return names, _Labelled(line.edges, line.state, text.event, text.text, name_rows)


def _named(line: Timeline, text: EventLabels) -> tuple[list[tuple[str, str]], Array]:
    """The states and names that took most time, and for each state and text which of them it is: int8[states * texts],
    -1 for none.
    """
    count = len(text.texts)
    time = _by_text(line.edges, line.state, text.text, len(STATES), count)
    most = np.argsort(-time, kind="stable")[: min(_NAMES, np.count_nonzero(time))]
    name_rows = np.full(len(time), -1, np.int8)
    name_rows[most] = np.arange(len(most))
    return [(STATES[key // count], text.texts[key % count]) for key in most.tolist()], name_rows


@jit
def _by_text(tiles: I64, state: I8, text: I32, states: Int, words: Int) -> I64:
    """int64[states * words] ps: of each text in each state, where one tells the stretch."""
    answer = np.zeros(states * words, np.int64)
    for i in range(len(state)):
        if text[i] >= 0:
            answer[np.int64(state[i]) * words + text[i]] += tiles[i + 1] - tiles[i]
    return answer


def _evidence(
    host: Host, line: Timeline, labelled: _Labelled, names: list[tuple[str, str]], edges: Array
) -> list[Interval]:
    groups = [*names, *((state, "") for state in STATES)]
    longest = _longest(labelled, (edges[1], edges[-2]), len(STATES), len(names), _EVIDENCE)
    evidence = []
    for (state, label), rows in zip(groups, longest.tolist(), strict=True):
        for i in filter(lambda i: i >= 0, rows):
            event = int(labelled.event[i] if label else line.event[i])
            name = label or (display_name(host.trace.name(event)) if event >= 0 else "")
            evidence.append(Interval(host.name, state, int(line.begin[i]), int(line.end[i]), event, name))
    return evidence


@jit
def _longest(labelled: _Labelled, window: tuple[Int, Int], states: Int, names: Int, most: Int) -> I64Matrix:
    """int64[names + states, most]: the stretches of each name, as `_named` places them, and of each state without one,
    that last longest between two moments, the earlier of equal ones first; -1 where there are no more."""
    low, high = window
    tiles, state, _, text, name_rows = labelled
    words = len(name_rows) // states
    answer = np.full((names + states, most), -1, np.int64)
    times = np.zeros((names + states, most), np.int64)
    for i in range(len(state)):
        time = min(tiles[i + 1], high) - max(tiles[i], low)
        row = np.int64(name_rows[np.int64(state[i]) * words + text[i]]) if text[i] >= 0 else np.int64(-1)
        row = row if row >= 0 else names + np.int64(state[i])
        k = most
        while k > 0 and time > times[row, k - 1]:
            if k < most:
                times[row, k], answer[row, k] = times[row, k - 1], answer[row, k - 1]
            k -= 1
        if k < most:
            times[row, k], answer[row, k] = time, i
    return answer
