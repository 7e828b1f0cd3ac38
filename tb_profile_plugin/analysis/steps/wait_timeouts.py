"""Waits for another thread that a timeout ended, since nothing came: time that a shorter timeout gives back."""

from __future__ import annotations

import numpy as np

from ...model.events.repeated_calls import outermost
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.regex import regex
from ..activity.thread_classes import activity
from .host_account import figures

_WAIT = regex(r"\$threading\.py:\d+ wait$")
_REMOVE = regex(r"\$<unknown> remove$|\$?<built-in method remove of (?:collections\.)?deque\b")
"""What `threading.Condition.wait`, on which queues, events and futures wait, calls only where its timeout ended it: it
takes itself from those that wait. By CPython's ``Lib/threading.py``."""
_ASKS_AGAIN_PS = 10**9
"""A loop that waits again so soon (1 ms) looks for something from time to time, and is not kept by the timeout."""


@per_host(keep=True)
def timed_out_ps(host: HostWithSteps) -> Array:
    """int64[windows] ps: how long waits of the loop's thread lasted that their timeouts ended, by `HostFigures.edges`.

    Only those after which the loop went on, instead of waiting again.
    """
    edges = figures(host).edges
    begin, end = _timed_out_waits(host)
    window = (np.searchsorted(edges, (begin + end) // 2, "right") - 1).clip(0, len(edges) - 2)
    ps = np.zeros(len(edges) - 1, np.int64)
    np.add.at(ps, window, end - begin)
    return ps


def _timed_out_waits(host: Host) -> tuple[Array, Array]:
    """(begin, end), int64[k] ps, of these waits."""
    trace = host.trace
    waits = trace.named(lambda name: bool(_WAIT.match(name)))
    if not len(waits):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    act = activity(host)
    # An event's wait holds that of its condition.
    waits = outermost(trace, waits[act.thread[act.line_of[waits]] == act.loop])
    removes = trace.named(lambda name: bool(_REMOVE.match(name)))
    ran_out = np.searchsorted(removes, waits) < np.searchsorted(removes, trace.nesting[1][waits])
    begin, end = trace.begin[waits], trace.end[waits]
    until_next = np.append(begin[1:] - end[:-1], _ASKS_AGAIN_PS)
    is_last = until_next >= _ASKS_AGAIN_PS
    return begin[ran_out & is_last], end[ran_out & is_last]
