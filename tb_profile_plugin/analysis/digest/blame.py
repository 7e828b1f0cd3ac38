"""Which op each moment of a host's steps belongs to: parts and ops both sum to the time from step to step, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...columns.codes import combine
from ...model.allocations import allocations
from ...model.host import Host
from ...model.per_host import per_host
from ...model.recorded import levels, versions
from ...runtime.regex import regex
from ..diagnosis.figures import figures, sums
from ..diagnosis.timeline import Timeline, timeline
from ..idle.classes import event_classes
from ..idle.devices import Kind, host_work
from ..idle.states import State
from .identity import DEVICE, HOST, Identities, Identity
from .record import NOTHING, OTHERS

MOST_STEPS = 4096
"""Of a capture with more the first so many count."""
_MOST_ROWS = 250
"""So many ops of a host are told apart, those that took most time."""
_COUNTER = regex(r"[ _#]?\d+$")


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
    return _COUNTER.sub("", name)


@per_host(keep=True)
def host_blame(host: Host, step_event: str = "") -> HostBlame:
    """The steps of one host by part and op; where none was found, the whole capture as if it were one."""
    steps, found = host.steps_named(step_event), figures(host, step_event)
    count = min(len(steps), MOST_STEPS)
    if count:
        windows = 2 + 2 * np.arange(count)
        followed = windows[: min(count, len(steps) - 1)]
        edges = np.append(found.edges[windows], found.edges[max(windows[-1] + 1, followed[-1:].max(initial=0) + 2)])
        state_ps = found.state_ps[windows].copy()
        state_ps[: len(followed)] += found.state_ps[followed + 1]
        step_ps = np.diff(found.edges)[windows]
        number, complete = steps.number[:count], steps.complete[:count]
        kind = [stem_of_step(name) for name in steps.name[:count]]
    else:
        edges, state_ps = found.edges[1:3], found.state_ps[1:2]
        step_ps, number, complete = np.diff(edges), np.zeros(1, np.int64), np.ones(1, bool)
        kind = ["capture"]
    identities = Identities(host)
    rows, blame, launches, total = _ops(host, identities, edges)
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


def _ops(host: Host, identities: Identities, edges: Array) -> tuple[list[tuple[int, Identity]], Array, Array, Array]:
    """(rows, blame, launches, total) as `HostBlame` has them."""
    line, works = timeline(host), host_work(host)
    none = np.empty(0, np.int64)
    work = np.concatenate([none, *(each.event for each in works)])
    kind = np.concatenate([none, *(each.kind for each in works)]).astype(np.int64)
    told = line.event >= 0
    used = np.zeros(len(host.trace), bool)
    used[work] = used[line.event[told]] = True
    events = np.flatnonzero(used)
    code, known = identities.of(events)
    of_event = np.full(len(host.trace) + 1, len(known), np.int64)
    of_event[events] = code
    # The last identity stands for what no event tells: event -1.
    states = np.concatenate([line.state, kind])
    example, row = combine(states, np.concatenate([of_event[line.event], of_event[work]]))
    nothing = Identity(HOST, NOTHING)
    every = [*known, nothing]
    which = np.concatenate([of_event[line.event], of_event[work]])[example]
    rows = [(int(states[at]), every[i]) for at, i in zip(example.tolist(), which.tolist(), strict=True)]
    moments, worked = row[: len(line.state)], row[len(line.state) :]
    begin, end = host.trace.begin[work], host.trace.end[work]
    rows, place = _most(rows, _weights(line, moments, edges, len(rows)), np.bincount(worked, end - begin, len(rows)))
    moments, worked = place[moments], place[worked]
    blame = sums(edges, line, moments, len(rows))
    launches, total = np.zeros_like(blame), np.zeros_like(blame)
    at = np.searchsorted(edges, begin, "right") - 1
    inside = (at >= 0) & (at < len(blame))
    np.add.at(launches, (at[inside], worked[inside]), 1)
    np.add.at(total, (at[inside], worked[inside]), (end - begin)[inside])
    idle = np.flatnonzero(line.state >= len(Kind))
    at = np.searchsorted(edges, line.begin[idle], "right") - 1
    inside = (at >= 0) & (at < len(blame))
    np.add.at(launches, (at[inside], moments[idle][inside]), 1)
    waits = np.array([state >= len(Kind) for state, _ in rows], bool)
    total[:, waits] = blame[:, waits]
    return rows, blame, launches, total


def _weights(line: Timeline, moments: Array, edges: Array, rows: int) -> Array:
    """int64[rows]: the blame of each over all steps."""
    answer: Array = sums(edges[[0, -1]], line, moments, rows)[0]
    return answer


def _most(rows: list[tuple[int, Identity]], blame: Array, total: Array) -> tuple[list[tuple[int, Identity]], Array]:
    """The rows that take most time, then one for all others of each state; and for each row which of these it is."""
    order = np.lexsort((np.arange(len(rows)), -total, -blame))[:_MOST_ROWS]
    place = np.full(len(rows), -1, np.int64)
    place[order] = np.arange(len(order))
    chosen = [rows[i] for i in order.tolist()]
    others: dict[int, int] = {}
    for i in np.flatnonzero(place < 0).tolist():
        state = rows[i][0]
        if state not in others:
            others[state] = len(chosen)
            chosen.append((state, Identity(DEVICE if state < len(Kind) else HOST, OTHERS)))
        place[i] = others[state]
    return chosen, place


def _compiles(host: Host, edges: Array) -> Array:
    """int64[steps]: outermost events that trace, lower or compile, by the step in which they begin."""
    classes = event_classes(host)
    mine = np.flatnonzero(classes == State.COMPILE)
    parent, _ = host.trace.nesting
    above = parent[mine]
    outer = mine[(above < 0) | (classes[above] != State.COMPILE)]
    at = np.searchsorted(edges, host.trace.begin[outer], "right") - 1
    answer: Array = np.bincount(at[(at >= 0) & (at < len(edges) - 1)], minlength=len(edges) - 1)
    return answer


def _memory(host: Host) -> dict[str, tuple[int, int, int]]:
    found = {}
    for name, each in allocations(host).items():
        if len(each):
            pieces = round(1e6 * min(max(float(each.fragmentation.max()), 0.0), 1.0))
            found[name] = int(each.in_use.max()), int(each.in_use[-1] - each.in_use[0]), pieces
    return found
