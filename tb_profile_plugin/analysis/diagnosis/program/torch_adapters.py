"""What low-rank adapters (LoRA) cost where PyTorch computes them beside the layers that they adapt."""

from __future__ import annotations

import numpy as np

from ....model.host import HostWithSteps
from ....runtime.regex import regex

_LAYER = regex(r"(?i)\$nn\.Module: \w*lora\w*_\d+$|\$(?:\S*/)?peft/tuners/\w+/\w+\.py:\d+ forward$")
"""Frames of layers with an adapter: of modules that are called so, and of PEFT's."""
_PRODUCT = "aten::linear"
_WITH_ADAPTER = 3
"""Products of such a layer, of which the adapter has two: merged into the layer's weights it has none."""


def adapters_ps(host: HostWithSteps) -> float:
    """ps per step that layers with adapters take beside their own products; 0 where no frames of Python tell."""
    trace, steps = host.trace, host.steps
    if not len(steps) or not len(trace.named(_LAYER.match)):
        return 0.0
    products = trace.named(_PRODUCT.__eq__)
    layer = trace.nearest_named(products, _LAYER.match)
    products, layer = products[layer >= 0], layer[layer >= 0]
    calls, own, count = np.unique(layer, return_index=True, return_counts=True)
    calls, own = calls[count == _WITH_ADAPTER], products[own[count == _WITH_ADAPTER]]
    counts = trace.begin[calls] >= steps.begin[0]
    ps = trace.end - trace.begin
    return float((ps[calls] - ps[own])[counts].sum()) / len(steps)
