"""What can be demanded of a session, and what one or several sessions have of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..analysis.diagnosis.timeline import STATES
from ..analysis.digest.record import Digest, DigestOp
from ..compare.change import Runs, Spread, log_ratio, spread
from ..compare.estimate import Estimate, estimate, inflation_of
from ..compare.side import Side
from .quantity import BYTES, COUNT, SHARE, TIME

DOCS = {
    "step": "Time from step to step.",
    "part.<id>": "Time of a part, as Why names it: " + ", ".join(STATES) + ".",
    "device.idle": "Time in which no device works.",
    "op:<glob>": "Time of ops of that name or origin.",
    "scope:<glob>": "Time of ops within a scope of that name.",
    "tensor_core_share": "Of the kernels' time, what runs on tensor cores; at least, since more is better.",
    "launches": "Ops and kernels that begin in a step: the count that most steps have.",
    "compiles": "Outermost events that trace, lower or compile in steps that count.",
    "programs": "XLA programs that the other side does not have; only as max-change.",
    "memory.peak:<glob>": "The most that an allocator has in use.",
    "memory.growth:<glob>": "What it has in use at the end beyond the begin.",
    "health.errors": "Findings of the capture itself that are errors.",
}
"""By name."""
_EXACT = frozenset({"launches", "compiles", "programs", "health.errors", "tensor_core_share"})
_BETTER_HIGHER = frozenset({"tensor_core_share"})


def known(metric: str) -> bool:
    """Whether there is such a metric."""
    head, mark, rest = metric.partition(":")
    if mark:
        return bool(rest) and f"{head}:<glob>" in DOCS
    if metric.startswith("part."):
        return metric.removeprefix("part.") in STATES
    return metric in DOCS and "<" not in metric


def exact(metric: str) -> bool:
    """Whether it is a count or a size, of which a difference is one."""
    return metric in _EXACT or metric.startswith("memory.")


def higher_is_better(metric: str) -> bool:
    """Whether a limit is what it may not fall below."""
    return metric in _BETTER_HIGHER


@dataclass(frozen=True)
class Measured:
    """What a side, or a change of two sides, has of a metric."""

    value: float
    kind: str
    """See `quantity`."""
    spread: Spread | None = None
    """None for exact metrics, and where nothing tells how it varies."""
    logarithm: bool = False
    """Whether the spread is that of the logarithm of 1 + value."""


def value_of(metric: str, side: Side) -> Measured | None:
    """Of one side: the mean of times, the largest of exact metrics; None where it does not have it."""
    if exact(metric):
        found = [each for each in map(_exact_value(metric), side.digests) if each is not None]
        kind = BYTES if metric.startswith("memory.") else SHARE if metric == "tensor_core_share" else COUNT
        pick = min if higher_is_better(metric) else max
        return Measured(pick(found), kind) if found else None
    means = [float(each) / side.items for each in (one.mean for one in _estimates(metric, side))]
    return Measured(math.fsum(means) / len(means), TIME, _own_spread(_estimates(metric, side), side.items))


def share_of(metric: str, side: Side) -> Measured | None:
    """The same as a share of the step."""
    whole, part = value_of("step", side), value_of(metric, side)
    if not whole or not part or not whole.value:
        return None
    error = part.spread and Spread(part.spread.error / whole.value, part.spread.freedom)
    return Measured(part.value / whole.value, SHARE, error)


def change_of(metric: str, base: Side, new: Side, relative: bool, runs: Runs | None) -> Measured | None:
    """Of the new side against the base; None where one of them does not have it, or a share cannot be told."""
    if metric == "programs":
        own, other = ({each for digest in side.digests for each in digest.programs} for side in (new, base))
        return Measured(len(own - other), COUNT)
    one, other_one = value_of(metric, base), value_of(metric, new)
    if one is None or other_one is None or (relative and not one.value):
        return None
    difference = other_one.value - one.value
    if exact(metric):
        return Measured(difference / one.value if relative else difference, SHARE if relative else one.kind)
    if metric == "step" and relative:
        logarithm, found = log_ratio(base.steps(), new.steps(), runs)
        scale = base.items / new.items
        return Measured(math.exp(logarithm) * scale - 1, SHARE, found, logarithm=True)
    sides = [(_estimates(metric, side), side.items) for side in (base, new)]
    means = [[float(each.mean) / items for each in own] for own, items in sides]
    variances = [[each.variance and each.variance / items**2 for each in own] for own, items in sides]
    whole = value_of("step", base)
    scaled = Runs(runs.deviation * whole.value, runs.freedom) if runs and whole else None
    found = spread(means[0], means[1], variances, [[each.freedom for each in own] for own, _ in sides], scaled)
    if not relative:
        return Measured(difference, TIME, found)
    return Measured(difference / one.value, SHARE, found and Spread(found.error / one.value, found.freedom))


def _own_spread(found: Sequence[Estimate], items: int) -> Spread | None:
    """Of one side by itself: of a single capture by its steps, of several by how they differ."""
    if len(found) > 1:
        means = [float(each.mean) / items for each in found]
        mean = math.fsum(means) / len(means)
        variance = math.fsum((each - mean) ** 2 for each in means) / (len(means) - 1)
        return Spread(math.sqrt(variance / len(means)), len(means) - 1.0)
    one = found[0]
    return None if one.variance is None else Spread(math.sqrt(one.variance) / items, max(1.0, one.freedom - 1))


def _estimates(metric: str, side: Side) -> list[Estimate]:
    return [_estimate(metric, each) for each in side.digests]


def _estimate(metric: str, digest: Digest) -> Estimate:
    steps, warm = digest.steps, digest.steps.warm
    place = {step: i for i, step in enumerate(warm)}
    kept = [place[i] for i in steps.kept]
    times = [steps.ps[i] for i in warm]
    if metric == "step":
        return estimate(times, kept)
    if metric == "device.idle":
        return estimate([steps.ps[i] - steps.device_ps[i] for i in warm], kept)
    if metric.startswith("part."):
        id = metric.removeprefix("part.")
        rows = [(each.sum_ps, each.variance) for each in digest.parts if each.id == id]
    else:
        rows = [(op.sum_ps, op.variance) for op in digest.ops if _chosen(metric, op)]
    inflation = inflation_of(times)
    known = [variance for _, variance in rows if variance is not None]
    variance = float(sum(known)) * inflation if len(known) == len(rows) and len(times) > 2 else None
    return Estimate(sum(ps for ps, _ in rows), len(kept), variance, inflation, max(2.0, len(kept) / inflation))


def _chosen(metric: str, op: DigestOp) -> bool:
    kind, _, pattern = metric.partition(":")
    path = op.origin or op.name
    if kind == "op":
        return fnmatchcase(op.name, pattern) or fnmatchcase(path, pattern)
    return any(fnmatchcase(part, pattern) for part in path.split("/")[:-1])


def _exact_value(metric: str) -> Callable[[Digest], float | None]:
    head, _, pattern = metric.partition(":")
    return {
        "launches": _launches,
        "compiles": lambda digest: sum(digest.steps.compiles[i] for i in digest.steps.kept),
        "health.errors": lambda digest: len(digest.facts["errors"]),
        "tensor_core_share": _tensor_cores,
        "memory.peak": lambda digest: _memory(digest, pattern, "peak_bytes"),
        "memory.growth": lambda digest: _memory(digest, pattern, "growth_bytes"),
    }.get(head, lambda digest: None)


def _launches(digest: Digest) -> float | None:
    counts = [digest.steps.launches[i] for i in digest.steps.kept]
    return max(sorted(set(counts)), key=counts.count) if counts else None


def _tensor_cores(digest: Digest) -> float | None:
    whole = sum(kernel.total_ps for kernel in digest.kernels)
    return sum(kernel.total_ps for kernel in digest.kernels if kernel.tensor_core) / whole if whole else None


def _memory(digest: Digest, pattern: str, column: str) -> float | None:
    found = [int(getattr(each, column)) for each in digest.memory if fnmatchcase(each.allocator, pattern)]
    return sum(found) if found else None
