"""Steps of which devices recorded the work, where their records end before the host's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...runtime.arrays import Array, median
from ...runtime.records import NamedTuple
from ..events.links import LAUNCH
from ..events.trace import Trace
from .step_rules import Steps
from .step_work import steps_of_groups

_LEAST_ENDED_SHARE, _LEAST_REPEATED_SHARE = 0.5, 0.9
"""Shares: of the devices' work that ends, and of the host's names that go on."""
_LEAST_STEPS = 3
"""Of fewer nothing tells what each of them does."""
_MOST_RATIO = 2
"""So many times as long, or as short, the same steps may be without their records."""


def with_recorded(trace: Trace, steps: Steps) -> Steps:
    """The steps, of which those are incomplete that devices no longer recorded."""
    is_recorded = np.arange(len(steps)) < recorded_count(trace, steps)
    return steps if is_recorded.all() else replace(steps, complete=steps.complete & is_recorded)


def recorded_count(trace: Trace, steps: Steps) -> int:
    """How many of the first steps devices recorded: all, unless what they did in each of the first ones never comes
    again, nothing else takes its place, and the host goes on as before.
    """
    count = len(steps)
    work = np.flatnonzero(trace.on_device & ~trace.is_xla_cpu_op) if count >= _LEAST_STEPS else np.empty(0, np.int64)
    work = work[steps.group_of[work] >= 0]
    group_ps = np.bincount(
        steps.group_of[work], trace.end[work] - trace.begin[work], int(steps.group.max(initial=0)) + 1
    )
    if not len(work) or group_ps[steps.group[-1]] >= _LEAST_ENDED_SHARE * group_ps[steps.group].max():
        return count
    step = steps_of_groups(steps.group, steps.group_of)[steps.group_of]
    work = work[step[work] >= 0]
    name_steps = _name_steps(trace, step, work, count)
    first, last = name_steps.first, name_steps.last
    name_ps = np.bincount(trace.name_of[work], trace.end[work] - trace.begin[work])[name_steps.name]
    is_ended = (name_steps.steps == last + 1) & (0 < last) & (last < count - 1)
    if not is_ended.any() or name_ps[is_ended].sum() < _LEAST_ENDED_SHARE * name_ps.sum():
        return count
    recorded = int(np.bincount(last[is_ended], name_ps[is_ended]).argmax()) + 1
    goes_on = (first < recorded).all() and _host_repeats_itself(trace, step, recorded, count)
    before_ps, after_ps = (median(lengths) for lengths in np.split(steps.length, [recorded]))
    return recorded if goes_on and before_ps <= _MOST_RATIO * after_ps <= _MOST_RATIO**2 * before_ps else count


def _host_repeats_itself(trace: Trace, step: Array, recorded: int, count: int) -> bool:
    """Whether what the host does in each recorded step, but for launches, it does in each of the others, too."""
    is_other = trace.on_device | (step < 0)
    is_other[trace.links.source[trace.links.kind == LAUNCH]] = True
    events = np.flatnonzero(~is_other)
    is_before = step[events] < recorded
    names_before, names_after = (_name_steps(trace, step, events[rows], count) for rows in (is_before, ~is_before))
    usual_names = names_before.name[names_before.steps == recorded]
    is_repeated = np.isin(usual_names, names_after.name[names_after.steps == count - recorded])
    return bool(len(usual_names) and is_repeated.mean() >= _LEAST_REPEATED_SHARE)


class _NameSteps(NamedTuple):
    """In which steps events of each name are; int64[k] each."""

    name: Array
    """Rows of the trace's names, ascending."""
    steps: Array
    """How many."""
    first: Array
    last: Array


def _name_steps(trace: Trace, step: Array, events: Array, count: int) -> _NameSteps:
    """Of the names that these events have; ``step`` (int64[events]) is the row of each event's step, of so many."""
    pairs = np.unique(trace.name_of[events].astype(np.int64) * count + step[events])
    name, start, step_count = np.unique(pairs // count, return_index=True, return_counts=True)
    return _NameSteps(name, step_count, pairs[start] % count, pairs[start + step_count - 1] % count)
