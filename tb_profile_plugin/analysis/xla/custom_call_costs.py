"""Costs of custom calls by what they call: products, convolutions and attention of libraries, by their shapes.

Names of targets and of their configuration are those of XLA's GPU backend, of Transformer Engine, and of Pallas.
"""

from __future__ import annotations

import re
from typing import Any

from ...formats.xspace.hlo import config
from ...runtime.regex import regex
from .cost_rules import UNKNOWN, Rule, Sized, Three, cholesky, convolution_flops, triangular_solve


def custom_call(sized: Sized, row: int) -> Three:
    """By the first rule whose pattern fits the target; FLOPs of any other are not known."""
    target = sized.module.targets[row]
    rule = next((rule for pattern, rule in _TARGETS if pattern.match(target)), _unknown)
    return rule(sized, row)


def settings(sized: Sized, row: int) -> dict[str, Any]:
    """What the backend decided for an instruction."""
    return config.parsed(sized.module.configs[row])


def _result(sized: Sized, row: int) -> int:
    """The shape that a call is for: beside it some give a workspace."""
    inside = sized.shapes.children[row]
    return inside[0] if inside else row


def _moved(sized: Sized, row: int) -> float:
    """Bytes of operands and result, without workspaces."""
    return float(sized.shapes.bytes[_result(sized, row)]) + sum(map(sized.leaves, sized.operands(row)))


def _unknown(sized: Sized, row: int) -> Three:
    return UNKNOWN, UNKNOWN, UNKNOWN


def _nothing(sized: Sized, row: int) -> Three:
    return 0, 0, 0


def _move(sized: Sized, row: int) -> Three:
    return 0, 0, _moved(sized, row)


def _product(sized: Sized, row: int) -> Three:
    gemm = config.inside(settings(sized, row), "gemm_backend_config")
    numbers = config.inside(gemm, "dot_dimension_numbers")
    if not numbers:
        return UNKNOWN, UNKNOWN, _moved(sized, row)
    lhs = sized.dims(sized.operand(row, 0))
    summed = 1
    for dimension in config.numbers(numbers, "lhs_contracting_dimensions"):
        summed *= lhs[dimension]
    return 2 * float(sized.shapes.elements[_result(sized, row)]) * summed, 0, _moved(sized, row)


def _convolution(image: int, kernel: int, result: int) -> Rule:
    """Which of the operands (-1: the result) is the image, the kernel, and what a forward convolution gives."""

    def rule(sized: Sized, row: int) -> Three:
        shapes = [
            sized.shapes.dimensions[_result(sized, row)] if index < 0 else sized.dims(sized.operand(row, index))
            for index in (image, kernel, result)
        ]
        return convolution_flops(sized, row, *shapes), 0, _moved(sized, row)

    return rule


def _attention(products: int) -> Rule:
    """So many products of queries' length times keys' length times head size for each head."""

    def rule(sized: Sized, row: int) -> Three:
        sizes = _attention_sizes(sized, row, settings(sized, row))
        if sizes is None:
            return UNKNOWN, UNKNOWN, _moved(sized, row)
        batch, heads, queries, keys, size, share = sizes
        return 2.0 * products * batch * heads * queries * keys * size * share, 0, _moved(sized, row)

    return rule


_CAUSAL = {"CAUSAL", "PADDING_CAUSAL", 2, 3}
"""Masks under which a query meets half of the keys; the numbers are Transformer Engine's."""


def _attention_sizes(sized: Sized, row: int, settings: dict[str, Any]) -> tuple[int, int, int, int, int, float] | None:
    """Batch, heads, lengths of queries and keys, head size, and the share of pairs that the mask lets meet."""
    names = ("input_batch", "attn_heads", "q_max_seqlen", "kv_max_seqlen", "qk_head_dim")
    stated = [config.integer(settings.get(name)) for name in names]
    if stated[4] is None:
        stated[4] = config.integer(settings.get("head_dim"))
    mask = settings.get("mask_type")
    if all(number is not None for number in stated):
        batch, heads, queries, keys, size = (int(number or 0) for number in stated)
        window = config.integer(settings.get("window_size_left"))
        return batch, heads, queries, keys, size, _share(mask, keys, window)
    fmha = config.inside(settings, "cudnn_fmha_backend_config")
    numbers = config.inside(fmha, "bmm1_dot_dimension_numbers")
    lhs, rhs = sized.dims(sized.operand(row, 0)), sized.dims(sized.operand(row, 1))
    summed = config.numbers(numbers, "lhs_contracting_dimensions")
    batches = config.numbers(numbers, "lhs_batch_dimensions")
    others = config.numbers(numbers, "rhs_contracting_dimensions"), config.numbers(numbers, "rhs_batch_dimensions")
    if len(lhs) != 4 or len(rhs) != 4 or len(summed) != 1 or len(batches) != 2 or len(others[0]) != 1:
        return None
    queried = [lhs[i] for i in range(4) if i not in (*summed, *batches)]
    key_dims = [rhs[i] for i in range(4) if i not in (*others[0], *others[1])]
    if len(queried) != 1 or len(key_dims) != 1:
        return None
    share = _share(fmha.get("mask_type"), key_dims[0], config.integer(fmha.get("sliding_window_length")))
    return lhs[batches[0]], lhs[batches[1]], queried[0], key_dims[0], lhs[summed[0]], share


def _share(mask: Any, keys: int, window: int | None) -> float:
    if window is not None and 0 < window < keys:
        return window / keys
    return 0.5 if mask in _CAUSAL else 1.0


def _pallas(sized: Sized, row: int) -> Three:
    """What the kernel's author estimates."""
    estimate = config.inside(settings(sized, row), "custom_call_config", "cost_estimate")
    figures = [config.integer(estimate.get(name)) for name in ("flops", "transcendentals", "bytes_accessed")]
    flops, functions, moved = (UNKNOWN if figure is None else float(figure) for figure in figures)
    return flops, functions, moved


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
        (r"annotate_device_placement|MoveTo(Host|Device)$", _move),
        (r"Sharding$|AllocateBuffer$|(Pin|Unpin)$|xla\.gpu\.|SPMD\w+Shape$|CreateBuffer$|LayoutConstraint$", _nothing),
    )
)
"""Targets by the begin of their names."""
