"""What one collective moved and between whom, as PyTorch's traces and XLA's instructions state it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any

from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from . import hlo_text

_ELEMENT_BYTES = {
    **dict.fromkeys(("double", "long", "long int", "int64", "complexfloat"), 8),
    **dict.fromkeys(("float", "int", "uint32"), 4),
    **dict.fromkeys(("half", "bfloat16", "c10::half", "c10::bfloat16", "short", "short int", "uint16"), 2),
    **dict.fromkeys(("byte", "char", "bool", "signed char", "unsigned char"), 1),
}
"""By the names of c10's ScalarType and of C++, in small letters."""
_BYTE_SIZED = regex(r"float8|float4")
_BUS_FORMULAS = {"all-reduce": (2, 1), "all-gather": (1, 1), "reduce-scatter": (1, 1), "all-to-all": (1, 1)}
"""(passes, omitted parts) by kind: so often all but so many of a message's parts cross each link, one part per member;
as nccl-tests reckon bus bandwidth."""


class CollectiveArgs(NamedTuple):
    """What is stated of a collective; empty and None where nothing is."""

    group: str = ""
    """The process group."""
    members: int | None = None
    dtype: str = ""
    bytes: int | None = None
    """The larger of what goes in and what comes out of one worker."""


def of_kernel(facts: Mapping[str, Any]) -> CollectiveArgs | None:
    """By what PyTorch notes on kernels of NCCL and RCCL from 2.3 on; None where it notes nothing."""
    sizes = [size for name in ("In msg nelems", "Out msg nelems") if type(size := facts.get(name)) is int]
    if not sizes:
        return None
    dtype, members = str(facts.get("dtype", "")), facts.get("Group size")
    names = (str(facts.get(f"Process Group {what}", "")) for what in ("Description", "Name"))
    group = next((name for name in names if name and name != "undefined"), "")
    return CollectiveArgs(
        group, members if type(members) is int and members > 0 else None, dtype, _size(max(sizes), dtype)
    )


def of_range(facts: Mapping[str, Any], kind: str) -> CollectiveArgs:
    """By the shapes and types of a range's inputs, which need ``record_shapes``; all-gathers put out more."""
    shapes, types = _json_list(facts.get("Input Dims")), _json_list(facts.get("Input type"))
    pairs = [
        (prod(shape), str(dtype))
        for shape, dtype in zip(shapes, types, strict=False)
        if isinstance(shape, list) and shape and all(type(size) is int for size in shape) and isinstance(dtype, str)
    ]
    if not pairs:
        return CollectiveArgs()
    sizes = [_size(*pair) for pair in pairs]
    size = None if kind == "all-gather" or None in sizes else sum(size or 0 for size in sizes)
    dtypes = dict.fromkeys(dtype for _, dtype in pairs)
    return CollectiveArgs("", None, next(iter(dtypes)) if len(dtypes) == 1 else "", size)


def of_instruction(name: str) -> CollectiveArgs:
    """By the text of XLA's instruction; a reduce-scatter takes in its result as often as there are members."""
    instruction = hlo_text.parse(name)
    if not instruction:
        return CollectiveArgs()
    members, size = instruction.members, instruction.size
    if instruction.opcode == "reduce-scatter":
        size *= members or 0
    return CollectiveArgs("", members, instruction.dtype, size or None)


def bus_factor(kind: str, members: int | None) -> float | None:
    """The bytes that each link carries per byte of a message; None where the group's size is unknown."""
    if kind not in _BUS_FORMULAS:
        return 1.0
    passes, omitted_parts = _BUS_FORMULAS[kind]
    return passes * (members - omitted_parts) / members if members else None


def _size(elements: int, dtype: str) -> int | None:
    element_size = _ELEMENT_BYTES.get(dtype.lower()) or (1 if _BYTE_SIZED.match(dtype.lower()) else 0)
    return elements * element_size or None


def _json_list(text: Any) -> list[Any]:
    try:
        entries = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        entries = None
    return entries if isinstance(entries, list) else []
