"""Tables that the causes of gaps are found in: what a device did, who launched it, what is known to be waited for."""

from __future__ import annotations

from ...runtime.arrays import I8, I32, I64, I64Matrix, Int
from ...runtime.records import NamedTuple
from .thread_classes import Activity

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
    ending_row: I32
    """int32[gaps]: row in the device's work of the event that ends each gap, -1 at the capture's end."""


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
    """int64[kinds, 2]: how long an event pauses after the one before it, by kind and by `follows_in_launch`."""
    latency_ps: Int
    """How long work that finds its stream empty may take to begin."""


class HostThreads(NamedTuple):
    """What the host's threads did."""

    begin: I64
    """int64[events] ps."""
    lines: I64
    """int64[lines + 1]: the events of a line are ``lines[i]:lines[i + 1]``."""
    activity: Activity
