"""Gradients of embedding tables that PyTorch fills, adds and sends whole, though few of their rows are looked up."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from .....model.devices.properties import device_count
from .....model.events.outermost import outermost_ps
from .....model.host import HostWithSteps
from .....model.per_host import per_host
from .....runtime.arrays import Array
from .....runtime.records import NamedTuple
from .....runtime.regex import regex
from ..facts import DENSE_EMBEDDING, REDUCES_TABLES
from ..input_shapes import Shape, input_shapes

_LOOKUP = regex(r"aten::embedding(?:_bag)?$")
_GRADIENT = regex(r"aten::(?:embedding|_embedding_bag)_dense_backward$")
_PRODUCT, _REDUCES = regex(r"aten::(?:linear|addmm|mm|matmul|t)$"), regex(r"(?:gloo|nccl):all_?reduce")
_CHANGES = regex(r"aten::\w+_$|aten::(?:zeros_like|clone|add|mul|div|sqrt)$")
"""Ops that fill, add or scale tensors, as those of gradients and optimizers do."""
_TIMES_ROWS = 4
"""A table of so many times the rows that a step looks up has mostly zeros in its gradient."""
_MUCH_OF_STEPS = 0.1
"""Share of the steps from which on whole gradients are worth a change; reductions may wait for others: not counted."""


class DenseTables(NamedTuple):
    """What is done for whole gradients of tables of which few rows are looked up."""

    ps: int = 0
    """Of all steps, in which the CPU computes these gradients and changes them and the tables."""
    are_reduced: bool = False
    """Whether most reductions are of these."""


def table_facts(host: HostWithSteps) -> set[str]:
    """`DENSE_EMBEDDING` where much of a CPU's steps goes into computing and changing gradients of tables of which few
    rows are looked up; `REDUCES_TABLES` where most reductions are of these. Known only with ``record_shapes``.
    """
    if not dense_tables_ps(host):
        return set()
    return {DENSE_EMBEDDING, REDUCES_TABLES} if _dense_tables(host).are_reduced else {DENSE_EMBEDDING}


@per_host(keep=True)
def dense_tables_ps(host: HostWithSteps) -> float:
    """ps per step that a CPU spends on whole gradients of tables; 0 where that is little, or not known, as of GPUs."""
    ps, steps = _dense_tables(host).ps, host.steps
    return ps / len(steps) if len(steps) and ps >= _MUCH_OF_STEPS * steps.length.sum() else 0.0


@per_host(keep=True)
def _dense_tables(host: HostWithSteps) -> DenseTables:
    trace, steps = host.trace, host.steps
    is_known = len(steps) and not device_count(host) and any(map(_GRADIENT.match, trace.names))
    shapes_of_ops = input_shapes(host) if is_known else None
    if shapes_of_ops is None:
        return DenseTables()
    events, codes, inputs = shapes_of_ops

    def named(pattern: re.Pattern[str]) -> Array:
        """bool[events]: which have such names."""
        return trace.are_named(events, pattern.match)

    def takes(is_wanted: Callable[[Shape], bool]) -> Array:
        """bool[events]: whose first input has such a shape."""
        return np.array([is_wanted((*shapes, ())[0]) for shapes in inputs], bool)[codes]

    gradient_inputs = _gradients_of_tables(inputs, codes[named(_LOOKUP)], codes[named(_PRODUCT)], len(steps))
    inputs_of_gradients = {shape for of_table in gradient_inputs.values() for shape in of_table}
    table_sizes = [prod(table) for table in gradient_inputs]
    computes = named(_GRADIENT) & takes(inputs_of_gradients.__contains__)
    changes = named(_CHANGES) & takes(gradient_inputs.__contains__)
    # A bucket holds a whole table, and less than as much again.
    reduces = named(_REDUCES) & takes(lambda shape: any(size <= prod(shape) < 2 * size for size in table_sizes))
    reduced_ps, all_reduced_ps = (outermost_ps(trace, np.sort(events[mask])) for mask in (reduces, named(_REDUCES)))
    return DenseTables(outermost_ps(trace, np.sort(events[computes | changes])), 2 * reduced_ps > all_reduced_ps)


def _gradients_of_tables(
    inputs: Sequence[Sequence[Shape]], lookups: Array, products: Array, steps: int
) -> dict[Shape, set[Shape]]:
    """By table, of which few rows are looked up in a step and which no product takes: what its gradient is computed of.

    ``lookups`` and ``products`` are int64[k], rows of ``inputs``, of each such op in so many steps.
    """
    rows, gradients = Counter[Shape](), defaultdict[Shape, set[Shape]](set)
    for row, count in zip(*np.unique(lookups, return_counts=True), strict=True):
        table, indices, offsets = [*inputs[row], (), (), ()][:3]
        rows[table] += prod(indices) * int(count)
        # Of a bag, which has offsets, the rows of all its indices are added up.
        gradients[table] |= {(*indices, *table[1:]), (*offsets, *table[1:])}
    in_products = {shape for row in np.unique(products).tolist() for shape in inputs[row]}
    return {
        table: gradients[table]
        for table in rows
        if table and _TIMES_ROWS * rows[table] <= table[0] * steps and table not in in_products
    }
