"""Shapes of what PyTorch's ops take."""

from __future__ import annotations

from math import prod

import numpy as np

from ....formats.columns import vocabulary
from ....model.host import Host, HostWithSteps
from ....model.per_host import per_host
from ....runtime.arrays import Array
from ....runtime.records import NamedTuple
from ....runtime.regex import regex

_LIST, _NUMBER = regex(r"\[[\d, ]*\]"), regex(r"\d+")
Shape = tuple[int, ...]


class InputShapes(NamedTuple):
    """Ops that recorded the shapes of their inputs."""

    event: Array
    """int64[k]: numbers of the ops in the trace."""
    code: Array
    """int[k]: row of each in ``shapes``."""
    shapes: list[list[Shape]]
    """The distinct lists of shapes; a number has the empty one."""


@per_host
def input_shapes(host: Host) -> InputShapes | None:
    """The shapes of the inputs of a host's ops; None where ``record_shapes`` was off."""
    plane = host.cpu
    if plane is None or not plane.has_stat(vocabulary.INPUT_SHAPES):
        return None
    stat = plane.stat(vocabulary.INPUT_SHAPES)
    codes, texts = stat.codes
    shapes = [[tuple(map(int, _NUMBER.findall(shape))) for shape in _LIST.findall(text[1:])] for text in texts]
    return InputShapes(stat.owner + host.trace.slice_of(plane).start, codes, shapes)


@per_host(keep=True)
def input_elements(host: HostWithSteps) -> float:
    """How many elements the inputs of a step's ops have, mean over the steps; 0 without steps, or ``record_shapes``."""
    shapes_of_ops = input_shapes(host) if len(host.steps) else None
    if shapes_of_ops is None:
        return 0.0
    events, codes, shapes = shapes_of_ops
    elements = np.array([sum(map(prod, filter(None, inputs))) for inputs in shapes], np.float64)
    in_steps = host.trace.begin[events] >= host.steps.begin[0]
    return float(elements[codes[in_steps]].sum()) / len(host.steps)
