"""Tables of which a step looks few rows up: optimizers of TensorFlow that change all rows, lookups that copy all."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .....model.host import Host, HostWithSteps
from .....model.names import op_names
from .....model.per_host import per_host
from .....runtime.records import NamedTuple
from .....runtime.regex import regex
from ....ops.op_scopes import scopes
from ..step_counts import from_first_step

_SUM_OF_ROWS = "UnsortedSegmentSum"
"""Op by which Keras makes the gradient of a whole table of that of the rows looked up."""
_ADDS_GRADIENTS = regex(r"(?!.*\bwhile)(?:.*/)?AddN(?:_\d+)?/inputs_\d+$")
"""Where that is added to another gradient of the whole table, as of a regularizer; turns of loops add up theirs."""
_UPDATE = regex(r"Assign(?:Add|Sub)?VariableOp$")
_COPY = regex(r".*/GatherV2(?:_\d+)?/ReadVariableOp(?:_\d+)?:ReadVariableOp$")
"""What reads a variable for a lookup in its value. TensorFlow copies what is read of variables of which ops change
single rows elsewhere.
"""
_LEAST_PART, _MOST_PART = 0.05, 0.5
"""Shares of an optimizer's time that making such gradients takes: with less, other weights are what it changes; with
more, so many rows are looked up that changing all of them costs little beside.
"""


class WholeTables(NamedTuple):
    """What mostly changes whole tables."""

    scope: str
    """Of the optimizer, as `op_scopes.scopes` names it; empty where it has none."""
    are_regularized: bool
    """Whether most gradients of tables are added to those of a regularizer, which are of all rows."""


@per_host(keep=True)
def whole_tables(host: Host) -> WholeTables | None:
    """The optimizer that mostly changes whole tables, of all that a host recorded; None without."""
    trace = host.trace
    if not any(name.endswith(_SUM_OF_ROWS) for name in trace.names):
        return None
    name_ps = np.bincount(trace.name_of, (trace.end - trace.begin).astype(np.float64), len(trace.names))
    all_ps, sums_ps = Counter[str](), Counter[str]()
    updating, regularized_ps, ops_ps = set(), 0.0, 0.0
    for name, scope, ps in zip(trace.names, scopes(trace.names), name_ps.tolist(), strict=True):
        op = op_names.parse(name)
        all_ps[scope] += ps
        ops_ps += ps * (op.category == op_names.TENSORFLOW)
        if op.type == _SUM_OF_ROWS and _ADDS_GRADIENTS.match(op.name):
            regularized_ps += ps
        elif op.type == _SUM_OF_ROWS:
            sums_ps[scope] += ps
        elif scope and _UPDATE.match(op.type):
            updating.add(scope)
    scope = max(updating, key=lambda scope: (sums_ps[scope], all_ps[scope]), default="")
    sum_ps = sums_ps[scope] + regularized_ps
    if scope and _LEAST_PART * all_ps[scope] <= sum_ps <= _MOST_PART * all_ps[scope]:
        return WholeTables(scope, 2 * regularized_ps > sum_ps)
    # Of a program's own optimizer only what the regularizer adds is known.
    is_much = regularized_ps >= _LEAST_PART * ops_ps > 0
    return WholeTables("", True) if is_much and not scope else None


def table_copies_ps(host: HostWithSteps) -> float:
    """ps per step that reading variables for lookups takes: next to nothing, unless each read copies all rows."""
    trace, steps = host.trace, host.steps
    copies = from_first_step(host, trace.events_named(_COPY.match))
    return float((trace.end[copies] - trace.begin[copies]).sum()) / len(steps)
