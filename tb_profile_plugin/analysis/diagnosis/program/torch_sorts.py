"""What PyTorch sorts from step to step."""

from __future__ import annotations

from math import prod

import numpy as np

from ....model.events.repeated_calls import outermost
from ....model.host import HostWithSteps
from ....runtime.regex import regex
from .input_shapes import input_shapes

_SORT = regex(r"aten::(?:sort|argsort|msort)$")
_LEAST_RISES = 4
"""So many steps in a row, each of which sorts as many elements more than the one before as the others do, collect what
they sort: batches of other lengths differ by this and that.
"""


def sorts_more(host: HostWithSteps) -> bool:
    """Whether the largest sort of each complete step has evenly more elements; known only with ``record_shapes``."""
    trace, steps = host.trace, host.steps
    sorts = outermost(trace, trace.named(_SORT.match))
    shapes_of_ops = input_shapes(host) if len(sorts) and len(steps) else None
    if shapes_of_ops is None:
        return False
    events, codes, inputs = shapes_of_ops
    is_sort = np.isin(events, sorts)
    elements = np.array([prod((*shapes, ())[0]) for shapes in inputs], np.int64)[codes[is_sort]]
    step = np.searchsorted(steps.begin, trace.begin[events[is_sort]], "right") - 1
    largest = np.zeros(len(steps), np.int64)
    np.maximum.at(largest, step[step >= 0], elements[step >= 0])
    rises = np.diff(largest[steps.complete])
    return len(rises) >= _LEAST_RISES and bool(rises[0] > 0) and bool((rises == rises[0]).all())
