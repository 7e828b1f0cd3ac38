"""Steps of PyTorch's profiler: what began within a mark ``ProfilerStep#n`` on any thread, and what that launched."""

from __future__ import annotations

import re

import numpy as np

from ..arrays import Array
from .groups import Groups
from .links import LAUNCH
from .trace import Trace

NUMBERED = re.compile(r"ProfilerStep#(\d+)")
"""Such a mark, which carries its number in its name."""


def marks(trace: Trace) -> Array:
    """int64[k]: the marks on threads; on devices the profiler repeats them, to tell when their work ran."""
    found = trace.named(lambda name: bool(NUMBERED.fullmatch(name)))
    answer: Array = found[~trace.on_device[found]]
    return answer


def group(trace: Trace, roots: Array) -> Groups:
    """Groups under marks in order of time, of which none encloses another.

    Backward passes run on threads of their own, where no mark encloses them: so time decides on the host, and on
    devices the launch.
    """
    place = np.searchsorted(trace.begin[roots], trace.begin, "right") - 1
    inside = (place >= 0) & (trace.begin < trace.end[roots][place.clip(0)]) & ~trace.on_device
    of_event = np.where(inside, place, -1).astype(np.int32)
    of_event[roots] = np.arange(len(roots))
    launched = trace.links.kind == LAUNCH
    of_event[trace.links.target[launched]] = of_event[trace.links.source[launched]]
    return Groups(roots, of_event)


def spans(trace: Trace, found: Groups) -> tuple[Array, Array]:
    """Begin and end of the groups: from mark to mark, and each on to the end of what it launched on devices.

    As PyTorch's own plugin for TensorBoard did (pytorch/kineto, tb_plugin, April 2026): a step begins where the one
    before it ended, the first one not before work ended that was launched earlier.
    """
    begin, end = trace.begin[found.root], trace.end[found.root].copy()
    mine = np.flatnonzero(trace.on_device & (found.of_event >= 0))
    np.maximum.at(end, found.of_event[mine], trace.end[mine])
    end = np.maximum.accumulate(end)
    first = mine[found.of_event[mine] == 0]
    launched = trace.links.kind == LAUNCH
    source, target = trace.links.source[launched], trace.links.target[launched]
    earlier = target[trace.begin[source] < begin[0]]
    if len(first):
        earlier = earlier[trace.end[earlier] <= trace.begin[first].min()]
    before = int(trace.end[earlier].max(initial=begin[0]))
    return np.maximum(begin, np.append(before, end[:-1])), end
