"""Tables of which a step looks few rows up: optimizers of TensorFlow that change all rows, lookups that copy all."""

from __future__ import annotations

import numpy as np

from ....model.host import Host, HostWithSteps
from ....model.names import op_names
from ....model.per_host import per_host
from ....runtime.regex import regex
from ...ops.op_scopes import scopes
from .step_counts import from_first_step

_SUM_OF_ROWS = "UnsortedSegmentSum"
"""Op by which Keras makes the gradient of a whole table of that of the rows looked up."""
_UPDATE = regex(r"Assign(?:Add|Sub)?VariableOp$")
_COPY = regex(r".*/GatherV2(?:_\d+)?/ReadVariableOp(?:_\d+)?:ReadVariableOp$")
"""What reads a variable for a lookup in its value. TensorFlow copies what is read of variables of which ops change
single rows elsewhere.
"""
_LEAST_PART, _MOST_PART = 0.05, 0.5
"""Shares of an optimizer's time that making such gradients takes: with less, other weights are what it changes; with
more, so many rows are looked up that changing all of them costs little beside.
"""


@per_host(keep=True)
def whole_tables_scope(host: Host) -> str:
    """The scope, as `op_scopes.scopes` names it, of the optimizer that mostly changes whole tables; empty without."""
    trace = host.trace
    if not any(name.endswith(_SUM_OF_ROWS) for name in trace.names):
        return ""
    name_ps = np.bincount(trace.name_of, (trace.end - trace.begin).astype(np.float64), len(trace.names))
    all_ps: dict[str, float] = {}
    sums_ps: dict[str, float] = {}
    updating = set()
    for name, scope, ps in zip(trace.names, scopes(trace.names), name_ps.tolist(), strict=True):
        op_type = op_names.parse(name).type
        all_ps[scope] = all_ps.get(scope, 0.0) + ps
        if op_type == _SUM_OF_ROWS:
            sums_ps[scope] = sums_ps.get(scope, 0.0) + ps
        elif _UPDATE.match(op_type):
            updating.add(scope)
    of_tables = {
        scope: ps
        for scope, ps in sums_ps.items()
        if scope and scope in updating and _LEAST_PART * all_ps[scope] <= ps <= _MOST_PART * all_ps[scope]
    }
    return max(of_tables, key=lambda scope: of_tables[scope], default="")


def table_copies_ps(host: HostWithSteps) -> float:
    """ps per step that reading variables for lookups takes: next to nothing, unless each read copies all rows."""
    trace, steps = host.trace, host.steps
    copies = from_first_step(host, trace.events_named(_COPY.match))
    return float((trace.end[copies] - trace.begin[copies]).sum()) / len(steps)
