"""Lookups of rows that TensorFlow computes as products with one-hot vectors; rows that it sorts."""

from __future__ import annotations

import numpy as np

from .....model.events.outermost import outermost_ps
from .....model.host import HostWithSteps
from .....model.names import op_names
from .....model.per_host import per_host
from .....runtime.regex import regex
from ....steps.host_account import host_account
from ..step_counts import from_first_step

_ONE_HOT, _PRODUCT = "OneHot", regex(r"_?(?:Mkl)?(?:Native)?(?:Fused)?(?:Batch)?MatMul(?:V\d)?$|Einsum$")
_PREFIXES = regex(r"(?:StatefulPartitionedCall/)?(?:gradient_tape/)?")
"""What TensorFlow puts before the names of ops in a function, and of gradients."""
_SORT, _LARGEST = regex(r"(?:.*/)?(?:arg)?sort(?:_\d+)?/TopKV2(?:_\d+)?:TopKV2$"), ("compute", "TopKV2")
"""What ``tf.sort`` and ``tf.argsort`` run, whose largest values are all; and the name of that in the account."""
_LONG_PS = 50e6
"""While an op takes so long on average (50 µs), the executor starts others that need no result of it elsewhere: what
begins on its thread when it ends has waited for it."""


@per_host(keep=True)
def one_hot_products_ps(host: HostWithSteps) -> float:
    """ps per step that ops on the CPU take for products with one-hot vectors, these and gradients included."""
    trace, steps = host.trace, host.steps
    one_hot = trace.events_named(lambda name: op_names.parse(name).type == _ONE_HOT)
    one_hot = from_first_step(host, one_hot)
    one_hot_ps = trace.end[one_hot] - trace.begin[one_hot]
    if not len(one_hot) or one_hot_ps.mean() < _LONG_PS:
        return 0.0
    ops = trace.events_named(lambda name: op_names.parse(name).category == op_names.TENSORFLOW)
    following = np.searchsorted(ops, one_hot, "right")
    following = ops[following[following < len(ops)]]
    products = following[trace.are_named(following, lambda name: bool(_PRODUCT.match(op_names.parse(name).type)))]
    if 2 * len(products) <= len(one_hot):
        return 0.0
    scopes = {_path(trace.name(event)) for event in products[np.unique(trace.name_of[products], True)[1]].tolist()}
    parts = ops[trace.are_named(ops, lambda name: any(f"{_path(name)}/".startswith(f"{scope}/") for scope in scopes))]
    parts = from_first_step(host, parts)
    return float(one_hot_ps.sum() + (trace.end[parts] - trace.begin[parts]).sum()) / len(steps)


@per_host(keep=True)
def sorted_rows_ps(host: HostWithSteps) -> float:
    """ps per step that ``tf.sort`` and ``tf.argsort`` compute on the CPU; those of an input pipeline do not count."""
    of_host, sorts = host_account(host), from_first_step(host, host.trace.events_named(_SORT.match))
    if not len(sorts) or _LARGEST not in of_host.names:
        return 0.0
    computed_ps = int(of_host.name_ps[of_host.steps, of_host.names.index(_LARGEST)].sum())
    return min(outermost_ps(host.trace, sorts), computed_ps) / len(host.steps)


def _path(name: str) -> str:
    """Where in the model an op is, or the one whose gradient it computes."""
    return _PREFIXES.sub("", op_names.parse(name).name, 1)
