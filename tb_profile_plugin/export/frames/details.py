"""What stands behind events: what each states, which led to which, and the hosts that recorded them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formats.columns import Plane, kinds
from ...formats.columns.tables import StatColumn, Stats
from ...model import clock
from ...model.devices.properties import device_count, host_device_type
from ...model.framework import framework
from ...model.host import Host, run_window
from ...model.ranks import rank
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...timeline.args import HIDDEN
from ...timeline.details import kind_name
from ...tools.answers.answer import Table, number, real, text
from .batches import Values, coded_texts, repeated_text
from .events import EVENT, HOST
from .frame import Frame

_MOST_ROWS = 20_000_000
"""The most rows of args: each takes some 40 bytes."""
_MOST_CHARACTERS = 10_000
"""Characters of a text; longer ones are cut."""

ARGS = Table(
    "args",
    "Args",
    (
        HOST,
        EVENT,
        text("name", "Name", "Name of the argument, as the profiler writes it."),
        text("text", "Text", "Value, if it is a text."),
        number("integer", "Integer", doc="Value, if it is a whole number."),
        real("real", "Real", doc="Value, if it is another number."),
    ),
    doc="Arguments of the events, including arguments shared by all events of a name.",
)

ARROWS = Table(
    "arrows",
    "Arrows",
    (
        HOST,
        number("source", "From", doc="Number of the event at the start of the flow."),
        number("target", "To", doc="Number of the event at the end of the flow, on another track."),
        text("kind", "Kind", "Kind of flow, e.g. launch, or run of a program."),
    ),
    doc="Flows between events, as the Timeline draws them.",
)

HOSTS = Table(
    "hosts",
    "Hosts",
    (
        HOST,
        text("device", "Device", "Name of the accelerator; CPU if there is none."),
        number("devices", "Devices", doc="Number of accelerators, including unrecorded ones."),
        text("framework", "Framework", "Framework: tensorflow, jax or pytorch; null if unknown."),
        number("rank", "Rank", doc="Rank in its job; null if unknown."),
        number("begin_ps", "Start", "ps", "Start of the capture, after the first event on the chosen hosts."),
        number("duration_ps", "Duration", "ps", "Duration of the capture."),
        number("events", "Events"),
    ),
    doc="Hosts of the session.",
)


def args(hosts: Sequence[Host]) -> Frame:
    """A row for each stat; raises `ProblemError` for more than 20 million."""
    rows = sum(_args_count(plane) for host in hosts for plane in host.trace.planes)
    if rows > _MOST_ROWS:
        message = Message("The events have {count} args.", count=rows)
        raise problem_error("query_too_large", message, "Choose one host with --host.")
    return Frame(
        ARGS, [batch for host in hosts for first, plane in host.trace.parts for batch in _args(host, first, plane)]
    )


def _args_count(plane: Plane) -> int:
    """How many args the events of a plane have, with those of their names."""
    args_by_name = np.diff(plane.metadata.stats.first)
    return len(plane.events.stats.name) + int(args_by_name[plane.events.name].sum())


def _args(host: Host, first: int, plane: Plane) -> list[dict[str, Values]]:
    """The args that events have themselves, then those of their names."""
    own_stats, name_stats, name = plane.events.stats, plane.metadata.stats, plane.events.name
    own_rows = np.arange(len(own_stats.name))
    event, name_rows = _rows_of_ranges(name_stats.first[name], name_stats.first[name + 1])
    return [
        _args_in_rows(host, first, plane, own_stats, own_rows, own_stats.owners(own_rows)),
        _args_in_rows(host, first, plane, name_stats, name_rows, event),
    ]


def _rows_of_ranges(low: Array, high: Array) -> tuple[Array, Array]:
    """(range, row), int64[k] each: every row of the ranges ``low[i]:high[i]`` with the index of its range."""
    counts = (high - low).astype(np.int64)
    first = np.cumsum(counts) - counts
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(low - first, counts)


def _args_in_rows(host: Host, first: int, plane: Plane, stats: Stats, rows: Array, event: Array) -> dict[str, Values]:
    """The args in these rows of ``stats``, each of an ``event`` of the plane, whose events begin at ``first``.

    Bytes and what stands for links are left out.
    """
    names = plane.stat_metadata.text.all
    is_hidden = np.array([not name or name in HIDDEN for name in names], bool)
    kind = stats.kind[rows]
    is_visible = ~is_hidden[stats.name[rows]] & (kind != kinds.BYTES) & (kind != kinds.NO_VALUE)
    rows, event = rows[is_visible], event[is_visible]
    return {
        "host": repeated_text(host.name, len(rows)),
        "event": Values((event + first).astype(np.int64)),
        "name": coded_texts(stats.name[rows], names),
        **_values_of_args(plane, stats, rows),
    }


def _values_of_args(plane: Plane, stats: Stats, rows: Array) -> dict[str, Values]:
    """The columns of `ARGS` of which one holds the value, by its kind."""
    kind, value = stats.kind[rows], stats.value[rows]
    # Events of one name share rows: each text is looked up once.
    distinct_rows, index = np.unique(rows, return_inverse=True)
    text_codes, texts = StatColumn(plane, stats, distinct_rows, distinct_rows).codes
    is_text = (kind == kinds.TEXT) | (kind == kinds.REF)
    # Of unsigned numbers those that no int64 holds are known as reals alone.
    is_large = (kind == kinds.UINT) & (value < 0)
    is_integer = ((kind == kinds.INT) | (kind == kinds.UINT)) & ~is_large
    real = np.where(is_large, value.view(np.uint64).astype(np.float64), value.view(np.float64))
    is_real = is_large | ((kind == kinds.DOUBLE) & np.isfinite(real))
    return {
        "text": coded_texts(np.where(is_text, text_codes[index], -1), [text[:_MOST_CHARACTERS] for text in texts]),
        "integer": Values(np.where(is_integer, value, 0), is_known=is_integer),
        "real": Values(np.where(is_real, real, 0.0), is_known=is_real),
    }


def arrows(hosts: Sequence[Host]) -> Frame:
    """The links of each host."""
    return Frame(ARROWS, [_arrows(host) for host in hosts])


def _arrows(host: Host) -> dict[str, Values]:
    links = host.trace.arrows
    distinct_kinds, codes = np.unique(links.kind, return_inverse=True)
    return {
        "host": repeated_text(host.name, len(links.kind)),
        "source": Values(links.source.astype(np.int64)),
        "target": Values(links.target.astype(np.int64)),
        "kind": coded_texts(codes, [kind_name(kind) for kind in distinct_kinds.tolist()]),
    }


def hosts(selected_hosts: Sequence[Host]) -> Frame:
    """A row for each host."""
    rows = [
        {
            "host": host.name,
            "device": host_device_type(host),
            "devices": device_count(host),
            "framework": framework(host) or None,
            "rank": rank(host).number,
            "begin_ps": run_window(host)[0] + shift,
            "duration_ps": run_window(host)[1] - run_window(host)[0],
            "events": len(host.trace),
        }
        for host, shift in zip(selected_hosts, clock.shifts(selected_hosts), strict=True)
    ]
    return Frame.of_rows(HOSTS, rows)
