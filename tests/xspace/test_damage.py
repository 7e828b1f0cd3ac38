"""Damaged captures: cut at any byte, bits flipped, lengths that lie."""

from pathlib import Path

import damage

TRACES = damage.TESTS / "traces"


@damage.DAMAGES
def test_damage_is_told_and_never_fatal(way: str, seed: int, every: int) -> None:
    capture = TRACES / ["keras_one_batch", "jax_steps"][seed - 1]
    damage.survives(Path(__file__).with_name("fuzz.py"), way, seed, every, *capture.rglob("*.xplane.pb"))
