"""The comparison of two sides: the change of their steps, and parts and ops whose differences sum to it exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ...runtime.messages import Message, some_of
from ...runtime.records import NamedTuple, record
from ..digest.record import OTHERS, DigestOp, StateTime
from ..statistics import adjusted, quantile
from .change import (
    ALPHA,
    CaptureValues,
    Change,
    RunVariation,
    are_separate,
    difference_spread,
    is_far,
    p_of,
    ratio,
    variation_of_steps,
)
from .estimate import warm_steps
from .facts import HOST, STOPS, Fact, facts
from .match import SURE, Entry, OpPair, op_pairs, time_shares
from .side import Side, Sides

FALSE_DISCOVERY_RATE = 0.10
"""Share of the marked ops that may be there by chance."""
_MARKED_SHARE, _MARKED_PS = 0.005, 20_000_000
"""And they change by so much of the base's step, and by 20 µs at least."""
_TESTED_SHARE = 0.001
"""Ops of less than that share of the step on both sides are not tested."""


@record
class Difference:
    """The time of one part or op on both sides, ps per step (and item)."""

    base: Fraction
    new: Fraction
    low: float | None = None
    """Lower end of the interval of 95 % of `delta`; None where nothing tells how it varies."""
    high: float | None = None
    p: float | None = None
    """Probability of such a difference where there is none; see `change.p_of`."""

    @property
    def delta(self) -> Fraction:
        """How much longer the new side takes, exactly."""
        return self.new - self.base

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval of `delta`; None where nothing tells how it varies."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@record
class PartRow:
    """A part of the step on both sides."""

    id: str
    difference: Difference
    base_sums: list[int]
    """ps by capture, over its steps that count."""
    new_sums: list[int]


class OpSide(NamedTuple):
    """An op on one side, which may lack it: then its texts are empty."""

    name: str
    kernels: str
    sums: list[int]
    """ps by capture, over its steps that count."""
    launches: Fraction
    """Per step."""
    total: Fraction
    """ps per step over all streams, hidden or not: these do not sum to the step."""
    count_per_step: int | None
    """How often it runs in a step, if that is the same in all captures."""


@record
class OpRow:
    """An op within a part on both sides."""

    id: int
    """Its row in `Comparison.ops`."""
    part: str
    side: str
    """``host`` or ``device``."""
    base: OpSide
    new: OpSide
    detail: str
    """Its program or type, its origin or source: whatever tells more."""
    tier: int
    """How it was matched: see `match.TIER_LABELS`."""
    difference: Difference
    by_count: Fraction
    """What of the difference comes from running more often …"""
    by_length: Fraction
    """… and from taking longer each time; both sum to it."""
    p_adjusted: float | None = None
    """The rate of false discoveries among the ops that are as sure as this one; None where it is not tested."""
    is_marked: bool = False
    """Whether pages mark it: it surely changed, and by much."""

    @property
    def name(self) -> str:
        """Its name, or both sides' names if they differ."""
        if self.is_one_sided or self.base.name == self.new.name:
            return self.base.name or self.new.name
        return Message("{base} → {new}", base=self.base.name, new=self.new.name)

    @property
    def is_one_sided(self) -> bool:
        """Whether one side lacks it."""
        return not (self.base.name and self.new.name)

    @property
    def is_others(self) -> bool:
        """Whether it stands for all ops of a part that are not told apart."""
        return OTHERS in (self.base.name, self.new.name)

    @property
    def has_other_kernel(self) -> bool:
        """Whether it runs other kernels than before."""
        return bool(self.base.kernels and self.new.kernels) and self.base.kernels != self.new.kernels


@record
class Comparison:
    """What pages, the command line and gates quote."""

    sides: Sides
    facts: list[Fact]
    step_change: Change | None
    """Change of the steps' times; None where there are none."""
    device_change: Change | None
    """Change of what devices do in steps, where the host's figures cannot be compared."""
    step_difference: Difference
    parts: list[PartRow]
    """By the size of their difference."""
    ops: list[OpRow]
    """By the size of their difference, those that are not told apart last."""
    matched_shares: tuple[float, float]
    """By side, the base first: the share of its step in ops that are matched with certainty."""
    run_variation: RunVariation | None = None
    """How much runs of one program differ, where a side has one capture only, and that is known nevertheless."""

    @property
    def blocking_fact(self) -> Fact | None:
        """Why there is no verdict; None where there is one."""
        return next((fact for fact in self.facts if fact.grade == STOPS), None)

    @property
    def devices_only(self) -> bool:
        """Whether the verdict is on what devices do."""
        return any(fact.grade == HOST for fact in self.facts)

    @property
    def deciding_change(self) -> Change | None:
        """What the verdict goes by."""
        return self.device_change if self.devices_only else self.step_change


def compare(base: Side, new: Side, run_variation: RunVariation | None = None) -> Comparison:
    """The new side against the base; unless it is given, how runs differ is taken from the side with most captures."""
    sides = Sides(base, new)
    run_variation = run_variation or max(sides, key=lambda side: len(side.digests)).run_variation
    pairs = op_pairs(base.indexed_ops, new.indexed_ops)
    step = Difference(*sides.both(_step_ps))
    ops = _marked_ops([_op_row(i, pair, sides) for i, pair in enumerate(pairs)], step)
    ops.sort(key=lambda op: (op.is_others, -abs(op.difference.delta), op.part, op.name))
    return Comparison(
        sides=sides,
        facts=facts(sides, pairs),
        step_change=_change(sides, False, run_variation),
        device_change=_change(sides, True, run_variation),
        step_difference=step,
        parts=_part_rows(sides),
        ops=[replace(op, id=i) for i, op in enumerate(ops)],
        matched_shares=time_shares(pairs, lambda pair: pair.tier <= SURE),
        run_variation=run_variation if min(len(side.digests) for side in sides) == 1 else None,
    )


def _step_ps(side: Side) -> Fraction:
    """Mean time of a step, per item, as its parts sum to it."""
    return side.mean_per_item([sum(part.sum_ps for part in digest.parts) for digest in side.digests])


def _change(sides: Sides, on_devices: bool, run_variation: RunVariation | None) -> Change | None:
    """Change of the steps' times, or of what devices do in them, per item; None where a side has none."""
    base, new = sides
    base_steps, new_steps = sides.both(lambda side: side.step_estimates(on_devices))
    if not (base_steps and new_steps):
        return None
    change = ratio(base_steps, new_steps, run_variation, sides.interleaved_pairs)
    if not change.covers_runs:
        times = sides.both(lambda side: warm_steps(side.digests[0], on_devices))
        step_variation = variation_of_steps(*times, (float(base_steps[0].mean), float(new_steps[0].mean)))
        change = replace(
            change,
            step_variation=step_variation,
            is_far=is_far(*times, change.estimate, step_variation),
            is_separate=are_separate(*times),
        )
    if base.items == new.items:
        return change

    def per_item(change_of_step: float) -> float:
        return (1 + change_of_step) * base.items / new.items - 1

    # The p of the times per step is that of another question.
    return replace(
        change,
        estimate=per_item(change.estimate),
        low=None if change.low is None else per_item(change.low),
        high=None if change.high is None else per_item(change.high),
        p=None,
        permutation_p=None,
        captures_needed=None,
    )


@record
class _CaptureSums:
    """Sums of one part or op on one side: lists of one entry per capture, over its steps that count."""

    sum_ps: list[int]
    variances: list[int | None]
    launches: list[int]
    total_ps: list[int]


def _capture_sums(side: Side, entries: Sequence[tuple[int, StateTime | DigestOp]]) -> _CaptureSums:
    """Sums of entries, each with its capture; the variances of several in one capture are added."""
    count = len(side.digests)
    sums = _CaptureSums([0] * count, [0] * count, [0] * count, [0] * count)
    for capture, entry in entries:
        sums.sum_ps[capture] += entry.sum_ps
        variance = sums.variances[capture]
        sums.variances[capture] = None if variance is None or entry.variance is None else variance + entry.variance
        if isinstance(entry, DigestOp):
            sums.launches[capture] += entry.launches
            sums.total_ps[capture] += entry.total_ps
    return sums


def _difference(sides: Sides, base: _CaptureSums, new: _CaptureSums) -> Difference:
    difference = Difference(sides.base.mean_per_item(base.sum_ps), sides.new.mean_per_item(new.sum_ps))
    base_values, new_values = _per_step(sides.base, base), _per_step(sides.new, new)
    spread = difference_spread(base_values, new_values, pairs=sides.interleaved_pairs)
    if spread is None:
        return difference
    delta = float(difference.delta)
    half_width = quantile(1 - ALPHA / 2, spread.freedom) * spread.error if spread.error else 0.0
    return replace(difference, low=delta - half_width, high=delta + half_width, p=p_of(delta, spread))


def _per_step(side: Side, sums: _CaptureSums) -> CaptureValues:
    """Time per step and item, ps."""
    variances = [
        None if variance is None else variance * inflation / side.items**2
        for variance, inflation in zip(sums.variances, side.inflations, strict=True)
    ]
    return CaptureValues([float(mean) for mean in side.means_per_item(sums.sum_ps)], variances, side.independent_steps)


def _part_rows(sides: Sides) -> list[PartRow]:
    base_parts, new_parts = sides.both(
        lambda side: [(i, part) for i, digest in enumerate(side.digests) for part in digest.parts]
    )
    rows = []
    for id in dict.fromkeys(part.id for _, part in (*base_parts, *new_parts)):
        base = _capture_sums(sides.base, [entry for entry in base_parts if entry[1].id == id])
        new = _capture_sums(sides.new, [entry for entry in new_parts if entry[1].id == id])
        rows.append(PartRow(id, _difference(sides, base, new), base.sum_ps, new.sum_ps))
    return sorted(rows, key=lambda row: (-abs(row.difference.delta), row.id))


def _op_row(id: int, pair: OpPair, sides: Sides) -> OpRow:
    base_sums, new_sums = _capture_sums(sides.base, pair.base), _capture_sums(sides.new, pair.new)
    base, new = _op_side(sides.base, pair.base, base_sums), _op_side(sides.new, pair.new, new_sums)
    difference = _difference(sides, base_sums, new_sums)
    op = pair.any_op
    detail = " · ".join(text for text in (op.module, op.type, op.origin, op.shape, op.source) if text)
    shares = by_count_and_length(difference, base.launches / sides.base.items, new.launches / sides.new.items)
    return OpRow(id, op.part, op.side, base, new, detail, pair.tier, difference, *shares)


def _op_side(side: Side, ops: Sequence[Entry], sums: _CaptureSums) -> OpSide:
    kernels: dict[str, None] = {}
    for capture, op in ops:
        names = [kernel.name for kernel in side.digests[capture].kernels if kernel.op == op.name]
        kernels |= dict.fromkeys(sorted(names))
    (count, *other_counts) = {mean * side.items for mean in side.means_per_item(sums.launches)}
    return OpSide(
        some_of(list(dict.fromkeys(op.name for _, op in ops)), 1),
        ", ".join(kernels),
        sums.sum_ps,
        side.mean_per_item(sums.launches) * side.items,
        side.mean_per_item(sums.total_ps),
        None if other_counts or count.denominator > 1 else count.numerator,
    )


def by_count_and_length(
    difference: Difference, base_launches: Fraction, new_launches: Fraction
) -> tuple[Fraction, Fraction]:
    """How much of a difference comes from the number of launches, and from what each of them takes: Shapley's split.

    All are per item.
    """
    if not base_launches and not new_launches:
        return Fraction(0), difference.delta
    # A side without launches is taken to need as long for one as the other does.
    base_launch_ps = difference.base / base_launches if base_launches else difference.new / new_launches
    new_launch_ps = difference.new / new_launches if new_launches else base_launch_ps
    by_count = (new_launches - base_launches) * (base_launch_ps + new_launch_ps) / 2
    return by_count, difference.delta - by_count


def _marked_ops(ops: list[OpRow], step: Difference) -> list[OpRow]:
    """With `p_adjusted` and `is_marked`; ops of one side only are facts, and are not tested."""
    tested_rows = [
        i
        for i, op in enumerate(ops)
        if op.difference.p is not None
        and not (op.is_others or op.is_one_sided)
        and (op.difference.base >= _TESTED_SHARE * step.base or op.difference.new >= _TESTED_SHARE * step.new)
    ]
    rates = dict(zip(tested_rows, adjusted([ops[i].difference.p or 0.0 for i in tested_rows]), strict=True))
    least_ps = max(_MARKED_SHARE * float(step.base), _MARKED_PS)

    def is_marked(op: OpRow, rate: float | None) -> bool:
        is_sure = op.is_one_sided or (rate is not None and rate <= FALSE_DISCOVERY_RATE)
        return is_sure and not op.is_others and abs(float(op.difference.delta)) >= least_ps

    return [replace(op, p_adjusted=rates.get(i), is_marked=is_marked(op, rates.get(i))) for i, op in enumerate(ops)]
