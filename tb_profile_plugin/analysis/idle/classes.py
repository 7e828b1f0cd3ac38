"""What each thread of a host does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import I8, I32, I64, Array, Int
from ...columns import Plane, vocabulary
from ...jit import jit
from ...model.host import Host
from ...model.links import CALL, LAUNCH, RUN
from ...model.per_host import per_host
from .. import hostnames
from ..hostops import kernels_of_single_ops
from .names import DRIVER_CALL, NOTHING, UNKNOWN, class_of
from .states import State
from .waits import silent_waits

_PYTHON_THREAD = re.compile(r"(python[\d.]*|main|MainThread)\b", re.IGNORECASE)
_SYNC = int(State.SYNC)
_THREADS = ((State.CALLBACK, re.compile(r"py_xla_callback\b")), (State.COMPILE, re.compile(r".*compile_?thread", re.I)))
"""What everything is on threads of these names."""


@dataclass(frozen=True)
class Activity:
    """What the threads of a host do, by thread: stretches ``first[t]:first[t + 1]``, disjoint and in order of time.

    Lines that hold nothing but a thread's calls of the driver are part of that thread.
    """

    first: Array
    """int64[lines + 1], by line of the trace."""
    begin: Array
    """int64[k] ps."""
    end: Array
    """int64[k] ps."""
    state: Array
    """int8[k]: `State` from ``COMPILE`` to ``PYTHON``."""
    event: Array
    """int32[k]: the longest of the events that tell so."""
    thread: Array
    """int32[lines]: the line whose thread each line is part of."""
    python: Array
    """bool[lines]: where a moment without an event is Python's."""
    loop: int
    """The line on which the program's loop runs, or -1."""
    line_of: Array
    """int32[events]: the line of each event."""
    came_from: Array
    """int32[events]: the latest event on another thread that led to this one, or -1."""


@per_host
def event_classes(host: Host) -> Array:
    """int8[events]: the class of each event of the host's threads, `NOTHING` for everything else."""
    answer = np.full(len(host.trace), NOTHING, np.int8)
    plane = host.cpu
    if plane is None:
        return answer
    rows = host.trace.rows(plane)
    by_name = np.array([class_of(name) for name in plane.names], np.int8)
    mine = by_name[plane.events.name]
    launches = plane.stat(vocabulary.CORRELATION_ID).owner
    # Calls of the driver by their own names are told by these; old captures name the kernel instead.
    told = np.array([bool(DRIVER_CALL.match(name)) for name in plane.names], bool)[plane.events.name[launches]]
    mine[launches[(mine[launches] >= State.DISPATCH) & ~told]] = State.LAUNCH
    calls = plane.named(lambda name: name.startswith(hostnames.CALLS[0]))
    mine[np.setdiff1d(calls, kernels_of_single_ops(host), assume_unique=True)] = State.SYNC
    python = python_lines(plane)
    steps = host.steps_named()
    marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)]
    unknown = np.flatnonzero(mine == UNKNOWN)
    mine[unknown] = np.where(python[plane.events.line[unknown]], State.PYTHON, State.DISPATCH)
    around = _around(host, marks) - rows.start
    mine[around[mine[around] == State.PYTHON]] = NOTHING
    for state, pattern in _THREADS:
        lines = np.array([bool(pattern.match(name)) for name in plane.lines.name], bool)
        if lines.any():
            mine[lines[plane.events.line]] = state
    if steps.source in ("markers", "numbers", "chosen"):
        own = marks - rows.start
        mine[own[mine[own] >= State.DISPATCH]] = NOTHING
    answer[rows] = mine
    return answer


def _around(host: Host, marks: Array) -> Array:
    """int64[k]: the marks of steps, and what encloses them: those say that a step runs, not what it does."""
    parent, _ = host.trace.nesting
    found = [marks]
    while len(found[-1]):
        above = np.unique(parent[found[-1]])
        found.append(above[above >= 0])
    return np.unique(np.concatenate(found))


def python_lines(plane: Plane) -> Array:
    """bool[lines]: threads on which Python's frames were recorded, or that are named as Python's main thread is."""
    answer = _lines_with_frames(plane)
    answer |= np.array([bool(_PYTHON_THREAD.match(name)) for name in plane.lines.name], bool)
    return answer


def _lines_with_frames(plane: Plane) -> Array:
    """bool[lines]: threads on which Python's frames were recorded."""
    answer = np.zeros(len(plane.lines), bool)
    frames = np.array([name.startswith(vocabulary.PYTHON_FRAME) for name in plane.names], bool)
    if frames.any():
        answer[np.unique(plane.events.line[frames[plane.events.name]])] = True
    return answer


@per_host
def activity(host: Host) -> Activity:
    """What each thread does at every moment, and what led from one to another."""
    trace, line_of = host.trace, host.trace.line_of
    count = len(trace.lines) - 1
    thread = _threads(host, line_of)
    python, named = np.zeros(count, bool), np.zeros(count, bool)
    begin, end, classes = trace.begin, trace.end, event_classes(host)
    if host.cpu is not None:
        place = next(place for place, plane in enumerate(trace.planes) if plane is host.cpu)
        first = sum(len(plane.lines) for plane in trace.planes[:place])
        lines = slice(first, first + len(host.cpu.lines))
        python[lines], named[lines] = _lines_with_frames(host.cpu), python_lines(host.cpu)
    loop = _loop(host, line_of, named)
    if loop >= 0:
        python[loop] = True
    end, classes = _stretched(host, line_of, end, classes)
    begin = _pauses(host, line_of, loop, begin, end, classes)
    stretches = _stretches(host, line_of, thread, loop, begin, end, classes)
    came_from = np.full(len(trace), -1, np.int32)
    links = trace.links
    _latest_source(links.source, links.target, links.kind, thread, line_of, trace.begin, came_from)
    return Activity(*stretches, thread, python, loop, line_of, came_from)


def _threads(host: Host, line_of: Array) -> Array:
    """int32[lines]: lines of driver's calls belong to the thread that most of their calls were made on."""
    links = host.trace.links
    thread = np.arange(len(host.trace.lines) - 1, dtype=np.int32)
    calls = links.kind == CALL
    callers, apart = line_of[links.source[calls]], line_of[links.target[calls]]
    for line in np.unique(apart).tolist():
        thread[line] = np.bincount(callers[apart == line]).argmax()
    return thread


def _loop(host: Host, line_of: Array, python: Array) -> int:
    """The line of most steps' marks, else the one named as Python's with most events, else the first of the host's."""
    steps, plane = host.steps_named(), host.cpu
    if plane is None or not len(plane.events):
        return -1
    rows = host.trace.rows(plane)
    marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)]
    line = int(np.bincount(line_of[marks]).argmax()) if len(marks) else -1
    # Executors run a loop's iterations on threads of a pool.
    if line >= 0 and (python[line] or not python.any() or steps.source not in ("loops", "turns")):
        return line
    sizes = np.diff(host.trace.lines) * python
    return int(sizes.argmax()) if sizes.any() else int(line_of[rows.start])


def _stretched(host: Host, line_of: Array, end: Array, classes: Array) -> tuple[Array, Array]:
    """Ends and classes with what two events tell together.

    A wait that is recorded as its begin and its end lasts from one to the other; a function that is called and
    compiled by that is traced and lowered until then.
    """
    trace, links, end, classes = host.trace, host.trace.links, end.copy(), classes.copy()
    _stretch_waits(links.source, links.target, classes, line_of, trace.begin, trace.end, end)
    for call, until in _compiling_calls(host, classes):
        classes[call], end[call] = State.COMPILE, until
    return end, classes


def _compiling_calls(host: Host, classes: Array) -> Iterator[tuple[Array, Array]]:
    """(calls, moments): calls of functions that compile, and until when; what they do before that makes it ready.

    A call that encloses compiling traces and lowers until the last of that ends; one that TensorFlow says to trace
    builds and optimises a graph until its kernel runs.
    """
    trace = host.trace
    parent, last = trace.nesting
    calls = np.zeros(len(trace), bool)
    calls[trace.named(lambda name: name.startswith(("PjitFunction", "EagerKernelExecute")))] = True
    compiling = np.flatnonzero(classes == State.COMPILE)
    above, at = parent[compiling], np.full(len(compiling), -1, np.int64)
    while (above >= 0).any():
        at = np.where((above >= 0) & calls[above], above, at)
        above = np.where(above >= 0, parent[above], -1)
    held = at >= 0
    outer, place = np.unique(at[held], return_inverse=True)
    until = np.zeros(len(outer), np.int64)
    np.maximum.at(until, place.reshape(-1), trace.end[compiling[held]])
    yield outer, until
    column = host.cpu.stat(vocabulary.TF_FUNCTION_CALL) if host.cpu else None
    if host.cpu is None or column is None or not len(column):
        return
    codes, texts = column.codes
    traced = np.array([text.startswith(("traced", "tracing")) for text in texts], bool)[codes]
    outer = column.owner[traced] + trace.rows(host.cpu).start
    kernels = trace.named("EagerKernelExecute".__eq__)
    place = np.searchsorted(kernels, outer)
    inside = place < len(kernels)
    inside[inside] = kernels[place[inside]] < last[outer[inside]]
    yield outer[inside], trace.begin[kernels[place[inside]]]


def _pauses(host: Host, line_of: Array, loop: int, begin: Array, end: Array, classes: Array) -> Array:
    """Begins of events, where the first pause between two steps' marks begins with the first mark's end.

    A checkpoint is made ready before it is written. Functions of TensorFlow that are called between few of the steps
    are pauses, too: an evaluation. ``end`` and ``classes`` are changed in place, for the first to last until the last.
    """
    steps, trace = host.steps_named(), host.trace
    marks = np.sort(steps.marker[steps.marker >= 0])
    marks = marks[line_of[marks] == loop]
    if not len(marks):
        return begin
    pauses, place = _between(host, marks, loop, line_of, np.flatnonzero(classes == State.PAUSE))
    others = trace.named(lambda name: name.startswith("EagerLocalExecute: __inference_"))
    others, place_of_others = _between(host, marks, loop, line_of, others)
    if 2 * len(np.unique(place_of_others)) < len(marks):
        pauses, place = np.concatenate((pauses, others)), np.concatenate((place, place_of_others))
        order = np.argsort(pauses)
        pauses, place = pauses[order], place[order]
    if not len(pauses):
        return begin
    first = np.flatnonzero(np.append(True, np.diff(place) != 0))
    moved: Array = begin.copy()
    moved[pauses[first]] = trace.end[marks[place[first]]]
    end[pauses[first]] = np.maximum.reduceat(end[pauses], first)
    classes[pauses[first]] = State.PAUSE
    return moved


def _between(host: Host, marks: Array, loop: int, line_of: Array, events: Array) -> tuple[Array, Array]:
    """(events, places): those on the loop's line after a mark's end and before the next one, and after which mark."""
    trace = host.trace
    events = events[line_of[events] == loop]
    place = np.searchsorted(trace.begin[marks], trace.begin[events], "right") - 1
    after = (place >= 0) & (trace.begin[events] >= trace.end[marks[place.clip(0)]])
    return events[after], place[after]


def _stretches(
    host: Host, line_of: Array, thread: Array, loop: int, begin: Array, end: Array, classes: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The first columns of `Activity`; silent waits are events beside the others."""
    since, until, around = silent_waits(host, loop, classes)
    moved = begin is not host.trace.begin
    if len(since):
        begin, end = np.concatenate((begin, since)), np.concatenate((end, until))
        classes = np.append(classes, np.full(len(since), State.SYNC, np.int8))
        line_of = np.append(line_of, np.full(len(since), loop, np.int32))
    unsorted = loop if moved or len(since) else -1
    rows, starts = _by_thread(host.trace.lines, line_of, thread, begin, end, classes, unsorted)
    first, begins, ends, state, event = _sweep(starts, rows, begin, end, classes)
    told = event >= len(host.trace)
    event[told] = around[event[told] - len(host.trace)]
    return first, begins, ends, state, event


def _by_thread(
    lines: Array, line_of: Array, thread: Array, begin: Array, end: Array, classes: Array, unsorted: int
) -> tuple[Array, Array]:
    """(rows, starts): the events that tell something, thread by thread, outer before inner; int32 and int64."""
    rows, starts = _tellers(lines, begin, end, classes)
    several = np.unique(np.append(thread[thread != np.arange(len(thread))], unsorted))
    if several[-1] < 0:
        return rows, starts
    # What is on no line of the trace, but beside its events, stands on one that is not sorted.
    rows = np.append(rows, np.arange(lines[-1], len(begin), dtype=np.int32))
    owner = thread[line_of[rows]]
    shared = np.isin(owner, several)
    mine = rows[shared]
    mine = mine[np.lexsort((-end[mine], begin[mine], owner[shared]))]
    rows, owner = np.concatenate((rows[~shared], mine)), np.concatenate((owner[~shared], thread[line_of[mine]]))
    order = np.argsort(owner, kind="stable")
    rows, owner = rows[order], owner[order]
    starts = np.searchsorted(owner, np.arange(len(thread) + 1)).astype(np.int64)
    return rows, starts


@jit
def _tellers(lines: I64, begin: I64, end: I64, classes: I8) -> tuple[I32, I64]:
    """(rows, starts): the events that tell something, of each line ``rows[starts[i]:starts[i + 1]]``."""
    # What of it is not written takes no memory.
    rows = np.empty(len(begin), np.int32)
    starts = np.empty(len(lines), np.int64)
    count = 0
    for line in range(len(lines) - 1):
        starts[line] = count
        for i in range(lines[line], lines[line + 1]):
            if classes[i] != NOTHING and end[i] > begin[i]:
                rows[count] = i
                count += 1
    starts[len(lines) - 1] = count
    return rows[:count], starts


@jit
def _stretch_waits(source: I32, target: I32, classes: I8, line_of: I32, begin: I64, end: I64, answer: I64) -> None:
    """Let waits last until the begin of the waits on their line that they lead to."""
    for k in range(len(source)):
        s, t = source[k], target[k]
        if classes[s] == _SYNC and classes[t] == _SYNC and line_of[s] == line_of[t]:
            answer[s] = max(end[s], begin[t])


@jit
def _latest_source(source: I32, target: I32, kind: I32, thread: I32, line_of: I32, begin: I64, answer: I32) -> None:
    """For each event the latest of its sources on other threads that began before it, but for launches and the like."""
    for k in range(len(source)):
        s, t = source[k], target[k]
        if kind[k] == LAUNCH or kind[k] == CALL or kind[k] == RUN or thread[line_of[s]] == thread[line_of[t]]:
            continue
        if begin[s] <= begin[t] and s != t and (answer[t] < 0 or begin[s] > begin[answer[t]]):
            answer[t] = s


@jit
def _sweep(starts: I64, rows: I32 | I64, begin: I64, end: I64, classes: I8) -> tuple[I64, I64, I64, I8, I32]:
    """The strongest class at every moment, thread by thread; see `Activity`."""
    first = np.zeros(len(starts), np.int64)
    # A stretch ends where an event begins or ends. What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    out_state, out_event = np.empty(2 * len(rows), np.int8), np.empty(2 * len(rows), np.int32)
    stack = np.empty(64, np.int64)
    state = np.empty(64, np.int64)
    teller = np.empty(64, np.int64)
    count = np.int64(0)
    for line in range(len(starts) - 1):
        depth, at = 0, np.int64(-(1 << 62))
        last_state, last_end, longest = np.int64(-1), np.int64(-(1 << 62)), np.int64(0)
        for i in range(starts[line], starts[line + 1] + 1):
            closing = i == starts[line + 1]
            now = np.int64(0) if closing else begin[rows[i]]
            while depth > 0:
                top = stack[depth - 1]
                until = end[top] if closing else min(end[top], now)
                while until > at:
                    if end[teller[depth - 1]] <= at:
                        state[depth - 1], teller[depth - 1] = _strongest(stack, depth, at, end, classes)
                    then = min(until, end[teller[depth - 1]])
                    if last_state == state[depth - 1] and last_end == at:
                        out_end[count - 1] = then
                        if then - at > longest:
                            out_event[count - 1] = teller[depth - 1]
                    else:
                        out_begin[count], out_end[count] = at, then
                        out_state[count], out_event[count] = state[depth - 1], teller[depth - 1]
                        count += 1
                        longest = np.int64(0)
                    longest = max(longest, then - at)
                    last_state, last_end = state[depth - 1], then
                    at = then
                if not closing and end[top] > now:
                    break
                depth -= 1
            if closing:
                break
            if depth == len(stack):
                stack, state, teller = _twice(stack), _twice(state), _twice(teller)
            own = np.int64(classes[rows[i]])
            stack[depth], state[depth], teller[depth] = rows[i], own, rows[i]
            if depth > 0 and end[teller[depth - 1]] <= now:
                state[depth - 1], teller[depth - 1] = _strongest(stack, depth, now, end, classes)
            if depth > 0 and state[depth - 1] < own:
                state[depth], teller[depth] = state[depth - 1], teller[depth - 1]
            depth += 1
            at = max(at, now)
        first[line + 1] = count
    return first, out_begin[:count], out_end[:count], out_state[:count], out_event[:count]


@jit
def _strongest(stack: I64, depth: Int, at: Int, end: I64, classes: I8) -> tuple[Int, Int]:
    """(class, event): the strongest of those that go on beyond a moment, the innermost of equal ones; the last does."""
    best = stack[depth - 1]
    for k in range(depth - 2, -1, -1):
        if end[stack[k]] > at and classes[stack[k]] < classes[best]:
            best = stack[k]
    return np.int64(classes[best]), best


@jit
def _twice(values: I64) -> I64:
    answer = np.empty(2 * len(values), np.int64)
    for i in range(len(values)):
        answer[i] = values[i]
    return answer
