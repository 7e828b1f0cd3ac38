"""The metrics that budgets can limit, by name, and how each is worked out from a digest."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from fractions import Fraction

from ..analysis.activity.states import State
from ..analysis.compare.estimate import Estimate, estimate, inflation_of
from ..analysis.compare.facts import precision_shares
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.digest.record import Digest, DigestOp
from ..analysis.statistics import quantile_of
from ..runtime.messages import Message, sentences
from ..runtime.records import NamedTuple
from .quantity import BYTES, COUNT, SHARE, TIME

Exact = Callable[[Digest, str], float | None]
Varying = Callable[[Digest, str], Estimate]
PARTS = tuple(state.name.lower() for state in State)
"""Ids of parts: what each moment of a step is spent on."""
_GLOB_SUFFIX, _ID_SUFFIX = ":<glob>", ".<id>"
_TAIL, _TAIL_STEPS, _DRAWS = 0.95, 50, 500
"""The percentile of ``step.p95``; how many steps tell how it varies; how often these are resampled for that."""


@dataclass(frozen=True)
class Metric:
    """A figure that can be limited; it has one of the functions ``exact`` and ``varying``."""

    doc: str
    kind: str = TIME
    """A kind of `quantity`; times are ps per step."""
    exact: Exact | None = None
    """Gives a count, size or share of which any difference is real; None where the capture does not tell it.
    The metric ``programs`` always gives None, since it takes two sides."""
    varying: Varying | None = None
    """Gives a figure that differs from step to step, and from run to run."""
    higher: bool = False
    """Whether more is better, so that a limit is what it may not fall below."""
    ids: Sequence[str] = ()
    """What may stand for ``<id>`` in its name."""


class NamedMetric(NamedTuple):
    """A metric as it was asked for."""

    metric: Metric
    choice: str
    """What stood for ``<glob>`` or ``<id>``."""


def find_metric(name: str) -> NamedMetric | None:
    """The metric of that name; None where there is none."""
    if name in METRICS and "<" not in name:
        return NamedMetric(METRICS[name], "")
    head, _, argument = name.partition(":")
    if argument and head + _GLOB_SUFFIX in METRICS:
        return NamedMetric(METRICS[head + _GLOB_SUFFIX], argument)
    head, _, argument = name.partition(".")
    metric = METRICS.get(head + _ID_SUFFIX)
    return NamedMetric(metric, argument) if metric and argument in metric.ids else None


def metric_hint(name: str) -> str:
    """A remedy where there is no metric of that name: the ids that it may have, or the nearest name and all names."""
    metric = METRICS.get(name.partition(".")[0] + _ID_SUFFIX)
    if metric:
        return Message("Use one of these ids: {ids}.", ids=", ".join(metric.ids))
    nearest = get_close_matches(name, METRICS, 1)
    return sentences(
        Message("Did you mean {metric}?", metric=nearest[0]) if nearest else "",
        Message("Metrics: {metrics}; docs/check.md explains them.", metrics=", ".join(METRICS)),
    )


def _per_step(times_of: Callable[[Digest], Sequence[int]]) -> Varying:
    """The mean of a time (ps) that each step has."""

    def estimate_of(digest: Digest, _choice: str) -> Estimate:
        times, warm = times_of(digest), digest.steps.warm
        index_of = {step: i for i, step in enumerate(warm)}
        return estimate([times[i] for i in warm], [index_of[i] for i in digest.steps.selected])

    return estimate_of


def _p95(digest: Digest, _choice: str) -> Estimate:
    """The 95th percentile of step times, and how it varies, by resampling runs of neighbouring steps."""
    steps = digest.steps
    times = [steps.ps[i] for i in steps.warm]
    value, n = round(quantile_of(sorted(times), _TAIL)), len(times)
    if n < _TAIL_STEPS:
        return Estimate(value, 1, None, 1.0, 2.0)
    generator, block = random.Random(digest.id), max(1, round(n ** (1 / 3)))
    percentiles = []
    for _ in range(_DRAWS):
        starts = [generator.randrange(n) for _ in range(-(-n // block))]
        percentiles.append(quantile_of(sorted(times[(start + i) % n] for start in starts for i in range(block)), _TAIL))
    mean = sum(percentiles) / _DRAWS
    inflation = inflation_of(times)
    variance = sum((percentile - mean) ** 2 for percentile in percentiles) / (_DRAWS - 1)
    return Estimate(value, 1, variance, inflation, max(2.0, n / inflation))


def _sum(rows: Callable[[Digest, str], list[tuple[int, int | None]]]) -> Varying:
    """The sum of (ps, variance) over the steps that count; a variance is None where it is not known."""

    def estimate_of(digest: Digest, choice: str) -> Estimate:
        steps, sums = digest.steps, rows(digest, choice)
        inflation, count = inflation_of([steps.ps[i] for i in steps.warm]), len(steps.selected)
        variances = [variance for _, variance in sums if variance is not None]
        is_complete = len(variances) == len(sums) and len(steps.warm) > 2
        variance = float(sum(variances)) * inflation if is_complete else None
        return Estimate(sum(ps for ps, _ in sums), count, variance, inflation, max(2.0, count / inflation))

    return estimate_of


def _single(value_of: Callable[[Digest, str], Fraction]) -> Varying:
    """A figure that a digest has once: only several captures tell how it varies."""

    def estimate_of(digest: Digest, choice: str) -> Estimate:
        value = value_of(digest, choice)
        return Estimate(value.numerator, value.denominator, None, 1.0, 2.0)

    return estimate_of


def _ops(digest: Digest, pattern: str) -> list[DigestOp]:
    """Ops whose name or origin matches a pattern of `fnmatch`."""
    paths = [(op, op.origin or op.name) for op in digest.ops]
    return [op for op, path in paths if fnmatchcase(op.name, pattern) or fnmatchcase(path, pattern)]


def _ops_in_scope(digest: Digest, pattern: str) -> list[DigestOp]:
    """Ops with a matching scope in their origin."""
    paths = [(op, (op.origin or op.name).split("/")[:-1]) for op in digest.ops]
    return [op for op, path in paths if any(fnmatchcase(part, pattern) for part in path)]


def _kernel_ps(digest: Digest, pattern: str) -> Fraction:
    total_ps = sum(kernel.total_ps for kernel in digest.kernels if fnmatchcase(kernel.name, pattern))
    return Fraction(total_ps, len(digest.steps.ps))


def _cause_ps(digest: Digest, id: str) -> Fraction:
    return Fraction(sum(cause.per_step_ps for cause in digest.causes if cause.id == id))


def _launches(digest: Digest, pattern: str) -> float:
    return sum(op.launches for op in _ops(digest, pattern)) / len(digest.steps.selected)


def _core_share(digest: Digest, _choice: str) -> float | None:
    total = sum(kernel.total_ps for kernel in digest.kernels)
    return sum(kernel.total_ps for kernel in digest.kernels if kernel.tensor_core) / total if total else None


def _precision(kind: str) -> Exact:
    def share_of(digest: Digest, _choice: str) -> float | None:
        shares = precision_shares([digest])
        return shares.get(kind, 0.0) if shares else None

    return share_of


def _memory_metric(column: str, per_step: bool = False) -> Exact:
    def size_of(digest: Digest, pattern: str) -> float | None:
        sizes = [int(getattr(memory, column)) for memory in digest.memory if fnmatchcase(memory.allocator, pattern)]
        return sum(sizes) / (len(digest.steps.ps) if per_step else 1) if sizes else None

    return size_of


def _fragmentation(digest: Digest, pattern: str) -> float | None:
    fragmentation = [memory.fragmentation_ppm for memory in digest.memory if fnmatchcase(memory.allocator, pattern)]
    return max(fragmentation) / 1e6 if fragmentation else None


METRICS = {
    "step": Metric("Mean time from step to step.", varying=_per_step(lambda digest: digest.steps.ps)),
    "step.p95": Metric("95th percentile of the step times, unusual steps included.", varying=_p95),
    "items_per_second": Metric(
        "Steps per second, or items if the configuration states items per step.",
        COUNT,
        varying=_per_step(lambda digest: digest.steps.ps),
        higher=True,
    ),
    "part.<id>": Metric(
        "Time per step of a part of the step, as in Why.",
        varying=_sum(lambda digest, id: [(part.sum_ps, part.variance) for part in digest.parts if part.id == id]),
        ids=PARTS,
    ),
    "cause.<id>": Metric("Time per step of a cause, as in Why.", varying=_single(_cause_ps), ids=tuple(LABELS)),
    "device.idle": Metric(
        "Time per step in which all devices are idle.",
        varying=_per_step(
            lambda digest: [ps - busy for ps, busy in zip(digest.steps.ps, digest.steps.device_ps, strict=True)]
        ),
    ),
    "op:<glob>": Metric(
        "Time per step of ops with this name or origin.",
        varying=_sum(lambda digest, glob: [(op.sum_ps, op.variance) for op in _ops(digest, glob)]),
    ),
    "scope:<glob>": Metric(
        "Time per step of ops within a scope of this name.",
        varying=_sum(lambda digest, glob: [(op.sum_ps, op.variance) for op in _ops_in_scope(digest, glob)]),
    ),
    "kernel:<glob>": Metric("Time per step of kernels with this name, overlapped or not.", varying=_single(_kernel_ps)),
    "hosts.spread": Metric(
        "Difference of step times between the slowest and the fastest host.",
        varying=_per_step(lambda digest: digest.steps.spread_ps),
    ),
    "tensor_core_share": Metric("Share of the kernel time on tensor cores.", SHARE, exact=_core_share, higher=True),
    "precision.16": Metric("Share of the compute on 16-bit arrays.", SHARE, exact=_precision("16-bit"), higher=True),
    "precision.32": Metric("Share of the compute on 32-bit arrays.", SHARE, exact=_precision("32-bit")),
    "precision.64": Metric("Share of the compute on 64-bit arrays.", SHARE, exact=_precision("64-bit")),
    "launches": Metric(
        "Number of ops and kernels that begin in a step; the most frequent count.",
        COUNT,
        lambda digest, _: digest.steps.usual_launches,
    ),
    "launches:<glob>": Metric("Mean number per step of launches of ops with this name or origin.", COUNT, _launches),
    "compiles": Metric(
        "Number of outermost tracing, lowering or compiling events in the counted steps.",
        COUNT,
        lambda digest, _: sum(digest.steps.compiles[i] for i in digest.steps.selected),
    ),
    "programs": Metric("Number of XLA programs that the baseline lacks; only with max-change.", COUNT, lambda *_: None),
    "memory.peak:<glob>": Metric("Most memory that an allocator has in use.", BYTES, _memory_metric("peak_bytes")),
    "memory.growth:<glob>": Metric(
        "Growth of an allocator's memory per step, from begin to end of the capture.",
        BYTES,
        _memory_metric("growth_bytes", per_step=True),
    ),
    "memory.fragmentation:<glob>": Metric(
        "Highest fragmentation of an allocator's free memory.", SHARE, _fragmentation
    ),
    "health.errors": Metric(
        "Number of errors that Capture health reports.", COUNT, lambda digest, _: len(digest.facts["errors"])
    ),
}
"""By name; a name with ``<glob>`` or ``<id>`` stands for many."""
