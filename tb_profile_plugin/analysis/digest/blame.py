"""Which op each moment of a host's steps belongs to: parts and ops both sum to the time from step to step, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats.columns.codes import combine
from ...model.devices.allocations import allocations
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.profiler_options import levels, versions
from ...model.steps.step_rules import Steps
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple, record
from ...runtime.regex import regex, without_end
from ..activity.devices.device_work import host_work
from ..activity.devices.work import CPU_COMPUTE, DeviceWork, Kind
from ..activity.states import State
from ..activity.thread_classes import event_classes
from ..labels.device_timeline import DeviceTimeline, timeline
from ..steps.host_account import HostAccount, host_account
from .identity import DEVICE, HOST, Identities
from .record import NOTHING, OTHERS, AllocatorMemory, Identity

MOST_STEPS = 4096
"""Steps of a capture that count at most: the first ones."""
_MOST_OPS = 250
"""So many ops of a host stay by themselves, those that took most time."""
_COUNTER = regex(r"[ _#]?\d+")
"""The number at the end of a step's name."""
_PPM = 1e6
"""Millionths in one."""


@record
class HostBlame:
    """One host's n steps, in order of time. Times are int64 ps; matrices have a row per step."""

    number: Array
    """int64[n]: as the program counts."""
    kind: list[str]
    """Names of the steps without their numbers."""
    complete: Array
    """bool[n]: False where the capture cuts the step."""
    step_ps: Array
    """int64[n]: the step itself."""
    between_ps: Array
    """int64[n]: from its end to the next one's begin; 0 after the last."""
    state_ps: Array
    """int64[n, states]: from a step's begin to the next one's."""
    compiles: Array
    """int64[n]: how often something was compiled or traced."""
    ops: list[tuple[int, Identity]]
    """State and identity of each op; the ops of a state sum to it."""
    blame_ps: Array
    """int64[n, ops]: the moments that belong to it."""
    launches: Array
    """int64[n, ops]: executions of ops and kernels that begin then; of what delays the devices, intervals."""
    total_ps: Array
    """int64[n, ops]: how long those last, over all streams, hidden or not."""
    programs: list[tuple[str, str]]
    """Name and fingerprint of each XLA program that ran."""
    memory: list[AllocatorMemory]
    """What each allocator reported on this host."""
    levels: dict[str, int]
    """Levels of the tracers, as `model.profiler_options.levels` has them."""
    versions: dict[str, str]
    """Versions of what was profiled, as `model.profiler_options.versions` has them."""

    def __len__(self) -> int:
        return len(self.number)

    @property
    def is_work(self) -> Array:
        """bool[ops]: ops and kernels that a device runs, not what delays it."""
        return np.array([state < len(Kind) for state, _ in self.ops], bool)


@per_host(keep=True)
def host_blame(host: HostWithSteps) -> HostBlame:
    """The steps of one host by part and op; where none was found, the whole capture as if it were one."""
    # The account needs the same timeline, which is held here until both are there.
    host_timeline = timeline(host)
    account = host_account(host)
    edges, columns = _step_windows(host.steps, account) if len(host.steps) else _whole_capture(account)
    identities = Identities(host)
    ops, blame_ps, launches, total_ps = _ops(host, identities, edges, host_timeline)
    return HostBlame(
        **columns,
        between_ps=np.diff(edges) - columns["step_ps"],
        compiles=_compiles(host, edges),
        ops=ops,
        blame_ps=blame_ps,
        launches=launches,
        total_ps=total_ps,
        programs=sorted(identities.programs()),
        memory=_memory(host),
        levels=levels(host),
        versions=versions(host),
    )


def _step_windows(steps: Steps, account: HostAccount) -> tuple[Array, dict[str, Any]]:
    """(edges, columns) of a host's first steps: int64[n + 1] ps between which they lie, and fields of `HostBlame`."""
    count = min(len(steps), MOST_STEPS)
    # The account has a window before the first step, then by turns one of a step and one of what lies behind it.
    windows = 2 + 2 * np.arange(count)
    followed = windows[: min(count, len(steps) - 1)]
    last_edge = max(windows[-1] + 1, followed[-1:].max(initial=0) + 2)
    state_ps = account.state_ps[windows].copy()
    state_ps[: len(followed)] += account.state_ps[followed + 1]
    return np.append(account.edges[windows], account.edges[last_edge]), {
        "number": steps.number[:count],
        "kind": [without_end(_COUNTER, name) for name in steps.name[:count]],
        "complete": steps.complete[:count],
        "step_ps": np.diff(account.edges)[windows],
        "state_ps": state_ps,
    }


def _whole_capture(account: HostAccount) -> tuple[Array, dict[str, Any]]:
    """As `_step_windows`, of all of the capture as one step."""
    edges = account.edges[1:3]
    return edges, {
        "number": np.zeros(1, np.int64),
        "kind": ["capture"],
        "complete": np.ones(1, bool),
        "step_ps": np.diff(edges),
        "state_ps": account.state_ps[1:2],
    }


def _ops(
    host: Host, identities: Identities, edges: Array, host_timeline: DeviceTimeline
) -> tuple[list[tuple[int, Identity]], Array, Array, Array]:
    """(ops, blame_ps, launches, total_ps) as `HostBlame` has them."""
    executions, (identity_number, number_count) = [_executions(work) for work in host_work(host)], identities.numbers()
    event = np.concatenate([host_timeline.event, *(event for event, _ in executions)])
    executed = event[len(host_timeline.event) :]
    activity = _Activity(
        edges=host_timeline.edges,
        begin=host.trace.begin[executed],
        end=host.trace.end[executed],
        state=np.concatenate([host_timeline.state, *(kind for _, kind in executions)]),
        event=event,
    )
    groups = _grouped(edges, activity, identity_number, number_count)
    code, event_identities = identities.of(groups.example)
    # A last identity stands for what no event tells.
    all_identities = [*event_identities, Identity(HOST, NOTHING)]
    code[groups.example < 0] = len(event_identities)
    first, op = combine(groups.state, code)
    all_ops = [(int(groups.state[i]), all_identities[code[i]]) for i in first.tolist()]
    interval_ps, execution_ps = (
        _sums_by_op(op, values, len(all_ops)) for values in (groups.interval_ps, groups.execution_ps)
    )
    ops, new_op = _largest_ops(all_ops, interval_ps, execution_ps)
    op_of_group = new_op[op].astype(np.int32)
    blame_ps, intervals = _blame_by_step(edges, activity, groups.group, op_of_group, len(ops))
    launches, total_ps = _launches_by_step(edges, activity, groups.group, op_of_group, len(ops))
    delays = np.array([state >= len(Kind) for state, _ in ops], bool)
    launches[:, delays], total_ps[:, delays] = intervals[:, delays], blame_ps[:, delays]
    return ops, blame_ps, launches, total_ps


def _executions(work: DeviceWork) -> tuple[Array, Array]:
    """(event, kind) of a device's work, each event once: one that threads of the CPU share is work on each of them."""
    if work.name != CPU_COMPUTE:
        return work.event, work.kind
    rows = np.sort(np.unique(work.event, return_index=True)[1])
    return work.event[rows], work.kind[rows]


def _sums_by_op(op: Array, values: Array, count: int) -> Array:
    """int64[count]: the sum of the values of each op."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, op, values)
    return sums


class _Activity(NamedTuple):
    """The k intervals of the timeline, each of one state, and m executions on devices; times in ps."""

    edges: I64
    """int64[k + 1]: interval i lies between edges i and i + 1."""
    begin: I64
    """int64[m]: of the executions."""
    end: I64
    """int64[m]."""
    state: I8
    """int8[k + m]: of the intervals, then of the executions."""
    event: I32
    """int32[k + m]: by its number in the trace, or -1."""


class _Groups(NamedTuple):
    """Intervals and executions of one state and of events of one identity."""

    group: I32
    """int32[k + m]: of each of them; groups count from 0 by first appearance."""
    state: I8
    """int8[groups]."""
    example: I32
    """int32[groups]: an event of each group, or -1."""
    interval_ps: I64
    """int64[groups]: its intervals between the first and the last edge of the steps."""
    execution_ps: I64
    """int64[groups]: its executions, whenever they ran."""


@jit
def _grouped(edges: I64, activity: _Activity, identity_number: I32, number_count: Int) -> _Groups:
    """The groups of some activity; ``edges`` are those of the steps, ``identity_number`` is per event of the trace."""
    bounds, begin, end, state, event = activity
    interval_count = len(bounds) - 1
    low, high = edges[0], edges[len(edges) - 1]
    # The groups of one identity, one for each state, are a linked list; what is not written takes no memory.
    latest_group = np.full(number_count + 1, -1, np.int32)
    previous_group, group = np.empty(len(state), np.int32), np.empty(len(state), np.int32)
    group_state, example = np.empty(len(state), np.int8), np.empty(len(state), np.int32)
    interval_ps, execution_ps = np.empty(len(state), np.int64), np.empty(len(state), np.int64)
    count = np.int64(0)
    for i in range(len(state)):
        number = np.int64(identity_number[event[i]]) if event[i] >= 0 else np.int64(number_count)
        candidate = latest_group[number]
        while candidate >= 0 and group_state[candidate] != state[i]:
            candidate = previous_group[candidate]
        if candidate < 0:
            candidate = np.int32(count)
            previous_group[candidate], latest_group[number] = latest_group[number], candidate
            group_state[candidate], example[candidate] = state[i], event[i]
            interval_ps[candidate], execution_ps[candidate] = 0, 0
            count += 1
        group[i] = candidate
        if i < interval_count:
            interval_ps[candidate] += max(min(bounds[i + 1], high) - max(bounds[i], low), 0)
        else:
            execution_ps[candidate] += end[i - interval_count] - begin[i - interval_count]
    columns = (
        group_state[:count].copy(),
        example[:count].copy(),
        interval_ps[:count].copy(),
        execution_ps[:count].copy(),
    )
    return _Groups(group, columns[0], columns[1], columns[2], columns[3])


@jit
def _blame_by_step(
    edges: I64, activity: _Activity, group: I32, op_of_group: I32, ops: Int
) -> tuple[I64Matrix, I64Matrix]:
    """(ps, count), int64[steps, ops] each: how long the intervals of each op last within a step, how many begin in it.

    Steps lie between ``edges``; an interval belongs to the op of its group.
    """
    blame_ps, intervals = np.zeros((len(edges) - 1, ops), np.int64), np.zeros((len(edges) - 1, ops), np.int64)
    step = 0
    for i in range(len(activity.edges) - 1):
        begin, end = activity.edges[i], activity.edges[i + 1]
        while step < len(edges) - 1 and edges[step + 1] <= begin:
            step += 1
        op = op_of_group[group[i]]
        if step < len(edges) - 1 and edges[step] <= begin:
            intervals[step, op] += 1
        overlapped = step
        while overlapped < len(edges) - 1 and edges[overlapped] < end:
            blame_ps[overlapped, op] += min(end, edges[overlapped + 1]) - max(begin, edges[overlapped])
            overlapped += 1
    return blame_ps, intervals


@jit
def _launches_by_step(
    edges: I64, activity: _Activity, group: I32, op_of_group: I32, ops: Int
) -> tuple[I64Matrix, I64Matrix]:
    """(count, ps), int64[steps, ops] each: how many executions of each op begin in a step, and how long they last."""
    launches, total_ps = np.zeros((len(edges) - 1, ops), np.int64), np.zeros((len(edges) - 1, ops), np.int64)
    interval_count = len(activity.edges) - 1
    step = 0
    for i in range(len(activity.begin)):
        begin, end = activity.begin[i], activity.end[i]
        # They are nearly in order of time.
        while step > 0 and edges[step] > begin:
            step -= 1
        while step < len(edges) - 1 and edges[step + 1] <= begin:
            step += 1
        if step < len(edges) - 1 and edges[step] <= begin:
            op = op_of_group[group[interval_count + i]]
            launches[step, op] += 1
            total_ps[step, op] += end - begin
    return launches, total_ps


def _largest_ops(
    ops: list[tuple[int, Identity]], interval_ps: Array, execution_ps: Array
) -> tuple[list[tuple[int, Identity]], Array]:
    """The ops that take most time, then one for all others of each state; int64[ops]: which of these each op is."""
    order = np.lexsort((np.arange(len(ops)), -execution_ps, -interval_ps))[:_MOST_OPS]
    new_op = np.full(len(ops), -1, np.int64)
    new_op[order] = np.arange(len(order))
    largest_ops = [ops[i] for i in order.tolist()]
    others_of_state: dict[int, int] = {}
    for i in np.flatnonzero(new_op < 0).tolist():
        state = ops[i][0]
        if state not in others_of_state:
            others_of_state[state] = len(largest_ops)
            largest_ops.append((state, Identity(DEVICE if state < len(Kind) else HOST, OTHERS)))
        new_op[i] = others_of_state[state]
    return largest_ops, new_op


def _compiles(host: Host, edges: Array) -> Array:
    """int64[steps]: outermost events that trace, lower or compile, by the step in which they begin."""
    classes = event_classes(host)
    compile_events = np.flatnonzero(classes == State.COMPILE)
    parent = host.trace.nesting.parent
    above = parent[compile_events]
    outer = compile_events[(above < 0) | (classes[above] != State.COMPILE)]
    step = np.searchsorted(edges, host.trace.begin[outer], "right") - 1
    return np.bincount(step[(step >= 0) & (step < len(edges) - 1)], minlength=len(edges) - 1)


def _memory(host: Host) -> list[AllocatorMemory]:
    """What each allocator that recorded something reported."""
    return [
        AllocatorMemory(
            allocator=name,
            peak_bytes=int(usage.in_use.max()),
            growth_bytes=int(usage.in_use[-1] - usage.in_use[0]),
            fragmentation_ppm=round(_PPM * min(max(float(usage.fragmentation.max()), 0.0), 1.0)),
        )
        for name, usage in allocations(host).items()
        if len(usage)
    ]
