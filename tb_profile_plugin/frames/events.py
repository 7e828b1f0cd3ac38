"""Every event of a capture, a batch for each plane."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from ..arrays import Array
from ..columns import Plane
from ..contract.answer import Table
from ..model import clock
from ..model.host import Host
from ..model.lanes import kind_of
from .frame import Field, Frame, Values, coded, repeated, text

HOST = text("host", "Host", "As its file names it.")
EVENT = Field("event", "Event", doc="Its number on its host, as the Timeline has it.", dtype="int64")
STEP = Field("step", "Step", doc="Number of the step that it belongs to; unknown outside of all.")

EVENTS = Table(
    "events",
    "Events",
    (
        HOST,
        text("plane", "Plane", "The device, or the host's threads."),
        text("line", "Line", "The thread, stream or derived timeline."),
        text("kind", "Kind", "What the line holds: thread, stream, steps, modules, ops or scope."),
        EVENT,
        text("name", "Name", "As the Timeline shows it."),
        Field("begin_ps", "Begin", unit="ps", doc="Since the first event on any of the hosts asked for."),
        Field("duration_ps", "Duration", unit="ps", doc="As it was recorded."),
        Field(
            "parent", "Within", doc="The event of its line that encloses it; unknown where none does.", dtype="int32"
        ),
        STEP,
    ),
    doc="In order of the file: plane by plane, line by line, outer before inner.",
)


def events(
    hosts: Sequence[Host], line: str = "", name: str = "", begin_ps: int | None = None, end_ps: int | None = None
) -> Frame:
    """The events on lines and with names like these (patterns with ``*``, ``?`` and ``[…]``; all where empty), of which
    some time lies between two moments, ps. What is asked for is chosen before anything is copied.
    """
    shifts = clock.shifts(hosts)
    window = (begin_ps, end_ps)
    return Frame(EVENTS, [
        _batch(host, first, plane, shift, _chosen(host, first, plane, line, name, shift, window))
        for host, shift in zip(hosts, shifts, strict=True)
        for first, plane in host.trace.parts
    ])  # fmt: skip


def step_of(host: Host, events: Array | slice) -> Values:
    """The number of each event's step."""
    steps = host.steps_in_full()
    group = steps.of_event[events]
    # The last place is of events in no group.
    number = np.zeros(int(max(steps.of_event.max(initial=-1), steps.group.max(initial=-1))) + 2, np.int64)
    is_step = np.zeros(len(number), bool)
    number[steps.group], is_step[steps.group] = steps.number, True
    return Values(number[group], None, is_step[group])


def _chosen(
    host: Host, first: int, plane: Plane, line: str, name: str, shift: int, window: tuple[int | None, int | None]
) -> slice | Array:
    """Rows of the plane: all as a slice, so that columns stay views."""
    mine = plane.events
    tests: list[Array] = []
    if line:
        tests.append(_like(plane.lines.name, line)[mine.line])
    if name:
        tests.append(_like(plane.display_names, name)[mine.name])
    begin, end = window
    if begin is not None:
        tests.append(mine.end + shift > begin)
    if end is not None:
        tests.append(mine.begin + shift < end)
    return np.flatnonzero(np.logical_and.reduce(tests)) if tests else slice(0, len(mine))


def _like(texts: Sequence[str], pattern: str) -> Array:
    return np.array([fnmatchcase(each, pattern) for each in texts], bool)


def _batch(host: Host, first: int, plane: Plane, shift: int, rows: slice | Array) -> dict[str, Values]:
    mine = plane.events
    numbers = np.arange(first, first + len(mine))[rows]
    parent = host.trace.nesting[0][first : first + len(mine)][rows]
    kinds = [kind_of(plane, name) for name in plane.lines.name]
    line, begin = mine.line[rows], mine.begin[rows]
    return {
        "host": repeated(host.name, len(line)),
        "plane": repeated(plane.name, len(line)),
        "line": coded(line, plane.lines.name),
        "kind": coded(line, kinds),
        "event": Values(numbers),
        "name": coded(mine.name[rows], plane.display_names),
        "begin_ps": Values(begin + shift if shift else begin),
        "duration_ps": Values(mine.duration[rows]),
        "parent": Values(parent, None, parent >= 0),
        "step": step_of(host, slice(first, first + len(mine)) if isinstance(rows, slice) else rows + first),
    }
