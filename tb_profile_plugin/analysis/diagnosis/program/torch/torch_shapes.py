"""What the shapes of inputs tell of PyTorch's ops: sorts that grow, arrays of all pairs, adjacency matrices, and long
kernels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import numpy as np

from .....formats.columns import vocabulary
from .....model.events.outermost import outermost
from .....model.host import HostWithSteps
from .....model.per_host import per_host
from .....runtime.arrays import distinct
from .....runtime.regex import regex
from ..input_shapes import InputShapes, Shape, input_shapes
from ..step_counts import ops_ps

_MAKES_PAIRS, _REDUCES = regex(r"aten::(?:sub|mul)$"), regex(r"aten::(?:sum|mean|norm|linalg_vector_norm)$")
_REPEATS = regex(r"aten::(?:repeat|expand|expand_as|broadcast_to)$")
_MOST_REPEATS = 100
"""So many lists of shapes that are repeated are compared with one another."""
_ENLARGED = 8
"""So many times as large as both arrays, what broadcasting makes of them is large."""
_FILLS_BY_INDEX = regex(r"aten::(?:_?index_put_(?:impl_)?|index_fill_|scatter_(?:add_)?|_to_dense)$")
_PRODUCT = regex(r"aten::(?:mm|bmm|addmm)$")
_LARGE_SQUARE = 256
"""Rows of a matrix, from which on computing with its zeros takes long."""
_CONVOLUTION, _GRADIENT = regex(r"aten::convolution(?:_backward)?$"), regex(r"aten::convolution_backward$")
_LONG, _LEAST_RESULTS = 256, 4
"""So many taps of a kernel are cheaper by Fourier transforms, where it moves so little that one in so many inputs has a
result.
"""
_SORT = regex(r"aten::(?:sort|argsort|msort)$")
_LEAST_RISES = 4
"""So many steps in a row, each of which sorts as many elements more than the one before as the others do, collect what
they sort: batches of other lengths differ by this and that.
"""


def sorts_more(host: HostWithSteps) -> bool:
    """Whether the largest sort of each complete step has evenly more elements; known only with ``record_shapes``."""
    trace, steps = host.trace, host.steps
    sorts = outermost(trace, trace.events_named(_SORT.match))
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


@per_host(keep=True)
def pairs_ps(host: HostWithSteps) -> float:
    """ps per step of ops on arrays of all pairs: differences, or products, of each row of one array and each of
    another, or of what was repeated of these before, of which something sums up an axis. 0 where that is not known, as
    without ``record_shapes``.
    """
    trace, shapes_of_ops = host.trace, input_shapes(host) if len(host.steps) else None
    if shapes_of_ops is None:
        return 0.0
    events, codes, shapes = shapes_of_ops
    is_repeat = np.flatnonzero(trace.are_named(events, _REPEATS.match))
    # Gradients of sums are repeated, too, each for itself.
    is_own = trace.nearest_named(events[is_repeat], lambda name: name.startswith(vocabulary.AUTOGRAD_NODE)) < 0
    repeat_codes = distinct(codes[is_repeat[is_own]]).tolist()
    repeats = {shape for code in repeat_codes[:_MOST_REPEATS] for shape in shapes[code][:1] if 1 in shape}
    pairs_of_repeats = {_shape_of_pairs((first, second)) for first in repeats for second in repeats if first != second}
    pairs_of_code = [
        next((shape for shape in inputs[:1] if shape in pairs_of_repeats), ()) or _shape_of_pairs(inputs)
        for inputs in shapes
    ]
    makes_pairs = np.array(list(map(bool, pairs_of_code)), bool)[codes] & trace.are_named(events, _MAKES_PAIRS.match)
    all_pairs = {pairs_of_code[code] for code in distinct(codes[makes_pairs]).tolist()}
    takes_pairs = np.array([not all_pairs.isdisjoint(inputs) for inputs in shapes], bool)[codes]
    if not trace.are_named(events[takes_pairs], _REDUCES.match).any():
        return 0.0
    ops = distinct(events[makes_pairs | takes_pairs])
    return ops_ps(host, ops) / len(host.steps)


@per_host(keep=True)
def adjacency_ps(host: HostWithSteps) -> float:
    """ps per step of ops on large square matrices that are filled by index, and then multiply other matrices: those of
    graphs, which are mostly zeros. 0 where that is not known, as without ``record_shapes``.
    """
    trace, shapes_of_ops = host.trace, _shapes_where_named(host, _FILLS_BY_INDEX)
    if shapes_of_ops is None:
        return 0.0
    events, codes, shapes = shapes_of_ops
    fills = distinct(codes[trace.are_named(events, _FILLS_BY_INDEX.match)]).tolist()
    squares = {shape for code in fills for shape in shapes[code][:1] if _is_large_square(shape)}
    products = distinct(codes[trace.are_named(events, _PRODUCT.match)]).tolist()
    squares &= {shape for code in products for shape in shapes[code] if set(shapes[code]) != {shape}}
    takes_square = np.array([not squares.isdisjoint(inputs) for inputs in shapes], bool)[codes]
    return ops_ps(host, distinct(events[takes_square])) / len(host.steps)


def _shapes_where_named(host: HostWithSteps, names: re.Pattern[str]) -> InputShapes | None:
    """`input_shapes` of a host with steps that runs ops of these names; else None."""
    is_known = len(host.steps) and any(map(names.match, host.trace.names))
    return input_shapes(host) if is_known else None


def _is_large_square(shape: Shape) -> bool:
    return len(shape) == 2 and shape[0] == shape[1] >= _LARGE_SQUARE


@per_host(keep=True)
def long_kernels_ps(host: HostWithSteps) -> float:
    """ps per step of convolutions of sequences with long kernels, and of their gradients, which tell how far kernels
    move. 0 where that is not known, as without ``record_shapes``.
    """
    trace, shapes_of_ops = host.trace, _shapes_where_named(host, _GRADIENT)
    if shapes_of_ops is None:
        return 0.0
    events, codes, shapes = shapes_of_ops
    gradients = distinct(codes[trace.are_named(events, _GRADIENT.match)]).tolist()
    kernels = {shapes[code][2] for code in gradients if _is_long(shapes[code])}
    takes_kernel = np.array([not kernels.isdisjoint(inputs) for inputs in shapes], bool)[codes]
    ops = distinct(events[takes_kernel & trace.are_named(events, _CONVOLUTION.match)])
    return ops_ps(host, ops) / len(host.steps)


def _is_long(shapes: Sequence[Shape]) -> bool:
    """Whether a convolution's gradient, input and kernel, of sequences, are those of a long kernel."""
    if len(shapes) < 3 or any(len(shape) != 3 for shape in shapes[:3]):
        return False
    gradient, sequence, kernel = shapes[:3]
    return kernel[-1] >= _LONG and _LEAST_RESULTS * gradient[-1] >= sequence[-1]


def _shape_of_pairs(shapes: Sequence[Shape]) -> Shape:
    """The shape that broadcasting makes of the first two, if each is repeated, and it is much larger; else ()."""
    if len(shapes) < 2:
        return ()
    first, second = shapes[:2]
    rank = max(len(first), len(second))
    sizes = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    repeated = [any(own == 1 < other for own, other in zip(*pair, strict=True)) for pair in (sizes, sizes[::-1])]
    pairs = tuple(map(max, *sizes))
    return pairs if all(repeated) and prod(pairs) >= _ENLARGED * max(map(prod, sizes)) else ()
