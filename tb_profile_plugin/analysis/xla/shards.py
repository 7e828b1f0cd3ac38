"""What threads of a pool do for XLA's ops on the CPU, and when these are over: some go on after their own event."""

from __future__ import annotations

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.gather import gather
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit
from ...runtime.records import NamedTuple

_END_MARK = "end: "
"""Begin of the names of events by which XLA tells that an op that goes on by itself is over."""
_REGION = "ThreadpoolListener::StartRegion"
"""What a thread of a pool does of the work that was handed to it."""
_AT_ONCE_PS = 10 * 10**6
"""A thread that only goes on with a program has begun its next op by then (10 µs)."""
_MOST_HOPS = 4096
"""So many causes and enclosing events are followed at most: links of a broken capture may form a circle."""


class Shards(NamedTuple):
    """What threads of a pool do for ops of XLA."""

    region: Array
    """int64[k]: events, each a thread's work."""
    op: Array
    """int64[k]: the event of its op."""
    end: Array
    """int64[k] ps: when it is over for the op."""


def shards(host: Host, all_ops: Array, ops: Array, came_from: Array) -> Shards:
    """What threads of a pool do for one of the ``ops``, which may go on after its own event.

    ``all_ops`` are all of XLA's ops, ascending: a thread that runs one is no longer a shard of one of the ``ops``, but
    goes on with the program. One that comes when its op is already over finds nothing left to do; one that stays after
    that does nothing more for it.
    """
    if not len(ops):
        return Shards(ops, ops, ops)
    trace = host.trace
    parent = trace.nesting.parent
    regions, region_end = _regions_with_end(host, all_ops)
    came_from = _with_own_handovers(host, regions, came_from)
    is_op = np.zeros(len(trace), bool)
    is_op[ops] = True
    op_of_region = _op_above(regions, came_from, parent, is_op)
    # A region of no op reads some op's end from row -1, and then ends with its begin.
    until = _stated_ends(host, came_from, is_op)[op_of_region]
    region_end = np.where(until >= 0, np.minimum(region_end, until), region_end)
    region_end = np.where(op_of_region >= 0, region_end, trace.begin[regions])
    is_shard = trace.begin[regions] < region_end
    return Shards(regions[is_shard], op_of_region[is_shard], region_end[is_shard])


def _regions_with_end(host: Host, all_ops: Array) -> tuple[Array, Array]:
    """(regions, ps): threads' work that may be shards, and when it ends, or the thread goes on with another op."""
    trace = host.trace
    last = trace.nesting.stop
    regions = trace.events_named(_REGION.__eq__)
    at = np.searchsorted(all_ops, regions)
    next_op = all_ops[at.clip(max=len(all_ops) - 1)]
    runs_op = (at < len(all_ops)) & (next_op < last[regions])
    region_end = trace.end[regions]
    region_end[runs_op] = trace.begin[next_op[runs_op]]
    # Causes are followed far: not for the many threads that go on with the program alone.
    may_share = ~runs_op | (region_end - trace.begin[regions] > _AT_ONCE_PS)
    return regions[may_share], region_end[may_share]


def _stated_ends(host: Host, came_from: Array, is_op: Array) -> Array:
    """int64[events] ps: until when an op goes on by the last mark of its end; -1 without any."""
    trace = host.trace
    parent = trace.nesting.parent
    end_marks = trace.events_named(lambda name: name.startswith(_END_MARK))
    ended_ops, until = _op_above(end_marks, came_from, parent, is_op), np.full(len(trace), -1)
    np.maximum.at(until, ended_ops[ended_ops >= 0], trace.end[end_marks[ended_ops >= 0]])
    return until


@per_host
def all_shards(host: Host) -> Shards:
    """`shards` of all of XLA's ops on the host's CPU."""
    plane = host.cpu
    # Only hosts on whose CPU XLA's ops ran are asked.
    assert plane is not None
    ops = plane.stat(vocabulary.HLO_OP).owner + host.trace.slice_of(plane).start
    return shards(host, ops, ops, _handed_over(host))


def work_spans(host: Host, plane: Plane) -> tuple[Array, Array]:
    """(begin, end), int64[k] ps: when XLA's ops ran on the host's CPU, and threads of a pool for them."""
    trace = host.trace
    ops = plane.stat(vocabulary.HLO_OP).owner + trace.slice_of(plane).start
    begin = np.concatenate((trace.begin[ops], trace.begin[all_shards(host).region]))
    return begin, np.concatenate((op_ends(host, ops.astype(np.int32)), all_shards(host).end))


def _handed_over(host: Host) -> Array:
    """int32[events]: for regions what handed them to their thread from another one, else -1."""
    trace, links = host.trace, host.trace.links
    is_region = np.zeros(len(trace), bool)
    is_region[trace.events_named(_REGION.__eq__)] = True
    rows = np.flatnonzero(gather(is_region, links.target))
    rows = rows[trace.line_of[links.source[rows]] != trace.line_of[links.target[rows]]]
    source_of_event = np.full(len(trace), -1, np.int32)
    source_of_event[links.target[rows]] = links.source[rows]
    return source_of_event


def op_ends(host: Host, ops: Array) -> Array:
    """int64[k] ps: when ops are over. Of one that goes on by itself an event within, ``…Async::Done``, begins then: the
    rest of the op's own event only tells that to what follows.
    """
    trace = host.trace
    parent = trace.nesting.parent
    done_marks = trace.events_named(lambda name: name.endswith("Async::Done"))
    if not len(done_marks):
        return gather(trace.end, ops)
    end = trace.end.copy()
    above = parent[done_marks]
    while (above >= 0).any():
        done_marks, above = done_marks[above >= 0], above[above >= 0]
        np.minimum.at(end, above, trace.begin[done_marks])
        above = parent[above]
    # None that takes time is over when it begins.
    return np.maximum(end[ops], np.minimum(trace.begin[ops] + 1, trace.end[ops]))


def _with_own_handovers(host: Host, regions: Array, came_from: Array) -> Array:
    """int32[events]: ``came_from``, and for regions without a cause what handed them out on their own thread, too: a
    thread divides its work so.
    """
    trace = host.trace
    links = trace.links
    lacks_cause = np.zeros(len(trace), bool)
    lacks_cause[regions[came_from[regions] < 0]] = True
    rows = np.flatnonzero(gather(lacks_cause, links.target))
    rows = rows[trace.begin[links.source[rows]] <= trace.begin[links.target[rows]]]
    rows = rows[np.argsort(trace.begin[links.source[rows]], kind="stable")]
    source_of_event = came_from.copy()
    source_of_event[links.target[rows]] = links.source[rows]
    return source_of_event


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
