"""What a capture of TensorFlow shows of its program."""

from __future__ import annotations

import numpy as np

from ....model.host import HostWithSteps
from ....runtime.regex import regex
from ...steps.dispatched_calls import calls_per_step
from .facts import SINGLE_OPS, WRITES_SUMMARIES

_SINGLE_OP, _SUMMARY = "EagerLocalExecute: ", regex(r"EagerLocalExecute: Write\w*Summary")
_MANY_SINGLE_OPS = 50
"""So many ops in a step that TensorFlow runs one by one are no few that surround a compiled function."""


def tensorflow_facts(host: HostWithSteps) -> set[str]:
    """Which of `facts` that are asked of TensorFlow alone a host's capture shows."""
    if calls_per_step(host) < _MANY_SINGLE_OPS:
        return set()
    return {SINGLE_OPS, WRITES_SUMMARIES} if _prepares_summaries(host) else {SINGLE_OPS}


def _prepares_summaries(host: HostWithSteps) -> bool:
    """Whether half of the single ops in steps begin between the first and the last summary of their step."""
    steps, begin = host.steps, host.trace.begin
    ops = np.sort(begin[host.trace.named(lambda name: name.startswith(_SINGLE_OP))])
    summaries = np.sort(begin[host.trace.named(lambda name: bool(_SUMMARY.match(name)))])
    first, end = np.searchsorted(summaries, (steps.begin, steps.end))
    first, end = first[end > first], end[end > first]
    between = np.searchsorted(ops, summaries[end - 1]) - np.searchsorted(ops, summaries[first])
    return bool(2 * between.sum() > np.diff(np.searchsorted(ops, (steps.begin, steps.end)), axis=0).sum())
