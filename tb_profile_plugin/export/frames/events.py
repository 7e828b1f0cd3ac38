"""Every event of a capture, a batch for each plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from ...analysis.ops.device_ops import device_events
from ...analysis.ops.host_ops import host_op_of_event
from ...analysis.ops.op_table import Op
from ...formats.columns import Plane, vocabulary
from ...model import clock
from ...model.devices.copies import copies
from ...model.events.event_table import MISSING
from ...model.framework import op_names_of
from ...model.host import Host
from ...model.lanes import kind_of
from ...runtime.arrays import Array
from ...tools.answers.answer import Table, number, text
from .batches import Values, coded_texts, repeated_text, texts_or_unknown
from .frame import Frame

HOST = text("host", "Host", "Host, as its file names it.")
EVENT = number("event", "Event", doc="Number of the event on its host, as on the Timeline.")
STEP = number("step", "Step", doc="Number of the step that the event belongs to; null outside of steps.")

EVENTS = Table(
    "events",
    "Events",
    (
        HOST,
        text("plane", "Plane", "Device, or the host's threads."),
        text("line", "Line", "Thread, stream or derived track."),
        text("kind", "Kind", "Kind of track: thread, stream, steps, modules, ops or scope."),
        EVENT,
        text("name", "Name", "Name, as on the Timeline."),
        number("begin_ps", "Start", "ps", "Start, after the first event on the chosen hosts."),
        number("duration_ps", "Duration", "ps", "Recorded duration."),
        replace(
            number("parent", "Within", doc="Number of the event that encloses it on its track; null if none."),
            dtype="int32",
        ),
        STEP,
    ),
    doc="Events in the order of the file: by plane and track, outer before inner.",
)


DETAILED = EVENTS._replace(
    columns=(
        *EVENTS.columns,
        number("thread_id", "Thread", doc="Profiler's number of the thread or stream."),
        number("self_ps", "Self time", "ps", "Duration without the events nested in it on its track."),
        text("op", "Op", "Op that the event is or belongs to, as in the table ops."),
        text(
            "category", "Category", "Category that PyTorch's profiler gives; of other ops, the type from the table ops."
        ),
        number("correlation", "Correlation", doc="Number shared by a launch and the launched work."),
        number("bytes", "Bytes", "bytes", "Bytes copied or accessed, as the capture states them."),
    )
)


def events(
    hosts: Sequence[Host],
    line: str = "",
    name: str = "",
    begin_ps: int | None = None,
    end_ps: int | None = None,
    details: bool = False,
) -> Frame:
    """The events on lines and with names like these (patterns with ``*``, ``?`` and ``[…]``; all where empty), of which
    some time lies between two moments, ps. What is asked for is chosen before anything is copied.

    With ``details`` they have columns that must be worked out, too.
    """
    batches = []
    for host, shift in zip(hosts, clock.shifts(hosts), strict=True):
        for first, plane in host.trace.parts:
            rows = _selected_rows(plane, shift, line, name, begin_ps, end_ps)
            batch = _batch(host, first, plane, shift, rows)
            batches.append(batch | _details(host, first, plane, rows) if details else batch)
    return Frame(DETAILED if details else EVENTS, batches)


def step_of(host: Host, events: Array) -> Values:
    """The number of each event's step."""
    steps = host.with_steps().grouped_steps
    group = steps.group_of[events]
    # The last entry is of events in no group, -1.
    size = int(max(steps.group_of.max(initial=-1), steps.group.max(initial=-1))) + 2
    number_of, is_step = np.zeros(size, np.int64), np.zeros(size, bool)
    number_of[steps.group], is_step[steps.group] = steps.number, True
    return Values(number_of[group], is_known=is_step[group])


def _selected_rows(
    plane: Plane, shift: int, line: str, name: str, begin_ps: int | None, end_ps: int | None
) -> slice | Array:
    """Rows of the plane: all as a slice, so that columns stay views."""
    events = plane.events
    masks: list[Array] = []
    if line:
        masks.append(_matches(plane.lines.name, line)[events.line])
    if name:
        masks.append(_matches(plane.display_names, name)[events.name])
    if begin_ps is not None:
        masks.append(events.end + shift > begin_ps)
    if end_ps is not None:
        masks.append(events.begin + shift < end_ps)
    return np.flatnonzero(np.logical_and.reduce(masks)) if masks else slice(0, len(events))


def _matches(texts: Sequence[str], pattern: str) -> Array:
    return np.array([fnmatchcase(text, pattern) for text in texts], bool)


def _batch(host: Host, first: int, plane: Plane, shift: int, rows: slice | Array) -> dict[str, Values]:
    events = plane.events
    numbers = np.arange(first, first + len(events))[rows]
    parent = host.trace.nesting.parent[first : first + len(events)][rows]
    kinds = [kind_of(plane, line) for line in range(len(plane.lines))]
    line, begin = events.line[rows], events.begin[rows]
    return {
        "host": repeated_text(host.name, len(line)),
        "plane": repeated_text(plane.name, len(line)),
        "line": coded_texts(line, plane.lines.name),
        "kind": coded_texts(line, kinds),
        "event": Values(numbers),
        "name": coded_texts(events.name[rows], plane.display_names),
        "begin_ps": Values(begin + shift if shift else begin),
        "duration_ps": Values(events.duration[rows]),
        "parent": Values(parent, is_known=parent >= 0),
        "step": step_of(host, numbers),
    }


def _details(host: Host, first: int, plane: Plane, rows: slice | Array) -> dict[str, Values]:
    op, ops = _op_of_event(host, plane)
    events = plane.events
    categories = [*plane.categories, *(op.category for op in ops)]
    op_category = np.where(op >= 0, op + len(plane.categories), -1)
    has_category = np.array([bool(category) for category in plane.categories], bool)[events.name]
    correlation = _stat_or_missing(plane, vocabulary.CORRELATION_ID)
    columns = {
        "thread_id": Values(plane.lines.id[events.line]),
        "self_ps": Values(_self_ps(host, slice(first, first + len(events)))),
        "op": coded_texts(op, [op.name for op in ops]),
        "category": texts_or_unknown(np.where(has_category, events.name, op_category), categories),
        "correlation": _missing_as_unknown(
            np.where(correlation == MISSING, _stat_or_missing(plane, vocabulary.CORRELATION), correlation)
        ),
        "bytes": _missing_as_unknown(_bytes(host, plane)),
    }
    return {name: column.take(rows) for name, column in columns.items()}


def _op_of_event(host: Host, plane: Plane) -> tuple[Array, list[Op]]:
    """(int32[events], ops): the op of each event of a plane, or -1, as the page Framework ops has them."""
    for device, op_of_event, ops in device_events(host):
        if device is plane:
            return op_of_event, ops
    if plane is host.cpu and len(plane.events):
        return host_op_of_event(plane, op_names_of(host))
    return np.full(len(plane.events), -1, np.int32), []


def _missing_as_unknown(numbers: Array) -> Values:
    is_known = numbers != MISSING
    return Values(np.where(is_known, numbers, 0), is_known=is_known)


def _stat_or_missing(plane: Plane, name: str) -> Array:
    """int64[events]: the stat of that name, of the event or else of its name; `MISSING` without it."""
    name_values = plane.metadata_stat(name).numbers_by_owner(len(plane.metadata), MISSING)[plane.events.name]
    event_values = plane.stat(name).numbers_by_owner(len(plane.events), MISSING)
    return np.where(event_values == MISSING, name_values, event_values)


def _bytes(host: Host, plane: Plane) -> Array:
    sizes = _stat_or_missing(plane, "bytes_accessed")
    device_copies = copies(host).get(plane.name)
    if device_copies:
        has_size = device_copies.size > 0
        sizes[device_copies.row[has_size]] = device_copies.size[has_size]
    return sizes


def _self_ps(host: Host, rows: slice) -> Array:
    duration = host.trace.end[rows] - host.trace.begin[rows]
    parent = host.trace.nesting.parent[rows]
    # Sums below 2^53 ps, 2.5 hours, are exact.
    nested_ps = np.bincount(parent[parent >= 0] - rows.start, duration[parent >= 0], len(duration))
    return np.maximum(0, duration - nested_ps.astype(np.int64))
