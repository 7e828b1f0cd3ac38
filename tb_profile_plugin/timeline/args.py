"""Stats of many events at once as plain data, for exports: looking each event's up takes too long."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..formats.columns import Plane, kinds, pool
from ..model.host import Host
from ..model.lanes import Lane, Section
from ..runtime.arrays import I64, U8, Array
from ..runtime.jit import jit

HIDDEN = frozenset({"_pt", "_p", "_ct", "_c", "_r", "_a", "flow", "group_id"})
"""Stats that say nothing by themselves: links and steps are shown as what they are."""

_TEXT_BYTES = 10_000
"""Bytes of a text that are shown at most."""


class Args:
    """The stats of a plane's events by name."""

    def __init__(self, plane: Plane):
        self._stats = plane.events.stats
        self._names = ["" if name in HIDDEN else name for name in plane.stat_metadata.text.all]
        self._texts = plane.stat_metadata.text.all
        self._rows = plane.stat_metadata.rows

    def of_events(self, rows: Array) -> list[dict[str, Any]]:
        """The args of some events: numbers and text; bytes, and what stands for links, are left out."""
        stats = self._stats
        low, high = stats.first[rows], stats.first[rows + 1]
        counts = high - low
        # The rows of all their stats, event after event.
        stat_rows = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        values = self._values(stat_rows)
        names = [self._names[name] for name in stats.name[stat_rows].tolist()]
        answer = []
        start = 0
        for count in counts.tolist():
            stop = start + count
            pairs = zip(names[start:stop], values[start:stop], strict=True)
            answer.append({name: value for name, value in pairs if name and value is not None})
            start = stop
        return answer

    def _values(self, stat_rows: Array) -> list[Any]:
        """The values of these rows of the stats; None for bytes."""
        kind, value = self._stats.kind[stat_rows], self._stats.value[stat_rows]
        begin, end = np.zeros((2, len(stat_rows)), np.int64)
        text_spans(self._stats.buffer, kind, value, begin, end)
        raw = self._stats.buffer.data
        floats = value.view(np.float64).tolist()
        answer: list[Any] = []
        for i, (kind_of_value, number) in enumerate(zip(kind.tolist(), value.tolist(), strict=True)):
            if kind_of_value == kinds.INT:
                answer.append(number)
            elif kind_of_value == kinds.UINT:
                answer.append(number % (1 << 64))
            elif kind_of_value == kinds.DOUBLE:
                answer.append(floats[i] if math.isfinite(floats[i]) else str(floats[i]))
            elif kind_of_value == kinds.REF:
                answer.append(self._texts[self._rows.get(number, 0)])
            elif kind_of_value == kinds.TEXT:
                answer.append(bytes(raw[begin[i] : min(end[i], begin[i] + _TEXT_BYTES)]).decode("utf-8", "replace"))
            else:
                answer.append(None)
        return answer


def args_of_lane(host: Host, section: Section, lane: Lane, indices: Array) -> list[dict[str, Any]]:
    """The args of some of a lane's events, by their indices there; none for events that are not the capture's."""
    if lane.first >= len(host.trace):
        return [{} for _ in indices]
    rows = lane.events(indices) - int(host.trace.first[section.plane])
    return Args(host.space.planes[section.plane]).of_events(rows)


@jit
def text_spans(buffer: U8, kind: U8, value: I64, begin: I64, end: I64) -> None:
    """Fill ``begin`` and ``end`` (int64[n]): where the bytes of the texts among the values stand in the buffer."""
    for i in range(len(kind)):
        if kind[i] == kinds.TEXT:
            begin[i], end[i] = pool.payload(buffer, value[i])
