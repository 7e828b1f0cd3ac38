"""Number types of what TensorFlow's ops compute, by the memory that they ask for."""

from __future__ import annotations

import numpy as np

from .....formats.columns import vocabulary
from .....model.events.joins import is_among
from .....model.host import HostWithSteps
from .....model.names import op_names
from .....model.per_host import per_host
from .....runtime.arrays import Array, distinct
from ....activity.thread_classes import activity
from ..step_counts import from_first_step

_FLOAT64, _FLOATS = 2, np.array((1, 2, 14, 19))
"""Numbers of float64, and of it, float32, bfloat16 and float16, in TensorFlow's DataType."""


@per_host(keep=True)
def computes_in_float64(host: HostWithSteps) -> bool:
    """Whether ops with results in float64 take most of the time of ops whose results are floating-point numbers.

    Ops that prepare input do not count.
    """
    trace, plane = host.trace, host.cpu
    if plane is None or not len(types := plane.stat(vocabulary.DATA_TYPE)):
        return False
    allocations = types.owner + trace.slice_of(plane).start
    op = trace.nearest_named(allocations, lambda name: op_names.parse(name).category == op_names.TENSORFLOW)
    is_of_step = op >= 0
    is_of_step[is_of_step] = ~activity(host).of_input[op[is_of_step]]

    def ops_ps(are_wanted: Array) -> int:
        ops = from_first_step(host, distinct(op[is_of_step & are_wanted]))
        return int((trace.end[ops] - trace.begin[ops]).sum())

    return 2 * ops_ps(types.numbers == _FLOAT64) > ops_ps(is_among(types.numbers, _FLOATS)) > 0
