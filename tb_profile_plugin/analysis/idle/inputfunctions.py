"""Which work threads of a pool do for the input pipeline: the functions of maps and filters, and what runs in them."""

from __future__ import annotations

import numpy as np

from ...arrays import I32, Array, Bool
from ...jit import jit
from ...model.host import Host
from .names import NOTHING
from .states import State


def functions_of_input(host: Host, elsewhere: Array, classes: Array, came_from: Array) -> Array:
    """bool[events]: what threads do in functions that iterators started; of events ``elsewhere`` than on the loop's.

    ``classes`` is int8[events], ``came_from`` int32[events] as in `classes.Activity`. What encloses an op may end after
    the capture: then ops of its name tell, if all are so.
    """
    trace = host.trace
    asks: Array = classes == int(State.INPUT)
    if not asks.any():
        return asks
    parent, _ = trace.nesting
    mine: Array = _led_to_by(came_from, parent, asks) & ~asks & elsewhere
    alone = (parent < 0) & (came_from < 0) & elsewhere & ~mine & ~asks & (classes != NOTHING)
    count = len(trace.names)
    inside = np.bincount(trace.name_of[mine], minlength=count)
    outside = np.bincount(trace.name_of[~mine & ~alone], minlength=count)
    rows = np.flatnonzero(alone)
    names = trace.name_of[rows]
    mine[rows[(inside[names] > 0) & (outside[names] == 0)]] = True
    return mine


@jit
def _led_to_by(came_from: I32, parent: I32, causes: Bool) -> Bool:
    """bool[events]: whether an event is one of the causes, lies in one, or was led to by one; each looked at once."""
    known = np.zeros(len(causes), np.int8)
    for event in range(len(causes)):
        at, answer = np.int64(event), np.int8(0)
        while answer == 0:
            if known[at] != 0:
                answer = known[at]
            elif causes[at]:
                answer = np.int8(2)
            else:
                known[at] = 1
                above = np.int64(came_from[at]) if came_from[at] >= 0 else np.int64(parent[at])
                if above < 0:
                    answer = np.int8(1)
                else:
                    at = above
        if answer == 2:
            at = np.int64(event)
            while known[at] == 1:
                known[at] = 2
                at = np.int64(came_from[at]) if came_from[at] >= 0 else np.int64(parent[at])
                if at < 0:
                    break
            known[event] = 2
    found: Array = known == 2
    return found
