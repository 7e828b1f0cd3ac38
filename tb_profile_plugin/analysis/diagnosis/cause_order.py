"""The order of causes: which one leads, and what stands behind it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .causes import HOST_LATE, Cause
from .headlines import BAD, LEADS, passing
from .time_loss import UNUSED, WORK, TimeLoss

_WORTH_A_LINE = 0.03
"""Share of the period, from which on a loss is worth a line."""
_WORK_BESIDE_COMPUTE = ("exposed_collective", "exposed_copy", "host_offload")
"""What devices do has one, too, where it takes as long as what they compute."""
_ONE_OP_FACTOR, _LARGE = 2.0, 0.25
"""An op that takes so many times the largest loss leads over it, where that is no such share of the period."""
_BESIDE_WORK, _BESIDE_WORK_OF_CPU, _BESIDE_OPS, _EAGER = 1 / 3, 2 / 3, 1, "eager"
"""A loss that is less than such a part of the work is no largest fact; the second where a CPU does the work, and the
loss is what every program of the framework costs it; the third of eager execution there, which short ops are part of.
"""
_WASTED_SHARE = 0.5
"""Share of its time that wasteful work may do without, where that is not known: float32 takes half as long as float64.
"""
_TIE_MARGIN = 0.1
"""Several ways of being late lead together over another cause only where they are by this share longer than that."""


def by_cost(
    all_losses: list[TimeLoss], period_ps: float, is_wasteful: bool, of_framework: Collection[str]
) -> list[TimeLoss]:
    """The causes in the order of what can be won of them, as far as that is known without replays.

    Work comes first where no loss leads, else after all losses. Warming up is last, since it passes, and so is the one
    step of a few that is unlike the others. ``of_framework`` are what every program of the framework costs a CPU that
    does the work, too: these causes lead only beside less work.
    """
    least_ps = _WORTH_A_LINE * period_ps
    last = passing(all_losses)
    work = [loss for loss in all_losses if loss.id == WORK]
    losses = sorted((loss for loss in all_losses if loss.id not in (WORK, *last)), key=lambda loss: -loss.winnable_ps)
    large = [loss for loss in losses if loss.ps >= least_ps or _exceeds(loss, work)]
    losses = large or losses[: 0 if work else 1]
    behind = [loss for loss in losses if _leads_nothing(loss)]
    losses = [loss for loss in losses if loss not in behind]
    host_first = _host_first(losses)
    leads = _first_leads(host_first, work, period_ps, is_wasteful, of_framework)
    passes = [loss for id in last for loss in all_losses if loss.id == id and loss.ps >= least_ps]
    ranked = [*host_first, *work, *behind, *passes] if leads else [*work, *losses, *behind, *passes]
    # That the GPU is not used is said before anything else.
    return sorted(ranked, key=lambda loss: loss.id != UNUSED)


def _exceeds(loss: TimeLoss, work: Sequence[TimeLoss]) -> bool:
    """Whether devices take longer for it than for what they compute."""
    return loss.id in _WORK_BESIDE_COMPUTE and 0 < sum(part.ps for part in work) <= loss.ps


def _leads_nothing(loss: TimeLoss) -> bool:
    """Whether a loss costs nothing by comparison of the steps, or a single step has it by chance."""
    return loss.costs_nothing or loss.is_of_one_step


def by_gain(ranked: Sequence[TimeLoss], causes: Sequence[Cause]) -> list[Cause]:
    """The causes of these losses; after the first, those that may lead by what each saves at most."""
    last = (WORK, *passing(ranked))

    def rank(pair: tuple[TimeLoss, Cause]) -> tuple[bool, float]:
        loss, cause = pair
        is_last = loss.id in last or _leads_nothing(loss)
        return is_last, 0.0 if is_last else -(loss.winnable_ps if cause.gain_ps is None else cause.gain_ps)

    pairs = [*zip(ranked, causes, strict=True)]
    return [cause for _, cause in (*pairs[:1], *sorted(pairs[1:], key=rank))]


def _host_first(losses: list[TimeLoss]) -> list[TimeLoss]:
    """The losses, largest first; but first one of the ways in which the host is late, where these lead together."""
    late = [loss for loss in losses if loss.id in HOST_LATE]
    other_ps = max((loss.winnable_ps for loss in losses if loss.id not in HOST_LATE), default=0.0)
    if sum(loss.ps for loss in late) <= (1 + _TIE_MARGIN) * other_ps:
        return losses
    return [*late[:1], *(loss for loss in losses if loss is not late[0])]


def _first_leads(
    losses: Sequence[TimeLoss],
    work: Sequence[TimeLoss],
    period_ps: float,
    is_wasteful: bool,
    of_framework: Collection[str],
) -> bool:
    """Whether the first loss is what to begin with: it is large, and neither one op nor half of a waste is more. Input
    that sets the pace is, since no work gets steps shorter then.
    """
    if not losses:
        return False

    first = losses[0]
    if first.sets_pace:
        return first.ps >= LEADS * period_ps
    late_ps = sum(loss.ps for loss in losses if loss.id in HOST_LATE)
    work_ps = sum(loss.ps for loss in work)
    largest_ps = max(late_ps, first.winnable_ps)
    is_large = first.winnable_ps >= LEADS * period_ps or (first.id in HOST_LATE and late_ps >= BAD * period_ps)
    beside_work = _BESIDE_OPS if first.id == _EAGER else _BESIDE_WORK_OF_CPU
    is_large &= largest_ps >= (beside_work if first.id in of_framework else _BESIDE_WORK) * work_ps
    one_op_is_more = largest_ps < _LARGE * period_ps and _is_one_op(work, largest_ps)
    return is_large and not one_op_is_more and _wasted_ps(work, is_wasteful) <= largest_ps


def _wasted_ps(work: Sequence[TimeLoss], is_wasteful: bool) -> float:
    """What the work may do without, ps per step."""
    known_ps = max((loss.remedy.most_ps or 0.0 for loss in work if loss.remedy is not None), default=0.0)
    return max(known_ps, _WASTED_SHARE * sum(loss.ps for loss in work) if is_wasteful else 0.0)


def _is_one_op(work: Sequence[TimeLoss], loss_ps: float) -> bool:
    """Whether one op takes so much more than the largest loss that it is what to look at first."""
    return max((ps for loss in work for _, ps, _ in loss.by_name()), default=0.0) >= _ONE_OP_FACTOR * loss_ps
