"""One of the two sides: captures that stand for the same program, each with a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from ...runtime.memo import lazy
from ...runtime.records import record
from ..digest.record import Digest
from .change import CapturePairs, RunVariation, run_variation
from .estimate import Estimate, inflation_of, step_estimate, warm_steps
from .match import Entry

T = TypeVar("T")

_LEAST_PAIRS = 4
"""Pairs of captures from which on they alone tell how much such pairs differ."""


@record
class Side:
    """Captures of one program, which are compared with those of another side.

    Times are per step and item; means over captures are means of their means.
    """

    names: tuple[str, ...]
    digests: tuple[Digest, ...]
    """By capture, as the names."""
    items: int = 1
    """What a step works through; with more than one, times are per item."""

    @lazy
    def step_counts(self) -> list[int]:
        """By capture, how many of its steps count."""
        return [len(digest.steps.selected) for digest in self.digests]

    @lazy
    def inflations(self) -> list[float]:
        """By capture, how many times larger autocorrelation of its steps makes variances."""
        return [inflation_of(warm_steps(digest)) for digest in self.digests]

    @lazy
    def independent_steps(self) -> list[float]:
        """By capture, how many independent steps those that count are worth, 2 at least."""
        return [max(2.0, steps / factor) for steps, factor in zip(self.step_counts, self.inflations, strict=True)]

    @property
    def indexed_ops(self) -> list[Entry]:
        """The ops of all captures, in their order, each with the index of its capture."""
        return [(i, op) for i, digest in enumerate(self.digests) for op in digest.ops]

    def step_estimates(self, on_devices: bool = False) -> list[Estimate]:
        """By capture, what its steps take, or what devices do in them; captures where that is 0 are left out."""
        estimates = [step_estimate(digest, on_devices) for digest in self.digests]
        return [estimate for estimate in estimates if estimate.total]

    @property
    def run_variation(self) -> RunVariation | None:
        """How much runs of its program differ, by the captures in order of time; None with fewer than four."""
        by_time = sorted(self.digests, key=lambda digest: digest.origin_ns)
        return run_variation([estimate for estimate in map(step_estimate, by_time) if estimate.total])

    def means_per_item(self, sums: Sequence[int]) -> list[Fraction]:
        """By capture, of a sum over its steps that count the part of one step and item; exact, so that equals are."""
        return [Fraction(total, count * self.items) for total, count in zip(sums, self.step_counts, strict=True)]

    def mean_per_item(self, sums: Sequence[int]) -> Fraction:
        """The mean of `means_per_item`."""
        return sum(self.means_per_item(sums), Fraction(0)) / len(self.digests)

    def distinct_values(self, fact: Callable[[Digest], Any]) -> list[Any]:
        """A fact's different values, in the order of the captures."""
        return list(dict.fromkeys(map(fact, self.digests)))


@record
class Sides:
    """What is compared with what."""

    base: Side
    new: Side

    def __iter__(self) -> Iterator[Side]:
        """The base first."""
        yield self.base
        yield self.new

    def both(self, value_of: Callable[[Side], T]) -> tuple[T, T]:
        """What a function says of the base, and of the new side."""
        return value_of(self.base), value_of(self.new)

    @lazy
    def is_recorded_in_blocks(self) -> bool:
        """Whether all captures of one side were recorded before those of the other: machines change meanwhile."""
        base, new = self.both(lambda side: [digest.origin_ns for digest in side.digests])
        return max(base) < min(new) or max(new) < min(base)

    @lazy
    def interleaved_pairs(self) -> CapturePairs | None:
        """Pairs of captures that were recorded one after the other, one of each side; None where not all were.

        What drifts on the machine meanwhile meets both alike, and leaves when they are held against each other.
        """
        captures = [
            (digest.origin_ns, side_index, index)
            for side_index, side in enumerate(self)
            for index, digest in enumerate(side.digests)
        ]
        captures.sort()
        if (
            not len(self.base.digests) == len(self.new.digests) >= _LEAST_PAIRS
            or len({origin_ns for origin_ns, _, _ in captures}) < len(captures)
            or any(len(side.step_estimates()) < len(side.digests) for side in self)
        ):
            return None
        pairs = []
        for (_, side_index, index), (_, next_side_index, next_index) in zip(captures[::2], captures[1::2], strict=True):
            if side_index == next_side_index:
                return None
            pairs.append((index, next_index) if side_index == 0 else (next_index, index))
        return pairs


def side_of_digests(captures: Sequence[tuple[str, Digest]], items: int = 1) -> Side:
    """A side made of (name, digest) of captures; a digest that is given twice counts once, by its content."""
    by_id: dict[str, tuple[str, Digest]] = {}
    for name, digest in captures:
        by_id.setdefault(digest.id, (name, digest))
    return Side(tuple(name for name, _ in by_id.values()), tuple(digest for _, digest in by_id.values()), items)
