"""All that is known about one event, and the arrows that lead to it and from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..analysis.ops.callers import callers
from ..formats.columns import vocabulary
from ..formats.columns.tables import StatColumn, values
from ..formats.xspace import hlo
from ..model import xla_instructions
from ..model.devices.plausible import exceeded_limit, vendor
from ..model.events.event_table import MISSING
from ..model.events.links import CALL, GRADIENT, RUN
from ..model.framework import op_names_of
from ..model.host import Host
from ..model.names import op_names
from ..model.names.kernels import parse_launch
from ..model.per_host import per_host
from ..runtime.arrays import Array, distinct
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from .args import HIDDEN
from .tiles import HostTimeline, timeline

_LINK_WORDS = {
    0: Message("producer and consumer"),
    2: Message("function and executor"),
    **dict.fromkeys((3, 7), "TFRT"),
    **dict.fromkeys((4, 6, 10), Message("batching")),
    5: "PjRt",
    8: Message("TPU embedding"),
    9: Message("launch"),
    11: Message("TPU stream"),
    12: Message("TPU launch"),
    13: "Pathways",
    14: Message("PjRt library call"),
    15: Message("thread pool"),
    16: Message("JAX serving"),
    17: Message("SparseCore offload"),
    CALL: Message("call of the driver"),
    RUN: Message("run of a program"),
    GRADIENT: Message("forward and backward"),
}
"""Words for the kinds of links (TensorFlow's context types, and those that are found without ids); others are as 0."""

_PYTHON_FRAME = regex(r"^\$(?P<file>[^:]+):(?P<line>\d+) (?P<function>.*)$")
_MOST_ARROWS = 200
"""Arrows to an event, and from it, that are listed."""
_MOST_CHARACTERS = 20_000
"""Characters of a text that are shown."""


class Arrow(NamedTuple):
    """A link from one event to another, by their numbers."""

    source: int
    target: int
    kind: str


def details(host: Host, event: int, event_timeline: HostTimeline | None = None) -> dict[str, Any]:
    """An event's name, place, times, stats and links, as plain data; times are the host's own ps.

    ``event_timeline`` is the timeline that shows it. Raises `ProblemError` (404) for an event that no lane shows.
    """
    event_timeline = event_timeline or timeline(host)
    lane_index, position = event_timeline.lane_set.find(event)
    if lane_index < 0:
        raise problem_error(
            "no_such_event", Message("No lane shows an event {event}.", event=event), "", host.name, status=404
        )
    lane = event_timeline.lanes[lane_index]
    begin, end = int(lane.begin[position]), int(lane.end[position])
    row = int(event_timeline.rows[lane_index].row[position])
    name = event_timeline.names[int(lane.name_of[position]) + lane.name_base]
    answer: dict[str, Any] = {"event": event, "name": name, "full_name": name, "source": "", "step": "", "args": {}}
    answer |= {"lane": lane_index, "row": row, "begin": begin, "end": end, "own": end - begin, "arrows": []}
    answer |= {"line": "", "module": "", "frames": []}
    if event >= len(host.trace):
        return answer
    plane, index = host.trace.plane_of(event)
    full_name = plane.names[int(plane.events.name[index])]
    args = _plain_args(_facts_of_name(plane, int(plane.events.name[index])) | plane.event_facts(index))
    if exceeded_limit(parse_launch(str(args.get(vocabulary.KERNEL_DETAILS, ""))), vendor(plane.facts())):
        del args[vocabulary.KERNEL_DETAILS]
    answer |= {
        "full_name": full_name[:_MOST_CHARACTERS],
        "args": args,
        "source": _source_text(full_name, args),
        "op": _op_text(host, full_name, args),
    }
    answer |= callers(host, event)._asdict()
    answer["own"] = _self_ps(host, event)
    group = int(host.with_steps().grouped_steps.group_of[event])
    steps = host.with_steps().steps
    step = np.flatnonzero(steps.group == group)
    answer["step"] = steps.name[int(step[0])] if group >= 0 and len(step) else ""
    return answer


def _self_ps(host: Host, event: int) -> int:
    """The event's duration without what it directly encloses."""
    parent, last = host.trace.nesting
    begin, end = host.trace.begin, host.trace.end
    nested = np.flatnonzero(parent[event + 1 : last[event]] == event) + event + 1
    inner_ps = int((np.minimum(end[nested], end[event]) - begin[nested]).sum())
    return max(0, int(end[event] - begin[event]) - inner_ps)


def _facts_of_name(plane: Any, name: int) -> dict[str, Any]:
    stats = plane.metadata.stats
    rows = np.arange(stats.first[name], stats.first[name + 1])
    stat_values = values(StatColumn(plane, stats, rows, np.full(len(rows), name)))
    texts = plane.stat_metadata.text.all
    return {texts[row]: value for row, value in zip(stats.name[rows], stat_values, strict=True)}


def _plain_args(facts: dict[str, Any]) -> dict[str, Any]:
    """What JSON and JavaScript can hold: large integers, infinities and bytes become text."""
    answer: dict[str, Any] = {}
    for key, value in facts.items():
        if key in HIDDEN or value is None:
            continue
        if isinstance(value, bytes):
            value = Message("{count} bytes", count=len(value))
        elif isinstance(value, int) and abs(value) >= 1 << 53:
            value = str(value)
        elif isinstance(value, float) and not math.isfinite(value):
            value = str(value)
        answer[key] = value[:_MOST_CHARACTERS] if isinstance(value, str) else value
    return answer


def _source_text(name: str, args: dict[str, Any]) -> str:
    """``file:line`` of a Python frame, or what the compiler noted."""
    frame = _PYTHON_FRAME.match(name)
    if frame:
        return f"{frame['file']}:{frame['line']}"
    return str(args.get("source") or args.get("source_info") or "")


def _op_text(host: Host, name: str, args: dict[str, Any]) -> str:
    """The framework op that an event belongs to, with its XLA program; empty where none is known."""
    program = hlo.signed(int(args.get("program_id", -1)))
    hlo_module = host.modules.get(program)
    op_text = xla_instructions.instruction(host, program, str(args.get("hlo_op", "")), name)
    instruction = hlo_module.instruction(op_text.rpartition("::")[2]) if hlo_module else None
    module = str(args.get("hlo_module") or (hlo_module.name if hlo_module else ""))
    texts = [text for text in (instruction.provenance if instruction else "", str(args.get("name", ""))) if text]
    paths = [text if ":" in text else f"{text}:" for text in texts if op_names.is_path(text)]
    parse = op_names_of(host)
    for text in [*paths, args.get(vocabulary.TF_OP), args.get(vocabulary.LEVEL_0), name]:
        op = parse(str(text or "").partition("#")[0])
        if op.is_known and op.type and op.category != op_names.MEMCPY and op.name != "XlaModule":
            return f"{op.name} · {module}" if module else op.name
    return ""


def arrows_of(host: Host, event: int) -> list[Arrow]:
    """The links that lead to an event and from it, and a tf.data iterator's parent; some hundreds at most."""
    if event >= len(host.trace):
        return []
    links = host.trace.arrows
    low, high = np.searchsorted(links.source, [event, event + 1]).tolist()
    outgoing = zip([event] * (high - low), links.target[low:high].tolist(), links.kind[low:high].tolist(), strict=True)
    targets, sources = links.by_target
    first, last = np.searchsorted(targets, [event, event + 1]).tolist()
    incoming = sources[first:last].tolist()
    arrows = [Arrow(source, target, kind_name(kind)) for source, target, kind in list(outgoing)[:_MOST_ARROWS]]
    for source in incoming[:_MOST_ARROWS]:
        outgoing_rows = slice(*np.searchsorted(links.source, [source, source + 1]).tolist())
        kinds = links.kind[outgoing_rows][links.target[outgoing_rows] == event]
        arrows.append(Arrow(source, event, kind_name(int(kinds[0]))))
    return [*arrows, *_parent_iterator(host, event)]


@per_host(keep=True)
def kinds(host: Host) -> list[str]:
    """The kinds of links that a host has, in words."""
    return sorted({kind_name(kind) for kind in distinct(host.trace.arrows.kind).tolist()})


def kind_name(kind: int) -> str:
    """What a kind of link is called."""
    return _LINK_WORDS.get(kind, _LINK_WORDS[0])


@per_host
def _iterators(host: Host) -> tuple[Array, Array]:
    """int64[k] each: the events of tf.data iterators, and the iterators' ids."""
    events = host.trace.events_named(lambda name: name.startswith("Iterator::"))
    return events, host.trace.numbers(vocabulary.ID, events)


def _parent_iterator(host: Host, event: int) -> Iterable[Arrow]:
    """From the iterator that asked a tf.data iterator for its next element."""
    plane, row = host.trace.plane_of(event)
    parent_id = plane.event_facts(row).get("parent_id")
    if not host.trace.name(event).startswith("Iterator::") or not isinstance(parent_id, int):
        return
    iterators, ids = _iterators(host)
    parents = iterators[(ids == parent_id) & (ids != MISSING)]
    enclosing = parents[
        (host.trace.begin[parents] <= host.trace.begin[event]) & (host.trace.end[parents] >= host.trace.end[event])
    ]
    if len(enclosing):
        yield Arrow(int(enclosing[np.argmax(host.trace.begin[enclosing])]), event, Message("tf.data parent"))


def even_sample(rows: Array, limit: int) -> Array:
    """At most so many of the rows, evenly spread."""
    return rows if len(rows) <= limit else rows[np.linspace(0, len(rows) - 1, limit).astype(np.int64)]


def arrows_between(host: Host, lanes: Iterable[int], begin: int, end: int, limit: int) -> tuple[list[Arrow], int]:
    """Links with both ends on the lanes and one end in the window: some, evenly spread, and how many there are."""
    trace, lane_set = host.trace, timeline(host).lane_set
    links = trace.arrows
    is_selected = np.zeros(len(trace.lines), bool)
    for lane_index in lanes:
        lane = lane_set.lanes[lane_index]
        if len(lane) and lane.first < len(trace):
            is_selected[np.searchsorted(trace.lines, lane.first, side="right") - 1] = True
    tail_ps, head_ps = trace.end[links.source], trace.begin[links.target]
    in_window = np.flatnonzero((np.maximum(tail_ps, head_ps) >= begin) & (np.minimum(tail_ps, head_ps) <= end))
    for ends in (links.source, links.target):
        in_window = in_window[is_selected[np.searchsorted(trace.lines, ends[in_window], side="right") - 1]]
    sample = even_sample(in_window, limit)
    columns = links.source[sample].tolist(), links.target[sample].tolist(), links.kind[sample].tolist()
    arrows = [Arrow(source, target, kind_name(kind)) for source, target, kind in zip(*columns, strict=True)]
    return arrows, len(in_window)
