"""Which op each moment of a host's steps belongs to: parts and ops both sum to the time from step to step, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...formats.columns.codes import combine
from ...model.devices.allocations import allocations
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.profiler_options import levels, versions
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.regex import regex, without_end
from ..activity.device_events import CPU_COMPUTE, DeviceWork, Kind, host_work
from ..activity.states import State
from ..activity.thread_classes import event_classes
from ..steps.device_timeline import Timeline, timeline
from ..steps.host_account import figures
from .identity import DEVICE, HOST, Identities, Identity
from .record import NOTHING, OTHERS

MOST_STEPS = 4096
"""Of a capture with more the first so many count."""
_MOST_ROWS = 250
"""So many ops of a host are told apart, those that took most time."""
_COUNTER = regex(r"[ _#]?\d+")


@dataclass(frozen=True)
class HostBlame:
    """One host's steps, in order of time. Times are int64 ps; matrices have a row per step."""

    number: Array
    """int64[n]: as the program counts."""
    kind: list[str]
    """Names of the steps without their numbers."""
    complete: Array
    """bool[n]."""
    step_ps: Array
    """The step itself."""
    gap_ps: Array
    """From its end to the next one's begin; 0 after the last."""
    state_ps: Array
    """int64[n, states]: from a step's begin to the next one's."""
    compiles: Array
    """int64[n]: how often something was compiled or traced."""
    rows: list[tuple[int, Identity]]
    """State and op; the ops of a state sum to it."""
    blame: Array
    """int64[n, rows]: the moments that belong to it."""
    launches: Array
    """int64[n, rows]: executions of ops and kernels that begin then; of what delays the devices, stretches."""
    total: Array
    """int64[n, rows]: how long those last, over all streams, hidden or not."""
    programs: list[tuple[str, str]]
    """Name and fingerprint of each XLA program that ran."""
    memory: dict[str, tuple[int, int, int]]
    """By allocator: the most in use within the capture, bytes held at its end beyond its begin, and the most of its
    free memory that was in pieces, in millionths."""
    levels: dict[str, int]
    versions: dict[str, str]

    def __len__(self) -> int:
        return len(self.number)


def stem_of_step(name: str) -> str:
    """The name of a step without its number."""
    return without_end(_COUNTER, name)


@per_host(keep=True)
def host_blame(host: HostWithSteps) -> HostBlame:
    """The steps of one host by part and op; where none was found, the whole capture as if it were one."""
    # The figures need the same timeline, which is held here until both are there.
    line = timeline(host)
    steps, step_figures = host.steps, figures(host)
    count = min(len(steps), MOST_STEPS)
    if count:
        windows = 2 + 2 * np.arange(count)
        followed = windows[: min(count, len(steps) - 1)]
        edges = np.append(
            step_figures.edges[windows], step_figures.edges[max(windows[-1] + 1, followed[-1:].max(initial=0) + 2)]
        )
        state_ps = step_figures.state_ps[windows].copy()
        state_ps[: len(followed)] += step_figures.state_ps[followed + 1]
        step_ps = np.diff(step_figures.edges)[windows]
        number, complete = steps.number[:count], steps.complete[:count]
        kind = [stem_of_step(name) for name in steps.name[:count]]
    else:
        edges, state_ps = step_figures.edges[1:3], step_figures.state_ps[1:2]
        step_ps, number, complete = np.diff(edges), np.zeros(1, np.int64), np.ones(1, bool)
        kind = ["capture"]
    identities = Identities(host)
    rows, blame, launches, total = _ops(host, identities, edges, line)
    return HostBlame(
        number,
        kind,
        complete,
        step_ps,
        np.diff(edges) - step_ps,
        state_ps,
        _compiles(host, edges),
        rows,
        blame,
        launches,
        total,
        sorted(identities.programs()),
        _memory(host),
        levels(host),
        versions(host),
    )


def _ops(
    host: Host, identities: Identities, edges: Array, line: Timeline
) -> tuple[list[tuple[int, Identity]], Array, Array, Array]:
    """(rows, blame, launches, total) as `HostBlame` has them."""
    works, (numbers, kinds) = [_executions(device) for device in host_work(host)], identities.identity_numbers()
    interval_count, trace = len(line.state), host.trace
    event = np.concatenate([line.event, *(event for event, _ in works)])
    state = np.concatenate([line.state, *(kind for _, kind in works)])
    begin, end = trace.begin[event[interval_count:]], trace.end[event[interval_count:]]
    executed = _Executed(line.edges, begin, end, state, event)
    groups = _grouped(edges, executed, numbers, kinds)
    group, of_state, example = groups.group, groups.state, groups.example
    code, event_identities = identities.of(example)
    # A last identity stands for what no event tells.
    every = [*event_identities, Identity(HOST, NOTHING)]
    code[example < 0] = len(event_identities)
    first, row = combine(of_state, code)
    rows = [(int(of_state[i]), every[code[i]]) for i in first.tolist()]
    rows, new_row = _most(rows, _added(row, groups.lived, len(rows)), _added(row, groups.worked, len(rows)))
    placed = new_row[row].astype(np.int32)
    blame, begun = _lived(edges, line.edges, group[:interval_count], placed, len(rows))
    launches, total = _worked(edges, begin, end, group[interval_count:], placed, len(rows))
    waits = np.array([state >= len(Kind) for state, _ in rows], bool)
    launches[:, waits], total[:, waits] = begun[:, waits], blame[:, waits]
    return rows, blame, launches, total


def _executions(work: DeviceWork) -> tuple[Array, Array]:
    """(event, kind) of a device's work, each event once: one that threads of the CPU share is work on each of them."""
    if work.name != CPU_COMPUTE:
        return work.event, work.kind
    rows = np.sort(np.unique(work.event, return_index=True)[1])
    return work.event[rows], work.kind[rows]


def _added(row: Array, values: Array, rows: int) -> Array:
    """int64[rows]: the values of each row together."""
    answer = np.zeros(rows, np.int64)
    np.add.at(answer, row, values)
    return answer


class _Executed(NamedTuple):
    """Stretches that touch, and works of devices."""

    line: I64
    """ps: the edges of the stretches."""
    begin: I64
    end: I64
    """ps, of the works."""
    state: I8
    event: I32
    """Of the stretches, then of the works."""


class _Groups(NamedTuple):
    """Stretches and works that are alike."""

    group: I32
    """Of each of them; groups count from 0 by first appearance."""
    state: I8
    example: I32
    """An event of each group, or -1."""
    lived: I64
    """ps of its stretches between the first and the last of the edges."""
    worked: I64
    """ps of its works."""


@jit
def _grouped(edges: I64, executed: _Executed, identity_number: I32, kinds: Int) -> _Groups:
    """Which stretches and works are of one state and of events that are alike."""
    line, begin, end, state, event = executed
    interval_count = len(line) - 1
    low, high = edges[0], edges[len(edges) - 1]
    # Groups of one kind are a list; what is not written takes no memory.
    latest = np.full(kinds + 1, -1, np.int32)
    before, group = np.empty(len(state), np.int32), np.empty(len(state), np.int32)
    of_state, example = np.empty(len(state), np.int8), np.empty(len(state), np.int32)
    lived, worked = np.empty(len(state), np.int64), np.empty(len(state), np.int64)
    count = np.int64(0)
    for i in range(len(state)):
        kind = np.int64(identity_number[event[i]]) if event[i] >= 0 else np.int64(kinds)
        candidate = latest[kind]
        while candidate >= 0 and of_state[candidate] != state[i]:
            candidate = before[candidate]
        if candidate < 0:
            candidate = np.int32(count)
            before[candidate], latest[kind] = latest[kind], candidate
            of_state[candidate], example[candidate] = state[i], event[i]
            lived[candidate], worked[candidate] = 0, 0
            count += 1
        group[i] = candidate
        if i < interval_count:
            lived[candidate] += max(min(line[i + 1], high) - max(line[i], low), 0)
        else:
            worked[candidate] += end[i - interval_count] - begin[i - interval_count]
    columns = of_state[:count].copy(), example[:count].copy(), lived[:count].copy(), worked[:count].copy()
    return _Groups(group, columns[0], columns[1], columns[2], columns[3])


@jit
def _lived(edges: I64, line: I64, group: I32, placed: I32, rows: Int) -> tuple[I64Matrix, I64Matrix]:
    """(blame, begun), int64[steps, rows] each: how long the stretches of each row last, and how many begin, by step.

    Stretches lie between the edges of the line; ``placed`` is each group's row.
    """
    blame, begun = np.zeros((len(edges) - 1, rows), np.int64), np.zeros((len(edges) - 1, rows), np.int64)
    step = 0
    for i in range(len(group)):
        while step < len(edges) - 1 and edges[step + 1] <= line[i]:
            step += 1
        row = placed[group[i]]
        if step < len(edges) - 1 and edges[step] <= line[i]:
            begun[step, row] += 1
        at = step
        while at < len(edges) - 1 and edges[at] < line[i + 1]:
            blame[at, row] += min(line[i + 1], edges[at + 1]) - max(line[i], edges[at])
            at += 1
    return blame, begun


@jit
def _worked(edges: I64, begin: I64, end: I64, group: I32, placed: I32, rows: Int) -> tuple[I64Matrix, I64Matrix]:
    """(launches, total), int64[steps, rows] each: how many works of each row begin by step, and how long they last."""
    launches, total = np.zeros((len(edges) - 1, rows), np.int64), np.zeros((len(edges) - 1, rows), np.int64)
    step = 0
    for i in range(len(begin)):
        # They are nearly in order of time.
        while step > 0 and edges[step] > begin[i]:
            step -= 1
        while step < len(edges) - 1 and edges[step + 1] <= begin[i]:
            step += 1
        if step < len(edges) - 1 and edges[step] <= begin[i]:
            launches[step, placed[group[i]]] += 1
            total[step, placed[group[i]]] += end[i] - begin[i]
    return launches, total


def _most(rows: list[tuple[int, Identity]], blame: Array, total: Array) -> tuple[list[tuple[int, Identity]], Array]:
    """The rows that take most time, then one for all others of each state; and for each row which of these it is."""
    order = np.lexsort((np.arange(len(rows)), -total, -blame))[:_MOST_ROWS]
    new_row = np.full(len(rows), -1, np.int64)
    new_row[order] = np.arange(len(order))
    largest_rows = [rows[i] for i in order.tolist()]
    others: dict[int, int] = {}
    for i in np.flatnonzero(new_row < 0).tolist():
        state = rows[i][0]
        if state not in others:
            others[state] = len(largest_rows)
            largest_rows.append((state, Identity(DEVICE if state < len(Kind) else HOST, OTHERS)))
        new_row[i] = others[state]
    return largest_rows, new_row


def _compiles(host: Host, edges: Array) -> Array:
    """int64[steps]: outermost events that trace, lower or compile, by the step in which they begin."""
    classes = event_classes(host)
    compile_events = np.flatnonzero(classes == State.COMPILE)
    parent, _ = host.trace.nesting
    above = parent[compile_events]
    outer = compile_events[(above < 0) | (classes[above] != State.COMPILE)]
    at = np.searchsorted(edges, host.trace.begin[outer], "right") - 1
    answer: Array = np.bincount(at[(at >= 0) & (at < len(edges) - 1)], minlength=len(edges) - 1)
    return answer


def _memory(host: Host) -> dict[str, tuple[int, int, int]]:
    summaries = {}
    for name, usage in allocations(host).items():
        if len(usage):
            pieces = round(1e6 * min(max(float(usage.fragmentation.max()), 0.0), 1.0))
            summaries[name] = int(usage.in_use.max()), int(usage.in_use[-1] - usage.in_use[0]), pieces
    return summaries
