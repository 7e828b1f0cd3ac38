"""Sixteen bytes at once: compiled, they are what Python makes of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tb_profile_plugin.runtime.jit import vectors
from tb_profile_plugin.runtime.jit.vectors import equal_mask, greater_mask, lowest_bit, same_mask

numba: Any = pytest.importorskip("numba")


def asked(buf: Any, pos: Any, byte: Any) -> Any:
    equal = equal_mask(buf, pos, byte)
    return equal, greater_mask(buf, pos, byte), same_mask(buf, pos, buf, pos + 1), lowest_bit(equal | 1 << 16)


def test_compiled_as_in_python() -> None:
    vectors.register_with_numba()
    compiled, chance = numba.njit(asked), random.Random(3)
    for _ in range(200):
        buf = np.array([chance.choice((0, 32, 34, 127, 128, 255)) for _ in range(40)], np.uint8)
        for byte in (32, 34, 128):
            assert compiled(buf, 5, byte) == asked(buf, 5, byte)
    assert asked(np.arange(20, dtype=np.uint8), 1, 4) == (8, 0xFFF0, 0, 3)
