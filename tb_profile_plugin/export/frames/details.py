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
from ...runtime.problems import Problem, ProblemError
from ...timeline.args import HIDDEN
from ...timeline.details import kind_name
from ...tools.answers.answer import Table
from .batches import Field, Values, coded, repeated, text
from .events import EVENT, HOST
from .frame import Frame

_MOST_ROWS = 20_000_000
"""The most rows of args: each takes some 40 bytes."""
_MOST_LETTERS = 10_000
"""Characters of a text; longer ones are cut."""

ARGS = Table(
    "args",
    "Args",
    (
        HOST,
        EVENT,
        text("name", "Name", "Name of the argument, as the profiler writes it."),
        text("text", "Text", "Value, if it is a text."),
        Field("integer", "Integer", doc="Value, if it is a whole number."),
        Field("real", "Real", doc="Value, if it is another number.", dtype="float64"),
    ),
    doc="Arguments of the events, including arguments shared by all events of a name.",
)

ARROWS = Table(
    "arrows",
    "Arrows",
    (
        HOST,
        Field("source", "From", doc="Number of the event at the start of the flow."),
        Field("target", "To", doc="Number of the event at the end of the flow, on another track."),
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
        Field("devices", "Devices", doc="Number of accelerators, including unrecorded ones."),
        text("framework", "Framework", "Framework: tensorflow, jax or pytorch; null if unknown."),
        Field("rank", "Rank", doc="Rank in its job; null if unknown."),
        Field("begin_ps", "Start", unit="ps", doc="Start of the capture, after the first event on the chosen hosts."),
        Field("duration_ps", "Duration", unit="ps", doc="Duration of the capture."),
        Field("events", "Events"),
    ),
    doc="Hosts of the session.",
)


def args(hosts: Sequence[Host]) -> Frame:
    """A row for each stat; raises `ProblemError` for more than 20 million."""
    rows = sum(_count(plane) for host in hosts for plane in host.trace.planes)
    if rows > _MOST_ROWS:
        problem = Problem("query_too_large", f"The events have {rows:,} args.", "Choose one host with --host.")
        raise ProblemError(problem)
    return Frame(
        ARGS, [batch for host in hosts for first, plane in host.trace.parts for batch in _args(host, first, plane)]
    )


def _count(plane: Plane) -> int:
    """How many args the events of a plane have, with those of their names."""
    of_name = np.diff(plane.metadata.stats.first)
    return len(plane.events.stats.name) + int(of_name[plane.events.name].sum())


def _args(host: Host, first: int, plane: Plane) -> list[dict[str, Values]]:
    """The args that events have themselves, then those of their names."""
    shared = plane.metadata.stats
    low, high = shared.first[plane.events.name], shared.first[plane.events.name + 1]
    counts = (high - low).astype(np.int64)
    begin = np.cumsum(counts) - counts
    at = np.arange(counts.sum()) + np.repeat(low - begin, counts)
    event_rows = np.arange(len(plane.events.stats.name))
    return [
        _batch(host, first, plane, plane.events.stats, event_rows, plane.events.stats.owners(event_rows)),
        _batch(host, first, plane, shared, at, np.repeat(np.arange(len(counts)), counts)),
    ]


def _batch(host: Host, first: int, plane: Plane, stats: Stats, at: Array, event: Array) -> dict[str, Values]:
    """The args in these rows of ``stats``, by event; bytes and what stands for links are left out."""
    names = plane.stat_metadata.text.all
    hidden = np.array([not name or name in HIDDEN for name in names], bool)
    selected = ~hidden[stats.name[at]] & (stats.kind[at] != kinds.BYTES) & (stats.kind[at] != 0)
    at, event = at[selected], event[selected]
    kind, value = stats.kind[at], stats.value[at]
    stat_rows, codes = np.unique(at, return_inverse=True)
    text_codes, texts = StatColumn(plane, stats, stat_rows, stat_rows).codes
    is_text = (kind == kinds.TEXT) | (kind == kinds.REF)
    # Of unsigned numbers those that no int64 holds are known as reals alone.
    large = (kind == kinds.UINT) & (value < 0)
    is_integer = ((kind == kinds.INT) | (kind == kinds.UINT)) & ~large
    real = np.where(large, value.view(np.uint64).astype(np.float64), value.view(np.float64))
    is_real = large | ((kind == kinds.DOUBLE) & np.isfinite(real))
    return {
        "host": repeated(host.name, len(at)),
        "event": Values((event + first).astype(np.int64)),
        "name": coded(stats.name[at], names),
        "text": coded(np.where(is_text, text_codes[codes.reshape(-1)], -1), [text[:_MOST_LETTERS] for text in texts]),
        "integer": Values(np.where(is_integer, value, 0), None, is_integer),
        "real": Values(np.where(is_real, real, 0.0), None, is_real),
    }


def arrows(hosts: Sequence[Host]) -> Frame:
    """The links of each host."""
    return Frame(ARROWS, [_arrows(host) for host in hosts])


def _arrows(host: Host) -> dict[str, Values]:
    links = host.trace.arrows
    distinct, codes = np.unique(links.kind, return_inverse=True)
    return {
        "host": repeated(host.name, len(links.kind)),
        "source": Values(links.source.astype(np.int64)),
        "target": Values(links.target.astype(np.int64)),
        "kind": coded(codes.reshape(-1), [kind_name(kind) for kind in distinct.tolist()]),
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
