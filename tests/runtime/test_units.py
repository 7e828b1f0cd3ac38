"""Figures as sentences have them."""

import pytest

from tb_profile_plugin.runtime.units import flop_rate


@pytest.mark.parametrize(
    ("tera", "text"), [(57.2, "57.2 TFLOP/s"), (1.0, "1.00 TFLOP/s"), (0.0393, "39.3 GFLOP/s"), (2e-7, "0.20 MFLOP/s")]
)
def test_a_rate_has_a_unit_that_leaves_few_digits(tera: float, text: str) -> None:
    assert flop_rate(tera) == text
