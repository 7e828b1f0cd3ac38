"""Events in the order of lines, begins and lengths, as a sort by all three has it."""

from __future__ import annotations

import numpy as np
import pytest

from tb_profile_plugin.formats.columns.line_order import line_order


@pytest.mark.parametrize("different", [1, 2, 6, 1000])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 400])
def test_order_is_that_of_a_sort_by_three_columns(count: int, different: int) -> None:
    draw = np.random.default_rng(count + different)
    for _ in range(20):
        line = draw.integers(0, max(1, different // 2), count).astype(np.int32)
        begin, duration = draw.integers(-different, different, (2, count))
        expected = np.lexsort((-duration, begin, line))
        np.testing.assert_array_equal(line_order(line, begin, duration), expected)
