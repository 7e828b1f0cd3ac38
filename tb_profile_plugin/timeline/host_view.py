"""A host's timeline without its capture: all that drawing it takes, as a slab of arrays that is kept and mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..model.host import Host
from ..model.lanes import Lane, Section
from ..runtime.arrays import Array
from ..runtime.records import NamedTuple, record
from ..store import slabs
from .rows import BLOCK_SIZES, Rows
from .tiles import Timeline, timeline


class HostView(NamedTuple):
    """What drawing a host's timeline takes."""

    host: str
    window: tuple[int, int]
    """Begin and end of everything recorded, ps."""
    origin_ns: int
    """As `Host.origin_ns`."""
    timeline: Timeline
    steps: Callable[[], dict[str, Any]]
    """``begin`` and ``end`` (ps), ``name`` and ``complete`` of each step, and their ``source``."""


def view_of_host(host: Host) -> HostView:
    """The view of a decoded host."""

    def steps() -> dict[str, Any]:
        host_steps = host.with_steps().steps
        times = {"begin": host_steps.begin.tolist(), "end": host_steps.end.tolist()}
        return {"source": host_steps.source, **times, "name": host_steps.name, "complete": host_steps.complete.tolist()}

    return HostView(host.name, host.window, host.origin_ns, timeline(host), steps)


def slab_pieces(host_view: HostView) -> Iterator[bytes | memoryview]:
    """The view as pieces of a slab."""
    host_timeline = host_view.timeline
    arrays: dict[str, Array] = dict(_name_arrays(host_timeline.names[i] for i in range(len(host_timeline.names))))
    sections, lane_index = [], 0
    for section in host_timeline.sections:
        lanes = []
        for lane in section.lanes:
            arrays |= {f"{lane_index}.{name}": array for name, array in _arrays(lane, host_timeline.rows[lane_index])}
            lanes.append([lane.id, lane.name, lane.detail, lane.kind, lane.name_base, lane.first])
            lane_index += 1
        sections.append([section.name, section.kind, section.plane, lanes])
    facts = {"host": host_view.host, "window": host_view.window, "origin_ns": host_view.origin_ns}
    return slabs.parts({**facts, "steps": host_view.steps(), "sections": sections}, arrays)


def view_of_slab(slab: memoryview) -> HostView:
    """The view of the pieces of `slab_pieces`; its columns lie in the slab."""
    facts, arrays = slabs.unpack(slab)
    sections: list[Section] = []
    rows: list[Rows] = []
    for name, kind, plane, lane_entries in facts["sections"]:
        lanes = []
        for lane_entry in lane_entries:
            lane, lane_rows = _lane(lane_entry, f"{len(rows)}.", arrays)
            lanes.append(lane)
            rows.append(lane_rows)
        sections.append(Section(name, kind, lanes, plane))
    low, high = facts["window"]
    host_timeline = Timeline(sections, _Names(arrays["names"], arrays["name_ends"]), rows)
    return HostView(facts["host"], (low, high), facts["origin_ns"], host_timeline, lambda: facts["steps"])


def _lane(facts: list[Any], prefix: str, arrays: dict[str, Array]) -> tuple[Lane, Rows]:
    begin, end, name_of, first, order, row, *blocks = (arrays[prefix + name] for name in _REQUIRED_ARRAYS)
    numbers, value = (arrays.get(prefix + name) for name in _OPTIONAL_ARRAYS)
    key, name, detail, kind, name_base, first_event = facts
    lane = Lane(key, name, detail, kind, begin, end, name_of, name_base, first_event, numbers, value)
    a, b, c, d = (level.reshape(-1, 4) for level in blocks)
    return lane, Rows(first, order, row, (a, b, c, d))


_REQUIRED_ARRAYS = ("begin", "end", "name_of", "first", "order", "row", *(f"blocks_{size}" for size in BLOCK_SIZES))
_OPTIONAL_ARRAYS = ("numbers", "value")
"""Names of a lane's arrays in a slab, behind the lane's number."""


def _arrays(lane: Lane, rows: Rows) -> Iterator[tuple[str, Array]]:
    blocks = (level.ravel() for level in rows.levels)
    required = (lane.begin, lane.end, lane.name_of, rows.first, rows.order, rows.row, *blocks)
    yield from zip(_REQUIRED_ARRAYS, required, strict=True)
    for name, array in zip(_OPTIONAL_ARRAYS, (lane.numbers, lane.value), strict=True):
        if array is not None:
            yield name, array


def _name_arrays(names: Iterator[str]) -> Iterator[tuple[str, Array]]:
    texts = [name.encode("utf-8", "surrogatepass") for name in names]
    yield "names", np.frombuffer(b"".join(texts), np.uint8)
    yield "name_ends", np.cumsum([len(text) for text in texts], dtype=np.int64)


@record
class _Names:
    text: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> str:
        begin = int(self.ends[number - 1]) if number else 0
        return self.text[begin : int(self.ends[number])].tobytes().decode("utf-8", "surrogatepass")
