"""What the name of a device's kernel tells about it."""

from __future__ import annotations

import re
from functools import lru_cache

COMPUTE_16, COMPUTE_32, COMPUTE_OTHER = "16", "32", "other"

_HALF = re.compile(
    r"half|fp16|bf16|bfloat|float16|[hs]884|[hs]1688(?!.*tf32)|s16816|h16816|hmma|(?<![a-z])f16|(?<![a-z])b16|_HH[SH]_|_BBS_|_BSS_|_HSS_|_B_|nvjet_[ht]s",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"\bfloat\b|sgemm|fp32|(?<![a-z])f32|tf32|float32|scudnn|_S_B_|_Cijk_S|nvjet_ss", re.IGNORECASE)
_NARROW = re.compile(r"e4m3|e5m2|fp8|float8|i8816|i16832|imma|int8|(?<![a-z])s8|(?<![a-z])u8", re.IGNORECASE)


@lru_cache(maxsize=65536)
def precision(name: str, shape: str = "") -> str:
    """The width of the arithmetic of a kernel: `COMPUTE_16`, `COMPUTE_32` or `COMPUTE_OTHER` (narrower or unknown).

    ``shape`` is the op's ``shape`` stat, e.g. ``(half[8,128])``; where it is given it decides.
    """
    for text in filter(None, (shape, name)):
        if _NARROW.search(text) and text is name:
            return COMPUTE_OTHER
        if _HALF.search(text):
            return COMPUTE_16
        if _SINGLE.search(text) or (text is shape and "float[" in text):
            return COMPUTE_32
    return COMPUTE_OTHER


def is_collective(name: str) -> bool:
    """Whether a kernel moves data between devices for a collective operation (NCCL, RCCL)."""
    return name[:4].lower() in ("nccl", "rccl") or "ncclDevKernel" in name or "ncclKernel" in name


_TENSOR_CORE = re.compile(
    r"16816|c1688|h1688|s1688|h884|s884|i8816|i16832|hmma|imma|wgmma|gmma|tensorop|xmma_(gemm|implicit_gemm|sparse|warp)"
    r"|conv1x1|conv2d_c1_k1|dgrad_1x1_stride_2x2|direct_group|first_layer_wgrad_kernel|nvjet_|flash_(fwd|bwd)"
)
_ELIGIBLE = re.compile(
    r"(^|/)(\w*Conv(2D|3D)(Backprop(Filter|Input)(V2)?)?|DepthwiseConv2dNative(Backprop(Filter|Input))?|_?FusedConv2D"
    r"|_?FusedMatMul|(Sparse|Batch)?MatMul(V\d)?|Einsum|XlaDot(V2)?|CudnnRNN\w*|dot_general|conv_general_dilated)(_\d+)?$"
)


@lru_cache(maxsize=65536)
def uses_tensor_core(kernel_name: str) -> bool:
    """Whether a kernel of that name is known to run on tensor cores."""
    return bool(_TENSOR_CORE.search(kernel_name))


@lru_cache(maxsize=65536)
def is_eligible(op_name: str, op_type: str) -> bool:
    """Whether an op could run on tensor cores: matrix products and convolutions."""
    return bool(_ELIGIBLE.search(op_type) or _ELIGIBLE.search(op_name))
