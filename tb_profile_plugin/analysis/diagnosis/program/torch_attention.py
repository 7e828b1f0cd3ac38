"""Attention that PyTorch computes by products and softmaxes of its own, at once or slice by slice."""

from __future__ import annotations

import numpy as np

from ....formats.columns import vocabulary
from ....model.events.repeated_calls import outermost_torch_ops
from ....model.events.trace import Trace
from ....runtime.arrays import Array
from ....runtime.regex import regex

_SOFTMAX, _BATCHED_PRODUCT = "aten::softmax", regex(r"aten::(?:bmm|baddbmm)$")
_OF_LAYER = regex(r"aten::(?:linear|addmm|mm|convolution|(?:lstm|gru|rnn)\w*)$")
"""Ops with weights, which lie between the attentions of different layers, heads or steps."""
_OF_SCORES = 10
"""A softmax of scores takes at least one in so many parts of the time of the batched products beside it; one that
chooses experts takes less."""
_MANY_OF_OPS = 0.2
"""Share of the ops from which on those of slices are worth a change."""


def has_unfused_attention(trace: Trace) -> bool:
    """Whether softmaxes that no other op calls stand beside the batched matrix products of an attention."""
    softmaxes, products = _softmaxes(trace), trace.named(lambda name: bool(_BATCHED_PRODUCT.match(name)))
    softmax_ps, product_ps = ((trace.end - trace.begin)[events].sum() for events in (softmaxes, products))
    return len(products) >= len(softmaxes) > 0 and bool(_OF_SCORES * softmax_ps >= product_ps)


def slices_attention(trace: Trace) -> bool:
    """Whether many of the ops that the program calls lie between softmaxes of one attention: those that follow each
    other on a thread with batched products between, yet no op of a layer.
    """
    softmaxes, ops = _softmaxes(trace), trace.once(outermost_torch_ops)
    products, layers = (
        trace.named(lambda name: bool(_BATCHED_PRODUCT.match(name))),
        trace.named(lambda name: bool(_OF_LAYER.match(name))),
    )
    op_count, product_count, layer_count = (
        np.diff(np.searchsorted(events, softmaxes)) for events in (ops, products, layers)
    )
    is_slice = (product_count > 0) & (layer_count == 0) & (np.diff(trace.line_of[softmaxes]) == 0)
    return bool(op_count[is_slice].sum() > _MANY_OF_OPS * len(ops))


def _softmaxes(trace: Trace) -> Array:
    """int64[k]: those that no other op calls."""
    softmaxes = trace.named(_SOFTMAX.__eq__)
    return softmaxes[trace.nearest_named(softmaxes, lambda name: name.startswith(vocabulary.TORCH_OP)) < 0]
