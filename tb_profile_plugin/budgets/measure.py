"""The value of a metric on a side, and the change of it between two sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..analysis.compare.change import CapturePairs, CaptureValues, RunVariation, Spread, difference_spread, log_ratio
from ..analysis.compare.side import Side, Sides
from ..analysis.statistics import mean, variance
from .metrics import Metric, NamedMetric, find_metric
from .quantity import COUNT, SHARE

_RATE = "items_per_second"
_PS_PER_S = 10**12


@dataclass(frozen=True)
class Figure:
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
    named_metric = find_metric(name)
    assert named_metric, "budgets are of metrics that exist"
    return named_metric


def value_of(name: str, side: Side) -> Figure | None:
    """The metric of one side: the mean of what varies, the worst of what does not; None where it does not have it."""
    metric, choice = _named_metric(name)
    if metric.exact:
        values = [value for value in (metric.exact(digest, choice) for digest in side.digests) if value is not None]
        pick = min if metric.higher else max
        return Figure(pick(values), metric.kind) if values else None
    captures = _capture_values(name, side)
    return Figure(mean(captures.values), metric.kind, _side_spread(captures)) if captures else None


def share_of(name: str, side: Side) -> Figure | None:
    """The mean on one side as a share of the step, 0–1; None where either is not known."""
    step, part = value_of("step", side), value_of(name, side)
    if not step or not part or not step.value:
        return None
    error = part.spread and Spread(part.spread.error / step.value, part.spread.freedom)
    return Figure(part.value / step.value, SHARE, error)


def change_of(name: str, base: Side, new: Side, relative: bool, run_variation: RunVariation | None) -> Figure | None:
    """The metric's change from the base to the new side; None where one lacks it, or a share cannot be told."""
    if name == "programs":
        new_programs, base_programs = (
            {program for digest in side.digests for program in digest.programs} for side in (new, base)
        )
        return Figure(len(new_programs - base_programs), COUNT)
    metric, base_value, new_value = metric_of(name), value_of(name, base), value_of(name, new)
    if base_value is None or new_value is None or (relative and not base_value.value):
        return None
    difference, pairs = new_value.value - base_value.value, Sides(base, new).interleaved_pairs
    if metric.exact:
        return Figure(difference / base_value.value if relative else difference, SHARE if relative else base_value.kind)
    if relative and name in ("step", _RATE):
        logarithm, spread = log_ratio(base.step_estimates(), new.step_estimates(), run_variation, pairs)
        log_change = (logarithm + math.log(base.items / new.items)) * (-1 if name == _RATE else 1)
        return Figure(difference / base_value.value, SHARE, spread, log_change)
    spread = _spread(
        _capture_values(name, base), _capture_values(name, new), value_of("step", base), run_variation, pairs
    )
    if not relative:
        return Figure(difference, base_value.kind, spread)
    return Figure(
        difference / base_value.value, SHARE, spread and Spread(spread.error / base_value.value, spread.freedom)
    )


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


def _side_spread(captures: CaptureValues) -> Spread | None:
    """How one side varies: a single capture by its steps, several by how they differ."""
    count = len(captures.values)
    if count > 1:
        return Spread(math.sqrt(variance(captures.values) / count), count - 1.0)
    (capture_variance,) = captures.variances
    return None if capture_variance is None else Spread(math.sqrt(capture_variance), max(1.0, captures.freedoms[0] - 1))


def _spread(
    base: CaptureValues | None,
    new: CaptureValues | None,
    step: Figure | None,
    run_variation: RunVariation | None,
    pairs: CapturePairs | None,
) -> Spread | None:
    if not (base and new):
        return None
    if run_variation and step:
        # It is of logarithms of steps; here it is in the step's unit.
        step_variation = run_variation._replace(deviation=run_variation.deviation * step.value)
        return difference_spread(base, new, step_variation, pairs)
    return difference_spread(base, new, None, pairs)
