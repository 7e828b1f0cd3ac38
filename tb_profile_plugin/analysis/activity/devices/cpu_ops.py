"""Ops of the CPU: which are some, what launched them on threads of pools, and when all threads had come to one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ....formats.columns import Plane, vocabulary
from ....model.events.outermost import are_inside, outermost
from ....model.events.trace import Trace
from ....model.host import Host
from ....model.names import op_names
from ....runtime.arrays import I32, I64, Array, Bool, Int
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from ...ops.host_ops import eager_events, kernels_of_single_ops

MOST_CALL_PS = 10_000_000
"""What an op takes at most (10 µs) that computes no longer than it takes to call it: the framework's overhead."""
_TORCH_PREFIXES = (vocabulary.TORCH_OP, vocabulary.COMPILED_GRAPH, "gloo:", "mpi:", "ucc:")
"""Begins of the names of PyTorch's ops and compiled code, and of its backends' collectives on threads of their own."""
_COMPUTES_NOTHING = regex(
    r"(?:_?(?:Host)?(?:Send|Recv)|NoOp|(?:Stateful)?PartitionedCall|(?:Stateless)?(?:While|If)|Switch|Merge|Enqueue)$"
)
"""Ops of TensorFlow that compute nothing: they move control, or wait for what is elsewhere.

``EagerService:Enqueue`` is no op: a worker asks another one to run ops, and waits for their results there.
"""
_MOST_HOPS = 4096
"""So many causes and enclosing events are followed at most: links of a broken capture may form a circle."""


@lru_cache(maxsize=65536)
def computes(name: str) -> bool:
    """Whether an event of that name is an op of TensorFlow that does something, or of PyTorch."""
    op = op_names.parse(name)
    return name.startswith(_TORCH_PREFIXES) or (
        op.is_known and op.category == op_names.TENSORFLOW and not _COMPUTES_NOTHING.match(op.type or op.name)
    )


def short_calls(host: Host, plane: Plane) -> Array:
    """int64[k]: rows of a host's plane that are ops which the program calls one by one, and mostly calls alone."""
    of_torch = plane.rows_named(lambda name: name.startswith(vocabulary.TORCH_OP))
    calls = np.concatenate((of_torch, kernels_of_single_ops(host), eager_events(host)))
    return calls[plane.events.duration[calls] <= MOST_CALL_PS]


def unmark_inner_ops(trace: Trace, is_op: Array, is_outer: Array, first: int) -> None:
    """Unmark ops, bool[k] of events from ``first`` on, that lie within those of a kind (bool[k])."""
    ops = np.flatnonzero(is_op)
    outer = outermost(trace, ops[is_outer[ops]] + first)
    is_op[ops[are_inside(ops + first, outer + 1, trace.nesting.stop[outer])]] = False


class LaunchedOps(NamedTuple):
    """Ops and what launched them."""

    event: I32
    launch: I32
    """The outermost event on another thread that led to it, -1 without one."""
    start: I32
    """What began there, -1 without one."""


@jit
def launches_of_ops(is_op: Bool, first: Int, led_to: I32, parent: I32, is_other_work: Bool) -> tuple[LaunchedOps, Int]:
    """(ops, count): the ops among the events from ``first`` on (bool[k]), but for what was done within an event that
    ``is_other_work``, bool[events]; only ``count`` rows are filled.
    """
    size = np.int64(0)
    for i in range(len(is_op)):
        size += is_op[i]
    ops, launches, starts = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    count = 0
    previous, is_by_parent = np.int64(-1), False
    launch, start, is_program_work = np.int64(-1), np.int64(-1), False
    for i in range(len(is_op)):
        if not is_op[i]:
            continue
        event = np.int64(first + i)
        was_by_parent, is_by_parent = is_by_parent, led_to[event] < 0 and not is_other_work[event]
        # Most ops follow another one in the same event.
        if not (was_by_parent and is_by_parent and parent[event] == parent[previous]):
            launch, start, is_program_work = _launch_of(event, led_to, parent, is_other_work)
        previous = event
        if is_program_work:
            ops[count], launches[count], starts[count] = event, launch, start
            count += 1
    return LaunchedOps(ops, launches, starts), count


@jit
def _launch_of(op: Int, led_to: I32, parent: I32, is_other_work: Bool) -> tuple[Int, Int, bool]:
    """(launch, start, is the program's work) of an op, as `LaunchedOps` has them; it is not within other work."""
    event, launch, start = np.int64(op), np.int64(-1), np.int64(-1)
    hops = 0
    while event >= 0 and hops < _MOST_HOPS:
        hops += 1
        if is_other_work[event]:
            return launch, start, False
        source = np.int64(led_to[event])
        if source >= 0:
            launch, start, event = source, event, source
        else:
            event = np.int64(parent[event])
    return launch, start, True


@jit
def last_begins(name: I32, begin: I64, end: I64) -> I64:
    """int64[k] ps: of each interval when the last one began of those that have its name and overlap it; ascending by
    name, then by begin.
    """
    last = np.empty(len(begin), np.int64)
    first = 0
    while first < len(name):
        stop, earliest_end = first + 1, end[first]
        while stop < len(name) and name[stop] == name[first] and begin[stop] < earliest_end:
            earliest_end = min(earliest_end, end[stop])
            stop += 1
        last[first:stop] = begin[stop - 1]
        first = stop
    return last
