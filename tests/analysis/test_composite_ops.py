"""Ops that calculate one result by many others are named as the program calls them."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose


def compute(*outer: str) -> Cause:
    """Of five steps of 1 ms, in which an op, and one in that, call products and fills of 60 µs each."""
    events = []
    for step in range(5):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        events += [torchtrace.op(name, begin + 10 + depth, 900 - 2 * depth) for depth, name in enumerate(outer)]
        for turn in range(7):
            events.append(torchtrace.op("aten::bmm", begin + 20 + 120 * turn, 60))
            events.append(torchtrace.op("aten::fill_", begin + 80 + 120 * turn, 60))
    return next(
        cause for cause in diagnose([torchtrace.host(*events, deviceProperties=[])]).causes if cause.id == "compute"
    )


@pytest.mark.parametrize("name", ["aten::linalg_matrix_exp", "aten::fft_rfft2", "aten::stft", "aten::logsumexp"])
def test_ops_within_a_numerical_op_are_its_parts(name: str) -> None:
    found = compute(name, "aten::linalg_norm")
    assert [part for part, _, _ in found.names] == [name]
    assert found.names[0][2] == 1
    assert name in found.remedy.text


@pytest.mark.parametrize("name", ["aten::matmul", "aten::layer_norm", "aten::scaled_dot_product_attention"])
def test_what_other_ops_call_keeps_its_name(name: str) -> None:
    assert {"aten::bmm", "aten::fill_"} <= {part for part, _, _ in compute(name).names}
