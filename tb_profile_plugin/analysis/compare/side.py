"""One of the two sides: captures that stand for the same program, each with a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from ...runtime.memo import lazy
from ..digest.record import Digest
from .estimate import Estimate, of_steps

T = TypeVar("T")


@dataclass(frozen=True)
class Side:
    """See the module; means over captures are means of their means."""

    names: tuple[str, ...]
    digests: tuple[Digest, ...]
    items: int = 1
    """What a step works through; with more than one, times are per item."""

    @lazy
    def kept(self) -> list[int]:
        """Steps that count, by capture."""
        return [len(each.steps.kept) for each in self.digests]

    def steps(self, on_devices: bool = False) -> list[Estimate]:
        """By capture, those that have time at all."""
        found = [of_steps(each, on_devices) for each in self.digests]
        return [each for each in found if each.total]

    def in_time(self) -> list[Estimate]:
        """The same in the order in which they were recorded."""
        ordered = sorted(self.digests, key=lambda each: int(each.facts["origin_ns"]))
        return [each for each in map(of_steps, ordered) if each.total]

    def means(self, sums: Sequence[int]) -> list[Fraction]:
        """Per step, and item, of one sum over the kept steps per capture."""
        return [Fraction(each, kept * self.items) for each, kept in zip(sums, self.kept, strict=True)]

    def mean(self, sums: Sequence[int]) -> Fraction:
        """Over the captures."""
        return sum(self.means(sums), Fraction(0)) / len(self.digests)

    def told(self, fact: Callable[[Digest], Any]) -> list[Any]:
        """A fact's different values, in their order."""
        found: list[Any] = []
        for each in self.digests:
            value = fact(each)
            if value not in found:
                found.append(value)
        return found


_TURNS = 4
"""Pairs of captures from which on they alone tell how much such pairs differ."""


@dataclass(frozen=True)
class Sides:
    """What is compared with what."""

    base: Side
    new: Side

    def __iter__(self) -> Iterator[Side]:
        """The base first."""
        yield self.base
        yield self.new

    def both(self, told: Callable[[Side], T]) -> tuple[T, T]:
        """Something of each side."""
        return told(self.base), told(self.new)

    @lazy
    def one_after_the_other(self) -> bool:
        """Whether all captures of one side were recorded before those of the other: machines change meanwhile."""
        base, new = self.both(lambda side: [int(each.facts["origin_ns"]) for each in side.digests])
        return max(base) < min(new) or max(new) < min(base)

    @lazy
    def by_turns(self) -> list[tuple[int, int]] | None:
        """Places of captures that were recorded one after the other, one of each side; None where they were not.

        What drifts on the machine meanwhile meets both alike, and leaves when they are held against each other.
        """
        times = [
            (int(digest.facts["origin_ns"]), which, place)
            for which, side in enumerate(self)
            for place, digest in enumerate(side.digests)
        ]
        known = len({time for time, _, _ in times}) == len(times) and all(
            len(side.steps()) == len(side.digests) for side in self
        )
        if not known or not len(self.base.digests) == len(self.new.digests) >= _TURNS:
            return None
        ordered = sorted(times)
        turns = [dict(each[1:] for each in ordered[i : i + 2]) for i in range(0, len(ordered), 2)]
        return [(turn[0], turn[1]) for turn in turns] if all(len(turn) == 2 for turn in turns) else None


def side(captures: Sequence[tuple[str, Digest]], items: int = 1) -> Side:
    """Of named digests; one that is given twice counts once, by its content."""
    known: dict[str, tuple[str, Digest]] = {}
    for name, digest in captures:
        known.setdefault(digest.id, (name, digest))
    return Side(tuple(name for name, _ in known.values()), tuple(each for _, each in known.values()), items)
