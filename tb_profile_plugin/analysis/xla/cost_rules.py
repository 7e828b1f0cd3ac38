"""The rules of `cost` by opcode: XLA's ``HloCostAnalysis``, as its sources and its answers have them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor, gcd, log2, prod
from typing import NamedTuple

import numpy as np

from ...formats.xspace.hlo.module import Module
from ...runtime import cancellation

UNKNOWN = float("nan")
Three = tuple[float, float, float]
"""FLOPs, transcendental functions, bytes."""

TRANSCENDENTAL = frozenset(
    "exponential exponential-minus-one log log-plus-one logistic power sqrt cbrt rsqrt tanh sine cosine tan atan2 "
    "erf".split()
)
FREE = frozenset(
    "parameter constant get-tuple-element bitcast after-all add-dependency domain partition-id replica-id "
    "async-update async-done".split()
)
"""They cost nothing."""
MOVES = frozenset(
    "copy copy-start copy-done transpose reshape dynamic-reshape concatenate pad reverse broadcast iota send send-done "
    "recv recv-done all-gather-done collective-permute-done all-reduce-done optimization-barrier get-dimension-size "
    "set-dimension-size".split()
)
"""They read their operands, write their result, and calculate nothing."""


class Inside(NamedTuple):
    """Of a fused computation."""

    parameters: dict[int, int]
    """Its parameters by number."""
    constants: float
    """Bytes of its constants of more than one element."""


class Sized:
    """A module with what its rules ask of it: sizes by instruction, and costs of computations that are done."""

    def __init__(self, module: Module):
        self.module, self.shapes = module, module.shapes
        self.sums: dict[int, Three] = {}
        """Costs of computations that are worked out."""
        self.read: dict[int, float] = {}
        """Bytes that fused computations read of their parameters, as far as worked out."""
        self.written: dict[int, float | None] = {}
        """Bytes that fused computations write."""
        self._inside: dict[int, Inside] = {}

    def inside(self, computation: int) -> Inside:
        """What a fused computation holds; many fusions may call the same one."""
        if computation not in self._inside:
            module = self.module
            rows = range(*module.members[computation : computation + 2].tolist())
            parameters = {int(module.parameter_numbers[i]): i for i in rows if module.opcodes[i] == "parameter"}
            constants = [self.bytes(i) for i in rows if module.opcodes[i] == "constant" and self.elements(i) > 1]
            self._inside[computation] = Inside(parameters, sum(constants))
        return self._inside[computation]

    def dims(self, row: int) -> list[int]:
        """Dimensions of what an instruction gives."""
        return self.shapes.dimensions[row]

    def operand(self, row: int, index: int) -> int:
        """The instruction that gives an operand; raises IndexError where there is none."""
        operand = self.module.operands[row][index]
        if operand < 0:
            raise IndexError(index)
        return operand

    def operands(self, row: int) -> list[int]:
        """Those that exist."""
        return [operand for operand in self.module.operands[row] if operand >= 0]

    def elements(self, row: int) -> float:
        """Of an array."""
        return float(self.shapes.elements[row])

    def bytes(self, row: int) -> float:
        """Of an array, or of a tuple's index table."""
        return float(self.shapes.bytes[row])

    def leaves(self, row: int) -> float:
        """Bytes of all arrays that an instruction gives."""
        return float(self.shapes.leaf_bytes[row])

    def default(self, row: int) -> float:
        """Bytes of operands and result."""
        return self.bytes(row) + sum(map(self.bytes, self.operands(row)))

    def called(self, row: int, index: int = 0) -> Three:
        """Of a computation that an instruction calls; not known where that calls itself, however far around."""
        called = self.module.called[row]
        unknown = UNKNOWN, UNKNOWN, UNKNOWN
        return self.sums.get(called[index], unknown) if index < len(called) else unknown

    def turns(self, row: int, count: float, moved: float, index: int = 0) -> Three:
        """A computation that runs so often inside an instruction that moves so many bytes."""
        flops, functions, _ = self.called(row, index)
        return count * flops, count * functions, moved


def product(sized: Sized, row: int) -> Three:
    """Two FLOPs for each element of the result and each place that is summed over."""
    lhs = sized.dims(sized.operand(row, 0))
    summed = prod(lhs[dimension] for dimension in sized.module.contractions.lhs[row])
    return 2 * sized.elements(row) * summed, 0, sized.default(row)


def _ragged_product(sized: Sized, row: int) -> Three:
    lhs, rhs = sized.operand(row, 0), sized.operand(row, 1)
    columns = sized.dims(rhs)[-1] if sized.dims(rhs) else 1
    return 2 * sized.elements(lhs) * columns, 0, sized.default(row)


def convolution(sized: Sized, row: int) -> Three:
    """Two FLOPs for each pair of kernel and input that meet: places outside of the input are not counted."""
    shapes = sized.dims(sized.operand(row, 0)), sized.dims(sized.operand(row, 1)), sized.dims(row)
    return convolution_flops(sized, row, *shapes), 0, sized.default(row)


def convolution_flops(sized: Sized, row: int, image: list[int], kernel: list[int], result: list[int]) -> float:
    """FLOPs of a convolution between arrays of these dimensions, by the instruction's window."""
    module, numbers = sized.module, sized.module.convolutions
    pairs: float = 1.0
    spatial = numbers.kernel_spatial[row], numbers.input_spatial[row], numbers.output_spatial[row]
    for window, k, i, o in zip(module.windows[row], *spatial, strict=False):
        pairs *= meeting(kernel[k], image[i], result[o], *window[1:3], *window[4:])
    _, output_feature, batch, feature = (int(dimension) for dimension in numbers.dimensions[:4, row])
    features, batches = (int(groups[row]) for groups in module.convolution_groups)
    return 2.0 * (image[feature] // features) * kernel[output_feature] * (image[batch] // batches) * pairs


_LONGEST = 1 << 16
"""Of kernels longer than this along a dimension the cost is not worked out."""


@lru_cache(maxsize=4096)
def meeting(kernel: int, image: int, result: int, stride: int, low: int, dilation: int, base: int) -> float:
    """Pairs of kernel place k and output place o that meet a place of the image, along one dimension.

    They meet where o·stride - low + k·dilation is one of 0, base, 2·base … (image - 1)·base.
    """
    cancellation.check()
    stride, base, last = max(stride, 1), max(base, 1), (image - 1) * base
    if not 0 <= kernel <= _LONGEST or max(abs(low), dilation, stride, image * base, result) >= 1 << 31:
        return UNKNOWN
    shift = np.arange(kernel) * dilation - low
    common = gcd(stride, base)
    step = base // common
    # The outputs that fall on a place of the image are every step-th one from the first.
    inverse = pow(stride // common, -1, step) if step > 1 else 0
    first = (-shift // common) * inverse % step
    lowest = np.maximum(0, -(shift // stride))
    first += -((first - lowest) // step) * step
    highest = np.minimum(result - 1, (last - shift) // stride)
    counts = np.where(shift % common == 0, (highest - first) // step + 1, 0)
    return float(counts.clip(min=0).sum())


def _reduce(sized: Sized, row: int) -> Three:
    first = sized.operand(row, 0)
    inside = sized.shapes.children[row]
    result_elements = float(sized.shapes.elements[inside[0]]) if inside else sized.elements(row)
    return sized.turns(row, sized.elements(first) - result_elements, sized.default(row))


def _reduce_window(sized: Sized, row: int) -> Three:
    windows = sized.module.windows[row]
    inside = sized.shapes.children[row]
    shape = inside[0] if inside else row
    elements, dims = float(sized.shapes.elements[shape]), sized.shapes.dimensions[shape]
    count = (prod(window[0] for window in windows) - 1) * elements
    wide = [(window, n) for window, n in zip(windows, dims, strict=False) if window[0] != 1]
    if len(wide) == 1:
        (size, _, low, high, *_), n = wide[0]
        if n and low == high == n - 1 and size == 2 * n - 1:
            # A reduction over all of a dimension, given to every place of it.
            count = elements / n + n - 1
    return sized.turns(row, count, sized.default(row))


def _select_and_scatter(sized: Sized, row: int) -> Three:
    source = sized.elements(sized.operand(row, 1))
    window = prod(size[0] for size in sized.module.windows[row])
    select, scatter = sized.called(row, 0), sized.called(row, 1)
    flops, functions = (source * (window - 1) * select[i] + source * scatter[i] for i in (0, 1))
    return flops, functions, sized.default(row)


def _scatter(sized: Sized, row: int) -> Three:
    operands = sized.operands(row)
    count = len(operands) // 2
    indices, updates = sized.operand(row, count), operands[count + 1 :]
    moved = 3 * sum(map(sized.bytes, updates)) + sized.bytes(indices)
    return sized.turns(row, sized.elements(sized.operand(row, count + 1)), moved)


def _gather(sized: Sized, row: int) -> Three:
    return 0, 0, 2 * sized.bytes(row) + sized.bytes(sized.operand(row, 1))


def _slice(sized: Sized, row: int) -> Three:
    return 0, 0, 2 * sized.bytes(row)


def _dynamic_slice(sized: Sized, row: int) -> Three:
    return 0, 0, 2 * sized.bytes(row) + sized.bytes(sized.operand(row, 1))


def _dynamic_update(sized: Sized, row: int) -> Three:
    return 0, 0, 2 * sized.bytes(sized.operand(row, 1)) + sized.bytes(sized.operand(row, 2))


def _sort(sized: Sized, row: int) -> Three:
    n = sized.elements(sized.operand(row, 0))
    moved = sized.leaves(row) + sum(map(sized.bytes, sized.operands(row)))
    return n * ceil(log2(n)) if n > 0 else 0, 0, moved


def _fourier(sized: Sized, row: int) -> Three:
    turns = prod(floor(log2(length)) for length in sized.module.fft_lengths[row] if length > 0)
    return 8.0 * turns * sized.elements(sized.operand(row, 0)), 0, sized.default(row)


def cholesky(sized: Sized, row: int) -> Three:
    """A third of n³ for each matrix."""
    a = sized.operand(row, 0)
    return float(sized.dims(a)[-1] * int(sized.elements(a)) // 3), 0, sized.bytes(a)


def triangular_solve(sized: Sized, row: int) -> Three:
    """Two FLOPs for each element of the right side and each row."""
    a, b = sized.operand(row, 0), sized.operand(row, 1)
    return 2 * sized.dims(a)[-1] * sized.elements(b), 0, sized.bytes(b) + sized.bytes(a) / 2 + sized.bytes(b)


def _random(sized: Sized, row: int) -> Three:
    return 0, float(sized.shapes.leaf_elements[row]), sized.default(row)


def _all_reduce(sized: Sized, row: int) -> Three:
    moved = sized.leaves(row) + sum(map(sized.bytes, sized.operands(row)))
    flops, functions, _ = sized.called(row)
    elements = float(sized.shapes.leaf_elements[row])
    return elements * max(flops, 1.0), elements * functions, moved


def _collective(sized: Sized, row: int) -> Three:
    return 0, 0, sized.leaves(row) + sum(map(sized.bytes, sized.operands(row)))


def _tuple(sized: Sized, row: int) -> Three:
    return 0, 0, sized.bytes(row)


def _infeed(sized: Sized, row: int) -> Three:
    return 0, 0, sized.leaves(row)


def _outfeed(sized: Sized, row: int) -> Three:
    return 0, 0, sum(map(sized.leaves, sized.operands(row)))


def _map(sized: Sized, row: int) -> Three:
    return sized.turns(row, sized.elements(row), sized.default(row))


def _while(sized: Sized, row: int) -> Three:
    one, other = sized.called(row, 0), sized.called(row, 1)
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _conditional(sized: Sized, row: int) -> Three:
    branches = [sized.called(row, index) for index in range(len(sized.module.called[row]))]
    if not branches:
        return UNKNOWN, UNKNOWN, UNKNOWN
    return max(b[0] for b in branches), max(b[1] for b in branches), max(b[2] for b in branches)


def _call(sized: Sized, row: int) -> Three:
    return sized.called(row)


Rule = Callable[[Sized, int], Three]

RULES: dict[str, Rule] = {
    "dot": product,
    "ragged-dot": _ragged_product,
    "convolution": convolution,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "select-and-scatter": _select_and_scatter,
    "map": _map,
    "scatter": _scatter,
    "gather": _gather,
    "slice": _slice,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update,
    "sort": _sort,
    "fft": _fourier,
    "cholesky": cholesky,
    "triangular-solve": triangular_solve,
    "rng": _random,
    "rng-bit-generator": _random,
    "rng-get-and-update-state": _random,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "all-gather": _collective,
    "all-gather-start": _collective,
    "all-to-all": _collective,
    "ragged-all-to-all": _collective,
    "reduce-scatter": _collective,
    "collective-permute": _collective,
    "collective-permute-start": _collective,
    "collective-broadcast": _collective,
    "tuple": _tuple,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "call": _call,
    "async-start": _call,
    "while": _while,
    "conditional": _conditional,
}
"""Opcodes whose cost is more than a sum of sizes, without fusions and custom calls."""
