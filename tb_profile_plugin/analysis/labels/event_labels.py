"""What tells a reader where time went: the program's own function rather than the machinery that it went
through, and whether ops compute on the CPU while devices wait, or the program waits for one of its own threads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.joins import is_among
from ...model.events.outermost import are_inside, outermost, outermost_torch_ops
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names import host_events
from ...runtime.arrays import I8, I32, I64, Array, distinct
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.event_classes import GRAPH_BUILDING, dataset_graphs
from ..activity.states import State
from ..activity.thread_classes import event_classes, have_state
from .device_timeline import DeviceTimeline
from .dispatched_calls import cpu_ops
from .first_launches import starting_intervals
from .interval_labels import IntervalLabels
from .label_texts import (
    OF_COPIES,
    OF_EVENTS,
    OF_LOOP,
    OF_PYTHON,
    OF_THREAD,
    ON_CPU,
    STARTING,
    WITHIN,
    event_label,
    label_text,
)
from .program_functions import (
    dispatches_nothing,
    first_of_half,
    innermost_function,
    is_loop_over_values,
    longest_op,
    loops_of_loader,
    program_function,
    silent_calls,
)
from .python_waits import waits_for_events, waits_for_threads

_MACHINERY = regex(
    r"\$(?:threading|queue|queues|contextlib|functools|selectors|connection|subprocess|socket|_\w+|\S*/_\w+)\.py:\d+ "
    r"|\$\S+ (?:wrapp(?:er|ed)|inner|_fn|_call_impl|_wrapped_call_impl|decorate_context)$"
    r"|\$\S+ reraise_with_filtered_traceback$|\$?<built-in method acquire\b|\$<unknown> acquire$"
)
"""Frames of Python's own modules for threads, of modules that libraries keep to themselves, and of wrappers."""
_OF_LOADER = r"\$dataloader\.py:\d+ _\w+_(?:data|index)$"
"""Frames of PyTorch's DataLoader beside other frameworks, whose tracers name no folder."""
_CALLS_BACK = regex(rf"enumerate\(Data|{_OF_LOADER}|\$(?:callback|debugging|script_ops)\.py:\d+ ")
"""A DataLoader, and frames of JAX and TensorFlow, that call functions of the program."""
_LIBRARY = regex(
    r"\$(?:torch\w*/|(?:callback|debugging|script_ops|tree_util|util|api|array|core|dispatch)\.py:)"
    rf"|{_OF_LOADER}|\$(?:fetch\.py:\d+ (?:fetch|<listcomp>)|sampler\.py:\d+ __iter__)$"
)
"""Frames that lie between those and the program's functions."""
_OF_XLA, _IN_CALLBACK = regex(r"\w+_callback(?:\.\d+)?$"), regex(r"\$callback\.py:\d+ __call__$")
"""What XLA runs where a program calls Python back, and JAX's frame that calls the program's function there."""
_MOST_CALLERS = 1000
"""A function that takes half of a call's time is looked for in so many calls."""
_COPY = regex(r"aten::copy_$")
_DISPATCH = int(State.DISPATCH)
_OPTIMIZER = regex(r"Optimizer\.step#")
_OF_OPS = (State.LAUNCH, State.DISPATCH, State.PYTHON)
"""What PyTorch's optimizers mark, and the states in which the mark tells more than each op in it."""
_NEW_ITERATOR = regex(rf"(?:{vocabulary.EAGER_OP_CALL})?MakeIterator")
"""TensorFlow makes an iterator: within it the parts of the pipeline, one in another, and their functions."""
_NUMERICAL = regex(r"aten::(?:(?:linalg|fft)_|(?:i?stft|logsumexp|cdist|cosine_similarity|pairwise_distance)$)")
"""PyTorch's ops of linear algebra, Fourier transforms and distances, each of which calls many others for one result."""
_OF_PYTHON = (State.PYTHON, State.SYNC, State.CALLBACK, State.PAUSE)
"""In which the program's function tells more than what it calls."""
_IN_EAGER_CALL = regex(rf"EagerKernelExecute$|KernelAndDeviceFunc::Run$|{vocabulary.EAGER_OP_CALL}")
_AROUND_EAGER_CALL = regex(r"EagerExecute$|TFE_Py_(?:FastPath)?Execute")
"""What every call of an op or a function of TensorFlow has within and around the event that is named after it."""
_JITTED = "PjitFunction("
"""Begin of the names of calls of functions that JAX compiles."""


class EventLabels(NamedTuple):
    """The event that tells each interval, and as what."""

    event: Array
    """int32[n], -1 for none."""
    text: Array
    """int32[n]: row of its text, -1 for none."""
    texts: list[str]


def event_labels(host: Host, timeline: DeviceTimeline, step_begin: Array) -> EventLabels:
    """What tells the intervals of a host's time, in which steps begin (int64[steps], ps, sorted)."""
    trace, state = host.trace, timeline.state
    labels = IntervalLabels(trace, timeline.event)
    labels.replace(*_still_open(host, timeline))
    _let_eager_calls_tell(labels)
    graphs, dataset_ops = dataset_graphs(host)
    rows = labels.with_names(GRAPH_BUILDING)
    rows = rows[is_among(labels.event[rows].astype(np.int64), graphs)]
    labels.replace(rows, dataset_ops[np.searchsorted(graphs, labels.event[rows])])
    calls_back = labels.with_names(_CALLS_BACK)
    labels.replace(calls_back, _longest_callee(trace, labels.event[calls_back]))
    _append_innermost(labels, calls_back, host)
    _append_called_back(labels)
    event_waits, process_waits = waits_for_events(trace, timeline)
    rows = labels.with_names(_MACHINERY)
    thread_waits = rows[trace.are_named(labels.event[rows], waits_for_threads)]
    events, inverse = np.unique(labels.event[rows], return_inverse=True)
    labels.replace(rows, trace.nearest_named(events, _is_own)[inverse])
    labels.append(thread_waits, OF_THREAD)
    if any(map(host_events.is_frame, trace.names)):
        is_wait, is_named = np.zeros(len(state), bool), np.zeros(len(state), bool)
        is_wait[event_waits] = is_wait[process_waits] = True
        is_named[calls_back] = is_named[thread_waits] = True
        for python_state in _OF_PYTHON:
            rows = np.flatnonzero(have_state(state, python_state) & ~is_wait & ~is_named)
            _let_function_tell(labels, rows, timeline, step_begin, python_state == State.PYTHON)
        _let_function_tell(labels, np.flatnonzero(is_wait & ~is_named), timeline, step_begin, False)
    labels.append(event_waits, OF_EVENTS)
    labels.append(process_waits, OF_THREAD)
    _prepend_compiled_function(labels, np.flatnonzero(have_state(state, State.COMPILE) & (labels.event >= 0)))
    on_cpu = np.flatnonzero(are_inside(labels.event, *cpu_ops(host)))
    starting = starting_intervals(host, timeline, labels.event)
    _let_outermost_tell(labels, _OPTIMIZER, state, _OF_OPS)
    _let_outermost_tell(labels, _NUMERICAL, state, tuple(State))
    _let_outermost_tell(labels, _NEW_ITERATOR, state, (State.INPUT,))
    _let_calling_op_tell(labels, labels.with_names(_COPY))
    labels.append(on_cpu, ON_CPU)
    labels.append(starting[~is_among(starting, on_cpu)], STARTING)
    return EventLabels(labels.event, labels.number, [label_text(label) for label in labels.number_of])


def _still_open(host: Host, timeline: DeviceTimeline) -> tuple[Array, Array]:
    """(intervals, events), int64[k]: of framework overhead that is told by an event which is over for most of it, the
    event around that one: what frees memory after an op is no part of the op.
    """
    trace = host.trace
    return _open_overhead(
        timeline.edges, timeline.state, timeline.event, event_classes(host), trace.end, trace.nesting.parent
    )


def _let_eager_calls_tell(labels: IntervalLabels) -> None:
    """Let the op, or the program's function, that TensorFlow calls name what it does for each call."""
    trace, calls = labels.trace, labels.trace.events_named(_is_eager_call)
    if not len(calls):
        return
    # A function has an event where Python calls it, too.
    functions = {event_label(trace.names[row]) for row in distinct(trace.name_of[calls]).tolist()}
    function_calls = trace.nearest_named(calls, functions.__contains__)
    tells = np.where(function_calls >= 0, function_calls, calls)
    rows = labels.with_names(_IN_EAGER_CALL)
    events = labels.event[rows].astype(np.int64)
    own = np.where(trace.are_named(events, _is_eager_call), events, trace.nearest_named(events, _is_eager_call))
    labels.replace(rows[own >= 0], tells[np.searchsorted(calls, own[own >= 0])])
    rows = labels.with_names(_AROUND_EAGER_CALL)
    first = np.searchsorted(calls, labels.event[rows], "right")
    is_around = np.append(calls, len(trace))[first] < trace.nesting.stop[labels.event[rows]]
    labels.replace(rows[is_around], tells[first[is_around]])


def _let_outermost_tell(
    labels: IntervalLabels, pattern: re.Pattern[str], state: Array, states: Sequence[State]
) -> None:
    """Let the outermost event around them whose name matches tell those intervals that have one of the states.

    ``state`` (int8[n]) is that of each interval.
    """
    trace = labels.trace
    events = outermost(trace, trace.events_named(lambda name: bool(pattern.match(name))))
    if not len(events):
        return
    rows = np.flatnonzero(are_inside(labels.event, events, trace.nesting.stop[events].astype(np.int64)))
    rows = rows[np.isin(state[rows], states)]
    labels.replace(rows, events[np.searchsorted(events, labels.event[rows], "right") - 1])


def _let_calling_op_tell(labels: IntervalLabels, rows: Array) -> None:
    """Let the op that the program called name PyTorch's copies (int64[k]) that it made."""
    if not len(rows):
        return
    trace = labels.trace
    ops = trace.once(outermost_torch_ops)
    calls = ops[np.searchsorted(ops, labels.event[rows], "right") - 1]
    is_other = calls != labels.event[rows]
    names = trace.name_of[calls[is_other]]
    for name in distinct(names).tolist():
        labels.number[rows[is_other][names == name]] = labels.add(event_label(trace.names[name]) + OF_COPIES)


def _let_function_tell(
    labels: IntervalLabels, rows: Array, timeline: DeviceTimeline, step_begin: Array, is_python: bool
) -> None:
    """Let the program's function that holds half of these intervals' time (int64[k]) tell those that lie in it.

    ``is_python`` says that Python's own work passes in them, and no wait.
    """
    interval_ps = timeline.edges[rows + 1] - timeline.edges[rows]
    function = program_function(labels.trace, labels.event[rows], interval_ps, step_begin)
    if function is None:
        return
    rows = rows[function.rows]
    events = labels.event[rows]
    labels.replace(rows, function.call)
    is_loop = is_python and not function.has_long_calls and is_loop_over_values(labels.trace, function.call)
    if is_loop:
        labels.append(rows, OF_LOOP)
    elif function.callee:
        labels.append(rows, WITHIN + event_label(function.callee))
    # Such a loop has been looked through for that already.
    if is_loop or (is_python and dispatches_nothing(labels.trace, function.call)):
        labels.append(rows, OF_PYTHON)
    elif is_python:
        call = silent_calls(labels.trace, events)
        labels.replace(rows[call >= 0], call[call >= 0])
        labels.append(rows[call >= 0], OF_PYTHON)


def _is_eager_call(name: str) -> bool:
    return name.startswith(vocabulary.EAGER_OP_CALL)


def _longest_callee(trace: Trace, events: Array) -> Array:
    """int64[k]: of what calls functions of the program, the outermost of these that takes half of the time, or -1."""
    last = trace.nesting.stop
    frames = trace.events_named(lambda name: _is_own(name) and not _LIBRARY.match(name)) if len(events) else events
    longest_callee = np.full(len(events), -1, np.int64)
    callers, inverse = np.unique(events, return_inverse=True)
    for number, event in enumerate(callers[:_MOST_CALLERS].tolist()):
        callees = frames[np.searchsorted(frames, event + 1) : np.searchsorted(frames, last[event])]
        long_callees = first_of_half(trace, callers[number : number + 1], callees)
        if len(long_callees):
            longest_callee[inverse == number] = long_callees[0]
    return longest_callee


def _append_innermost(labels: IntervalLabels, rows: Array, host: Host) -> None:
    """Say in which function of the program, or else in which of PyTorch's ops, these calls (int64[k]) mostly pass.

    What treats values one by one is a loop, whichever op it calls.
    """
    texts = list(labels.number_of)
    for number in distinct(labels.number[rows]).tolist():
        of_label = rows[labels.number[rows] == number]
        calls = distinct(labels.event[of_label])
        inner = innermost_function(labels.trace, calls)
        if not inner and texts[number] not in loops_of_loader(host):
            inner = longest_op(labels.trace, calls)
        if inner:
            labels.append(of_label, WITHIN + event_label(inner))


def _append_called_back(labels: IntervalLabels) -> None:
    """Say which function of the program XLA calls back: most of the time may be what JAX does around that.

    Python's frames are recorded on some threads only; the same op calls the same function on others.
    """
    trace, rows = labels.trace, labels.with_names(_OF_XLA)
    if not len(rows):
        return
    events, name = labels.event[rows], trace.name_of[labels.event[rows]]
    frames = trace.events_named(lambda name: _is_own(name) and not _LIBRARY.match(name))
    frames = frames[trace.are_named(trace.nesting.parent[frames], _IN_CALLBACK.match)]
    frame = np.append(frames, len(trace))[np.searchsorted(frames, events)]
    is_inside = frame < trace.nesting.stop[events]
    for callback in distinct(name[is_inside]).tolist():
        function = trace.name(int(frame[is_inside & (name == callback)][0]))
        labels.append(rows[name == callback], WITHIN + event_label(function))


def _prepend_compiled_function(labels: IntervalLabels, rows: Array) -> None:
    """Let the function that is compiled stand before what compiles it in these intervals (int64[k])."""
    trace = labels.trace
    events, inverse = np.unique(labels.event[rows], return_inverse=True)
    call = trace.nearest_named(events, lambda name: name.startswith(_JITTED))[inverse]
    rows, names = rows[call >= 0], trace.name_of[call[call >= 0]]
    texts = list(labels.number_of)
    for name, number in sorted({*zip(names.tolist(), labels.number[rows].tolist(), strict=True)}):
        function = trace.names[name].removeprefix(_JITTED).removesuffix(")")
        of_function = rows[(names == name) & (labels.number[rows] == number)]
        labels.number[of_function] = labels.add(f"{function}{WITHIN}{texts[number]}")


def _is_own(name: str) -> bool:
    """Whether a Python frame is neither machinery nor a function in C."""
    return host_events.is_frame(name) and ".py:" in name and not _MACHINERY.match(name)


@jit
def _open_overhead(edges: I64, state: I8, event: I32, classes: I8, end: I64, parent: I32) -> tuple[I64, I64]:
    """(intervals, events): `_still_open`. Takes arrays of intervals, then of events."""
    # What of them is not written takes no memory.
    intervals, events = np.empty(len(event), np.int64), np.empty(len(event), np.int64)
    count = 0
    for i in range(len(event)):
        if state[i] != _DISPATCH or event[i] < 0:
            continue
        middle = (edges[i] + edges[i + 1]) // 2
        if end[event[i]] > middle:
            continue
        around = parent[event[i]]
        while around >= 0 and not (classes[around] == _DISPATCH and end[around] > middle):
            around = parent[around]
        if around >= 0:
            intervals[count], events[count] = i, around
            count += 1
    return intervals[:count], events[:count]
