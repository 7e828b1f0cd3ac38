"""What one host's time went into: in each step, between steps, before and after them, and under which names."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import covered
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.steps.replicas import are_on_different_devices
from ...runtime.arrays import I8, I32, Array
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ..activity.devices.device_work import device_work
from ..activity.partition import ScopeTimes, kinds_in_windows, partition, scope_times, time_in_windows
from ..activity.states import STATES, State
from ..activity.thread_classes import have_state
from ..labels.calling_lines import lines_of_names
from ..labels.calls_between import LongestCall, call_after_silence
from ..labels.device_timeline import DeviceTimeline, timeline
from ..labels.event_names import display_name
from ..labels.named_intervals import NamedIntervals, longest_intervals, named_intervals, window_sums
from ..labels.xla_origins import XlaTimes, xla_times
from ..ops.device_event_kinds import DeviceKind, event_kinds
from .windows import phases, step_windows, window_edges, windows_between

_MOST_EVIDENCE = 5
"""So many intervals are kept of each state and name, the longest."""
_LONG_SILENCE_PS = 10**9
"""1 ms."""
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
    """By which of `HostAccount.names` it counts, else the event's own."""


class NamedTimes(NamedTuple):
    """Times by step, ps; of the window that stands for the only one where there are none."""

    state_ps: Array
    """int64[steps, states]: where steps overlap, the later one has what is left."""
    names: list[tuple[str, str]]
    """State and name of what took most time."""
    name_ps: Array
    """int64[steps, names]."""


class HostAccount(NamedTuple):
    """Times of one host, ps. The rows of each matrix are `windows`."""

    has_steps: bool
    begins_ahead: bool
    """Whether the host began the first step before its window, which begins with its work."""
    are_replicas: bool
    """Whether the steps are not turns of a loop: each does its work on a device of its own."""
    edges: Array
    """int64[windows + 1]: see `windows.window_edges`."""
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
    """int64[windows, names], see `WindowSums`."""
    lines: list[str]
    """Of each of the names the line of the program that it comes from, see `lines_of_names`."""
    name_long_ps: Array
    """int64[windows, names], see `WindowSums`."""
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
        return step_windows(self.edges)

    @property
    def between(self) -> slice:
        """The windows between a step and the next."""
        return windows_between(self.edges)

    @property
    def phases(self) -> Array:
        """str[windows]: see `windows.phases`."""
        return phases(self.edges, self.has_steps)

    @property
    def named_times(self) -> NamedTimes:
        """The times of the steps, all devices as one."""
        return NamedTimes(self.state_ps[self.steps], self.names, self.name_ps[self.steps])

    @property
    def window_ps(self) -> int:
        """From the first to the last event."""
        return int(self.edges[-1] - self.edges[0])


@per_host(keep=True)
def host_account(host: HostWithSteps) -> HostAccount:
    """The times of one host."""
    host_timeline, edges = timeline(host), window_edges(host)
    named = named_intervals(host, host_timeline)
    sums = window_sums(edges, named, len(host.trace))
    step_begin, step_end = (np.ascontiguousarray(ps, np.int64) for ps in (host.steps.begin, host.steps.end))
    silent = _long_silences(host_timeline)
    return HostAccount(
        has_steps=len(host.steps) > 0,
        begins_ahead=_begins_ahead(host),
        are_replicas=are_on_different_devices(host.trace, host.grouped_steps),
        edges=edges,
        state_ps=sums.state_ps,
        step_ps=_step_ps(step_begin, step_end, edges, sums.state_ps, host_timeline),
        device_kind_ps=_device_kind_ps(host, edges, host_timeline),
        names=named.names,
        name_ps=sums.name_ps,
        name_count=sums.name_count,
        name_long_ps=sums.name_long_ps,
        lines=lines_of_names(host, named),
        evidence=_evidence(host, host_timeline, named, (edges[1], edges[-2])),
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
    account, named = host_account(host), named_intervals(host, device_timeline)
    sums = window_sums(account.edges, named, len(host.trace))
    return NamedTimes(sums.state_ps[account.steps], named.names, sums.name_ps[account.steps])


def _begins_ahead(host: HostWithSteps) -> bool:
    """`HostAccount.begins_ahead`."""
    steps = host.steps
    return len(steps) > 0 and steps.marker[0] >= 0 and bool(host.trace.begin[steps.marker[0]] < steps.begin[0])


def _step_ps(begin: Array, end: Array, edges: Array, state_ps: Array, host_timeline: DeviceTimeline) -> Array:
    """``step_ps`` of `HostAccount`; ``state_ps`` is that of the windows with these ``edges``. What of a step lies
    outside of the record is unexplained.
    """
    # Windows are shorter where steps overlap, and what lies beyond the record is in none.
    windows = step_windows(edges)
    if np.array_equal(edges[:-1][windows], begin) and np.array_equal(edges[1:][windows], end):
        step_ps = state_ps[windows].copy()
    else:
        step_ps = time_in_windows(begin, end, host_timeline.edges, host_timeline.state, len(STATES))
    step_ps[:, State.UNEXPLAINED] += end - begin - step_ps.sum(axis=1)
    return step_ps


def _long_silences(host_timeline: DeviceTimeline) -> Array:
    """int64[k]: the long intervals of which nothing was recorded."""
    long = host_timeline.indices_lasting(_LONG_SILENCE_PS)
    return long[have_state(host_timeline.state[long], State.UNRECORDED)]


def _device_kind_ps(host: Host, edges: Array, host_timeline: DeviceTimeline) -> Array:
    """`HostAccount.device_kind_ps`; zeros without devices."""
    if not host.devices:
        return np.zeros((len(edges) - 1, len(DeviceKind)), np.int64)
    kind = _kinds_of_work(host_timeline.state, host_timeline.event, event_kinds(host))
    own_row = np.arange(len(DeviceKind), dtype=np.int8)
    return kinds_in_windows(edges, host_timeline.edges, kind, own_row, len(own_row))


@jit
def _kinds_of_work(state: I8, event: I32, kind_of_event: I8) -> I32:
    """int32[n]: the `DeviceKind` of what devices do in each interval, -1 where they do nothing. The state says whether
    they compute, communicate or copy; ``kind_of_event`` has in the end what counts for work that no event tells.
    """
    kind = np.full(len(state), -1, np.int32)
    for i in range(len(state)):
        if state[i] > _EXPOSED_COPY:
            continue
        own = np.int32(kind_of_event[event[i]] if event[i] >= 0 else kind_of_event[len(kind_of_event) - 1])
        if state[i] == _COMPUTE and own > _COMPUTE_OTHER:
            own = np.int32(_COMPUTE_OTHER)
        elif state[i] == _EXPOSED_COLLECTIVE:
            own = np.int32(_COLLECTIVE)
        elif state[i] == _EXPOSED_COPY and own <= _COLLECTIVE:
            own = np.int32(_ON_DEVICE)
        kind[i] = own
    return kind


def _evidence(
    host: Host, host_timeline: DeviceTimeline, named: NamedIntervals, window: tuple[int, int]
) -> list[Interval]:
    """The longest intervals of each name, and of each state those without one, from one moment to another (ps)."""
    keys = [*named.names, *((state, "") for state in STATES)]
    longest = longest_intervals(named, window, _MOST_EVIDENCE)
    evidence = []
    for (state, label), rows in zip(keys, longest.tolist(), strict=True):
        for i in filter(lambda i: i >= 0, rows):
            event = int(named.columns.event[i] if label else host_timeline.event[i])
            name = label or (display_name(host.trace.name(event)) if event >= 0 else "")
            begin, end = int(host_timeline.begin[i]), int(host_timeline.end[i])
            evidence.append(Interval(host.name, state, begin, end, event, name))
    return evidence
