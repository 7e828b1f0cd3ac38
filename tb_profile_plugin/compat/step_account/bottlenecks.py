"""Is the input the bottleneck, and what else is: by the thresholds of TensorFlow's profiler."""

from __future__ import annotations

from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from .parts import COMMUNICATION, INPUT, UNEXPLAINED, Part
from .steps import percent

HIGH, MODERATE = 15.0, 3.0
"""Shares of the step (percent) from which collectives, kernel launch and unexplained time count as such."""

_INPUT_HIGH, _INPUT_MODERATE = 20.0, 5.0
"""Shares of the step (percent) from which input counts as such."""


class Bottleneck(NamedTuple):
    """How much a part of the step holds it up; the thresholds are those of TensorFlow's profiler."""

    level: str | None
    """``high``, ``moderate`` or ``no``; None where no step was found."""
    statement: str
    """The figure in a sentence; empty where there is nothing to say."""


def bottlenecks(part_ps: Array, uses_tf_data: bool) -> dict[str, Bottleneck]:
    """By part of the step (``input``, ``collectives``, ``kernel_launch``, ``other``) how much it limits the steps.

    ``part_ps`` is int64[n, len(Part)], a row for each of the steps that count.
    """
    if not len(part_ps):
        no_steps = "No steps were found, so the bottleneck cannot be told from step time."
        unknown = dict.fromkeys(("collectives", "kernel_launch", "other"), Bottleneck(None, ""))
        return {"input": Bottleneck(None, no_steps)} | unknown
    input_percent, unexplained_percent = percent(part_ps, *INPUT), percent(part_ps, *UNEXPLAINED)
    # The sentence about input names the unexplained time then.
    in_input_sentence = input_percent < _INPUT_MODERATE and unexplained_percent >= MODERATE
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
        "input": _input_bottleneck(input_percent, unexplained_percent),
        "collectives": _bottleneck(percent(part_ps, *COMMUNICATION), collectives),
        "kernel_launch": _bottleneck(percent(part_ps, Part.KERNEL_LAUNCH), launch),
        "other": _bottleneck(0.0 if in_input_sentence else unexplained_percent, unexplained),
    }


def _input_bottleneck(input_percent: float, unexplained_percent: float) -> Bottleneck:
    share_text = f"steps spend {input_percent:.1f}% of their time on input"
    if input_percent >= _INPUT_HIGH:
        return Bottleneck("high", f"HIGHLY input-bound: {share_text}. Speed up the input first.")
    if input_percent >= _INPUT_MODERATE:
        return Bottleneck("moderate", f"MODERATELY input-bound: {share_text}. Speed up both.")
    if unexplained_percent >= MODERATE:
        share_text = f"{unexplained_percent:.1f}% of step time is 'All Others', which may hide I/O or other work"
        return Bottleneck("moderate", f"POTENTIALLY input-bound: {share_text}.")
    share_text = f"steps spend only {input_percent:.1f}% of their time on input"
    return Bottleneck("no", f"NOT input-bound: {share_text}. Look at the rest of the step.")


def _bottleneck(step_percent: float, text: str) -> Bottleneck:
    if step_percent < MODERATE:
        return Bottleneck("no", "")
    return Bottleneck("high" if step_percent >= HIGH else "moderate", text.format(step_percent))
