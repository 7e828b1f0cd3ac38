"""Output layers of PyTorch that compare each row with many classes, as those of language models do."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np

from .....model.events.outermost import outermost_ps
from .....model.host import HostWithSteps
from ..input_shapes import input_shapes

_LINEAR, _LOSS = "aten::linear", "aten::_log_softmax"
_MANY_CLASSES, _TIMES_WIDTH = 1000, 4
"""So many classes, and so many times the numbers of each row, take more than a layer before them does."""
_MOST_LEFT_OUT = 1.1
"""Layers before it have at most so many times its rows where it computes all but the last of each sequence."""
_MUCH_OF_STEPS = 0.3
"""Share of the steps that ops take which compute with a row and a class, from which on fewer rows are worth it."""


def computes_all_rows(host: HostWithSteps) -> bool:
    """Whether much of the steps goes into an output layer, with its loss and their gradients, for as many rows as most
    layers before it have: none was left out. Known only with ``record_shapes``.
    """
    trace, steps = host.trace, host.steps
    shapes_of_ops = input_shapes(host) if len(steps) and len(trace.events_named(_LOSS.__eq__)) else None
    if shapes_of_ops is None:
        return False
    events, codes, shapes = shapes_of_ops
    losses = np.unique(codes[trace.are_named(events, _LOSS.__eq__)]).tolist()
    sizes = [(prod(shape[:-1]), shape[-1]) for code in losses for shape in shapes[code][:1] if shape]
    rows, classes = max(sizes, key=prod, default=(0, 0))
    layers, width = Counter[int](), 0
    linear = trace.are_named(events, _LINEAR.__eq__)
    for code, count in zip(*np.unique(codes[linear], return_counts=True), strict=True):
        inputs, weight = [*shapes[code], (), ()][:2]
        if not inputs or not weight:
            continue
        if prod(inputs[:-1]) == rows and weight[0] == classes:
            width = weight[1]
        else:
            layers[prod(inputs[:-1])] += int(count)
    same = sum(count for others, count in layers.items() if rows <= others <= _MOST_LEFT_OUT * rows)
    if classes < max(_MANY_CLASSES, _TIMES_WIDTH * width) or not width or 2 * same <= layers.total():
        return False
    numbers = [{number for shape in of_op for number in (*shape, prod(shape[:-1]))} for of_op in shapes]
    takes_both = np.array([{rows, classes} <= of_op for of_op in numbers], bool)
    return outermost_ps(trace, np.sort(events[takes_both[codes]])) >= _MUCH_OF_STEPS * steps.length.sum()
