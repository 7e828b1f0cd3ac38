"""Is the input the bottleneck, and what else is: by the thresholds of TensorFlow's profiler."""

from __future__ import annotations

from typing import NamedTuple

from ...runtime.arrays import Array
from .parts import COMMUNICATION, INPUT, UNEXPLAINED, Part
from .steps import percent

HIGH, MODERATE = 15.0, 3.0
"""Shares of the step (percent) from which collectives, kernel launch and unexplained time count as such."""


class Bottleneck(NamedTuple):
    """How much a part of the step holds it up; the thresholds are those of TensorFlow's profiler."""

    level: str | None
    """``high``, ``moderate`` or ``no``; None where no step was found."""
    statement: str
    """The figure in a sentence; empty where there is nothing to say."""


def bottlenecks(part_ps: Array, uses_tf_data: bool) -> dict[str, Bottleneck]:
    """Of ``input``, ``collectives``, ``kernel_launch`` and ``other``, by their shares of the steps that count.

    ``part_ps`` is int64[n, len(Part)], a row for each of these steps.
    """
    if not len(part_ps):
        nothing = "No steps were found, so the bottleneck cannot be told from step time."
        return {"input": Bottleneck(None, nothing)} | dict.fromkeys(_PARTS, Bottleneck(None, ""))
    input_percent, others = percent(part_ps, *INPUT), percent(part_ps, *UNEXPLAINED)
    explained = input_percent < 5 and others >= MODERATE
    contention = (
        " The input pipeline's threads may compete with the launching thread for the CPU: "
        "try TF_GPU_THREAD_MODE=gpu_private."
        if uses_tf_data
        else ""
    )
    collectives = "{:.1f} % of step time goes into 'Collective Communication'."
    launch = "{:.1f} % of step time goes into 'Kernel Launch'." + contention
    unexplained = "{:.1f} % of step time is 'All Others': nothing recorded."
    return {
        "input": _input(input_percent, others),
        "collectives": _level(percent(part_ps, *COMMUNICATION), collectives),
        "kernel_launch": _level(percent(part_ps, Part.KERNEL_LAUNCH), launch),
        "other": _level(0.0 if explained else others, unexplained),
    }


_PARTS = ("collectives", "kernel_launch", "other")


def _input(input_percent: float, others: float) -> Bottleneck:
    share_text = f"steps spend {input_percent:.1f}% of their time on input"
    if input_percent >= 20:
        return Bottleneck("high", f"HIGHLY input-bound: {share_text}. Speed up the input first.")
    if input_percent >= 5:
        return Bottleneck("moderate", f"MODERATELY input-bound: {share_text}. Speed up both.")
    if others >= MODERATE:
        text = f"POTENTIALLY input-bound: {others:.1f}% of step time is 'All Others', which may hide I/O or other work."
        return Bottleneck("moderate", text)
    text = (
        f"NOT input-bound: steps spend only {input_percent:.1f}% of their time on input. Look at the rest of the step."
    )
    return Bottleneck("no", text)


def _level(percent: float, text: str) -> Bottleneck:
    if percent < MODERATE:
        return Bottleneck("no", "")
    return Bottleneck("high" if percent >= HIGH else "moderate", text.format(percent))
