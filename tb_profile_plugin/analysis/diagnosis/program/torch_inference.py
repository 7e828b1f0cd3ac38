"""What PyTorch need not compute in inference: low-rank adapters (LoRA) beside the layers that they adapt; dropout."""

from __future__ import annotations

import numpy as np

from ....model.host import HostWithSteps
from ....model.per_host import per_host
from ....runtime.arrays import distinct
from ....runtime.regex import regex
from .step_counts import ops_ps

_LAYER = regex(r"(?i)\$nn\.Module: \w*lora\w*_\d+$|\$(?:\S*/)?peft/tuners/\w+/\w+\.py:\d+ forward$")
"""Frames of layers with an adapter: of modules that are called so, and of PEFT's."""
_PRODUCT = "aten::linear"
_WITH_ADAPTER = 3
"""Products of such a layer, of which the adapter has two: merged into the layer's weights it has none."""
_DROPOUT, _DRAWS = regex(r"aten::(?:\w+_)?dropout$"), regex(r"aten::(?:native_dropout|bernoulli_)$")
"""Dropout, and what it calls only while it drops: in a model that evaluates it returns its input."""


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


@per_host(keep=True)
def dropout_ps(host: HostWithSteps) -> float:
    """ps per step that devices spend on dropout; 0 without steps."""
    trace, steps = host.trace, host.steps
    draws = trace.named(_DRAWS.match)
    calls = trace.nearest_named(
        draws[trace.begin[draws] >= steps.begin[0]] if len(steps) else draws[:0], _DROPOUT.match
    )
    return ops_ps(host, distinct(calls[calls >= 0])) / max(len(steps), 1)
