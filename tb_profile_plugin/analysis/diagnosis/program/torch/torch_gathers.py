"""Of which modules PyTorch's FullyShardedDataParallel gathers the weights; exchanges of Python objects."""

from __future__ import annotations

import numpy as np

from .....model.events.outermost import outermost, outermost_torch_ops
from .....model.events.trace import Trace
from .....runtime.regex import regex
from ...cause_kinds import OPTIMIZER

_OF_MODULE = "FSDP::all_gather ("
"""Begin of the ranges around gathers, which end with the module's name: torch 2.4 ff., ``fully_shard``."""
_GATHERS = regex(r"gloo:all_gather|[nr]ccl\w*AllGather")
_PASSES = 2
"""So many backward passes for one change of the weights accumulate gradients."""
_SEVERAL = 3
"""So many modules of each block are its layers, not the block and a part of it that has reasons of its own."""
_SHORT_PS = 10**9
"""A gather that takes no longer (1 ms) takes as long for fewer weights."""
_BACKWARD = "FSDP::root_post_backward_callback"
"""The end of a backward pass, of ``fully_shard``."""
_COLLECTIVE = "c10d::"
"""Begin of the ops by which a program calls collectives."""
_FEW_OPS = 32
"""No more lie between the two collectives of an exchange of objects."""


def shards_layers(trace: Trace) -> bool:
    """Whether weights of several layers of each block are gathered one by one, and most gathers are short."""
    modules = {name.removeprefix(_OF_MODULE).rstrip(")") for name in trace.names if name.startswith(_OF_MODULE)}
    blocks = [block for block in map(_block_around, modules) if block]
    gathers = trace.events_named(_GATHERS.match)
    if not len(gathers) or not len(blocks) >= _SEVERAL * len({*blocks}) > 0:
        return False
    return bool(np.median(trace.end[gathers] - trace.begin[gathers]) <= _SHORT_PS)


def gathers_each_pass(trace: Trace) -> bool:
    """Whether weights are gathered at least once for each of several backward passes before the weights change."""
    passes = len(trace.events_named(_BACKWARD.__eq__))
    changes = len(outermost(trace, trace.events_named(lambda name: name.startswith(OPTIMIZER))))
    module = next((name for name in trace.names if name.startswith(_OF_MODULE)), "")
    gathers = len(trace.events_named(module.__eq__)) if module else 0
    return gathers >= passes >= _PASSES * changes > 0


def _block_around(module: str) -> str:
    """The block that a module is part of, such as ``layers.0`` of ``layers.0.attention.query``; empty for others."""
    parts = module.split(".")
    numbers = [index for index, part in enumerate(parts) if part.isdigit()]
    return ".".join(parts[: numbers[-1] + 1]) if numbers and not parts[-1].isdigit() else ""


def object_exchanges_ps(trace: Trace) -> int:
    """ps for which PyTorch's workers exchange Python objects, as ops tell: a collective of sizes, of which the largest
    is read; a buffer resized to it; and a second collective, until the thread goes on.
    """
    ops = trace.once(outermost_torch_ops)
    resizes = ops[trace.are_named(ops, "aten::resize_".__eq__)]
    collectives = outermost(trace, trace.events_named(lambda name: name.startswith(_COLLECTIVE)))
    if not len(resizes) or len(collectives) < 2:
        return 0
    reads = ops[trace.are_named(ops, "aten::item".__eq__)]
    following = np.searchsorted(collectives, resizes)
    is_between = (following > 0) & (following < len(collectives))
    resizes, following = resizes[is_between], following[is_between]
    sizes, objects = collectives[following - 1], collectives[following]
    are_read = np.searchsorted(reads, sizes) < np.searchsorted(reads, resizes)
    are_near = np.searchsorted(ops, objects) - np.searchsorted(ops, sizes) <= _FEW_OPS
    line = trace.line_of
    is_exchange = are_read & are_near & (line[sizes] == line[objects])
    sizes, objects = sizes[is_exchange], objects[is_exchange]
    next_event = trace.nesting.stop[objects].clip(max=len(trace) - 1)
    until = np.where(line[next_event] == line[objects], trace.begin[next_event], trace.end[objects])
    return int((until - trace.begin[sizes]).sum())
