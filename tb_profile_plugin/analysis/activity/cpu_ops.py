"""What launched the CPU's ops, what they do on several threads, and when they are over: XLA and TensorFlow let some go
on by themselves.
"""

from __future__ import annotations

import numpy as np

from ...formats.columns.gather import gather
from ...model.host import Host
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit

_END_MARK = "end: "
"""Begin of the names of events by which XLA tells that an op that goes on by itself is over."""
_MOST_HOPS = 4096
"""So many causes and enclosing events are followed at most: links of a broken capture may form a circle."""


def shards(host: Host, xla: Array, ops: Array, came_from: Array) -> tuple[Array, Array]:
    """(regions, their ops): what threads of a pool do for an op of XLA, which may go on after its own event.

    Regions in which any op of XLA runs are threads of the program, not shards of one of the ``ops``. A thread that
    comes when its op is already over finds nothing left to do.
    """
    trace = host.trace
    parent, _ = trace.nesting
    if not len(ops):
        return ops, ops
    encloses_op = np.zeros(len(trace), bool)
    above = parent[xla]
    while (above >= 0).any():
        above = above[above >= 0]
        encloses_op[above] = True
        above = parent[above]
    regions = trace.named("ThreadpoolListener::StartRegion".__eq__)
    regions = regions[~encloses_op[regions]]
    came_from = _with_own_handovers(host, regions, came_from)
    is_op = np.zeros(len(trace), bool)
    is_op[ops] = True
    op_of_region = _op_above(regions, came_from, parent, is_op)
    end_marks = trace.named(lambda name: name.startswith(_END_MARK))
    ended_ops, until = _op_above(end_marks, came_from, parent, is_op), np.full(len(trace), np.iinfo(np.int64).max)
    until[ended_ops[ended_ops >= 0]] = trace.end[end_marks[ended_ops >= 0]]
    is_shard = (op_of_region >= 0) & (trace.begin[regions] < until[op_of_region])
    return regions[is_shard], op_of_region[is_shard]


def ends(host: Host, events: Array) -> Array:
    """int64[k] ps: where ops end; one that goes on by itself is over when its end is told within it to what follows."""
    trace = host.trace
    parent, _ = trace.nesting
    done_marks = trace.named(lambda name: name.endswith("Async::Done"))
    if not len(done_marks):
        return gather(trace.end, events)
    end = trace.end.copy()
    above = parent[done_marks]
    while (above >= 0).any():
        done_marks, above = done_marks[above >= 0], above[above >= 0]
        np.minimum.at(end, above, trace.begin[done_marks])
        above = parent[above]
    op_end = np.maximum(end[events], np.minimum(trace.begin[events] + 1, trace.end[events]))
    return op_end


def _with_own_handovers(host: Host, regions: Array, came_from: Array) -> Array:
    """int32[events]: ``came_from``, and for regions without a cause what handed them out on their own thread, too: a
    thread divides its work so.
    """
    trace = host.trace
    links = trace.links
    lacks_cause = np.zeros(len(trace), bool)
    lacks_cause[regions[came_from[regions] < 0]] = True
    rows = np.flatnonzero(lacks_cause[links.target] & (trace.begin[links.source] <= trace.begin[links.target]))
    rows = rows[np.argsort(trace.begin[links.source[rows]], kind="stable")]
    source_of_event = came_from.copy()
    source_of_event[links.target[rows]] = links.source[rows]
    return source_of_event


@jit
def launches_of_ops(events: I32, led_to: I32, parent: I32, is_other_work: Bool) -> tuple[I32, I32, Bool]:
    """(launch, start, is_own) of each op: the outermost event on another thread that led to it, and what began there;
    -1 twice without one. ``is_own`` is False for what was done within an event that ``is_other_work``, bool[events].
    """
    launch = np.full(len(events), -1, np.int32)
    start = np.full(len(events), -1, np.int32)
    is_own = np.ones(len(events), np.bool_)
    is_by_parent = False
    for i in range(len(events)):
        event = np.int64(events[i])
        was_by_parent, is_by_parent = is_by_parent, led_to[event] < 0 and not is_other_work[event]
        if was_by_parent and is_by_parent and parent[event] == parent[events[i - 1]]:
            # Most ops follow another one in the same event.
            launch[i], start[i], is_own[i] = launch[i - 1], start[i - 1], is_own[i - 1]
            continue
        hops = 0
        while event >= 0 and hops < _MOST_HOPS:
            hops += 1
            if is_other_work[event]:
                is_own[i] = False
                break
            source = np.int64(led_to[event])
            if source >= 0:
                launch[i], start[i] = source, event
                event = source
            else:
                event = np.int64(parent[event])
    return launch, start, is_own


@jit
def _op_above(events: I64, came_from: I32, parent: I32, is_op: Bool) -> I64:
    """int64[k]: the nearest op that each event lies in or was handed out by; -1 for none."""
    op_above = np.full(len(events), -1, np.int64)
    for i in range(len(events)):
        event = np.int64(events[i])
        hops = 0
        while event >= 0 and hops < _MOST_HOPS:
            hops += 1
            if is_op[event]:
                op_above[i] = event
                break
            event = np.int64(came_from[event]) if came_from[event] >= 0 else np.int64(parent[event])
    return op_above
