"""Tables that the causes of gaps are found in: what a device did, who launched it, what is known to be waited for."""

from __future__ import annotations

from ...runtime.arrays import I8, I32, I64, Bool, I64Matrix, Int
from ...runtime.records import NamedTuple

BEGIN, END, STATE, EVENT, SINCE = range(5)
"""Columns of `KnownWaits.general`; the first four are those of `KnownWaits.peers`, too."""


class Pieces(NamedTuple):
    """Parts of a device's time, in order; columns that are filled from the left."""

    begin: I64
    """int64[n + 1] ps: where each piece begins, and the last one ends."""
    state: I8
    """int8[n]: `State`."""
    event: I32
    """int32[n]: number of the host's event that tells the cause, or -1."""


class Layers(NamedTuple):
    """What a device did, and where it did nothing."""

    edges: I64
    """ps, int64[n + 1]: where each layer begins, and the last one ends."""
    layer: I8
    """int8[n]: the state, -1 for a gap."""
    ending_event: I32
    """int32[gaps]: the event that ends each gap, -1 at the capture's end."""


class Launches(NamedTuple):
    """Columns by event of a device: the call that launched it."""

    begin: I64
    """int64[n] ps: of the call, or of the event itself where no call is known."""
    end: I64
    """int64[n] ps: of the call, at most the event's begin."""
    thread: I32
    """int32[n]: the line of the thread, or -1."""
    call: I32
    """int32[n]: number of the call's event, -1 where none was recorded."""
    inside: I8
    """int8[n]: 1 where an earlier event has the same launch."""
    early: I8
    """int8[n]: 1 where it was launched before the capture."""
    kind: I8
    """int8[n]: `device_events.Kind` of the event that was launched."""


class KnownWaits(NamedTuple):
    """What launched work, and calls that wait, are known to wait for; times in ps."""

    awaited: I64Matrix
    """int64[n, 3] (begin, end, event): what each event waits for on another device; no rows if none waits for any."""
    wait_calls: I32
    """int32[n]: the call before each event's launch that lets its stream wait for something, or -1."""
    general: I64Matrix
    """int64[m, 5] (begin, end, state, event, since): what any launched work may wait for."""
    peers: I64Matrix
    """int64[k, 4] (begin, end, state, event), disjoint and ascending: what a wait in a call is for, before
    ``general``; with event -1 the wait's own stays."""
    usual_pause_ps: I64Matrix
    """int64[kinds, 2]: how long an event pauses after the one before it, by kind and by `Launches.inside`."""
    latency_ps: Int
    """How long work that finds its stream empty may take to begin."""


class HostThreads(NamedTuple):
    """What the host's threads did; the columns of `Activity` and of the trace that are needed."""

    begin: I64
    """int64[events] ps."""
    lines: I64
    """int64[lines + 1]: the events of a line are ``lines[i]:lines[i + 1]``."""
    line_of: I32
    """int32[events]; this and the rest as `Activity` has them."""
    came_from: I32
    thread: I32
    python: Bool
    first: I64
    """int64[lines + 1]: the activities of a line are ``first[i]:first[i + 1]``."""
    activity_begin: I64
    activity_end: I64
    activity_state: I8
    activity_event: I32
    loop: Int
