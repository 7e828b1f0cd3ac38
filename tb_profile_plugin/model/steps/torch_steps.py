"""Steps of PyTorch's programs: what began within a mark of its profiler, or in a turn of the loop, on any thread, and
what that launched.
"""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit
from ...runtime.regex import regex
from ..events.groups import Groups
from ..events.intervals import lower_bound
from ..events.links import LAUNCH
from ..events.trace import Trace
from .step_work import earlier_end

NUMBERED = regex(r"ProfilerStep#(\d+)")
"""Such a mark, which carries its number in its name."""

_SERVED = regex(r"execute_(?:\d+_)?(?:context|new)_\d\S*_(?:generation|cached)_\d+|step\[[A-Z_]+ bs=\d+")
"""What engines that serve models mark each iteration with: vLLM (``annotate_profile`` of its GPU worker; AMD's adds the
number of tokens) and SGLang (its scheduler's ``step[DECODE bs=32]``).
"""


def profiler_marks(trace: Trace) -> Array:
    """int64[k]: the marks on threads; on devices the profiler repeats them, to tell when their work ran."""
    events = trace.events_named(NUMBERED.fullmatch)
    return events[~trace.on_device[events]]


def serving_marks(trace: Trace) -> Array:
    """int64[k]: the marks of a serving engine's iterations, each of which may run its model in several pieces."""
    events = trace.events_named(_SERVED.match)
    return events[~trace.on_device[events]]


def is_last_until_stop(trace: Trace, marks: Array) -> bool:
    """Whether the last of these marks is no step, but lasts from the last ``step()`` to the profiler's stop.

    Then no op begins in it and nothing is launched, unlike in the others; ``marks`` are in order of time.
    """
    launches, ops = trace.links.source[trace.links.kind == LAUNCH], trace.in_categories(vocabulary.TORCH_OPS)
    begin = trace.begin[np.concatenate((launches, ops))]
    has_work = (
        bool(((begin >= trace.begin[mark]) & (begin < trace.end[mark])).any()) for mark in reversed(marks.tolist())
    )
    return len(marks) > 1 and not next(has_work) and any(has_work)


def group(trace: Trace, roots: Array, end: Array) -> Groups:
    """Groups under marks in order of time, of which none encloses another; ``end`` is int64[k] ps, where each ends.

    Backward passes run on threads of their own, where no mark encloses them: so time decides on the host, and on
    devices the launch.
    """
    group_of = _mark_at(trace.begin[roots], end, trace.begin, trace.on_device)
    group_of[roots] = np.arange(len(roots))
    launched = trace.links.kind == LAUNCH
    group_of[trace.links.target[launched]] = group_of[trace.links.source[launched]]
    return Groups(roots, group_of)


@jit
def _mark_at(begin: I64, end: I64, times: I64, on_device: Bool) -> I32:
    """int32[n]: the last mark that begins at each time or before it, if it has not ended by then; else -1.

    ``begin`` is ascending; times mostly follow one another. What is ``on_device`` lies in no mark.
    """
    answer = np.empty(len(times), np.int32)
    following = np.int64(0)
    for i in range(len(times)):
        following = np.int64(lower_bound(begin, times[i] + 1, following))
        mark = following - 1
        answer[i] = mark if mark >= 0 and times[i] < end[mark] and not on_device[i] else -1
    return answer


def spans(trace: Trace, groups: Groups, until: Array) -> tuple[Array, Array]:
    """Begin and end of the groups: from mark to mark, and each on to the end of what it launched on devices.

    ``until`` is int64[k] ps: where each mark or turn ends on the host.

    As PyTorch's own plugin for TensorBoard did (pytorch/kineto, tb_plugin, April 2026): a step begins where the one
    before it ended, the first one not before work ended that was launched earlier.
    """
    begin, end = trace.begin[groups.root], until.copy()
    device_work = np.flatnonzero(trace.on_device & (groups.group_of >= 0))
    np.maximum.at(end, groups.group_of[device_work], trace.end[device_work])
    end = np.maximum.accumulate(end)
    since = earlier_end(trace, device_work[groups.group_of[device_work] == 0], int(begin[0]))
    return np.maximum(begin, np.append(since, end[:-1])), end
