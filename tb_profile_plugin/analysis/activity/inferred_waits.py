"""Where a thread waits for devices, or for Python's interpreter, and no event says so.

Programs of PyTorch wait for devices in calls of the driver, which are recorded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.intervals import union
from ...model.events.joins import is_among
from ...model.events.links import LAUNCH
from ...model.framework import PYTORCH, framework
from ...model.host import Host
from ...model.names import host_events
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..xla.shards import work_spans
from .event_classes import NOTHING
from .states import State

_WRITTEN_IN_PYTHON = regex(r"\$\S+\.py:\d+ ")
"""A frame of Python's own code; C functions are recorded as frames, too, and do their own work."""
PYTHON_OP = regex(r"(?:[\w/]+:)?(?:Eager)?PyFunc")
"""An op of TensorFlow that runs Python."""
_AWAITS_STREAM = "BufferSequencingEvent::Execute"
"""What a pool's thread of XLA does for a thread that asks for a result: ``xla/pjrt/buffer_sequencing_event.cc``."""
_LEAST_TIMES, _LEAST_SHARE = 3, 0.75
"""A function waits if it is seen to so often, and in so many of the times that devices finish while it runs."""

_AT_ONCE = 0.1
"""A thread goes on at once after a wait if no more than that share of the time since something happened on it is left.
"""
_NO_LAUNCH = np.iinfo(np.int64).min
"""When what has no launch was launched: before any moment, ps."""


class InferredWaits(NamedTuple):
    """Intervals in which the loop's line waits; int64[k] each."""

    begin: Array
    """ps."""
    end: Array
    """ps."""
    event: Array
    """What tells it, or -1."""


_NO_WAITS = InferredWaits(*[np.empty(0, np.int64)] * 3)


def silent_waits(host: Host, loop: int, classes: Array) -> InferredWaits:
    """Waits that no event tells, with the innermost event around each: JAX's ``block_until_ready`` leaves none.

    Nothing begins or ends on the line in one of them, no work is left for the devices in it, and the longer part of it
    is before they finish. ``classes`` is int8[events], `event_classes`.
    """
    if loop < 0 or framework(host) == PYTORCH:
        return _NO_WAITS
    if not host.devices:
        return _waits_for_cpu(host, loop, classes)
    if not host.gpus:
        return _NO_WAITS
    task_waits, done = _waits_for_tasks(host, loop, classes), _all_done(host)
    if not len(done):
        return task_waits
    around, since, until = _quiet_around(host, loop, done)
    silent = (since < done) & (done < until) & _is_silent(host, around, classes, _is_telling_frame)
    around, since, until, done = (column[silent] for column in (around, since, until, done))
    near = until - done <= done - since
    is_wait = near & _do_mostly(host, around, near) & ~is_among(since, task_waits.begin)
    device_waits = InferredWaits(since[is_wait], until[is_wait], around[is_wait])
    return InferredWaits(*map(np.concatenate, zip(task_waits, device_waits, strict=True)))


def _waits_for_tasks(host: Host, loop: int, classes: Array) -> InferredWaits:
    """As `silent_waits`, for tasks that XLA runs on a pool's thread since the loop's thread asks for a result: they
    wait for the stream that makes it, also where that recorded no work. Where no event is around, the task tells it.

    The loop's thread waits for one that it handed over where it goes on at once when that is over.
    """
    trace, links = host.trace, host.trace.links
    is_task = is_among(links.target.astype(np.int64), trace.events_named(lambda name: name == _AWAITS_STREAM))
    tasks = links.target[is_task & (trace.line_of[links.source] == loop)].astype(np.int64)
    if not len(tasks):
        return _NO_WAITS
    tasks = tasks[np.argsort(trace.end[tasks], kind="stable")]
    done = trace.end[tasks]
    around, since, until = _quiet_around(host, loop, done)
    is_wait = np.append(since[1:] != since[:-1], True) & (since < done) & (done < until)
    is_wait &= _is_silent(host, around, classes, _is_telling_frame) & (until - done <= _AT_ONCE * (until - since))
    is_wait &= ~_is_within_wait(host, around, classes)
    return InferredWaits(since[is_wait], until[is_wait], np.where(around < 0, tasks, around)[is_wait])


def _is_within_wait(host: Host, event: Array, classes: Array) -> Array:
    """bool[k]: whether an event, or one around it, tells that it waits; -1 stands for none."""
    parent, is_within = host.trace.nesting.parent, np.zeros(len(event), bool)
    while (event >= 0).any():
        is_within |= (event >= 0) & (classes[event.clip(0)] == State.SYNC)
        event = np.where(event >= 0, parent[event.clip(0)], -1)
    return is_within


def _waits_for_cpu(host: Host, loop: int, classes: Array) -> InferredWaits:
    """As `silent_waits`, for ops of XLA that threads of a pool run on the CPU, until these are over.

    Also in functions of C, such as ``numpy.asarray`` of an array of JAX. The loop may as well do something else at the
    time: that it waits is told only where it goes on at once when the ops are over.
    """
    plane = host.cpu
    if plane is None or not plane.has_stat(vocabulary.HLO_OP):
        return _NO_WAITS
    done = union(*work_spans(host, plane))[1]
    if not len(done):
        return _NO_WAITS
    around, since, until = _quiet_around(host, loop, done)
    is_last = np.append(since[1:] != since[:-1], True)
    may_wait = is_last & (since < done) & (done < until)
    may_wait &= _is_silent(host, around, classes, host_events.is_sleeping)
    around, since, until, done = (column[may_wait] for column in (around, since, until, done))
    at_once = until - done <= _AT_ONCE * (until - since)
    is_wait = at_once & _do_mostly(host, around, at_once)
    return InferredWaits(since[is_wait], done[is_wait], around[is_wait])


def interpreter_waits(host: Host, loop: int, classes: Array) -> InferredWaits:
    """Waits of the loop's line since an op of TensorFlow runs Python on another thread, and that op: disjoint and in
    order of time.

    One thread at a time runs Python. So a call into the framework returns only when the op is over: nothing begins or
    ends on the line meanwhile, and it goes on soon after. That is told only where it happens most of the times.
    """
    trace = host.trace
    ops = trace.events_named(PYTHON_OP.match)
    ops = ops[trace.line_of[ops] != loop]
    if not len(ops) or loop < 0:
        return _NO_WAITS
    ops = ops[np.argsort(trace.end[ops], kind="stable")]
    done = trace.end[ops]
    around, since, until = _quiet_around(host, loop, done)
    begin = np.maximum(since, trace.begin[ops])
    begin[1:] = np.maximum(begin[1:], done[:-1])
    state = classes[around.clip(0)]
    in_call = (around >= 0) & ((state == State.SYNC) | (state == State.DISPATCH)) & (begin < done)
    is_waiting = in_call & (until - done <= done - begin)
    if int(is_waiting.sum()) < max(_LEAST_TIMES, _LEAST_SHARE * int(in_call.sum())):
        return _NO_WAITS
    return InferredWaits(begin[is_waiting], done[is_waiting], ops[is_waiting])


def _all_done(host: Host) -> Array:
    """int64[k] ps, ascending: when the devices had done all that had been launched until then."""
    trace = host.trace
    links = trace.links
    launched = np.full(len(trace), _NO_LAUNCH, np.int64)
    is_launch = links.kind == LAUNCH
    launched[links.target[is_launch]] = trace.begin[links.source[is_launch]]
    rows = np.concatenate([np.flatnonzero(host.on_streams(gpu)) + trace.slice_of(gpu).start for gpu in host.gpus])
    begin, end = union(trace.begin[rows], trace.end[rows])
    if not len(begin):
        return begin
    # Whatever was launched first of what they do when they go on.
    rows = rows[np.argsort(trace.begin[rows], kind="stable")]
    next_launch = np.minimum.reduceat(launched[rows], np.searchsorted(trace.begin[rows], begin))
    return end[np.append(next_launch[1:] > end[:-1], True)]


def _quiet_around(host: Host, line: int, moments: Array) -> tuple[Array, Array, Array]:
    """(event, since, until), int64[k]: the innermost event of a line at each moment, or -1, and how long nothing begins
    or ends around the moment.
    """
    trace, parent = host.trace, host.trace.nesting.parent
    first, stop = trace.lines[line : line + 2].tolist()
    index = first + np.searchsorted(trace.begin[first:stop], moments, "right") - 1
    event = np.where(index >= first, index, -1)
    since = np.full(len(moments), host.window[0], np.int64)
    since[event >= 0] = trace.begin[event[event >= 0]]
    while True:
        ended = np.flatnonzero((event >= 0) & (trace.end[event] <= moments))
        if not len(ended):
            break
        since[ended] = np.maximum(since[ended], trace.end[event[ended]])
        event[ended] = parent[event[ended]]
    until = np.where(event >= 0, trace.end[event], host.window[1])
    follows = index + 1 < stop
    until[follows] = np.minimum(until[follows], trace.begin[index[follows] + 1])
    return event, since, until


def _is_silent(host: Host, event: Array, classes: Array, tells: Callable[[str], bool]) -> Array:
    """bool[k]: whether an event does not tell by its name what happens in it: Python's own code, a mark, or none."""
    state = classes[event.clip(0)]
    is_telling = host.trace.are_named(event.clip(0), tells)
    return (event < 0) | (~is_telling & ((state == State.PYTHON) | (state == NOTHING)))


def _do_mostly(host: Host, event: Array, does: Array) -> Array:
    """bool[k]: whether events of a name do something (bool[k]) most of the times, and at least a few times."""
    name = np.where(event >= 0, host.trace.name_of[event.clip(0)] + 1, 0)
    times, times_it_does = np.bincount(name), np.bincount(name[does], minlength=int(name.max(initial=0)) + 1)
    mostly: Array = ((times_it_does >= _LEAST_TIMES) & (times_it_does >= _LEAST_SHARE * times))[name]
    return mostly


def _is_telling_frame(name: str) -> bool:
    """Whether a frame of that name says what its thread does: it sleeps, or it is a C function."""
    return host_events.is_frame(name) and (host_events.is_sleeping(name) or not _WRITTEN_IN_PYTHON.match(name))
