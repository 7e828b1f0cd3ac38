"""Hostile dumps are read or told, judged and reported; `scripts/fuzz` goes on with them."""

import pytest
from hang_damage import DamagedDumps, look


@pytest.mark.parametrize("seed", range(8))
def test_hostile_dumps_break_nothing(seed: int) -> None:
    damaged = DamagedDumps(seed)
    for _ in range(25):
        look(damaged())
