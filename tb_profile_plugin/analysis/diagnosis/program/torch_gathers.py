"""Of which modules PyTorch's FullyShardedDataParallel gathers the weights."""

from __future__ import annotations

import numpy as np

from ....model.events.trace import Trace
from ....runtime.regex import regex

_OF_MODULE = "FSDP::all_gather ("
"""Begin of the ranges around gathers, which end with the module's name: torch 2.4 ff., ``fully_shard``."""
_GATHERS = regex(r"gloo:all_gather|[nr]ccl\w*AllGather")
_SEVERAL = 3
"""So many modules of each block are its layers, not the block and a part of it that has reasons of its own."""
_SHORT_PS = 10**9
"""A gather that takes no longer (1 ms) takes as long for fewer weights."""


def shards_layers(trace: Trace) -> bool:
    """Whether weights of several layers of each block are gathered one by one, and most gathers are short."""
    modules = {name.removeprefix(_OF_MODULE).rstrip(")") for name in trace.names if name.startswith(_OF_MODULE)}
    blocks = [block for block in map(_block_around, modules) if block]
    gathers = trace.events_named(_GATHERS.match)
    if not len(gathers) or not len(blocks) >= _SEVERAL * len({*blocks}) > 0:
        return False
    return bool(np.median(trace.end[gathers] - trace.begin[gathers]) <= _SHORT_PS)


def _block_around(module: str) -> str:
    """The block that a module is part of, such as ``layers.0`` of ``layers.0.attention.query``; empty for others."""
    parts = module.split(".")
    numbers = [index for index, part in enumerate(parts) if part.isdigit()]
    return ".".join(parts[: numbers[-1] + 1]) if numbers and not parts[-1].isdigit() else ""
