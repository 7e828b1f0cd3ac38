"""Events in the order that every analysis expects: line after line, by begin, outer before inner."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit
from .lookup import counted, ordered


def line_order(line: Array, begin: Array, duration: Array) -> Array:
    """int64[n]: places of events in that order, those that are equal in all as they come.

    Files come nearly in order of time: sorting by that costs little, and few events begin at the same moment.
    """
    order = np.argsort(begin, kind="stable")
    line = np.ascontiguousarray(line[order], np.int32)
    by_line, _ = ordered(line, counted(line, np.int64(line.max(initial=-1)) + 1))
    order = order[by_line]
    astray = np.flatnonzero(_astray(line[by_line], begin[order], duration[order]))
    rows = order[astray]
    order[astray] = rows[np.lexsort((-duration[rows], begin[rows], line[by_line[astray]]))]
    return order


@jit
def _astray(line: I32, begin: I64, duration: I64) -> Bool:
    """bool[n]: all events of a line that begin at one moment at which a longer one comes after another."""
    astray = np.zeros(len(line), np.bool_)
    low = 0
    for i in range(len(line)):
        if line[i] != line[low] or begin[i] != begin[low]:
            low = i
        elif i > low and (astray[i - 1] or duration[i] > duration[i - 1]):
            # All of that moment, once: later ones join them.
            at = i
            while at >= low and not astray[at]:
                astray[at] = True
                at -= 1
    return astray
