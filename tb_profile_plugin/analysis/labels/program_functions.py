"""The function of the program that holds most of the time that Python takes, rather than what it calls in the end."""

from __future__ import annotations

import sys

import numpy as np

from ...model.events.joins import is_among
from ...model.events.outermost import are_inside, outermost_ps, outermost_torch_ops
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names.host_events import are_frames
from ...model.per_host import per_host
from ...runtime.arrays import F64, I32, I64, Array, Bool, Int, distinct
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from .event_names import display_name

_FUNCTION_SHARE, _CALLEE_SHARE = 0.5, 0.8
"""Shares from which on one is named: a function's of a state's time in Python, and one callee's of the function's."""
_LEAST_CALLS, _SHORT_PS = 1000, 20e6
"""A loop over values calls so many functions, of which most take less (20 µs)."""
_LONG_PS = 1e9
"""Calls of a library that last so long (1 ms), as those that write an array as text, are no part of such a loop."""
_BETWEEN_OPS_PS = 100e6
"""No call between two ops, of which many follow one another, lasts so long (100 µs)."""
_LONG_CALL_PS = 100e6
"""A function of which calls last so long (100 µs) treats more than single values."""
_MOST_FRAMEWORK = 0.02
"""In no more than this share of these calls, or of their time, the framework does something."""
_MOST_LOOPS = 16
"""So many calls of the function are looked at."""
LOADS_IN_PROCESS = regex(r"enumerate\(DataLoader\)#_SingleProcessDataLoaderIter")
"""Event of PyTorch's DataLoader, in which it makes a batch in the loop's process."""
_FRAME = regex(r"\$(\S+)\.py:\d+ (.+)")
_NAMELESS = regex(
    r"<\w+>$|wrapp(?:er|ed)$|inner$|_fn$|_call_impl$|_wrapped_call_impl$|decorate_context$|reraise_with_filtered_traceback$"
)
"""Functions that their names say nothing of: lambdas, comprehensions, modules, and what wraps others."""
_LIBRARY = regex(
    r"\$(?:(?:torch\w*|PIL|numpy|scipy|pandas|sklearn|skimage|cv2|albumentations|imgaug|kornia|einops|librosa|soundfile"
    r"|matplotlib|networkx|pyarrow|h5py|zarr|gym|gymnasium|tokenizers)/"
    r"|(?:abstract_arrays|ad|ad_util|api|api_util|array|array_creation|array_methods|arrayprint|basearray|batching"
    r"|cache_key|callback|compilation_cache|config|connection|core|custom_batching|custom_derivatives|custom_partitioning"
    r"|dispatch|dtypes|eval_jaxpr|flatten_util|fromnumeric|function_base|getlimits|index_tricks|indexing|jaxpr_util"
    r"|lax|lax_numpy|linear_util|literals|mesh|mlir|multiarray|named_sharding|numeric|numerictypes|op_shardings"
    r"|partial_eval|partition_spec|pjit|prng|profiler|pxla|queues|reductions|scalar_types|scaled_dot|scatter|sharding"
    r"|sharding_impls|slicing|source_info_util|tensor_contractions|threefry2x32|traceback_util|tree|tree_util"
    r"|ufunc_api|ufuncs|util|window_functions|windowed_reductions|xla_bridge)\.py:"
    r"|base\.py:\d+ update$|update\.py:\d+ apply_updates$)"
)
"""Folders of PyTorch and of libraries for data, and files of JAX, NumPy and CPython's multiprocessing, of which tracers
name no folder. Programs may have files called as optax's are: its functions' names tell them apart.
"""


class ProgramFunction(NamedTuple):
    """A function that holds half of the time that Python takes in one state."""

    rows: Array
    """int64[k]: of the intervals, those within its calls."""
    call: Array
    """int64[k]: the event of the call around each."""
    callee: str
    """The name of the library's or C's function in which most of that passes; empty without one."""
    has_long_calls: bool
    """Whether that is no function that holds the time alone, but one that the program's calls itself, for long."""


def is_program_function(name: str) -> bool:
    """Whether an event is a Python frame of neither the standard library, nor PyTorch, nor a wrapper."""
    frame = _FRAME.match(name)
    if frame is None or _LIBRARY.match(name) or _NAMELESS.search(frame[2]):
        return False
    path = frame[1].split("/")
    return path[0] not in sys.stdlib_module_names and not path[-1].startswith("_")


def program_function(trace: Trace, event: Array, ps: Array, step_begin: Array) -> ProgramFunction | None:
    """The function in which intervals lie that ``event`` tells (int32[n], -1 for none), as long as ``ps`` (int64[n]).

    None where no function holds half of them all.

    A call in which several steps begin (int64[steps], ps, sorted) is the loop itself and tells nothing.
    """
    parent, name_of = trace.nesting.parent, trace.name_of
    rows = np.flatnonzero((event >= 0) & _are_frames(trace, event))
    half_ps = _FUNCTION_SHARE * ps.sum()
    if not len(rows) or ps[rows].sum() < half_ps:
        return None
    event, ps = np.ascontiguousarray(event[rows], np.int32), np.ascontiguousarray(ps[rows], np.int64)
    is_enclosing = _enclosing_names(event, parent, name_of, len(trace.names))
    is_candidate = np.array(
        [encloses and is_program_function(trace.names[row]) for row, encloses in enumerate(is_enclosing)], np.bool_
    )
    frames = np.flatnonzero(is_candidate[name_of])
    steps_begun = np.searchsorted(step_begin, trace.end[frames]) - np.searchsorted(step_begin, trace.begin[frames])
    is_loop = np.zeros(len(trace), np.bool_)
    is_loop[frames[steps_begun > 1]] = True
    enclosed_ps, levels = _enclosed_times(event, ps, parent, name_of, is_candidate, is_loop)
    names = np.flatnonzero(enclosed_ps >= half_ps)
    if not len(names):
        return None
    innermost = names[np.argmin(levels[names] / enclosed_ps[names])]
    call = _enclosing_calls(event, parent, name_of, is_loop, innermost)
    within = call >= 0
    event, call, ps = event[within], call[within], ps[within]
    callee = _callee(trace, event, ps)
    callees = _direct_callees(trace, event, call)
    calls = distinct(callees[callees != call])
    has_long_calls = not callee and len(calls) > 0 and int((trace.end - trace.begin)[calls].mean()) >= _LONG_PS
    callee = _callee(trace, callees, ps) if has_long_calls else callee
    return ProgramFunction(rows[within], call, callee, has_long_calls and bool(callee))


def is_loop_over_values(trace: Trace, call: Array) -> bool:
    """Whether calls (int64[k], events) of a function pass mostly in its own code, with very many short calls in it.

    Where the framework does something in more than a few of these, they dispatch ops.
    """
    calls, stop = distinct(call)[:_MOST_LOOPS], trace.nesting.stop
    if (stop[calls] - calls - 1).sum() < _LEAST_CALLS * len(calls) or not dispatches_nothing(trace, calls):
        return False
    inner = _events_within(trace, calls)
    inner_ps = (trace.end - trace.begin)[inner]
    calls_nothing = stop[inner] == inner + 1
    long_ps = inner_ps[(inner_ps >= _SHORT_PS) & calls_nothing].sum() + _long_pauses_ps(trace, inner)
    return bool(2 * long_ps <= (trace.end - trace.begin)[calls].sum())


@per_host(keep=True)
def loops_of_loader(host: Host) -> frozenset[str]:
    """Functions of the program, as readers call them, that PyTorch's DataLoader calls in the loop's process, and that
    make very many calls in each of their own: they treat values, or rows, one by one.
    """
    trace = host.trace
    calls = trace.events_named(is_program_function)
    calls = calls[trace.nearest_named(calls, lambda name: bool(LOADS_IN_PROCESS.match(name))) >= 0]
    names, inverse = np.unique(trace.name_of[calls], return_inverse=True)
    inner = np.bincount(inverse, trace.nesting.stop[calls] - calls - 1) / np.bincount(inverse)
    return frozenset(display_name(trace.names[name]) for name in names[inner >= _LEAST_CALLS].tolist())


def longest_op(trace: Trace, calls: Array) -> str:
    """The name of the PyTorch op, called by no other, that takes half of these calls (int64[k]); empty without one."""
    first = first_of_half(trace, calls, _within(trace, calls, trace.once(outermost_torch_ops)))
    return trace.names[trace.name_of[first[0]]] if len(first) else ""


def innermost_function(trace: Trace, calls: Array) -> str:
    """The name of the innermost function of the program, of those with long calls, that takes half of these calls
    (int64[k]); empty without one.
    """
    frames = trace.events_named(is_program_function)
    frames = frames[(trace.end - trace.begin)[frames] >= _LONG_CALL_PS]
    first = first_of_half(trace, calls, _within(trace, calls, frames))
    return trace.names[trace.name_of[first[-1]]] if len(first) else ""


def first_of_half(trace: Trace, calls: Array, inner: Array) -> Array:
    """int64[m]: the first event of each name by which events within calls (int64[k] and int64[n], ascending) take half
    of their time, ascending: the outermost comes first.
    """
    names, first, inverse = np.unique(trace.name_of[inner], return_index=True, return_inverse=True)
    name_ps = np.bincount(inverse, trace.end[inner] - trace.begin[inner], len(names))
    is_long = name_ps >= _FUNCTION_SHARE * (trace.end[calls] - trace.begin[calls]).sum()
    return inner[np.sort(first[is_long])]


def _within(trace: Trace, calls: Array, events: Array) -> Array:
    """int64[m]: which of the events (int64[n]) lie in calls (int64[k])."""
    return events[are_inside(events, calls + 1, trace.nesting.stop[calls])]


def dispatches_nothing(trace: Trace, call: Array) -> bool:
    """Whether next to nothing but Python's functions lies in calls (int64[k], events) of a function, by their number
    or by their time.
    """
    calls = distinct(call)[:_MOST_LOOPS]
    inner = _events_within(trace, calls)
    of_framework = inner[~_are_frames(trace, inner)]
    if len(of_framework) <= _MOST_FRAMEWORK * len(inner):
        return True
    return outermost_ps(trace, distinct(of_framework)) <= _MOST_FRAMEWORK * (trace.end - trace.begin)[calls].sum()


def silent_calls(trace: Trace, event: Array) -> Array:
    """int64[k]: the innermost call of a function of the program that each event (int32[k]) is or lies in, if that is
    too long to be what passes between two ops, and nothing but Python's functions lies in it; else -1.
    """
    events, inverse = np.unique(event, return_inverse=True)
    call = trace.nearest_named(events, is_program_function)
    call = np.where(trace.are_named(events, is_program_function), events, call)
    stop = np.where(call >= 0, trace.nesting.stop[call], 0)
    frames_before = np.append(0, np.cumsum(are_frames(trace.names)[trace.name_of]))
    is_silent = frames_before[stop] - frames_before[call] == stop - call
    is_silent &= (call >= 0) & ((trace.end - trace.begin)[call] >= _BETWEEN_OPS_PS)
    return np.where(is_silent, call, -1)[inverse]


def _events_within(trace: Trace, calls: Array) -> Array:
    """int64[k]: what lies in these calls (int64[n], events)."""
    stop = trace.nesting.stop
    return np.concatenate([np.arange(call + 1, stop[call]) for call in calls.tolist()])


def _long_pauses_ps(trace: Trace, inner: Array) -> int:
    """ps between one of the calls (int64[k], events) that a function makes itself and the next, where that is long: it
    waits for a lock, or does something that no event tells.
    """
    parent = trace.nesting.parent[inner]
    outer = inner[~is_among(parent.astype(np.int64), inner)]
    follows = np.flatnonzero(trace.nesting.parent[outer[1:]] == trace.nesting.parent[outer[:-1]])
    pauses_ps = trace.begin[outer[1:]][follows] - trace.end[outer[:-1]][follows]
    return int(pauses_ps[pauses_ps >= _LONG_PS].sum())


def _are_frames(trace: Trace, events: Array) -> Bool:
    """bool[k]: which events are functions of Python."""
    return are_frames(trace.names)[trace.name_of[events]]


def _callee(trace: Trace, event: Array, ps: Array) -> str:
    """`ProgramFunction.callee` of events that tell intervals of so many ps."""
    names, inverse = np.unique(trace.name_of[event], return_inverse=True)
    times = np.bincount(inverse, ps)
    name = trace.names[names[np.argmax(times)]]
    says_nothing = is_program_function(name) or _NAMELESS.search(name)
    return "" if says_nothing or times.max() < _CALLEE_SHARE * ps.sum() else name


def _direct_callees(trace: Trace, event: Array, call: Array) -> Array:
    """int64[k]: what each of the calls calls itself that encloses the event, or is it; the call where it is that."""
    callees, parent = event.astype(np.int64), trace.nesting.parent
    rows = np.flatnonzero(callees != call)
    while len(rows):
        rows = rows[parent[callees[rows]] != call[rows]]
        callees[rows] = parent[callees[rows]]
    return callees


@jit
def _enclosing_names(event: I32, parent: I32, name_of: I32, names: Int) -> Bool:
    """bool[names]: those of the events and of what encloses them."""
    is_enclosing, is_seen = np.zeros(names, np.bool_), np.zeros(len(parent), np.bool_)
    for i in range(len(event)):
        call = event[i]
        while call >= 0 and not is_seen[call]:
            is_seen[call] = True
            is_enclosing[name_of[call]] = True
            call = parent[call]
    return is_enclosing


@jit
def _enclosed_times(
    event: I32, ps: I64, parent: I32, name_of: I32, is_candidate: Bool, is_loop: Bool
) -> tuple[I64, F64]:
    """(enclosed_ps, levels), [names]: how long each candidate encloses the events, and by how many levels, times ps."""
    enclosed_ps, levels = np.zeros(len(is_candidate), np.int64), np.zeros(len(is_candidate), np.float64)
    # The event for which each name was counted last: what calls itself holds its time once.
    counted_for = np.full(len(is_candidate), -1, np.int64)
    for i in range(len(event)):
        call, level = np.int64(event[i]), 0
        while call >= 0:
            name = name_of[call]
            if is_candidate[name] and not is_loop[call] and counted_for[name] != i:
                counted_for[name] = i
                enclosed_ps[name] += ps[i]
                levels[name] += level * ps[i]
            level += 1
            call = np.int64(parent[call])
    return enclosed_ps, levels


@jit
def _enclosing_calls(event: I32, parent: I32, name_of: I32, is_loop: Bool, name: Int) -> I64:
    """int64[k]: the nearest call of that name around each event, the event itself included; -1 for none."""
    enclosing_call = np.full(len(event), -1, np.int64)
    for i in range(len(event)):
        call = np.int64(event[i])
        while call >= 0 and (name_of[call] != name or is_loop[call]):
            call = np.int64(parent[call])
        enclosing_call[i] = call
    return enclosing_call
