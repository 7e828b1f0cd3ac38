"""What each thread of a host does at every moment, and what led from one thread to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.gather import gather
from ...model.events.intervals import order_by
from ...model.events.links import CALL, LAUNCH, LIBRARY, RUN
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names import host_events
from ...model.per_host import per_host
from ...runtime.arrays import I8, I32, I64, Array, Bool, Int, distinct
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..ops.host_ops import kernels_of_single_ops
from .blocking_copies import blocking_calls
from .event_classes import DRIVER_CALL, NOTHING, UNKNOWN, class_of, dataset_graphs, python_ops
from .inferred_waits import interpreter_waits, silent_waits
from .input_functions import functions_of_input
from .states import State
from .thread_states import ThreadStates, thread_states

_PYTHON_THREAD = regex(r"(python[\d.]*|main|MainThread)\b", re.IGNORECASE)
"""Names of Python's main thread."""
INPUT_THREADS = "tf_data_"
"""Begin of the names of threads that only work for input pipelines."""
_STATE_OF_THREADS = ((State.CALLBACK, regex(r"py_xla_callback\b")), (State.COMPILE, regex(r".*compile_?thread", re.I)))
"""States of all that threads of these names do."""
_PICKLES = regex(r"\$\S+ __reduce(?:_ex)?__$")
"""What a pickler asks objects for, such as those that workers exchange: tensors save themselves then, which is no
checkpoint."""
_COMMUNICATES = "$torch/distributed/"
"""Begin of the names of frames that wait for other workers, whatever they wait in."""


class Activity(NamedTuple):
    """What the threads of a host do, by thread: intervals ``first[t]:first[t + 1]``, disjoint and in order of time.

    Lines that hold nothing but a thread's calls of the driver are part of that thread.
    """

    first: I64
    """int64[lines + 1], by line of the trace."""
    begin: I64
    """int64[k] ps."""
    end: I64
    """int64[k] ps."""
    state: I8
    """int8[k]: `State` from ``COMPILE`` to ``PYTHON``."""
    event: I32
    """int32[k]: the longest of the events that tell so."""
    thread: I32
    """int32[lines]: the line whose thread each line is part of."""
    python: Bool
    """bool[lines]: where Python's frames were recorded: a moment without an event is Python's there."""
    loop: Int
    """The line of the thread that runs the program's loop, or -1."""
    line_of: I32
    """int32[events]: the line of each event."""
    came_from: I32
    """int32[events]: the latest event on another thread that led to this one, or -1."""
    of_input: Bool
    """bool[events]: what other threads than the loop's do in functions that iterators of the input started."""


@per_host
def event_classes(host: Host) -> Array:
    """int8[events]: the class of each event of the host's threads, `NOTHING` for everything else."""
    class_of_event = np.full(len(host.trace), NOTHING, np.int8)
    plane = host.cpu
    if plane is None:
        return class_of_event
    rows = host.trace.slice_of(plane)
    classes = _classes_by_calls(host, plane)
    waits = np.flatnonzero(have_state(classes, State.SYNC))
    caller = host.trace.nesting.parent[waits + rows.start]
    for_workers = host.trace.are_named(caller, lambda name: name.startswith(_COMMUNICATES)) & (caller >= 0)
    classes[waits[for_workers]] = State.COLLECTIVE_HOST
    pauses = np.flatnonzero(have_state(classes, State.PAUSE))
    if len(pauses):
        around = host.trace.nearest_named(pauses + rows.start, _PICKLES.match)
        classes[pauses[around >= 0]] = State.PYTHON
    steps = host.with_steps().steps
    marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)]
    unknown = np.flatnonzero(classes == UNKNOWN)
    classes[unknown] = np.where(python_lines(plane)[plane.events.line[unknown]], State.PYTHON, State.DISPATCH)
    classes[python_ops(host) - rows.start] = State.PYTHON
    marks_and_enclosing = _marks_and_enclosing(host, marks) - rows.start
    classes[marks_and_enclosing[classes[marks_and_enclosing] == State.PYTHON]] = NOTHING
    for state, pattern in _STATE_OF_THREADS:
        lines = np.array([bool(pattern.match(name)) for name in plane.lines.name], bool)
        if lines.any():
            classes[lines[plane.events.line]] = state
    if steps.source in ("markers", "numbers", "chosen"):
        mark_rows = marks - rows.start
        classes[mark_rows[classes[mark_rows] >= State.DISPATCH]] = NOTHING
    class_of_event[rows] = classes
    return class_of_event


def _classes_by_calls(host: Host, plane: Plane) -> Array:
    """int8[n]: the classes of a plane's events by their names, and by what they call; with `UNKNOWN`."""
    first = host.trace.slice_of(plane).start
    classes = gather(np.array([class_of(name) for name in plane.heads], np.int8), plane.events.name)
    launches = plane.stat(vocabulary.CORRELATION_ID).owner
    # Calls of the driver by their own names are told by these; old captures name the kernel instead.
    is_driver_call = np.array([bool(DRIVER_CALL.match(name)) for name in plane.heads], bool)
    launches = launches[(classes[launches] >= State.DISPATCH) & ~is_driver_call[plane.events.name[launches]]]
    classes[launches] = State.LAUNCH
    calls = blocking_calls(host) - first
    classes[calls[(calls >= 0) & (calls < len(classes))]] = State.SYNC
    calls = plane.rows_named(lambda name: name.startswith(host_events.CALLS))
    classes[np.setdiff1d(calls, kernels_of_single_ops(host), assume_unique=True)] = State.SYNC
    graphs, _ = dataset_graphs(host)
    classes[graphs - first] = State.INPUT
    functions = plane.stat(vocabulary.TF_FUNCTION_CALL).owner
    classes[functions[classes[functions] == UNKNOWN]] = State.DISPATCH
    return classes


def have_state(classes: Array, state: State) -> Array:
    """bool[n]: which of the classes are that state; against a member of an enum numpy would widen them all first."""
    return classes == int(state)


def _marks_and_enclosing(host: Host, marks: Array) -> Array:
    """int64[k]: the marks of steps, and what encloses them: those say that a step runs, not what it does."""
    levels = [marks]
    while len(levels[-1]):
        above = distinct(host.trace.nesting.parent[levels[-1]])
        levels.append(above[above >= 0])
    return distinct(np.concatenate(levels))


def python_lines(plane: Plane) -> Array:
    """bool[lines]: threads on which Python's frames were recorded, or that are named as Python's main thread is."""
    is_python = _lines_with_frames(plane)
    is_python |= np.array([bool(_PYTHON_THREAD.match(name)) for name in plane.lines.name], bool)
    return is_python


def _lines_with_frames(plane: Plane) -> Array:
    """bool[lines]: threads on which Python's frames were recorded."""
    has_frames = np.zeros(len(plane.lines), bool)
    frames = host_events.are_frames(plane.names)
    if frames.any():
        has_frames[plane.events.line[gather(frames, plane.events.name)]] = True
    return has_frames


@per_host
def activity(host: Host) -> Activity:
    """What each thread does at every moment, and what led from one to another."""
    trace, line_of = host.trace, host.trace.line_of
    count = len(trace.lines) - 1
    thread = _thread_of_lines(trace)
    python, python_or_main = np.zeros((2, count), bool)
    begin, end, classes = trace.begin, trace.end, event_classes(host)
    if host.cpu is not None:
        plane_index = next(index for index, plane in enumerate(trace.planes) if plane is host.cpu)
        first = sum(len(plane.lines) for plane in trace.planes[:plane_index])
        lines = slice(first, first + len(host.cpu.lines))
        python[lines], python_or_main[lines] = _lines_with_frames(host.cpu), python_lines(host.cpu)
    loop = _loop_line(host, python_or_main)
    links = trace.links
    came_from = np.full(len(trace), -1, np.int32)
    _fill_latest_sources(links.source, links.target, links.kind, thread, line_of, begin, came_from)
    thread_of_loop = int(thread[loop]) if loop >= 0 else -1
    of_input = functions_of_input(host, thread != thread_of_loop, line_of, classes, came_from)
    if of_input.any():
        # A thread of the pool runs the step's ops, too: what it did for the input is no reason that they are late.
        classes = np.where(of_input, np.int8(NOTHING), classes)
        came_from[of_input] = -1
    end, classes = _lengthened(host, end, classes)
    begin, end, classes = _pauses(host, loop, begin, end, classes)
    columns = _state_intervals(host, thread, loop, begin, end, classes)
    return Activity(*columns, thread, python, thread_of_loop, line_of, came_from, of_input)


def _thread_of_lines(trace: Trace) -> Array:
    """int32[lines]: lines of driver's calls belong to the thread that most of their calls were made on.

    So do those of what a library does within its calls, which it records by itself.
    """
    links = trace.links
    thread = np.arange(len(trace.lines) - 1, dtype=np.int32)
    calls = np.flatnonzero((links.kind == CALL) | (links.kind == LIBRARY))
    enclosing = trace.nesting.parent[links.source[calls]]
    inside = (enclosing >= 0) & (trace.end[links.target[calls]] <= trace.end[enclosing])
    calls = calls[(links.kind[calls] == CALL) | inside]
    callers, callees = trace.line_of[links.source[calls]], trace.line_of[links.target[calls]]
    for line in distinct(callees).tolist():
        thread[line] = np.bincount(callers[callees == line]).argmax()
    return thread


def _loop_line(host: Host, python: Array) -> int:
    """The line of most steps' marks, else the one named as Python's with most events, else the first of the host's."""
    steps, plane, line_of = host.with_steps().steps, host.cpu, host.trace.line_of
    if plane is None or not len(plane.events):
        return -1
    rows = host.trace.slice_of(plane)
    marks = steps.marker[(steps.marker >= rows.start) & (steps.marker < rows.stop)]
    line = int(np.bincount(line_of[marks]).argmax()) if len(marks) else -1
    # Executors run a loop's iterations on threads of a pool.
    if line >= 0 and (python[line] or not python.any() or steps.source not in ("loops", "turns")):
        return line
    sizes = np.diff(host.trace.lines) * python
    return int(sizes.argmax()) if sizes.any() else int(line_of[rows.start])


def _lengthened(host: Host, end: Array, classes: Array) -> tuple[Array, Array]:
    """Ends and classes of events (int64 ps and int8), longer where two events together tell it.

    A wait that is recorded as its begin and its end lasts from one to the other; a function that is called and
    compiled by that is traced and lowered until then.
    """
    trace, links = host.trace, host.trace.links
    rows = np.flatnonzero(have_state(gather(classes, links.source), State.SYNC))
    rows = rows[have_state(classes[links.target[rows]], State.SYNC)]
    source, target = links.source[rows], links.target[rows]
    is_same_line = trace.line_of[source] == trace.line_of[target]
    source, target = source[is_same_line], target[is_same_line]
    compiling = [(calls, until) for calls, until in _compiling_calls(host, classes) if len(calls)]
    if not len(source) and not compiling:
        return end, classes
    end, classes = end.copy(), classes.copy()
    end[source] = np.maximum(trace.end[source], trace.begin[target])
    for calls, until in compiling:
        classes[calls], end[calls] = State.COMPILE, until
    return end, classes


def _compiling_calls(host: Host, classes: Array) -> Iterator[tuple[Array, Array]]:
    """(calls, moments): calls of functions that compile, and until when; what they do before that makes it ready.

    A call that encloses compiling traces and lowers until the last of that ends; one that TensorFlow says to trace
    builds and optimises a graph until its kernel runs.
    """
    trace = host.trace
    parent, stop = trace.nesting
    is_call = np.zeros(len(trace), bool)
    is_call[trace.events_named(lambda name: name.startswith(("PjitFunction", vocabulary.EAGER_KERNEL_EXECUTE)))] = True
    compiling = np.flatnonzero(have_state(classes, State.COMPILE))
    above, outermost_call = parent[compiling], np.full(len(compiling), -1, np.int64)
    while (above >= 0).any():
        outermost_call = np.where((above >= 0) & is_call[above], above, outermost_call)
        above = np.where(above >= 0, parent[above], -1)
    has_call = outermost_call >= 0
    outer, index = np.unique(outermost_call[has_call], return_inverse=True)
    until = np.zeros(len(outer), np.int64)
    np.maximum.at(until, index, trace.end[compiling[has_call]])
    yield outer, until
    column = host.cpu.stat(vocabulary.TF_FUNCTION_CALL) if host.cpu else None
    if host.cpu is None or column is None or not len(column):
        return
    codes, texts = column.codes
    traced = np.array([text.startswith(("traced", "tracing")) for text in texts], bool)[codes]
    outer = column.owner[traced] + trace.slice_of(host.cpu).start
    kernels = trace.events_named(vocabulary.EAGER_KERNEL_EXECUTE.__eq__)
    index = np.searchsorted(kernels, outer)
    inside = index < len(kernels)
    inside[inside] = kernels[index[inside]] < stop[outer[inside]]
    yield outer[inside], trace.begin[kernels[index[inside]]]


def _pauses(host: Host, loop: int, begin: Array, end: Array, classes: Array) -> tuple[Array, Array, Array]:
    """Begins, ends and classes of events, where the first pause between two steps' marks begins with the first mark's
    end, and ends with the last pause.

    A checkpoint is made ready before it is written; where most steps pause, what lies before it may be anything.
    Functions of TensorFlow that are called between few of the steps are pauses, too: an evaluation.
    """
    steps, trace = host.with_steps().steps, host.trace
    marks = np.sort(steps.marker[steps.marker >= 0])
    marks = marks[trace.line_of[marks] == loop]
    if not len(marks):
        return begin, end, classes
    pauses, mark_index = _between_marks(trace, marks, loop, np.flatnonzero(have_state(classes, State.PAUSE)))
    evaluations = trace.events_named(lambda name: name.startswith(f"{vocabulary.EAGER_OP_CALL}__inference_"))
    evaluations, evaluation_index = _between_marks(trace, marks, loop, evaluations)
    if 2 * len(distinct(evaluation_index)) < len(marks):
        pauses, mark_index = np.concatenate((pauses, evaluations)), np.concatenate((mark_index, evaluation_index))
        order = np.argsort(pauses)
        pauses, mark_index = pauses[order], mark_index[order]
    if not len(pauses) or 2 * len(distinct(mark_index)) > len(marks):
        return begin, end, classes
    first = np.flatnonzero(np.append(True, np.diff(mark_index) != 0))
    begin, end, classes = begin.copy(), end.copy(), classes.copy()
    begin[pauses[first]] = trace.end[marks[mark_index[first]]]
    end[pauses[first]] = np.maximum.reduceat(end[pauses], first)
    classes[pauses[first]] = State.PAUSE
    return begin, end, classes


def _between_marks(trace: Trace, marks: Array, loop: int, events: Array) -> tuple[Array, Array]:
    """(events, indices): those on the loop's line after a mark's end and before the next one, and after which mark."""
    events = events[trace.line_of[events] == loop]
    index = np.searchsorted(trace.begin[marks], trace.begin[events], "right") - 1
    after = (index >= 0) & (trace.begin[events] >= trace.end[marks[index.clip(0)]])
    return events[after], index[after]


def _state_intervals(host: Host, thread: Array, loop: int, begin: Array, end: Array, classes: Array) -> ThreadStates:
    """What threads do; silent waits are events beside the others, and so is a held interpreter."""
    waits, python_waits = silent_waits(host, loop, classes), interpreter_waits(host, loop, classes)
    since, until, wait_event = (np.concatenate(columns) for columns in zip(waits, python_waits, strict=True))
    unsorted = loop if len(since) or begin is not host.trace.begin else -1
    if len(since):
        begin, end = np.concatenate((begin, since)), np.concatenate((end, until))
        lines = [name for plane in host.trace.planes for name in plane.lines.name]
        state_of_line = [State.INPUT if name.startswith(INPUT_THREADS) else State.CALLBACK for name in lines]
        python_states = np.array(state_of_line, np.int8)[host.trace.line_of[python_waits.event]]
        classes = np.concatenate((classes, np.full(len(waits.begin), State.SYNC, np.int8), python_states))
    rows, starts = _by_thread(host.trace.lines, thread, begin, end, classes, unsorted)
    states = thread_states(starts, rows, begin, end, classes)
    is_added = states.event >= len(host.trace)
    states.event[is_added] = wait_event[states.event[is_added] - len(host.trace)]
    if end is not host.trace.end:
        _set_enclosing_frames(host.trace, states, end)
    return states


def _set_enclosing_frames(trace: Trace, states: ThreadStates, end: Array) -> None:
    """Let the frame of Python around a wait that is recorded as its begin and its end tell it: neither of these marks
    lasts so long. ``end`` (int64 ps) has the ends of events as `_lengthened` has them.
    """
    rows = np.flatnonzero(have_state(states.state, State.SYNC) & (states.event >= 0))
    rows = rows[end[states.event[rows]] > trace.end[states.event[rows]]]
    around = trace.nesting.parent[states.event[rows]]
    is_frame = (around >= 0) & host_events.are_frames(trace.names)[trace.name_of[around]]
    states.event[rows[is_frame]] = around[is_frame]


def _by_thread(
    lines: Array, thread: Array, begin: Array, end: Array, classes: Array, unsorted: int
) -> tuple[Array, Array]:
    """(rows, starts): events that have a class, thread by thread, outer before inner; int32 and int64.

    What is on no line of the trace, but beside its events, stands on the ``unsorted`` one.
    """
    rows, starts = _rows_with_class(lines, begin, end, classes)
    if unsorted < 0 and (thread == np.arange(len(thread))).all():
        return rows, starts
    parts: list[list[Array]] = [[] for _ in thread]
    for owner, (low, high) in zip(thread.tolist(), pairwise(starts.tolist()), strict=True):
        parts[owner].append(rows[low:high])
    if unsorted >= 0:
        parts[thread[unsorted]].append(np.arange(lines[-1], len(begin), dtype=np.int32))
    by_thread = [pieces[0] if len(pieces) == 1 else _outer_first(pieces, begin, end) for pieces in parts]
    return np.concatenate(by_thread), np.cumsum([0, *map(len, by_thread)], dtype=np.int64)


def _outer_first(parts: Sequence[Array], begin: Array, end: Array) -> Array:
    """int32[k]: all of these events in order of time, of those that begin together the longer first."""
    rows = np.concatenate([np.empty(0, np.int32), *parts])
    return rows[order_by(begin[rows], -end[rows])]


@jit
def _rows_with_class(lines: I64, begin: I64, end: I64, classes: I8) -> tuple[I32, I64]:
    """(rows, starts): events that have a class, of each line ``rows[starts[i]:starts[i + 1]]``."""
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
def _fill_latest_sources(
    source: I32, target: I32, kind: I32, thread: I32, line_of: I32, begin: I64, came_from: I32
) -> None:
    """Fill in for each event its latest source on another thread that began before it; not launches and the like."""
    for k in range(len(source)):
        s, t = source[k], target[k]
        if kind[k] == LAUNCH or kind[k] == CALL or kind[k] == RUN or thread[line_of[s]] == thread[line_of[t]]:
            continue
        if begin[s] <= begin[t] and s != t and (came_from[t] < 0 or begin[s] > begin[came_from[t]]):
            came_from[t] = s
