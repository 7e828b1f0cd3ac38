"""The rules of `cost` by opcode: XLA's ``HloCostAnalysis``, as its sources and its answers have them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor, gcd, log2, prod

import numpy as np

from ...formats.xspace.hlo.module import Module
from ...runtime import cancellation
from ...runtime.records import NamedTuple

UNKNOWN = float("nan")


class Cost(NamedTuple):
    """What one execution of an instruction or a computation costs; NaN where not known."""

    flops: float
    transcendentals: float
    bytes: float


ALL_UNKNOWN = Cost(UNKNOWN, UNKNOWN, UNKNOWN)

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
_COLLECTIVES = frozenset(
    "all-gather all-gather-start all-to-all ragged-all-to-all reduce-scatter collective-permute "
    "collective-permute-start collective-broadcast".split()
)
"""Those that calculate nothing."""
_LONGEST_KERNEL = 1 << 16
"""Length of kernels along a dimension beyond which their cost is not worked out."""


class SizedModule:
    """A module with what rules ask of it: sizes by instruction, and costs of the computations worked out so far."""

    def __init__(self, module: Module):
        self.module, self.shapes = module, module.shapes
        self.sums: dict[int, Cost] = {}
        """Costs of computations that are worked out."""

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

    def result_shape(self, row: int) -> int:
        """The shape that an instruction is for: the first of a tuple, beside which some give a workspace."""
        elements = self.shapes.children[row]
        return elements[0] if elements else row

    def elements(self, row: int) -> float:
        """How many elements an array has."""
        return float(self.shapes.elements[row])

    def bytes(self, row: int) -> float:
        """Bytes of an array, or of a tuple's index table."""
        return float(self.shapes.bytes[row])

    def leaf_bytes(self, row: int) -> float:
        """Bytes of all arrays that an instruction gives."""
        return float(self.shapes.leaf_bytes[row])

    def operand_bytes(self, row: int) -> float:
        """Bytes of all operands."""
        return sum(map(self.bytes, self.operands(row)))

    def edge_bytes(self, row: int) -> float:
        """Bytes of operands and result."""
        return self.bytes(row) + self.operand_bytes(row)

    def leaf_edge_bytes(self, row: int) -> float:
        """Bytes of operands and of all arrays that an instruction gives."""
        return self.leaf_bytes(row) + self.operand_bytes(row)

    def called_cost(self, row: int, index: int = 0) -> Cost:
        """Cost of a computation that an instruction calls; not known where that calls itself, however far around."""
        callees = self.module.callees[row]
        return self.sums.get(callees[index], ALL_UNKNOWN) if index < len(callees) else ALL_UNKNOWN

    def repeated_cost(self, row: int, count: float, size: float) -> Cost:
        """Cost of a computation that runs ``count`` times inside an instruction that moves ``size`` bytes."""
        callee_cost = self.called_cost(row)
        return Cost(count * callee_cost.flops, count * callee_cost.transcendentals, size)


def product(sized: SizedModule, row: int) -> Cost:
    """Two FLOPs for each element of the result and each index that is summed over."""
    lhs = sized.dims(sized.operand(row, 0))
    contracted = prod(lhs[dimension] for dimension in sized.module.contractions.lhs[row])
    return Cost(2 * sized.elements(row) * contracted, 0, sized.edge_bytes(row))


def _ragged_product(sized: SizedModule, row: int) -> Cost:
    lhs, rhs = sized.operand(row, 0), sized.operand(row, 1)
    columns = sized.dims(rhs)[-1] if sized.dims(rhs) else 1
    return Cost(2 * sized.elements(lhs) * columns, 0, sized.edge_bytes(row))


def convolution(sized: SizedModule, row: int) -> Cost:
    """Two FLOPs for each pair of kernel and input that meet: indices outside of the input are not counted."""
    sizes = sized.dims(sized.operand(row, 0)), sized.dims(sized.operand(row, 1)), sized.dims(row)
    return Cost(convolution_flops(sized, row, *sizes), 0, sized.edge_bytes(row))


def convolution_flops(sized: SizedModule, row: int, image: list[int], kernel: list[int], result: list[int]) -> float:
    """FLOPs of a convolution between arrays of these dimensions, by the instruction's window."""
    module, convolutions = sized.module, sized.module.convolutions
    pairs: float = 1.0
    spatial = convolutions.kernel_spatial[row], convolutions.input_spatial[row], convolutions.output_spatial[row]
    for window, *axes in zip(module.windows[row], *spatial, strict=False):
        _, stride, padding, _, dilation, base_dilation = window
        sizes = [array[axis] for array, axis in zip((kernel, image, result), axes, strict=True)]
        pairs *= meeting_pairs(*sizes, stride, padding, dilation, base_dilation)
    _, output_feature, batch, feature = (int(dimension) for dimension in convolutions.dimensions[:4, row])
    features, batches = (int(groups[row]) for groups in module.convolution_groups)
    return 2.0 * (image[feature] // features) * kernel[output_feature] * (image[batch] // batches) * pairs


@lru_cache(maxsize=4096)
def meeting_pairs(kernel: int, image: int, result: int, stride: int, padding: int, dilation: int, base: int) -> float:
    """Pairs of kernel index k and output index o that meet an index of the image, along one dimension.

    They meet where o·stride - low + k·dilation is one of 0, base, 2·base … (image - 1)·base.
    """
    cancellation.check()
    stride, base, last = max(stride, 1), max(base, 1), (image - 1) * base
    if not 0 <= kernel <= _LONGEST_KERNEL or max(abs(padding), dilation, stride, image * base, result) >= 1 << 31:
        return UNKNOWN
    shift = np.arange(kernel) * dilation - padding
    divisor = gcd(stride, base)
    step = base // divisor
    # The outputs that fall on an index of the image are every step-th one from the first.
    inverse = pow(stride // divisor, -1, step) if step > 1 else 0
    first = (-shift // divisor) * inverse % step
    lowest = np.maximum(0, -(shift // stride))
    first += -((first - lowest) // step) * step
    highest = np.minimum(result - 1, (last - shift) // stride)
    counts = np.where(shift % divisor == 0, (highest - first) // step + 1, 0)
    return float(counts.clip(min=0).sum())


def _reduce(sized: SizedModule, row: int) -> Cost:
    first = sized.operand(row, 0)
    result_elements = float(sized.shapes.elements[sized.result_shape(row)])
    return sized.repeated_cost(row, sized.elements(first) - result_elements, sized.edge_bytes(row))


def _reduce_window(sized: SizedModule, row: int) -> Cost:
    windows = sized.module.windows[row]
    shape = sized.result_shape(row)
    elements, dims = float(sized.shapes.elements[shape]), sized.shapes.dimensions[shape]
    count = (prod(window[0] for window in windows) - 1) * elements
    wide_windows = [(window, length) for window, length in zip(windows, dims, strict=False) if window[0] != 1]
    if len(wide_windows) == 1:
        (size, _, low, high, *_), length = wide_windows[0]
        if length and low == high == length - 1 and size == 2 * length - 1:
            # A reduction over all of a dimension, given to every index of it.
            count = elements / length + length - 1
    return sized.repeated_cost(row, count, sized.edge_bytes(row))


def _select_and_scatter(sized: SizedModule, row: int) -> Cost:
    elements = sized.elements(sized.operand(row, 1))
    elements_per_window = prod(size for size, *_ in sized.module.windows[row])
    select, scatter = sized.called_cost(row, 0), sized.called_cost(row, 1)
    flops, functions = (elements * (elements_per_window - 1) * select[i] + elements * scatter[i] for i in (0, 1))
    return Cost(flops, functions, sized.edge_bytes(row))


def _scatter(sized: SizedModule, row: int) -> Cost:
    operands = sized.operands(row)
    count = len(operands) // 2
    indices, updates = sized.operand(row, count), operands[count + 1 :]
    size = 3 * sum(map(sized.bytes, updates)) + sized.bytes(indices)
    return sized.repeated_cost(row, sized.elements(sized.operand(row, count + 1)), size)


def _sort(sized: SizedModule, row: int) -> Cost:
    count = sized.elements(sized.operand(row, 0))
    return Cost(count * ceil(log2(count)) if count > 0 else 0, 0, sized.leaf_edge_bytes(row))


def _fourier(sized: SizedModule, row: int) -> Cost:
    rounds = prod(floor(log2(length)) for length in sized.module.fft_lengths[row] if length > 0)
    return Cost(8.0 * rounds * sized.elements(sized.operand(row, 0)), 0, sized.edge_bytes(row))


def cholesky(sized: SizedModule, row: int) -> Cost:
    """A third of n³ for each matrix."""
    a = sized.operand(row, 0)
    return Cost(float(sized.dims(a)[-1] * int(sized.elements(a)) // 3), 0, sized.bytes(a))


def triangular_solve(sized: SizedModule, row: int) -> Cost:
    """Two FLOPs for each element of the right side and each row."""
    a, b = sized.operand(row, 0), sized.operand(row, 1)
    return Cost(2 * sized.dims(a)[-1] * sized.elements(b), 0, sized.bytes(b) + sized.bytes(a) / 2 + sized.bytes(b))


def _all_reduce(sized: SizedModule, row: int) -> Cost:
    callee_cost, elements = sized.called_cost(row), float(sized.shapes.leaf_elements[row])
    flops = elements * max(callee_cost.flops, 1.0)
    return Cost(flops, elements * callee_cost.transcendentals, sized.leaf_edge_bytes(row))


def _while(sized: SizedModule, row: int) -> Cost:
    condition, body = sized.called_cost(row, 0), sized.called_cost(row, 1)
    return Cost(*(first + second for first, second in zip(condition, body, strict=True)))


def _conditional(sized: SizedModule, row: int) -> Cost:
    branches = [sized.called_cost(row, index) for index in range(len(sized.module.callees[row]))]
    return Cost(*(max(column) for column in zip(*branches, strict=True))) if branches else ALL_UNKNOWN


Rule = Callable[[SizedModule, int], Cost]


def _moving(bytes_of: Callable[[SizedModule, int], float]) -> Rule:
    """The rule of what calculates nothing and moves so many bytes."""
    return lambda sized, row: Cost(0, 0, bytes_of(sized, row))


RULES: dict[str, Rule] = {
    "dot": product,
    "ragged-dot": _ragged_product,
    "convolution": convolution,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "select-and-scatter": _select_and_scatter,
    "map": lambda sized, row: sized.repeated_cost(row, sized.elements(row), sized.edge_bytes(row)),
    "scatter": _scatter,
    "gather": _moving(lambda sized, row: 2 * sized.bytes(row) + sized.bytes(sized.operand(row, 1))),
    "slice": _moving(lambda sized, row: 2 * sized.bytes(row)),
    "dynamic-slice": _moving(lambda sized, row: 2 * sized.bytes(row) + sized.bytes(sized.operand(row, 1))),
    "dynamic-update-slice": _moving(
        lambda sized, row: 2 * sized.bytes(sized.operand(row, 1)) + sized.bytes(sized.operand(row, 2))
    ),
    "sort": _sort,
    "fft": _fourier,
    "cholesky": cholesky,
    "triangular-solve": triangular_solve,
    **dict.fromkeys(
        ("rng", "rng-bit-generator", "rng-get-and-update-state"),
        lambda sized, row: Cost(0, float(sized.shapes.leaf_elements[row]), sized.edge_bytes(row)),
    ),
    **dict.fromkeys(("all-reduce", "all-reduce-start"), _all_reduce),
    **dict.fromkeys(_COLLECTIVES, _moving(SizedModule.leaf_edge_bytes)),
    "tuple": _moving(SizedModule.bytes),
    "infeed": _moving(SizedModule.leaf_bytes),
    "outfeed": _moving(lambda sized, row: sum(map(sized.leaf_bytes, sized.operands(row)))),
    **dict.fromkeys(("call", "async-start"), SizedModule.called_cost),
    "while": _while,
    "conditional": _conditional,
}
"""Opcodes whose cost is more than a sum of sizes, without fusions and custom calls."""
