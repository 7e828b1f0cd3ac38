"""What events are called in sentences."""

from __future__ import annotations

import pytest

from tb_profile_plugin.analysis.labels.event_names import display_name, short_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"),
        ("void at::native::fill<4, at::native::Fill<float>>(int, float)", "fill<4, Fill>"),
        ("PjitFunction(step)", "PjitFunction(step)"),
        ("$train.py:30 fetch_reward", "fetch_reward (train.py:30)"),
        ("$time sleep", "time.sleep"),
        ("gloo:all_reduce", "gloo:all_reduce"),
        ("function", "tf.function"),
        ("%copy-done.2 = f32[8]{0} copy-done(%copy-start)", "copy-done.2"),
        ("<built-in function sleep>", "sleep"),
        ("$nn.Module: TransformerEncoder_0", "TransformerEncoder"),
    ],
)
def test_a_name_is_what_a_reader_knows(name: str, shown: str) -> None:
    assert display_name(name) == shown


def test_a_long_name_loses_what_it_calls_before_its_middle() -> None:
    name = "forward (b1_single_request.py:9)"
    assert short_name(f"{name}, in TransformerEncoder") == name
