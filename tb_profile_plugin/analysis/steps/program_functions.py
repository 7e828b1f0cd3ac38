"""The function of the program that holds most of the time that Python takes, rather than what it calls in the end."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from ...model.events.trace import Trace
from ...model.names.host_events import are_frames
from ...runtime.arrays import F64, I32, I64, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.regex import regex

_HALF, _MOST = 0.5, 0.8
"""Shares: of a state's time in Python, which a function holds; and of that function's, which one callee takes."""
_MANY, _SHORT_PS, _FEW, _SEVERAL = 1000, 20e6, 0.05, 16
"""A loop over values calls so many functions, of which each takes less (20 µs), and the framework does something in no
more than this share; told by so many of its own calls."""
_FRAME = regex(r"\$(\S+)\.py:\d+ (.+)")
_NAMELESS = regex(
    r"<\w+>$|wrapp(?:er|ed)$|inner$|_fn$|_call_impl$|_wrapped_call_impl$|decorate_context$|reraise_with_filtered_traceback$"
)
"""Functions that their names say nothing of: lambdas, comprehensions, modules, and what wraps others."""
_LIBRARY = regex(
    r"\$(?:torch\w*/|(?:abstract_arrays|ad|ad_util|api|api_util|array|array_methods|batching|callback|config|core|dispatch"
    r"|dtypes|fromnumeric|indexing|lax|lax_numpy|linear_util|literals|mesh|mlir|multiarray|named_sharding|numeric"
    r"|partial_eval|partition_spec|pjit|profiler|pxla|reductions|sharding|sharding_impls|slicing|source_info_util"
    r"|traceback_util|tree_util|ufunc_api|ufuncs|util|xla_bridge)\.py:)"
)
"""Files of PyTorch, and those of JAX and NumPy, of which tracers name no folder."""


class ProgramFunction(NamedTuple):
    """A function that holds half of the time that Python takes in one state."""

    rows: Array
    """int64[k]: of the intervals, those within its calls."""
    call: Array
    """int64[k]: the event of the call around each."""
    callee: str
    """The name of the event of the C or standard library's function in which most of that passes; empty without one."""


def is_program_function(name: str) -> bool:
    """Whether an event is a Python frame of neither the standard library, nor PyTorch, nor a wrapper."""
    frame = _FRAME.match(name)
    if frame is None or _LIBRARY.match(name) or _NAMELESS.search(frame[2]):
        return False
    path = frame[1].split("/")
    return path[0] not in sys.stdlib_module_names and not path[-1].startswith("_")


def program_function(trace: Trace, event: Array, ps: Array, step_begin: Array) -> ProgramFunction | None:
    """Of intervals told by ``event`` (int32[n], -1 for none), as long as ``ps`` (int64[n]); None where no function
    holds half of them all.

    A call in which several steps begin (int64[steps], ps, sorted) is the loop itself and tells nothing.
    """
    parent, name_of = trace.nesting[0], trace.name_of
    rows = np.flatnonzero((event >= 0) & _are_frames(trace, event))
    half = _HALF * ps.sum()
    if not len(rows) or ps[rows].sum() < half:
        return None
    event, ps = np.ascontiguousarray(event[rows], np.int32), np.ascontiguousarray(ps[rows], np.int64)
    around = _names_around(event, parent, name_of, len(trace.names))
    wanted = np.array([near and is_program_function(trace.names[row]) for row, near in enumerate(around)], np.bool_)
    frames = np.flatnonzero(wanted[name_of])
    begun = np.searchsorted(step_begin, trace.end[frames]) - np.searchsorted(step_begin, trace.begin[frames])
    loops = np.zeros(len(trace), np.bool_)
    loops[frames[begun > 1]] = True
    enclosed, above = _enclosed_times(event, ps, parent, name_of, wanted, loops)
    large = np.flatnonzero(enclosed >= half)
    if not len(large):
        return None
    innermost = large[np.argmin(above[large] / enclosed[large])]
    call = _calls_around(event, parent, name_of, loops, innermost)
    within = call >= 0
    return ProgramFunction(rows[within], call[within], _callee(trace, event[within], ps[within]))


def is_loop_over_values(trace: Trace, call: Array) -> bool:
    """Whether calls (int64[k], events) of a function pass mostly in its own code, with very many short calls in it.

    Where the framework does something in more than a few of these, they dispatch ops.
    """
    calls, last = np.unique(call)[:_SEVERAL], trace.nesting[1]
    if (last[calls] - calls - 1).sum() < _MANY * len(calls):
        return False
    called = np.concatenate([np.arange(call + 1, last[call]) for call in calls.tolist()])
    if np.count_nonzero(_are_frames(trace, called)) < (1 - _FEW) * len(called):
        return False
    ps = (trace.end - trace.begin)[called]
    long_ps = ps[(ps >= _SHORT_PS) & (last[called] == called + 1)].sum()
    return bool(long_ps <= _HALF * (trace.end - trace.begin)[calls].sum())


def _are_frames(trace: Trace, events: Array) -> Bool:
    """bool[k]: which events are functions of Python."""
    return are_frames(trace.names)[trace.name_of[events]]


def _callee(trace: Trace, event: Array, ps: Array) -> str:
    names, inverse = np.unique(trace.name_of[event], return_inverse=True)
    times = np.bincount(inverse, ps)
    name = trace.names[names[np.argmax(times)]]
    says_nothing = is_program_function(name) or _NAMELESS.search(name)
    return "" if says_nothing or times.max() < _MOST * ps.sum() else name


@jit
def _names_around(event: I32, parent: I32, name_of: I32, names: Int) -> Bool:
    """bool[names]: those of the events and of what encloses them."""
    answer, seen = np.zeros(names, np.bool_), np.zeros(len(parent), np.bool_)
    for i in range(len(event)):
        at = event[i]
        while at >= 0 and not seen[at]:
            seen[at] = True
            answer[name_of[at]] = True
            at = parent[at]
    return answer


@jit
def _enclosed_times(event: I32, ps: I64, parent: I32, name_of: I32, wanted: Bool, loops: Bool) -> tuple[I64, F64]:
    """(enclosed, above), [names]: how long each wanted name is around the events, and how far above, by that time."""
    enclosed, above = np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.float64)
    seen = np.full(len(wanted), -1, np.int64)
    for i in range(len(event)):
        at, level = np.int64(event[i]), 0
        while at >= 0:
            name = name_of[at]
            # What calls itself holds its time once.
            if wanted[name] and not loops[at] and seen[name] != i:
                seen[name] = i
                enclosed[name] += ps[i]
                above[name] += level * ps[i]
            level += 1
            at = np.int64(parent[at])
    return enclosed, above


@jit
def _calls_around(event: I32, parent: I32, name_of: I32, loops: Bool, name: Int) -> I64:
    """int64[k]: the nearest call of that name around each event, the event itself included; -1 for none."""
    answer = np.full(len(event), -1, np.int64)
    for i in range(len(event)):
        at = np.int64(event[i])
        while at >= 0 and (name_of[at] != name or loops[at]):
            at = np.int64(parent[at])
        answer[i] = at
    return answer
