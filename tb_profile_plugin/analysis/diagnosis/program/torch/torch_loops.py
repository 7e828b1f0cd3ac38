"""What PyTorch computes part by part, in loops of the program: slices and heads of an attention, and experts; and
attention by products and softmaxes of its own.
"""

from __future__ import annotations

import re

import numpy as np

from .....formats.columns import vocabulary
from .....model.events.outermost import outermost_torch_ops
from .....model.events.trace import Trace
from .....runtime.arrays import Array
from .....runtime.regex import regex

_SOFTMAX, _BATCHED_PRODUCT = "aten::softmax", regex(r"aten::(?:bmm|baddbmm)$")
_OF_LAYER = regex(r"aten::(?:linear|addmm|mm|convolution|(?:lstm|gru|rnn)\w*)$")
"""Ops with weights, which lie between the attentions of different layers, heads or steps."""
_OF_BLOCK = regex(r"aten::(?:add_?|\w+_norm|gelu|silu|relu_?|tanh|sigmoid|embedding)$")
"""What lies between the attentions of two blocks, such as what follows the last head."""
_LINEAR = regex(r"aten::linear$")
_NO_FORWARD = regex(rf"{vocabulary.AUTOGRAD_NODE}|Optimizer\.")
_HEADS, _MOST_OF_HEAD = 3, 4
"""So many heads in a row are computed one by one; each has at most so many layers: queries, keys, values, output."""
_OF_SCORES = 10
"""A softmax of scores takes at least one in so many parts of the time of the batched products beside it; one that
chooses experts takes less."""
_MANY_OF_OPS = 0.2
"""Share of the ops from which on those of slices, or of experts, are worth a change."""
PRODUCT = regex(r"aten::(?:linear|addmm|mm|matmul)$")
_CHOOSES_ROWS, _WRITES_ROWS = "aten::nonzero", regex(r"aten::(?:index_add|index_put|index_copy|scatter_add)_?$")
"""What a loop over experts does for each: choose its rows, and put results back into these."""
_OF_ROUTER = regex(r"aten::(?:topk|sort|argmax|softmax|\w+_norm)$")
"""What chooses the experts of the next layer, and what comes before that."""
_EXPERTS = 4
"""So many products of chosen rows in a row are those of experts."""


def has_unfused_attention(trace: Trace) -> bool:
    """Whether softmaxes that no other op calls stand beside the batched matrix products of an attention."""
    softmaxes, products = _softmaxes(trace), trace.events_named(_BATCHED_PRODUCT.match)
    softmax_ps, product_ps = ((trace.end - trace.begin)[events].sum() for events in (softmaxes, products))
    return len(products) >= len(softmaxes) > 0 and bool(_OF_SCORES * softmax_ps >= product_ps)


def slices_attention(trace: Trace) -> bool:
    """Whether many of the ops of forward passes lie between softmaxes of one attention: those that follow each other on
    a thread with batched products between, yet no op of a layer. Several in a row may have a few linear layers between,
    which are those of one head, if nothing else of a block is there.
    """
    softmaxes, ops = _softmaxes(trace), trace.once(outermost_torch_ops)
    products = trace.events_named(_BATCHED_PRODUCT.match)
    layers, parts, linear = (_named(trace, ops, pattern) for pattern in (_OF_LAYER, _OF_BLOCK, _LINEAR))
    op_count, product_count, layer_count, part_count, linear_count = (
        np.diff(np.searchsorted(events, softmaxes)) for events in (ops, products, layers, parts, linear)
    )
    is_inner = (product_count > 0) & (np.diff(trace.line_of[softmaxes]) == 0)
    is_head = is_inner & (part_count == 0) & (linear_count == layer_count) & (linear_count <= _MOST_OF_HEAD)
    is_slice = (is_inner & (layer_count == 0)) | _in_row(is_head, _HEADS)
    return bool(op_count[is_slice].sum() > _MANY_OF_OPS * _forward_count(trace, ops))


def loops_over_experts(trace: Trace) -> bool:
    """Whether many of the ops of forward passes lie between calls that write results back into chosen rows: those that
    follow each other on a thread, with a choice of rows and a product between, and none of experts.
    """
    ops = trace.once(outermost_torch_ops)
    writes, products, routers = (_named(trace, ops, pattern) for pattern in (_WRITES_ROWS, PRODUCT, _OF_ROUTER))
    choices = trace.events_named(_CHOOSES_ROWS.__eq__)
    op_count, choice_count, product_count, router_count = (
        np.diff(np.searchsorted(events, writes)) for events in (ops, choices, products, routers)
    )
    is_expert = (choice_count > 0) & (product_count > 0) & (router_count == 0) & (np.diff(trace.line_of[writes]) == 0)
    return bool(op_count[_in_row(is_expert, _EXPERTS)].sum() > _MANY_OF_OPS * _forward_count(trace, ops))


def _forward_count(trace: Trace, ops: Array) -> int:
    """How many of the ops (int64[k]) belong to neither gradients nor optimizers."""
    return int((trace.nearest_named(ops, lambda name: bool(_NO_FORWARD.match(name))) < 0).sum())


def _named(trace: Trace, events: Array, names: re.Pattern[str]) -> Array:
    """int64[k]: those of the events that have such names."""
    return events[trace.are_named(events, lambda name: bool(names.match(name)))]


def _in_row(mask: Array, least: int) -> Array:
    """bool[k]: the mask where at least so many of its elements in a row hold."""
    begin = np.flatnonzero(np.diff(mask, prepend=~mask[:1]))
    lengths = np.diff(begin, append=len(mask))
    is_in_row: Array = mask & np.repeat(lengths >= least, lengths)
    return is_in_row


def _softmaxes(trace: Trace) -> Array:
    """int64[k]: those that no other op calls."""
    softmaxes = trace.events_named(_SOFTMAX.__eq__)
    return softmaxes[trace.nearest_named(softmaxes, lambda name: name.startswith(vocabulary.TORCH_OP)) < 0]
