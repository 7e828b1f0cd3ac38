"""Hostile dumps are read or told, judged and reported; `scripts/fuzz` goes on with them."""

import pytest
from hang_damage import DamagedDumps, look

from tb_profile_plugin.formats.flight_recorder import _group_ranks


@pytest.mark.parametrize("seed", range(8))
def test_hostile_dumps_break_nothing(seed: int) -> None:
    damaged = DamagedDumps(seed)
    for _ in range(25):
        look(damaged())


@pytest.mark.parametrize(("text", "ranks"), [("[0, \x1f1, 2]", (0, 1, 2)), (f"[3, {'9' * 5000}]", (3,)), ("[]", ())])
def test_ranks_with_odd_blanks_or_too_many_digits_are_read_as_far_as_they_are_numbers(
    text: str, ranks: tuple[int, ...]
) -> None:
    """Found by scripts/fuzz: Python's int() knows fewer blanks than its strip(), and has a limit."""
    assert _group_ranks(text) == ranks
