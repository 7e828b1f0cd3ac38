"""What tells a reader where a stretch of time went: the program's own function rather than the machinery that it went
through, and whether ops compute on the CPU while devices wait, or the program waits for one of its own threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...model.events.joins import is_among
from ...model.events.repeated_calls import outermost
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names import hlo_text, host_events
from ...runtime.arrays import I32, Array, Bool, Int, distinct
from ...runtime.jit import jit
from ...runtime.messages import Message
from ...runtime.regex import regex
from ..activity.device_events import device_work
from ..activity.event_classes import DRIVER_CALL
from ..activity.states import State
from ..activity.thread_classes import have_state
from .device_timeline import Timeline
from .dispatched_calls import inside, on_cpu
from .event_names import display_name
from .first_launches import loading_launches
from .program_functions import is_loop_over_values, program_function

HOST_MEMORY, ON_CPU, STARTING = " (host memory)", " (on the CPU)", " (starts up)"
OF_THREAD, OF_EVENTS = " (waits for a thread)", " (waits for events)"
OF_LOOP = ", in many short calls"
"""Ends of names: of copies in which the host's memory takes part, of ops that launch nothing, of what the driver and
libraries do first of all, of waits for other threads or processes of the program, or for sockets and timers, and of
loops over values in Python."""
_MACHINERY = regex(
    r"\$(?:threading|queue|queues|contextlib|functools|selectors|connection|subprocess|socket|_\w+|\S*/_\w+)\.py:\d+ "
    r"|\$\S+ (?:wrapp(?:er|ed)|inner|_fn|_call_impl|_wrapped_call_impl|decorate_context)$"
    r"|\$\S+ reraise_with_filtered_traceback$|\$?<built-in method acquire\b|\$<unknown> acquire$"
)
"""Frames of Python's own modules for threads, of modules that libraries keep to themselves, and of wrappers."""
_OF_THREADS = regex(
    r"\$(?:threading|queue|queues|connection|selectors|_base|thread)\.py:\d+ (?:wait\w*|join|get|put|result|recv|poll"
    r"|select|acquire|_wait_for_tstate_lock|_recv\w*|_poll)$|\$?<built-in method acquire\b|\$<unknown> acquire$"
)
"""Frames in which Python waits for its own threads and processes: CPython's ``Lib/threading.py`` and its like."""
_OF_EVENTS = regex(
    r"\$?<built-in method (?:poll|recv\w*|accept|connect|read|do_handshake) of "
    r"(?:(?:select|_socket|_ssl)\.|socket object)"
    r"|\$?<built-in (?:method|function) select\b|\$<unknown> (?:poll|recv\w*|accept)$|\$selectors\.py:\d+ select$"
    r"|\$?<built-in function wait(?:pid|id)>$|\$subprocess\.py:\d+ (?:_?wait|_try_wait|_?communicate)$"
)
"""Calls that wait for sockets, pipes and timers, as event loops do, and for commands: CPython's modules select, socket,
ssl and subprocess.
"""
_CALLS_BACK = regex(r"enumerate\(Data|\$(?:callback|debugging|script_ops)\.py:\d+ ")
"""A DataLoader, and frames of JAX and TensorFlow, that call functions of the program."""
_LIBRARY = regex(r"\$(?:torch\w*/|(?:callback|debugging|script_ops|tree_util|util|api|array|core|dispatch)\.py:)")
"""Frames that lie between those and the program's functions."""
_HALF, _MOST = 0.5, 1000
"""A function that it calls tells where it takes half of the time; looked for in so many calls."""
_STARTING_PS = 10**11
"""A call or an op that takes so long at once (100 ms) while no device works is in its first time."""
_LOADS = regex(rf"(?!.*(?:Memcpy|Memset)){DRIVER_CALL.pattern}")
_OPTIMIZER = "Optimizer.step#"
_OF_OPS = (State.LAUNCH, State.DISPATCH, State.PYTHON)
"""What PyTorch's optimizers mark, and the states in which the mark tells more than each op in it."""
_OF_PYTHON = (State.PYTHON, State.SYNC, State.CALLBACK, State.PAUSE)
"""In which the program's function tells more than what it calls."""
_STARTS = (State.ALLOCATOR, State.LAUNCH, State.DISPATCH)
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
}


class EventLabels(NamedTuple):
    """Of stretches: the event that tells each, and as what."""

    event: Array
    """int32[n], -1 for none."""
    text: Array
    """int32[n]: number of its text, -1 for none."""
    texts: list[str]


def event_label(name: str) -> str:
    """As a reader knows it; of a copy by XLA, whether the host's memory takes part."""
    instruction = hlo_text.parse(name)
    host_memory = instruction is not None and (instruction.reads_host or instruction.writes_host)
    return display_name(name) + HOST_MEMORY if host_memory else display_name(name)


def event_labels(host: Host, line: Timeline, step_begin: Array) -> EventLabels:
    """What tells the stretches of a host's time, in which steps begin (int64[steps], ps, sorted)."""
    trace, event = host.trace, line.event
    rows = np.flatnonzero(_used(event, trace.name_of, len(trace.names)))
    words: dict[str, int] = {}
    text = np.full(len(trace.names), -1, np.int32)
    text[rows] = [words.setdefault(event_label(trace.names[row]), len(words)) for row in rows.tolist()]
    texts = _texts(event, trace.name_of, text)
    through = [row for row in rows.tolist() if _MACHINERY.match(trace.names[row])]
    back = [row for row in rows.tolist() if _CALLS_BACK.match(trace.names[row])]
    first, last = _optimizers(trace)
    if back or through or len(first):
        event = event.copy()
    if back:
        at = _those(trace, event, back)
        _renamed(trace, at, _called(trace, event[at]), event, texts, words)
    of_events, of_processes = _waiting_for_events(trace, line)
    if through:
        at = _those(trace, event, through)
        waits = at[trace.are_named(event[at], lambda name: bool(_OF_THREADS.match(name)))]
        events, inverse = np.unique(event[at], return_inverse=True)
        _renamed(trace, at, _nearest(trace, events, _is_own)[inverse], event, texts, words)
        _suffixed(texts, waits, OF_THREAD, words)
    if any(map(host_events.is_frame, trace.names)):
        waits = np.zeros(len(event), bool)
        waits[of_events] = waits[of_processes] = True
        groups = [have_state(line.state, state) & ~waits for state in _OF_PYTHON]
        for group in (*groups, waits):
            at = np.flatnonzero(group & (event == line.event))
            event = _told_by_function(trace, at, line, event, step_begin, texts, words)
    _suffixed(texts, of_events, OF_EVENTS, words)
    _suffixed(texts, of_processes, OF_THREAD, words)
    _name_compiled(trace, np.flatnonzero(have_state(line.state, State.COMPILE) & (event >= 0)), event, texts, words)
    on = np.flatnonzero(inside(event, *on_cpu(host)))
    starting = distinct(np.concatenate((_starting(host, line, event), loading_launches(host, line))))
    steps = np.flatnonzero(inside(event, first, last))
    if len(steps):
        steps = steps[is_among(line.state[steps].astype(np.int64), np.array(_OF_OPS))]
        by = first[np.searchsorted(first, event[steps], "right") - 1]
        _renamed(trace, steps, by, event, texts, words)
    _suffixed(texts, on, ON_CPU, words)
    _suffixed(texts, starting[~is_among(starting, on)], STARTING, words)
    return EventLabels(event, texts, [label_text(label) for label in words])


def _told_by_function(
    trace: Trace, at: Array, line: Timeline, event: Array, step_begin: Array, texts: Array, words: dict[str, int]
) -> Array:
    """The events, int32[n], of which those stretches have the program's function that holds half of them instead."""
    function = program_function(trace, event[at], line.edges[at + 1] - line.edges[at], step_begin)
    if function is None:
        return event
    event = event.copy() if event is line.event else event
    rows = at[function.rows]
    _renamed(trace, rows, function.call, event, texts, words)
    if (line.state[rows] == State.PYTHON).all() and is_loop_over_values(trace, function.call):
        _suffixed(texts, rows, OF_LOOP, words)
    elif function.callee:
        _suffixed(texts, rows, _WITHIN + event_label(function.callee), words)
    return event


def waits_for_others(name: str) -> bool:
    """Whether Python waits in it for its own threads and processes, or for sockets, pipes and timers: for no device."""
    return bool(_OF_THREADS.match(name) or _OF_EVENTS.match(name))


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


def _those(trace: Trace, event: Array, names: list[int]) -> Array:
    """int64[k]: the stretches whose events have one of these names."""
    is_wanted = np.zeros(len(trace.names) + 1, bool)
    is_wanted[names] = True
    return np.flatnonzero(is_wanted[np.where(event >= 0, trace.name_of[event], -1)])


def _waiting_for_events(trace: Trace, line: Timeline) -> tuple[Array, Array]:
    """(of_events, of_processes), int64[k]: stretches in which Python waits for sockets, pipes or timers, and those of
    them in which it does so to hear from its own processes.
    """
    at = np.flatnonzero((have_state(line.state, State.PYTHON) | have_state(line.state, State.SYNC)) & (line.event >= 0))
    at = at[trace.are_named(line.event[at], lambda name: bool(_OF_EVENTS.match(name)))]
    caller = _nearest(trace, line.event[at], lambda name: not _OF_EVENTS.match(name))
    of_processes = (caller >= 0) & trace.are_named(caller, lambda name: bool(_OF_THREADS.match(name)))
    return at[~of_processes], at[of_processes]


def _optimizers(trace: Trace) -> tuple[Array, Array]:
    """(first, last), int64[k]: steps of PyTorch's optimizers, of which each is events ``first[i] … last[i] - 1``."""
    marks = outermost(trace, trace.named(lambda name: name.startswith(_OPTIMIZER)))
    return marks, trace.nesting[1][marks].astype(np.int64)


def _starting(host: Host, line: Timeline, event: Array) -> Array:
    """int64[k]: stretches in which the driver makes its context or libraries load code: in one of its calls, or in one
    of PyTorch's ops, for longer than anything else takes there.
    """
    if not device_work(host):
        return np.empty(0, np.int64)
    trace, long = host.trace, line.indices_lasting(_STARTING_PS)
    long = long[(event[long] >= 0) & is_among(line.state[long].astype(np.int64), np.array(_STARTS))]
    if not len(long):
        return long
    events, parent = event[long], trace.nesting[0]
    called = (line.state[long] != State.ALLOCATOR) & trace.are_named(events, lambda name: bool(_LOADS.match(name)))
    around = np.where(trace.are_named(events, _is_op) | (parent[events] < 0), events, parent[events])
    answer: Array = long[called | trace.are_named(around, _is_op)]
    return answer


def _is_op(name: str) -> bool:
    return name.startswith("aten::") and not name.startswith("aten::empty")


def _called(trace: Trace, events: Array) -> Array:
    """int64[k]: of what calls functions of the program, the outermost of these that takes half of the time, or -1."""
    _, last = trace.nesting
    frames = trace.named(lambda name: _is_own(name) and not _LIBRARY.match(name))
    answer = np.full(len(events), -1, np.int64)
    rows, inverse = np.unique(events, return_inverse=True)
    for number, event in enumerate(rows[:_MOST].tolist()):
        inside = frames[np.searchsorted(frames, event + 1) : np.searchsorted(frames, last[event])]
        names, at, name = np.unique(trace.name_of[inside], return_index=True, return_inverse=True)
        took = np.bincount(name, trace.end[inside] - trace.begin[inside], len(names))
        most = at[took >= _HALF * (trace.end[event] - trace.begin[event])]
        if len(most):
            answer[inverse == number] = inside[most.min()]
    return answer


def _renamed(trace: Trace, at: Array, by: Array, event: Array, texts: Array, words: dict[str, int]) -> None:
    """Let other events, -1 for none, tell some of the stretches."""
    event[at] = np.where(by >= 0, by, event[at])
    numbers = np.full(len(trace.names), -1, np.int32)
    rows = distinct(trace.name_of[event[at]])
    numbers[rows] = [words.setdefault(event_label(trace.names[row]), len(words)) for row in rows.tolist()]
    texts[at] = numbers[trace.name_of[event[at]]]


def _name_compiled(trace: Trace, at: Array, event: Array, texts: Array, words: dict[str, int]) -> None:
    """Let the function that is compiled stand before what compiles it."""
    events, inverse = np.unique(event[at], return_inverse=True)
    call = _nearest(trace, events, lambda name: name.startswith(_JITTED))[inverse]
    at, names = at[call >= 0], trace.name_of[call[call >= 0]]
    labels = list(words)
    for name, number in sorted({*zip(names.tolist(), texts[at].tolist(), strict=True)}):
        function = trace.names[name].removeprefix(_JITTED).removesuffix(")")
        label = words.setdefault(f"{function}{_WITHIN}{labels[number]}", len(words))
        texts[at[(names == name) & (texts[at] == number)]] = label


def _suffixed(texts: Array, at: Array, ending: str, words: dict[str, int]) -> None:
    """Give the texts of some stretches an ending."""
    if not len(at):
        return
    labels = list(words)
    numbers = np.full(len(labels), -1, np.int32)
    for number in distinct(texts[at]).tolist():
        numbers[number] = words.setdefault(labels[number] + ending, len(words))
    texts[at] = numbers[texts[at]]


def _is_own(name: str) -> bool:
    """Whether a Python frame is neither machinery nor a function in C."""
    return host_events.is_frame(name) and ".py:" in name and not _MACHINERY.match(name)


def _nearest(trace: Trace, events: Array, wanted: Callable[[str], bool]) -> Array:
    """int64[k]: the innermost event around each one whose name is wanted, -1 for none."""
    parent, _ = trace.nesting
    matches = np.full(len(trace.names), -1, np.int8)
    answer, open_ = np.full(len(events), -1, np.int64), np.arange(len(events))
    at = parent[events]
    while len(open_):
        open_, at = open_[at >= 0], at[at >= 0]
        name = trace.name_of[at]
        for row in distinct(name[matches[name] < 0]).tolist():
            matches[row] = wanted(trace.names[row])
        is_match = matches[name] == 1
        answer[open_[is_match]] = at[is_match]
        open_, at = open_[~is_match], parent[at[~is_match]]
    return answer


@jit
def _used(event: I32, name_of: I32, names: Int) -> Bool:
    """bool[names]: the names of the events that tell stretches."""
    answer = np.zeros(names, np.bool_)
    for row in event:
        if row >= 0:
            answer[name_of[row]] = True
    return answer


@jit
def _texts(event: I32, name_of: I32, text: I32) -> I32:
    """int32[n]: the number of each event's text, -1 for none."""
    answer = np.full(len(event), -1, np.int32)
    for i in range(len(event)):
        if event[i] >= 0:
            answer[i] = text[name_of[event[i]]]
    return answer
