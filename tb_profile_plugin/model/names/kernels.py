"""What the name of a device's kernel tells about it, and what its launch says about its size."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from . import kernel_table
from .kernel_table import BF16, FP16, FP32, HALF, TF32, Rule

COMPUTE_16, COMPUTE_32, COMPUTE_OTHER = "16", "32", "other"

_WIDTHS = {BF16: COMPUTE_16, FP16: COMPUTE_16, HALF: COMPUTE_16, TF32: COMPUTE_32, FP32: COMPUTE_32}


class Recognition(NamedTuple):
    """What is known of a kernel by its name; empty and None where nothing is."""

    library: str
    dtype: str
    """Type of the numbers it works on, as `kernel_table` names them."""
    tensor_core: bool | None
    """Whether it runs on tensor cores (AMD: matrix cores)."""
    generation: str
    """Generation of GPUs that it was built for."""
    source: str
    """Where this knowledge comes from."""


_UNKNOWN = Rule("", "", None, "")
_MANGLED_DTYPES = dict(kernel_table.MANGLED_DTYPES)
_TEMPLATE = regex(rf"I[PK]*({'|'.join(_MANGLED_DTYPES)}|[ijlmxyhabst](?=[A-Z]|[fdijlmxyhabst]*E))")


@cache
def _rules() -> list[tuple[re.Pattern[str], Rule]]:
    """`kernel_table.RULES`, compiled when there is a kernel, as the next two: that takes as long as half of our
    imports.
    """
    return [(re.compile(rule.pattern), rule) for rule in kernel_table.RULES]


@cache
def _dtypes() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern, re.IGNORECASE), dtype) for pattern, dtype in kernel_table.DTYPES]


@cache
def _generations() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), generation) for pattern, generation in kernel_table.GENERATIONS]


@lru_cache(maxsize=65536)
def recognise(name: str) -> Recognition:
    """What a kernel's name tells, by `kernel_table.RULES`."""
    rule = next((rule for pattern, rule in _rules() if pattern.search(name)), _UNKNOWN)
    generation = next((text for pattern, text in _generations() if pattern.search(name)), "")
    return Recognition(rule.library, rule.dtype or _dtype(name), rule.tensor_core, generation, rule.source)


def _dtype(name: str) -> str:
    """The type of numbers that a name shows; empty where it shows none."""
    if name.startswith("_Z"):
        argument = _TEMPLATE.search(name)
        if argument:
            return _MANGLED_DTYPES.get(argument.group(1), "")
    return next((dtype for pattern, dtype in _dtypes() if pattern.search(name)), "")


_SHAPE = regex(r"(bfloat16|half|float16|tf32|float)\[")
_WIDTH_OF_TYPE = {"bfloat16": COMPUTE_16, "half": COMPUTE_16, "float16": COMPUTE_16}


@lru_cache(maxsize=65536)
def precision(name: str, shape: str = "") -> str:
    """The width of the arithmetic of a kernel: `COMPUTE_16`, `COMPUTE_32` or `COMPUTE_OTHER` (narrower or unknown).

    ``shape`` is the op's ``shape`` stat, e.g. ``(half[8,128])``; where it names such a type it decides.
    """
    kinds = [_WIDTH_OF_TYPE.get(kind, COMPUTE_32) for kind in _SHAPE.findall(shape)]
    return min(kinds) if kinds else _WIDTHS.get(recognise(name).dtype, COMPUTE_OTHER)


def is_collective(name: str) -> bool:
    """Whether a kernel moves data between devices for a collective operation (NCCL, RCCL)."""
    return recognise(name).library == "NCCL"


_LAYOUT_CHANGES = [regex(pattern) for pattern, _ in kernel_table.LAYOUT_CHANGES]


@lru_cache(maxsize=65536)
def changes_layout(name: str) -> bool:
    """Whether a kernel of that name only puts arrays into another order; a product that reads transposed does more."""
    return recognise(name).tensor_core is not True and any(pattern.search(name) for pattern in _LAYOUT_CHANGES)


def uses_tensor_core(name: str) -> bool:
    """Whether a kernel of that name is known to run on tensor cores."""
    return recognise(name).tensor_core is True


_ELIGIBLE = regex(
    r"(^|/)(\w*Conv(2D|3D)(Backprop(Filter|Input)(V2)?)?|DepthwiseConv2dNative(Backprop(Filter|Input))?|_?FusedConv2D"
    r"|_?FusedMatMul|(Sparse|Batch)?MatMul(V\d)?|Einsum|XlaDot(V2)?|CudnnRNN\w*|dot_general|conv_general_dilated)(_\d+)?$"
    r"|(^|/)aten::(_?conv(olution|\dd|_transpose\dd)\w*|(cudnn|miopen|mkldnn|thnn|slow)_conv\w*"
    r"|_?(add|badd|addb|b|int_|scaled_)?mm|(add)?mv|matmul|linear|einsum|_(scaled_dot_product_)?(flash|efficient|cudnn)_attention\w*"
    r"|_?(cudnn|miopen)_rnn\w*|(lstm|gru|rnn_\w+?)(_cell)?)$"
)
"""Types of TensorFlow and JAX, and ATen's ops: those that PyTorch's plugin for TensorBoard listed, and attention."""


@lru_cache(maxsize=65536)
def is_eligible(op_name: str, op_type: str) -> bool:
    """Whether an op could run on tensor cores: matrix products and convolutions."""
    return bool(_ELIGIBLE.search(op_type) or _ELIGIBLE.search(op_name))


class Launch(NamedTuple):
    """How a kernel was launched; None where the capture does not say."""

    registers: int | None = None
    """Registers per thread."""
    shared_bytes: int | None = None
    """Shared memory of a block (AMD: group memory), static and dynamic."""
    private_bytes: int | None = None
    """Scratch memory of a thread (AMD)."""
    block: tuple[int, ...] = ()
    """Threads along x, y, z; empty where it is not said."""
    grid: tuple[int, ...] = ()
    """Blocks along x, y, z; empty where it is not said."""
    occupancy_percent: float | None = None
    """Theoretical: the share of a multiprocessor's threads that such blocks can fill."""


_SHARED_KEYS = ("static_shared", "dynamic_shared", "shm", "group_mem")


@lru_cache(maxsize=65536)
def parse_launch(details: str) -> Launch:
    """A ``kernel_details`` stat, e.g. ``regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1 block:32,1,1``.

    What cannot be read is taken as not said; an occupancy of 0 as well, because profilers write it for unknown.
    """
    facts = dict(part.split(":") for part in details.split() if part.count(":") == 1)
    shared_bytes = [size for size in (_integer(facts.get(key)) for key in _SHARED_KEYS) if size is not None]
    try:
        occupancy = float(facts.get("occ_pct", ""))
    except ValueError:
        occupancy = 0.0
    return Launch(
        _integer(facts.get("regs")),
        sum(shared_bytes) if shared_bytes else None,
        _integer(facts.get("private_mem")),
        _triple(facts.get("block", "")),
        _triple(facts.get("grid", "")),
        occupancy if occupancy > 0 else None,
    )


_MOST_DIGITS = 18


def _integer(text: str | None) -> int | None:
    """The number that a text is; None for anything else, and for more than `_MOST_DIGITS`."""
    return int(text) if text and text.isdecimal() and len(text) <= _MOST_DIGITS else None


def _triple(text: str) -> tuple[int, ...]:
    """``(2, 1, 1)`` of ``2,1,1``; empty for anything else."""
    sizes = [_integer(part) for part in text.split(",")]
    return tuple(size for size in sizes if size is not None) if len(sizes) == 3 and None not in sizes else ()
