"""Where Python waits for other threads and processes, or for sockets, pipes and timers, by the names of its frames; and
which of these waits a timeout ended.
"""

from __future__ import annotations

import numpy as np

from ...model.events.outermost import outermost
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.regex import regex
from ..activity.states import State
from ..activity.thread_classes import activity, have_state
from .device_timeline import DeviceTimeline

_THREAD_WAIT = regex(
    r"\$(?:(?:multiprocessing|concurrent/futures)/)?(?:threading|queue|queues|connection|selectors|_base|thread)\.py:"
    r"\d+ (?:wait\w*|join|get|put|result|recv|poll|select|acquire|_wait_for_tstate_lock|_recv\w*|_poll)$"
    r"|\$?<built-in method acquire\b|\$<unknown> acquire$"
)
"""Frames in which Python waits for its own threads and processes: CPython's ``Lib/threading.py`` and its like. Only
PyTorch's tracer names their folders.
"""
_EVENT_WAIT = regex(
    r"\$?<built-in method (?:poll|recv\w*|accept|connect|read|do_handshake) of "
    r"(?:(?:select|_socket|_ssl)\.|socket object)"
    r"|\$?<built-in (?:method|function) select\b|\$<unknown> (?:poll|recv\w*|accept)$|\$selectors\.py:\d+ select$"
    r"|\$?<built-in function wait(?:pid|id)>$|\$subprocess\.py:\d+ (?:_?wait|_try_wait|_?communicate)$"
)
"""Calls that wait for sockets, pipes and timers, as event loops do, and for commands: CPython's modules select, socket,
ssl and subprocess.
"""
_READ = regex(r"\$(?:posix read|<built-in function read>)$")
"""Calls that read files, or what other processes wrote into pipes: CPython's module os."""
_CONDITION_WAIT = regex(r"\$threading\.py:\d+ wait$")
_TIMEOUT_REMOVAL = regex(r"\$<unknown> remove$|\$?<built-in method remove of (?:collections\.)?deque\b")
"""What `threading.Condition.wait`, on which queues, events and futures wait, calls only where its timeout ended it: it
takes itself from those that wait. By CPython's ``Lib/threading.py``."""
_ASKS_AGAIN_PS = 10**9
"""A loop that waits again so soon (1 ms) looks for something from time to time, and is not kept by the timeout."""


def waits_for_threads(name: str) -> bool:
    """Whether Python waits in it for its own threads and processes."""
    return bool(_THREAD_WAIT.match(name))


def waits_for_others(name: str) -> bool:
    """Whether Python waits in it for its own threads and processes, or for sockets, pipes and timers: for no device."""
    return bool(_THREAD_WAIT.match(name) or _EVENT_WAIT.match(name))


def waits_for_events(trace: Trace, timeline: DeviceTimeline) -> tuple[Array, Array]:
    """(events, processes), int64[k]: intervals in which Python waits for sockets, pipes or timers, and those in which
    it waits to hear from its own processes.
    """
    is_candidate = have_state(timeline.state, State.PYTHON) | have_state(timeline.state, State.SYNC)
    rows = np.flatnonzero(is_candidate & (timeline.event >= 0))
    is_event = trace.are_named(timeline.event[rows], _EVENT_WAIT.match)
    is_read = trace.are_named(timeline.event[rows], _READ.match)
    rows, is_event = rows[is_event | is_read], is_event[is_event | is_read]
    caller = trace.nearest_named(timeline.event[rows], lambda name: not _EVENT_WAIT.match(name))
    is_of_process = (caller >= 0) & trace.are_named(caller, waits_for_threads)
    return rows[is_event & ~is_of_process], rows[is_of_process]


@per_host(keep=True)
def timed_out_waits(host: Host) -> tuple[Array, Array]:
    """(begin, end), int64[k] ps: waits of the loop's thread for another that a timeout ended, since nothing came: time
    that a shorter timeout gives back. Only those after which the loop went on, instead of waiting again.
    """
    trace = host.trace
    waits = trace.events_named(_CONDITION_WAIT.match)
    if not len(waits):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    act = activity(host)
    # An event's wait holds that of its condition.
    waits = outermost(trace, waits[act.thread[act.line_of[waits]] == act.loop])
    removals = trace.events_named(_TIMEOUT_REMOVAL.match)
    is_timed_out = np.searchsorted(removals, waits) < np.searchsorted(removals, trace.nesting.stop[waits])
    begin, end = trace.begin[waits], trace.end[waits]
    until_next = np.append(begin[1:] - end[:-1], _ASKS_AGAIN_PS)
    is_last = until_next >= _ASKS_AGAIN_PS
    return begin[is_timed_out & is_last], end[is_timed_out & is_last]


def timed_out_ps(host: Host, edges: Array) -> Array:
    """int64[windows] ps: how long the `timed_out_waits` of windows lasted; ``edges`` is int64[windows + 1] ps."""
    begin, end = timed_out_waits(host)
    window = (np.searchsorted(edges, (begin + end) // 2, "right") - 1).clip(0, len(edges) - 2)
    ps = np.zeros(len(edges) - 1, np.int64)
    np.add.at(ps, window, end - begin)
    return ps
