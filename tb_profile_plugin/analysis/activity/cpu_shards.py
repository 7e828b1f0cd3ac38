"""What the CPU's ops do on several threads, and when they are over: XLA and TensorFlow let some go on by themselves."""

from __future__ import annotations

import numpy as np

from ...formats.columns.gather import gather
from ...model.host import Host
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit

_OVER = "end: "
"""Begin of the names of events by which XLA tells that an op that goes on by itself is over."""


def shards(host: Host, xla: Array, ops: Array, came_from: Array) -> tuple[Array, Array]:
    """(regions, their ops): what threads of a pool do for an op of XLA, which may go on after its own event.

    Regions in which any op of XLA runs are threads of the program, not shards of one of the ``ops``. A thread that
    comes when its op is already over finds nothing left to do.
    """
    trace = host.trace
    parent, _ = trace.nesting
    if not len(ops):
        return ops, ops
    holds = np.zeros(len(trace), bool)
    above = parent[xla]
    while (above >= 0).any():
        above = above[above >= 0]
        holds[above] = True
        above = parent[above]
    regions = trace.named("ThreadpoolListener::StartRegion".__eq__)
    regions = regions[~holds[regions]]
    came_from = _handed_out(host, regions, came_from)
    is_op = np.zeros(len(trace), bool)
    is_op[ops] = True
    op = _ops_above(regions, came_from, parent, is_op)
    over = trace.named(lambda name: name.startswith(_OVER))
    ended, until = _ops_above(over, came_from, parent, is_op), np.full(len(trace), np.iinfo(np.int64).max)
    until[ended[ended >= 0]] = trace.end[over[ended >= 0]]
    wanted = (op >= 0) & (trace.begin[regions] < until[op])
    return regions[wanted], op[wanted]


def ends(host: Host, events: Array) -> Array:
    """int64[k] ps: where ops end; one that goes on by itself is over when its end is told within it to what follows."""
    trace = host.trace
    parent, _ = trace.nesting
    done = trace.named(lambda name: name.endswith("Async::Done"))
    if not len(done):
        answer: Array = gather(trace.end, events)
        return answer
    end = trace.end.copy()
    above = parent[done]
    while (above >= 0).any():
        done, above = done[above >= 0], above[above >= 0]
        np.minimum.at(end, above, trace.begin[done])
        above = parent[above]
    answer = np.maximum(end[events], np.minimum(trace.begin[events] + 1, trace.end[events]))
    return answer


def _handed_out(host: Host, regions: Array, came_from: Array) -> Array:
    """``came_from``, of regions also where their own thread had handed them out, as threads divide their work."""
    trace = host.trace
    links = trace.links
    wanted = np.zeros(len(trace), bool)
    wanted[regions[came_from[regions] < 0]] = True
    rows = np.flatnonzero(wanted[links.target] & (trace.begin[links.source] <= trace.begin[links.target]))
    rows = rows[np.argsort(trace.begin[links.source[rows]], kind="stable")]
    answer = came_from.copy()
    answer[links.target[rows]] = links.source[rows]
    return answer


@jit
def _ops_above(events: I64, came_from: I32, parent: I32, is_op: Bool) -> I64:
    """The nearest op that each event lies in or was handed out by; -1 for none."""
    answer = np.full(len(events), -1, np.int64)
    for i in range(len(events)):
        event = np.int64(events[i])
        hops = 0
        while event >= 0 and hops < 4096:
            hops += 1
            if is_op[event]:
                answer[i] = event
                break
            event = np.int64(came_from[event]) if came_from[event] >= 0 else np.int64(parent[event])
    return answer
