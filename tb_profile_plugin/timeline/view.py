"""What it takes to look at a host's timeline, apart from its capture: so that it can be kept, and read back mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..model.host import Host
from ..model.lanes import Lane, Section
from ..runtime.arrays import Array
from ..store import slabs
from .tiles import Rows, Timeline, timeline


class View(NamedTuple):
    """A host as it is looked at."""

    host: str
    window: tuple[int, int]
    """Begin and end of everything recorded, ps."""
    origin_ns: int
    """As `Host.origin_ns`."""
    timeline: Timeline
    steps: Callable[[], dict[str, Any]]
    """``begin`` and ``end`` (ps), ``name`` and ``complete`` of each step, and their ``source``."""


def view(host: Host) -> View:
    """The view of a decoded host."""

    def steps() -> dict[str, Any]:
        found = host.steps
        times = {"begin": found.begin.tolist(), "end": found.end.tolist()}
        return {"source": found.source, **times, "name": found.name, "complete": found.complete.tolist()}

    return View(host.name, host.window, host.origin_ns, timeline(host), steps)


def kept(shown: View) -> Iterator[bytes | memoryview]:
    """The view as pieces of a slab."""
    arrays: dict[str, Array] = dict(_text(shown.timeline.names[i] for i in range(len(shown.timeline.names))))
    sections, place = [], 0
    for section in shown.timeline.sections:
        lanes = []
        for lane in section.lanes:
            arrays |= {f"{place}.{name}": array for name, array in _arrays(lane, shown.timeline.rows[place])}
            lanes.append([lane.id, lane.name, lane.detail, lane.kind, lane.name_base, lane.first])
            place += 1
        sections.append([section.name, section.kind, section.plane, lanes])
    facts = {"host": shown.host, "window": shown.window, "origin_ns": shown.origin_ns}
    return slabs.parts({**facts, "steps": shown.steps(), "sections": sections}, arrays)


def recalled(slab: memoryview) -> View:
    """The view that was `kept`; its columns lie in the slab."""
    facts, arrays = slabs.unpack(slab)
    sections: list[Section] = []
    rows: list[Rows] = []
    for name, kind, plane, described in facts["sections"]:
        lanes = []
        for told in described:
            lane, dealt = _lane(told, f"{len(rows)}.", arrays)
            lanes.append(lane)
            rows.append(dealt)
        sections.append(Section(name, kind, lanes, plane))
    low, high = facts["window"]
    shown = Timeline(sections, _Names(arrays["names"], arrays["name_ends"]), rows)
    return View(facts["host"], (low, high), facts["origin_ns"], shown, lambda: facts["steps"])


def _lane(told: list[Any], prefix: str, arrays: dict[str, Array]) -> tuple[Lane, Rows]:
    begin, end, name_of, *dealt = (arrays[prefix + name] for name in _ALWAYS)
    some, value = (arrays.get(prefix + name) for name in _SOMETIMES)
    first, order, row, small, large, busy_small, busy_large = dealt
    key, shown, detail, kind, name_base, first_event = told
    lane = Lane(key, shown, detail, kind, begin, end, name_of, name_base, first_event, some, value)
    return lane, Rows(first, order, row, (small, large), (busy_small, busy_large))


_ALWAYS = ("begin", "end", "name_of", "first", "order", "row", "small", "large", "busy_small", "busy_large")
_SOMETIMES = ("some", "value")


def _arrays(lane: Lane, rows: Rows) -> Iterator[tuple[str, Array]]:
    always = (lane.begin, lane.end, lane.name_of, rows.first, rows.order, rows.row, *rows.longest, *rows.busy)
    yield from zip(_ALWAYS, always, strict=True)
    for name, array in zip(_SOMETIMES, (lane.some, lane.value), strict=True):
        if array is not None:
            yield name, array


def _text(names: Iterator[str]) -> Iterator[tuple[str, Array]]:
    texts = [name.encode("utf-8", "surrogatepass") for name in names]
    yield "names", np.frombuffer(b"".join(texts), np.uint8)
    yield "name_ends", np.cumsum([len(text) for text in texts], dtype=np.int64)


@dataclass(frozen=True)
class _Names:
    text: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> str:
        begin = int(self.ends[number - 1]) if number else 0
        return self.text[begin : int(self.ends[number])].tobytes().decode("utf-8", "surrogatepass")
