"""Ops that TensorFlow runs one by one, and functions beside them."""

from __future__ import annotations

import numpy as np

from .....formats.columns import vocabulary
from .....model.host import HostWithSteps
from .....model.per_host import per_host
from .....runtime.regex import regex
from ..step_counts import are_in_most_steps, from_first_step

SINGLE_OP = vocabulary.EAGER_OP_CALL
"""Begin of the names of what TensorFlow runs by itself, before the op's type or the function's name."""
_FUNCTION = regex(rf"{SINGLE_OP}__(?:inference|forward)_")
_NO_WORK = regex(rf"{SINGLE_OP}(?:ReadVariableOp|_EagerConst|Identity|\w*Iterator\w*|\w*Dataset\w*)$")
"""What other ops are given, and the input, are not what a function lacks."""
_MOST_NAMES = 2


@per_host(keep=True)
def largest_single_ops(host: HostWithSteps) -> list[str]:
    """Types of the single ops that take most time in the steps, the longest first; at most two."""
    trace = host.trace
    ops = trace.events_named(lambda name: name.startswith(SINGLE_OP) and not _FUNCTION.match(name))
    ops = from_first_step(host, ops[~trace.are_named(ops, _NO_WORK.match)])
    name_ps = np.bincount(trace.name_of[ops], trace.end[ops] - trace.begin[ops], len(trace.names))
    ps_of_type: dict[str, float] = {}
    for row in np.flatnonzero(name_ps).tolist():
        op_type = trace.names[row].removeprefix(SINGLE_OP)
        ps_of_type[op_type] = ps_of_type.get(op_type, 0.0) + float(name_ps[row])
    return sorted(ps_of_type, key=lambda op_type: -ps_of_type[op_type])[:_MOST_NAMES]


def calls_functions(host: HostWithSteps) -> bool:
    """Whether most steps run a function, such as a ``tf.function`` of the program."""
    return are_in_most_steps(host, host.trace.events_named(_FUNCTION.match))
