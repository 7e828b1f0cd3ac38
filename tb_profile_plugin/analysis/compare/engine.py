"""The comparison of two sides: the verdict on their steps, and parts and ops whose differences sum to it exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from ...runtime.messages import Message, some_of
from ..digest.record import OTHERS, DigestOp, Part
from ..statistics import adjusted, quantile
from . import facts as facts_of
from .change import (
    ALPHA,
    Change,
    Runs,
    Spread,
    are_separate,
    how_runs_differ,
    is_far,
    p_of,
    ratio,
    spread,
    variation_of_steps,
)
from .estimate import inflation_of, warm_steps
from .facts import HOST, STOPS, Fact
from .match import SURE, Pair, matched
from .side import Side, Sides

DISCOVERIES = 0.10
"""Of the ops that are marked, so many may be there by chance."""
_MARKED_SHARE, _MARKED_PS = 0.005, 20_000_000
"""And they change by so much of the base's step, or by 20 µs."""
_LEAST_TESTED = 0.001
"""Ops of less than that share of the step on both sides are not tested."""


@dataclass(frozen=True)
class Difference:
    """The time of one part or op on both sides, ps per step (and item)."""

    base: Fraction
    new: Fraction
    low: float | None = None
    """Of the interval of 95 % of the difference; None where nothing tells how it varies."""
    high: float | None = None
    p: float | None = None

    @property
    def delta(self) -> Fraction:
        """How much longer the new side takes, exactly."""
        return self.new - self.base


@dataclass(frozen=True)
class PartRow:
    """A part of the step on both sides."""

    id: str
    difference: Difference
    base_sums: list[int]
    """Over the kept steps of each capture, ps."""
    new_sums: list[int]


@dataclass(frozen=True)
class OpRow:
    """An op within a part on both sides; texts of a side that lacks it are empty."""

    id: int
    part: str
    side: str
    base_name: str
    new_name: str
    detail: str
    """Its program or type, its origin or source: whatever tells more."""
    tier: int
    difference: Difference
    by_count: Fraction
    """What of the difference comes from running more often …"""
    by_length: Fraction
    """… and from taking longer each time; together all of it."""
    base_launches: Fraction
    """Per step."""
    new_launches: Fraction
    base_total: Fraction
    """ps per step over all streams, hidden or not: these do not sum to the step."""
    new_total: Fraction
    base_kernels: str
    new_kernels: str
    base_sums: list[int]
    new_sums: list[int]
    base_count: int | None = None
    """How often it runs in a step, if that is the same in all captures."""
    new_count: int | None = None
    p_adjusted: float | None = None
    marked: bool = False

    @property
    def name(self) -> str:
        """Its name, or both sides' names if they differ."""
        if self.alone or self.base_name == self.new_name:
            return self.base_name or self.new_name
        return Message("{base} → {new}", base=self.base_name, new=self.new_name)

    @property
    def alone(self) -> bool:
        """Whether one side lacks it."""
        return not (self.base_name and self.new_name)

    @property
    def rest(self) -> bool:
        """Whether it stands for all ops of a part that are not told apart."""
        return OTHERS in (self.base_name, self.new_name)

    @property
    def other_kernel(self) -> bool:
        """Whether it runs other kernels than before."""
        return bool(self.base_kernels and self.new_kernels) and self.base_kernels != self.new_kernels


@dataclass(frozen=True)
class Comparison:
    """What pages, the command line and gates quote."""

    sides: Sides
    facts: list[Fact]
    step: Change | None
    """Of the steps' times; None where there are none."""
    devices: Change | None
    """Of what devices do in steps, where the host's figures cannot be compared."""
    step_difference: Difference
    parts: list[PartRow]
    """By the size of their difference."""
    ops: list[OpRow]
    """By the size of their difference, those that are not told apart last."""
    matched: tuple[float, float]
    """The share of each side's step in ops that are matched with certainty."""
    runs: Runs | None = None
    """How much runs of one program differ, where that is reckoned with besides the captures themselves."""

    @property
    def stopped(self) -> Fact | None:
        """Why there is no verdict."""
        return next((fact for fact in self.facts if fact.grade == STOPS), None)

    @property
    def devices_only(self) -> bool:
        """Whether the verdict is on what devices do."""
        return any(fact.grade == HOST for fact in self.facts)

    @property
    def deciding_change(self) -> Change | None:
        """What the verdict goes by."""
        return self.devices if self.devices_only else self.step


def compare(base: Side, new: Side, runs: Runs | None = None) -> Comparison:
    """The new side against the base; how runs differ is taken from the side that has many where the other has one."""
    sides = Sides(base, new)
    runs = runs or how_runs_differ(max(sides, key=lambda side: len(side.digests)).in_time())
    facts = facts_of.facts(sides)
    pairs = matched([digest.ops for digest in base.digests], [digest.ops for digest in new.digests])
    if base.items == new.items:
        facts = facts_of.ordered([*facts_of.shapes(pairs), *facts])
    facts = facts_of.ordered([*facts, *facts_of.unrelated(pairs)])
    steps = sides.both(lambda side: side.mean([sum(part.sum_ps for part in digest.parts) for digest in side.digests]))
    step = Difference(*steps)
    scales = sides.both(_scales)
    ops = _marked(_tested([_op(i, pair, sides, scales) for i, pair in enumerate(pairs)], step), step)
    ops.sort(key=lambda op: (op.rest, -abs(op.difference.delta), op.part, op.name))
    return Comparison(
        sides,
        facts,
        _change(sides, False, runs),
        _change(sides, True, runs),
        step,
        _parts(sides, scales),
        [replace(op, id=i) for i, op in enumerate(ops)],
        (_share(pairs, 0), _share(pairs, 1)),
        runs if min(len(side.digests) for side in sides) == 1 else None,
    )


def _change(sides: Sides, on_devices: bool, runs: Runs | None) -> Change | None:
    base, new = sides.both(lambda side: side.steps(on_devices))
    if not (base and new):
        return None
    change, (one, other) = ratio(base, new, runs, sides.by_turns), sides
    if not change.runs:
        times = sides.both(lambda side: warm_steps(side.digests[0], on_devices))
        step_variation = variation_of_steps(*times, (float(base[0].mean), float(new[0].mean)))
        change = replace(
            change,
            step_variation=step_variation,
            far=is_far(*times, change.estimate, step_variation),
            separate=are_separate(*times),
        )
    if one.items == other.items:
        return change

    def scaled(value: float | None) -> float | None:
        return None if value is None else (1 + value) * one.items / other.items - 1

    # The p of the times per step is that of another question.
    estimate = (1 + change.estimate) * one.items / other.items - 1
    return replace(
        change,
        estimate=estimate,
        low=scaled(change.low),
        high=scaled(change.high),
        p=None,
        permutation=None,
        captures=None,
    )


class _Scales(NamedTuple):
    """By capture."""

    inflation: list[float]
    """How autocorrelation of its steps multiplies variances."""
    freedom: list[float]
    """How many independent steps it is worth."""


def _scales(side: Side) -> _Scales:
    inflation = [inflation_of([digest.steps.ps[i] for i in digest.steps.warm]) for digest in side.digests]
    return _Scales(
        inflation, [max(2.0, steps / factor) for steps, factor in zip(side.step_counts, inflation, strict=True)]
    )


@dataclass
class _Column:
    """Of one part or op on one side, by capture."""

    sums: list[int]
    variances: list[int | None]
    launches: list[int]
    totals: list[int]

    @staticmethod
    def empty(captures: int) -> _Column:
        return _Column([0] * captures, [0] * captures, [0] * captures, [0] * captures)

    def add(self, capture: int, one: Part | DigestOp) -> None:
        """Take an entry in; of several in one capture the variances are added."""
        self.sums[capture] += one.sum_ps
        variance = self.variances[capture]
        self.variances[capture] = None if variance is None or one.variance is None else variance + one.variance
        if isinstance(one, DigestOp):
            self.launches[capture] += one.launches
            self.totals[capture] += one.total_ps


_Both = tuple[_Column, _Column]


def _difference(sides: Sides, columns: _Both, scales: tuple[_Scales, _Scales]) -> Difference:
    means, variances = [], []
    for side, column, scale in zip(sides, columns, scales, strict=True):
        means.append([float(mean) for mean in side.means(column.sums)])
        scaled = [
            None if variance is None else variance * inflation / side.items**2
            for variance, inflation in zip(column.variances, scale.inflation, strict=True)
        ]
        variances.append(scaled)
    uncertainty = spread(means[0], means[1], variances, [scale.freedom for scale in scales], pairs=sides.by_turns)
    one = Difference(sides.base.mean(columns[0].sums), sides.new.mean(columns[1].sums))
    return one if uncertainty is None else _with_interval(one, uncertainty)


def _with_interval(one: Difference, spread: Spread) -> Difference:
    middle = float(one.delta)
    reach = quantile(1 - ALPHA / 2, spread.freedom) * spread.error if spread.error else 0.0
    return replace(one, low=middle - reach, high=middle + reach, p=p_of(middle, spread))


def _parts(sides: Sides, scales: tuple[_Scales, _Scales]) -> list[PartRow]:
    columns: dict[str, _Both] = {}
    for which, side in enumerate(sides):
        for capture, digest in enumerate(side.digests):
            for part in digest.parts:
                empty = sides.both(lambda side: _Column.empty(len(side.digests)))
                columns.setdefault(part.id, empty)[which].add(capture, part)
    rows = [PartRow(id, _difference(sides, both, scales), both[0].sums, both[1].sums) for id, both in columns.items()]
    return sorted(rows, key=lambda row: (-abs(row.difference.delta), row.id))


def _op(id: int, pair: Pair, sides: Sides, scales: tuple[_Scales, _Scales]) -> OpRow:
    base, new = _column(sides.base, pair.base), _column(sides.new, pair.new)
    difference = _difference(sides, (base, new), scales)
    launches = [side.mean(column.launches) * side.items for side, column in zip(sides, (base, new), strict=True)]
    by_count, by_length = by_count_and_length(difference, *launches)
    one = (pair.base or pair.new)[0][1]
    return OpRow(
        id,
        one.part,
        one.side,
        _named(pair.base),
        _named(pair.new),
        _detail(one),
        pair.tier,
        difference,
        by_count,
        by_length,
        launches[0],
        launches[1],
        sides.base.mean(base.totals),
        sides.new.mean(new.totals),
        _kernels(sides.base, pair.base),
        _kernels(sides.new, pair.new),
        base.sums,
        new.sums,
        _count(sides.base, base),
        _count(sides.new, new),
    )


def _count(side: Side, column: _Column) -> int | None:
    """How often an op runs in a step, or for an item; None where that differs, or is no whole number."""
    (one, *others) = set(side.means(column.launches))
    return None if others or one.denominator > 1 else one.numerator


def _column(side: Side, ops: Sequence[tuple[int, DigestOp]]) -> _Column:
    column = _Column.empty(len(side.digests))
    for capture, op in ops:
        column.add(capture, op)
    return column


def by_count_and_length(difference: Difference, base: Fraction, new: Fraction) -> tuple[Fraction, Fraction]:
    """How much of a difference comes from the number of launches, and from what each of them takes: Shapley's split."""
    if not base and not new:
        return Fraction(0), difference.delta
    per_launch = [time / count if count else None for time, count in ((difference.base, base), (difference.new, new))]
    one, other = (
        per_launch[0] if per_launch[0] is not None else per_launch[1],
        per_launch[1] if per_launch[1] is not None else per_launch[0],
    )
    assert one is not None and other is not None, "one of the counts is not 0"
    by_count = (new - base) * (one + other) / 2
    return by_count, difference.delta - by_count


def _named(ops: Sequence[tuple[int, DigestOp]]) -> str:
    names = list(dict.fromkeys(op.name for _, op in ops))
    return some_of(names, 1)


def _detail(op: DigestOp) -> str:
    return " · ".join(text for text in (op.module, op.type, op.origin, op.shape, op.source) if text)


def _kernels(side: Side, ops: Sequence[tuple[int, DigestOp]]) -> str:
    kernels: dict[str, None] = {}
    for capture, op in ops:
        names = [kernel.name for kernel in side.digests[capture].kernels if kernel.op == op.name]
        kernels |= dict.fromkeys(sorted(names))
    return ", ".join(kernels)


def _tested(ops: list[OpRow], step: Difference) -> list[OpRow]:
    """With the rate of false discoveries at which each is one; those of one side only are facts, and have none."""
    large = [i for i, op in enumerate(ops) if _large(op, step) and op.difference.p is not None and not op.rest]
    large = [i for i in large if ops[i].base_name and ops[i].new_name]
    rates = adjusted([ops[i].difference.p or 0.0 for i in large])
    answer = list(ops)
    for i, rate in zip(large, rates, strict=True):
        answer[i] = replace(ops[i], p_adjusted=rate)
    return answer


def _large(op: OpRow, step: Difference) -> bool:
    return op.difference.base >= _LEAST_TESTED * step.base or op.difference.new >= _LEAST_TESTED * step.new


def _marked(ops: list[OpRow], step: Difference) -> list[OpRow]:
    enough = max(_MARKED_SHARE * float(step.base), _MARKED_PS)

    def is_marked(op: OpRow) -> bool:
        alone = not (op.base_name and op.new_name)
        sure = alone or (op.p_adjusted is not None and op.p_adjusted <= DISCOVERIES)
        return sure and not op.rest and abs(float(op.difference.delta)) >= enough

    return [replace(op, marked=is_marked(op)) for op in ops]


def _share(pairs: Sequence[Pair], which: int) -> float:
    sides = [(pair.base, pair.new)[which] for pair in pairs]
    times = [(pair.tier, sum(op.sum_ps for _, op in own)) for pair, own in zip(pairs, sides, strict=True)]
    total = sum(ps for _, ps in times)
    sure = math.fsum(ps for tier, ps in times if tier <= SURE)
    return sure / total if total else 1.0
