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
    def step_counts(self) -> list[int]:
        """Steps that count, by capture."""
        return [len(digest.steps.selected) for digest in self.digests]

    def steps(self, on_devices: bool = False) -> list[Estimate]:
        """By capture, those that have time at all."""
        estimates = [of_steps(digest, on_devices) for digest in self.digests]
        return [estimate for estimate in estimates if estimate.total]

    def in_time(self) -> list[Estimate]:
        """The same in the order in which they were recorded."""
        ordered = sorted(self.digests, key=lambda digest: int(digest.facts["origin_ns"]))
        return [estimate for estimate in map(of_steps, ordered) if estimate.total]

    def means(self, sums: Sequence[int]) -> list[Fraction]:
        """Per step, and item, of one sum over the kept steps per capture."""
        return [Fraction(sum_ps, count * self.items) for sum_ps, count in zip(sums, self.step_counts, strict=True)]

    def mean(self, sums: Sequence[int]) -> Fraction:
        """Over the captures."""
        return sum(self.means(sums), Fraction(0)) / len(self.digests)

    def values_of(self, fact: Callable[[Digest], Any]) -> list[Any]:
        """A fact's different values, in their order."""
        values: list[Any] = []
        for digest in self.digests:
            value = fact(digest)
            if value not in values:
                values.append(value)
        return values


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

    def both(self, value_of: Callable[[Side], T]) -> tuple[T, T]:
        """Something of each side."""
        return value_of(self.base), value_of(self.new)

    @lazy
    def one_after_the_other(self) -> bool:
        """Whether all captures of one side were recorded before those of the other: machines change meanwhile."""
        base, new = self.both(lambda side: [int(digest.facts["origin_ns"]) for digest in side.digests])
        return max(base) < min(new) or max(new) < min(base)

    @lazy
    def by_turns(self) -> list[tuple[int, int]] | None:
        """Places of captures that were recorded one after the other, one of each side; None where they were not.

        What drifts on the machine meanwhile meets both alike, and leaves when they are held against each other.
        """
        times = [
            (int(digest.facts["origin_ns"]), which, index)
            for which, side in enumerate(self)
            for index, digest in enumerate(side.digests)
        ]
        is_ordered = len({time for time, _, _ in times}) == len(times) and all(
            len(side.steps()) == len(side.digests) for side in self
        )
        if not is_ordered or not len(self.base.digests) == len(self.new.digests) >= _TURNS:
            return None
        ordered = sorted(times)
        turns = [dict(entry[1:] for entry in ordered[i : i + 2]) for i in range(0, len(ordered), 2)]
        return [(turn[0], turn[1]) for turn in turns] if all(len(turn) == 2 for turn in turns) else None


def side(captures: Sequence[tuple[str, Digest]], items: int = 1) -> Side:
    """Of named digests; one that is given twice counts once, by its content."""
    by_id: dict[str, tuple[str, Digest]] = {}
    for name, digest in captures:
        by_id.setdefault(digest.id, (name, digest))
    return Side(tuple(name for name, _ in by_id.values()), tuple(digest for _, digest in by_id.values()), items)
