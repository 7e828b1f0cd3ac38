"""Convolutions of XLA's programs in which each channel has a filter of its own."""

from __future__ import annotations

from math import prod

import numpy as np

from ....formats.xspace.hlo.module import Module

_FEW_TAPS = 16
"""Filters of so many elements can be written as sums of as many products."""


def depthwise_convolutions(module: Module) -> frozenset[str]:
    """Names of those whose filters have few elements, and of their gradients."""
    feature_groups, _ = module.convolution_groups
    return frozenset(
        module.names[row]
        for row in np.flatnonzero(feature_groups > 1).tolist()
        if _input_channels(module, row) == feature_groups[row]
        and prod(size for size, *_ in module.windows[row]) <= _FEW_TAPS
    )


def _input_channels(module: Module, row: int) -> int:
    """How many channels the input of a convolution has; 0 where it does not say."""
    feature, operands = int(module.convolutions.dimensions[3, row]), module.operands[row]
    sizes = module.shapes.dimensions[operands[0]] if len(operands) and operands[0] >= 0 else []
    return int(sizes[feature]) if 0 <= feature < len(sizes) else 0
