"""Shapes of what PyTorch's ops take."""

from __future__ import annotations

from ....formats.columns import vocabulary
from ....model.host import Host
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
    return InputShapes(stat.owner + host.trace.rows(plane).start, codes, shapes)
