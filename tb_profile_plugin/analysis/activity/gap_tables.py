"""Tables that the causes of gaps are found in: what a device did, who launched it, what is known to be waited for."""

from __future__ import annotations

from typing import NamedTuple

from ...runtime.arrays import I8, I32, I64, Bool, I64Matrix, Int


class Pieces(NamedTuple):
    """Columns that are filled from the left."""

    begin: I64
    """ps; one row more than the others, for where the last piece ends."""
    state: I8
    event: I32


class Layers(NamedTuple):
    """What a device did, and where it did nothing."""

    edges: I64
    """ps, int64[n + 1]: where each layer begins, and the last one ends."""
    layer: I8
    """int8[n]: the state, -1 for a gap."""
    after: I32
    """int32[gaps]: the event that ends each gap, -1 at the capture's end."""


class Launches(NamedTuple):
    """Columns by event of a device: the call that launched it."""

    begin: I64
    end: I64
    """ps"""
    thread: I32
    number: I32
    """The call, -1 where none was recorded."""
    inside: I8
    """Whether an earlier event has the same launch."""
    early: I8
    """Whether it was launched before the capture."""
    kind: I8


class KnownWaits(NamedTuple):
    """What launched work, and calls that wait, are known to wait for; times in ps."""

    awaited: I64Matrix
    """[n, 3] (begin, end, event): what each event waits for on another device; no rows where none waits for any."""
    wait_calls: I32
    """[n]: the call before each event's launch that lets its stream wait for something, or -1."""
    wide: I64Matrix
    """[m, 5] (begin, end, state, event, since): what any launched work may wait for."""
    peers: I64Matrix
    """[k, 4] (begin, end, state, event), disjoint and ascending: what a wait in a call is for, before ``wide``; with
    event -1 the wait's own stays."""
    usual: I64Matrix
    """[kinds, 2]: how long an event pauses after the one before it, by kind and by `Launches.inside`."""
    latency: Int
    """How long work that finds its stream empty may take to begin."""


class Threads(NamedTuple):
    """What the host's threads did; the columns of `Activity` and of the trace that are needed."""

    begin: I64
    """ps, of each event."""
    lines: I64
    """Where the events of each line begin."""
    line_of: I32
    came_from: I32
    thread: I32
    python: Bool
    first: I64
    """Where the activities of each line begin."""
    activity_begin: I64
    activity_end: I64
    activity_state: I8
    activity_event: I32
    loop: Int
