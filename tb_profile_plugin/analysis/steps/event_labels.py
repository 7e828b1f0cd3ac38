"""What tells a reader where time went: the program's own function rather than the machinery that it went
through, and whether ops compute on the CPU while devices wait, or the program waits for one of its own threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.joins import is_among
from ...model.events.outermost import are_inside, outermost, outermost_torch_ops
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names import hlo_text, host_events
from ...runtime.arrays import I8, I32, I64, Array, Bool, Int, distinct
from ...runtime.jit import jit
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.event_classes import GRAPH_BUILDING, dataset_graphs
from ..activity.states import State
from ..activity.thread_classes import event_classes, have_state
from .device_timeline import DeviceTimeline
from .dispatched_calls import cpu_ops
from .event_names import display_name
from .first_launches import starting_intervals
from .program_functions import (
    dispatches_nothing,
    is_loop_over_values,
    longest_op,
    loops_of_loader,
    program_function,
    silent_calls,
)
from .python_waits import waits_for_events, waits_for_threads

HOST_MEMORY, ON_CPU, STARTING = " (host memory)", " (on the CPU)", " (starts up)"
OF_THREAD, OF_EVENTS = " (waits for a thread)", " (waits for events)"
OF_LOOP, OF_COPIES, OF_PYTHON = ", in many short calls", " (copies)", " (dispatches nothing)"
"""Ends of names: of copies in which the host's memory takes part, of ops that launch nothing, of what the driver and
libraries do first of all, of waits for other threads or processes of the program, or for sockets and timers, of loops
over values in Python, of ops that spend their time on copies of tensors, and of functions without the framework."""
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
_CALLEE_SHARE, _MOST_CALLERS = 0.5, 1000
"""A function that it calls tells where it takes half of the time; looked for in so many calls."""
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
_WITHIN = ", in "
"""Between a function and what it calls that takes its time."""
_WITH_ENDING: dict[str, Callable[[str], Message]] = {
    HOST_MEMORY: lambda name: Message("{name} (host memory)", name=name),
    ON_CPU: lambda name: Message("{name} (on the CPU)", name=name),
    STARTING: lambda name: Message("{name} (starts up)", name=name),
    OF_THREAD: lambda name: Message("{name} (waits for a thread)", name=name),
    OF_EVENTS: lambda name: Message("{name} (waits for events)", name=name),
    OF_LOOP: lambda name: Message("{name}, in many short calls", name=name),
    OF_COPIES: lambda name: Message("{name} (copies)", name=name),
    OF_PYTHON: lambda name: Message("{name} (dispatches nothing)", name=name),
}


class EventLabels(NamedTuple):
    """The event that tells each interval, and as what."""

    event: Array
    """int32[n], -1 for none."""
    text: Array
    """int32[n]: row of its text, -1 for none."""
    texts: list[str]


def event_label(name: str) -> str:
    """As a reader knows it; of a copy by XLA, whether the host's memory takes part."""
    instruction = hlo_text.parse(name)
    host_memory = instruction is not None and (instruction.reads_host or instruction.writes_host)
    return display_name(name) + HOST_MEMORY if host_memory else display_name(name)


def label_text(label: str) -> str:
    """A label as a text, whose words about the name can be said in another language."""
    ending = next((ending for ending in _WITH_ENDING if label.endswith(ending)), "")
    if ending:
        return _WITH_ENDING[ending](label_text(label.removesuffix(ending)))
    name, within, callee = label.partition(_WITHIN)
    return Message("{name}, in {callee}", name=name, callee=callee) if within else label


def without_ending(label: str, ending: str) -> str:
    """The label as it would be without the ending, if it has it."""
    return label_text(label.removesuffix(ending)) if ending and label.endswith(ending) else label


class _Labels:
    """What tells the intervals of a timeline, while that is worked out."""

    def __init__(self, trace: Trace, event: Array) -> None:
        self.trace = trace
        self.event = event
        """int32[n], -1 for none; a copy once `replace` has changed it."""
        self._recorded = event
        self.number_of: dict[str, int] = {}
        """By label."""
        self._used_names = np.flatnonzero(_used_names(event, trace.name_of, len(trace.names)))
        """int64[k]: rows of the trace's names that events had at first."""
        self.number = _numbers_of_events(event, trace.name_of, self._numbers(self._used_names))
        """int32[n]: number of the label, -1 for none."""

    def _numbers(self, names: Array) -> Array:
        """int32[names]: numbers of the labels of some of the trace's names (int64[k], rows); -1 for the others."""
        numbers = np.full(len(self.trace.names), -1, np.int32)
        numbers[names] = [self.add(event_label(self.trace.names[row])) for row in names.tolist()]
        return numbers

    def add(self, label: str) -> int:
        """Its number."""
        return self.number_of.setdefault(label, len(self.number_of))

    def with_names(self, pattern: re.Pattern[str]) -> Array:
        """int64[k]: the intervals told by events of which the names match, if any did at first."""
        names = [row for row in self._used_names.tolist() if pattern.match(self.trace.names[row])]
        if not names:
            return np.empty(0, np.int64)
        is_match = np.zeros(len(self.trace.names), bool)
        is_match[names] = True
        return np.flatnonzero(_have_names(self.event, self.trace.name_of, is_match))

    def replace(self, rows: Array, events: Array) -> None:
        """Let other events (int64[k], -1 for none) tell these intervals (int64[k])."""
        if not len(rows):
            return
        if self.event is self._recorded:
            self.event = self.event.copy()
        self.event[rows] = np.where(events >= 0, events, self.event[rows])
        names = self.trace.name_of[self.event[rows]]
        self.number[rows] = self._numbers(distinct(names))[names]

    def append(self, rows: Array, ending: str) -> None:
        """Give the labels of these intervals (int64[k]) an ending."""
        if not len(rows):
            return
        labels = list(self.number_of)
        numbers = np.full(len(labels), -1, np.int32)
        for number in distinct(self.number[rows]).tolist():
            numbers[number] = self.add(labels[number] + ending)
        self.number[rows] = numbers[self.number[rows]]


def event_labels(host: Host, timeline: DeviceTimeline, step_begin: Array) -> EventLabels:
    """What tells the intervals of a host's time, in which steps begin (int64[steps], ps, sorted)."""
    trace, state = host.trace, timeline.state
    labels = _Labels(trace, timeline.event)
    labels.replace(*_still_open(host, timeline))
    _let_eager_calls_tell(labels)
    graphs, dataset_ops = dataset_graphs(host)
    rows = labels.with_names(GRAPH_BUILDING)
    rows = rows[is_among(labels.event[rows].astype(np.int64), graphs)]
    labels.replace(rows, dataset_ops[np.searchsorted(graphs, labels.event[rows])])
    calls_back = labels.with_names(_CALLS_BACK)
    labels.replace(calls_back, _longest_callee(trace, labels.event[calls_back]))
    _append_longest_op(labels, calls_back, host)
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
    events = _open_overhead(
        timeline.edges, timeline.state, timeline.event, event_classes(host), trace.end, trace.nesting.parent
    )
    rows = np.flatnonzero(events >= 0)
    return rows, events[rows].astype(np.int64)


def _let_eager_calls_tell(labels: _Labels) -> None:
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


def _let_outermost_tell(labels: _Labels, pattern: re.Pattern[str], state: Array, states: Sequence[State]) -> None:
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


def _let_calling_op_tell(labels: _Labels, rows: Array) -> None:
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
    labels: _Labels, rows: Array, timeline: DeviceTimeline, step_begin: Array, is_python: bool
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
        labels.append(rows, _WITHIN + event_label(function.callee))
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
        names, first, name = np.unique(trace.name_of[callees], return_index=True, return_inverse=True)
        name_ps = np.bincount(name, trace.end[callees] - trace.begin[callees], len(names))
        long_callees = first[name_ps >= _CALLEE_SHARE * (trace.end[event] - trace.begin[event])]
        if len(long_callees):
            longest_callee[inverse == number] = callees[long_callees.min()]
    return longest_callee


def _append_longest_op(labels: _Labels, rows: Array, host: Host) -> None:
    """Say in which of PyTorch's ops these calls (int64[k], intervals) mostly pass.

    What treats values one by one is a loop, whichever op it calls.
    """
    texts = list(labels.number_of)
    for number in distinct(labels.number[rows]).tolist():
        of_label = rows[labels.number[rows] == number]
        op = longest_op(labels.trace, distinct(labels.event[of_label]))
        if op and texts[number] not in loops_of_loader(host):
            labels.append(of_label, _WITHIN + event_label(op))


def _prepend_compiled_function(labels: _Labels, rows: Array) -> None:
    """Let the function that is compiled stand before what compiles it in these intervals (int64[k])."""
    trace = labels.trace
    events, inverse = np.unique(labels.event[rows], return_inverse=True)
    call = trace.nearest_named(events, lambda name: name.startswith(_JITTED))[inverse]
    rows, names = rows[call >= 0], trace.name_of[call[call >= 0]]
    texts = list(labels.number_of)
    for name, number in sorted({*zip(names.tolist(), labels.number[rows].tolist(), strict=True)}):
        function = trace.names[name].removeprefix(_JITTED).removesuffix(")")
        of_function = rows[(names == name) & (labels.number[rows] == number)]
        labels.number[of_function] = labels.add(f"{function}{_WITHIN}{texts[number]}")


def _is_own(name: str) -> bool:
    """Whether a Python frame is neither machinery nor a function in C."""
    return host_events.is_frame(name) and ".py:" in name and not _MACHINERY.match(name)


@jit
def _used_names(event: I32, name_of: I32, names: Int) -> Bool:
    """bool[names]: the names of the events."""
    is_used = np.zeros(names, np.bool_)
    for row in event:
        if row >= 0:
            is_used[name_of[row]] = True
    return is_used


@jit
def _have_names(event: I32, name_of: I32, is_match: Bool) -> Bool:
    """bool[n]: whether the name of each event matches; False for no event."""
    answer = np.zeros(len(event), np.bool_)
    for i in range(len(event)):
        answer[i] = event[i] >= 0 and is_match[name_of[event[i]]]
    return answer


@jit
def _open_overhead(edges: I64, state: I8, event: I32, classes: I8, end: I64, parent: I32) -> I32:
    """int32[n]: for `_still_open`, -1 for intervals that keep their event. Arrays of intervals, then of events."""
    open_event = np.full(len(event), -1, np.int32)
    for i in range(len(event)):
        middle = (edges[i] + edges[i + 1]) // 2
        if state[i] != _DISPATCH or event[i] < 0 or end[event[i]] > middle:
            continue
        around = parent[event[i]]
        while around >= 0 and not (classes[around] == _DISPATCH and end[around] > middle):
            around = parent[around]
        open_event[i] = around
    return open_event


@jit
def _numbers_of_events(event: I32, name_of: I32, number_of_name: I32) -> I32:
    """int32[n]: the number of each event's name, -1 for no event."""
    numbers = np.full(len(event), -1, np.int32)
    for i in range(len(event)):
        if event[i] >= 0:
            numbers[i] = number_of_name[name_of[event[i]]]
    return numbers
