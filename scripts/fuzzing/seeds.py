"""Small captures to damage, cut from real ones: with little else in them, damage meets what matters, and soon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tb_profile_plugin.runtime.protos import message

LINES = EVENTS = 8
"""What is left of each plane and of each line."""
UNUSED = 2
"""Metadata that no event uses, of which the smallest stay: XLA programs lie there."""


def cut(data: bytes) -> bytes:
    """The first events of the first lines of each plane, with what they name."""
    space = message("tensorflow.profiler.XSpace")()
    space.ParseFromString(data)
    for plane in space.planes:
        del plane.lines[LINES:]
        for line in plane.lines:
            del line.events[EVENTS:]
        events = [event for line in plane.lines for event in line.events]
        _keep(plane.event_metadata, {event.metadata_id for event in events})
        owners = [plane, *events, *plane.event_metadata.values()]
        _keep(plane.stat_metadata, _named(stat for owner in owners for stat in owner.stats))
    small: bytes = space.SerializeToString()
    return small


def _keep(entries: Any, used: set[int]) -> None:
    unused = sorted((key for key in entries if key not in used), key=lambda key: entries[key].ByteSize())
    for key in unused[UNUSED:]:
        del entries[key]


def _named(stats: Iterable[Any]) -> set[int]:
    return {key for stat in stats for key in (stat.metadata_id, stat.ref_value)}
