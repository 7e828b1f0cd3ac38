"""The value of a metric on a side, and the change of it between two sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..analysis.compare.change import CapturePairs, CaptureValues, RunVariation, Spread, difference_spread, log_ratio
from ..analysis.compare.side import Side, Sides
from ..analysis.statistics import mean, variance
from .metrics import Metric, NamedMetric, find
from .quantity import COUNT, SHARE

_RATE = "items_per_second"
_PS_PER_S = 10**12


@dataclass(frozen=True)
class Measured:
    """The value of a metric on a side, or its change between two sides."""

    value: float
    kind: str
    """A kind of `quantity`."""
    spread: Spread | None = None
    """None for exact metrics, and where nothing tells how it varies."""
    logarithm: float | None = None
    """The middle of the interval, where the spread is that of the logarithm of 1 + value."""


def metric_of(name: str) -> Metric:
    """The metric of a name that is known to be one."""
    return _named_metric(name).metric


def _named_metric(name: str) -> NamedMetric:
    named = find(name)
    assert named, "budgets are of metrics that exist"
    return named


def value_of(name: str, side: Side) -> Measured | None:
    """The metric of one side: the mean of what varies, the worst of what does not; None where it does not have it."""
    metric, choice = _named_metric(name)
    if metric.exact:
        values = [value for value in (metric.exact(digest, choice) for digest in side.digests) if value is not None]
        pick = min if metric.higher else max
        return Measured(pick(values), metric.kind) if values else None
    own = _capture_values(name, side)
    return Measured(mean(own.values), metric.kind, _own_spread(own)) if own else None


def share_of(name: str, side: Side) -> Measured | None:
    """The mean on one side as a share of the step, 0–1; None where either is not known."""
    step, part = value_of("step", side), value_of(name, side)
    if not step or not part or not step.value:
        return None
    error = part.spread and Spread(part.spread.error / step.value, part.spread.freedom)
    return Measured(part.value / step.value, SHARE, error)


def change_of(name: str, base: Side, new: Side, relative: bool, run_variation: RunVariation | None) -> Measured | None:
    """The metric's change from the base to the new side; None where one lacks it, or a share cannot be told."""
    if name == "programs":
        new_programs, base_programs = (
            {program for digest in side.digests for program in digest.programs} for side in (new, base)
        )
        return Measured(len(new_programs - base_programs), COUNT)
    metric, before, after = metric_of(name), value_of(name, base), value_of(name, new)
    if before is None or after is None or (relative and not before.value):
        return None
    difference, pairs = after.value - before.value, Sides(base, new).interleaved_pairs
    if metric.exact:
        return Measured(difference / before.value if relative else difference, SHARE if relative else before.kind)
    if relative and name in ("step", _RATE):
        logarithm, spread = log_ratio(base.step_estimates(), new.step_estimates(), run_variation, pairs)
        middle = (logarithm + math.log(base.items / new.items)) * (-1 if name == _RATE else 1)
        return Measured(difference / before.value, SHARE, spread, middle)
    spread = _spread(
        _capture_values(name, base), _capture_values(name, new), value_of("step", base), run_variation, pairs
    )
    if not relative:
        return Measured(difference, before.kind, spread)
    return Measured(difference / before.value, SHARE, spread and Spread(spread.error / before.value, spread.freedom))


def _capture_values(name: str, side: Side) -> CaptureValues | None:
    """Each capture's value of a metric that varies, per item; None for a rate where a capture's steps take no time."""
    metric, choice = _named_metric(name)
    assert metric.varying, "it varies"
    estimates = [metric.varying(digest, choice) for digest in side.digests]
    if name != _RATE:
        means = [float(estimate.mean) / side.items for estimate in estimates]
        slopes = [1 / side.items] * len(estimates)
    elif all(estimate.total for estimate in estimates):
        means = [float(_PS_PER_S * side.items / estimate.mean) for estimate in estimates]
        slopes = [float(Fraction(_PS_PER_S * side.items) / estimate.mean**2) for estimate in estimates]
    else:
        return None
    variances = [
        None if estimate.variance is None else estimate.variance * slope**2
        for estimate, slope in zip(estimates, slopes, strict=True)
    ]
    return CaptureValues(means, variances, [estimate.freedom for estimate in estimates])


def _own_spread(own: CaptureValues) -> Spread | None:
    """How one side varies: a single capture by its steps, several by how they differ."""
    count = len(own.values)
    if count > 1:
        return Spread(math.sqrt(variance(own.values) / count), count - 1.0)
    (variance_of_it,) = own.variances
    return None if variance_of_it is None else Spread(math.sqrt(variance_of_it), max(1.0, own.freedoms[0] - 1))


def _spread(
    base: CaptureValues | None,
    new: CaptureValues | None,
    step: Measured | None,
    run_variation: RunVariation | None,
    pairs: CapturePairs | None,
) -> Spread | None:
    if not (base and new):
        return None
    if run_variation and step:
        # It is of logarithms of steps; here it is in the step's unit.
        scaled = run_variation._replace(deviation=run_variation.deviation * step.value)
        return difference_spread(base, new, scaled, pairs)
    return difference_spread(base, new, None, pairs)
