"""Damaged traces: cut at any byte, bytes of all kinds put in and taken out."""

from pathlib import Path

import damage


@damage.DAMAGES
def test_damage_is_never_fatal(way: str, seed: int, every: int) -> None:
    damage.survives(Path(__file__).with_name("damaged.py"), way, seed, every)
