"""Costs of custom calls by what they call: products, convolutions and attention of libraries, by their shapes.

Names of targets and of their configuration are those of XLA's GPU backend, of Transformer Engine, and of Pallas.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ...formats.xspace.hlo import config
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from .cost_rules import ALL_UNKNOWN, UNKNOWN, Cost, Rule, SizedModule, cholesky, convolution_flops, triangular_solve


def custom_call(sized: SizedModule, row: int) -> Cost:
    """By the first rule whose pattern fits the target; FLOPs of any other are not known."""
    target = sized.module.targets[row]
    rule = next((rule for pattern, rule in _TARGETS if pattern.match(target)), None)
    return rule(sized, row) if rule else ALL_UNKNOWN


def settings(sized: SizedModule, row: int) -> dict[str, Any]:
    """What the backend decided for an instruction."""
    return config.parsed(sized.module.configs[row])


def _edge_bytes(sized: SizedModule, row: int) -> float:
    """Bytes of operands and result, without workspaces."""
    return float(sized.shapes.bytes[sized.result_shape(row)]) + sum(map(sized.leaf_bytes, sized.operands(row)))


def _product(sized: SizedModule, row: int) -> Cost:
    gemm = config.nested(settings(sized, row), "gemm_backend_config")
    dimension_numbers = config.nested(gemm, "dot_dimension_numbers")
    if not dimension_numbers:
        return Cost(UNKNOWN, UNKNOWN, _edge_bytes(sized, row))
    lhs = sized.dims(sized.operand(row, 0))
    contracted = prod(lhs[dimension] for dimension in config.numbers(dimension_numbers, "lhs_contracting_dimensions"))
    return Cost(2 * float(sized.shapes.elements[sized.result_shape(row)]) * contracted, 0, _edge_bytes(sized, row))


def _convolution(input_index: int, kernel_index: int, output_index: int) -> Rule:
    """Which of the operands (-1: the result) is the image, the kernel, and what a forward convolution gives."""

    def rule(sized: SizedModule, row: int) -> Cost:
        shapes = [
            sized.shapes.dimensions[sized.result_shape(row)] if operand < 0 else sized.dims(sized.operand(row, operand))
            for operand in (input_index, kernel_index, output_index)
        ]
        return Cost(convolution_flops(sized, row, *shapes), 0, _edge_bytes(sized, row))

    return rule


class _Attention(NamedTuple):
    """Sizes of a call."""

    batch: int
    heads: int
    queries: int
    keys: int
    head_size: int
    share: float
    """Share of the pairs of a query and a key that the mask lets meet, 0–1."""


def _attention(products: int) -> Rule:
    """So many products of queries' length times keys' length times head size for each head."""

    def rule(sized: SizedModule, row: int) -> Cost:
        configured = settings(sized, row)
        # As Transformer Engine states them, else by the shapes of what cuDNN multiplies.
        sizes = _stated_attention(configured) or _multiplied_attention(sized, row, configured)
        flops = UNKNOWN if sizes is None else prod(sizes, start=2.0 * products)
        return Cost(flops, UNKNOWN if sizes is None else 0, _edge_bytes(sized, row))

    return rule


_CAUSAL = {"CAUSAL", "PADDING_CAUSAL", 2, 3}
"""Masks under which a query meets half of the keys; the numbers are Transformer Engine's."""


def _stated_attention(settings: dict[str, Any]) -> _Attention | None:
    """The sizes by their names in Transformer Engine; None where one of them is not stated."""
    names = ("input_batch", "attn_heads", "q_max_seqlen", "kv_max_seqlen", "qk_head_dim")
    stated_sizes = [config.integer(settings.get(name)) for name in names]
    if stated_sizes[4] is None:
        stated_sizes[4] = config.integer(settings.get("head_dim"))
    sizes = [size for size in stated_sizes if size is not None]
    if len(sizes) < len(names):
        return None
    batch, heads, queries, keys, head_size = sizes
    share = _meeting_share(settings.get("mask_type"), keys, config.integer(settings.get("window_size_left")))
    return _Attention(batch, heads, queries, keys, head_size, share)


def _multiplied_attention(sized: SizedModule, row: int, settings: dict[str, Any]) -> _Attention | None:
    """The sizes by the dimensions of queries and keys that cuDNN multiplies; None where these are not four each."""
    fmha = config.nested(settings, "cudnn_fmha_backend_config")
    dimension_numbers = config.nested(fmha, "bmm1_dot_dimension_numbers")
    lhs, rhs = sized.dims(sized.operand(row, 0)), sized.dims(sized.operand(row, 1))
    lhs_summed, lhs_batch, rhs_summed, rhs_batch = (
        config.numbers(dimension_numbers, f"{side}_{kind}_dimensions")
        for side in ("lhs", "rhs")
        for kind in ("contracting", "batch")
    )
    if len(lhs) != 4 or len(rhs) != 4 or len(lhs_summed) != 1 or len(lhs_batch) != 2 or len(rhs_summed) != 1:
        return None
    query_sizes = [lhs[i] for i in range(4) if i not in (*lhs_summed, *lhs_batch)]
    key_sizes = [rhs[i] for i in range(4) if i not in (*rhs_summed, *rhs_batch)]
    if len(query_sizes) != 1 or len(key_sizes) != 1:
        return None
    share = _meeting_share(fmha.get("mask_type"), key_sizes[0], config.integer(fmha.get("sliding_window_length")))
    batch, heads = (lhs[dimension] for dimension in lhs_batch)
    return _Attention(batch, heads, query_sizes[0], key_sizes[0], lhs[lhs_summed[0]], share)


def _meeting_share(mask: Any, keys: int, window: int | None) -> float:
    """Share of the pairs of a query and a key that a mask and a sliding window let meet, 0–1."""
    if window is not None and 0 < window < keys:
        return window / keys
    return 0.5 if mask in _CAUSAL else 1.0


def _pallas(sized: SizedModule, row: int) -> Cost:
    """What the kernel's author estimates."""
    estimate = config.nested(settings(sized, row), "custom_call_config", "cost_estimate")
    figures = [config.integer(estimate.get(name)) for name in ("flops", "transcendentals", "bytes_accessed")]
    return Cost(*(UNKNOWN if figure is None else float(figure) for figure in figures))


_TARGETS: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (regex(pattern), rule)
    for pattern, rule in (
        (r"__cublas\$(gemm|lt\$matmul)", _product),
        (r"__cudnn\$conv(Forward|BiasActivationForward|ForwardGraph)", _convolution(0, 1, -1)),
        (r"__cudnn\$convBackwardInput", _convolution(-1, 1, 0)),
        (r"__cudnn\$convBackwardFilter", _convolution(0, -1, 1)),
        (r"__cudnn\$fmha.*Backward|te_fused_attn_backward_ffi", _attention(5)),
        (r"__cudnn\$fmha|te_fused_attn_forward_ffi", _attention(2)),
        (r"__cusolver\$cholesky|(?:lapack|cusolver|hipsolver)_[sdcz]?potrf", cholesky),
        (r"__cublas\$triangularSolve|(?:lapack|blas)_[sdcz]trsm|(?:cublas|hipblas)_trsm", triangular_solve),
        (r"tpu_custom_call$", _pallas),
        (r"annotate_device_placement|MoveTo(Host|Device)$", lambda sized, row: Cost(0, 0, _edge_bytes(sized, row))),
        (
            r"Sharding$|AllocateBuffer$|(Pin|Unpin)$|xla\.gpu\.|SPMD\w+Shape$|CreateBuffer$|LayoutConstraint$",
            lambda sized, row: Cost(0, 0, 0),
        ),
    )
)
"""Targets by the begin of their names."""
