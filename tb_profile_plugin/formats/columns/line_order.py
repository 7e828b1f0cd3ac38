"""Events in the order that every analysis expects: line after line, by begin, outer before inner."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit
from .lookup import count_codes, rows_by_code


def line_order(line: Array, begin: Array, duration: Array) -> Array:
    """int64[n]: rows of events in that order; events that are equal in all keep their order.

    Files come nearly in order of time: sorting by that costs little, and few events begin at the same moment.
    """
    order = np.argsort(begin, kind="stable")
    line = np.ascontiguousarray(line[order], np.int32)
    by_line, _ = rows_by_code(line, count_codes(line, np.int64(line.max(initial=-1)) + 1))
    order = order[by_line]
    rows_to_sort = np.flatnonzero(_is_out_of_order(line[by_line], begin[order], duration[order]))
    rows = order[rows_to_sort]
    order[rows_to_sort] = rows[np.lexsort((-duration[rows], begin[rows], line[by_line[rows_to_sort]]))]
    return order


@jit
def is_ordered(line: I32, begin: I64, duration: I64) -> bool:
    """Whether the events of each line come by begin, the longer one first."""
    for i in range(1, len(line)):
        if line[i] == line[i - 1] and (
            begin[i] < begin[i - 1] or (begin[i] == begin[i - 1] and duration[i] > duration[i - 1])
        ):
            return False
    return True


@jit
def _is_out_of_order(line: I32, begin: I64, duration: I64) -> Bool:
    """bool[n]: all events of a line that begin at a moment at which a longer one follows a shorter one."""
    is_out_of_order = np.zeros(len(line), np.bool_)
    low = 0
    for i in range(len(line)):
        if line[i] != line[low] or begin[i] != begin[low]:
            low = i
        elif i > low and (is_out_of_order[i - 1] or duration[i] > duration[i - 1]):
            # All of that moment, once: later ones join them.
            at = i
            while at >= low and not is_out_of_order[at]:
                is_out_of_order[at] = True
                at -= 1
    return is_out_of_order
