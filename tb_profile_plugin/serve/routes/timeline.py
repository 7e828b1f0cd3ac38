"""Routes of the timeline that draw it: lanes, their visible slices, names, steps, and how a baseline is aligned."""

from __future__ import annotations

from itertools import groupby, islice, pairwise
from typing import Any

from werkzeug.wrappers import Request, Response

from ...runtime.problems import problem_error
from .. import responses
from ..workspace import Workspace
from .query import bounded_integer, is_number
from .timeline_hosts import Hosts, listed, short, time_range

_NAMES_PER_BLOCK = 128
"""Names that are sent together."""
_MOST_BLOCKS = 200
"""Blocks in an answer."""
_MOST_PIXELS = 16384
"""Width of a drawing."""
_MOST_OPEN_DEVICES = 6
"""Where a host has more sections of devices, those that tell why devices are idle are folded at first."""
_LARGEST_STEP = 1 << 31
"""Index of a step."""


def lanes(workspace: Workspace, request: Request) -> Response:
    """Sections and lanes in the order in which to show them."""
    hosts = Hosts(workspace, request)
    sections = [section for index in range(len(hosts.views)) for section in _sections(hosts, index)]
    answer = {"duration": hosts.duration, "block": _NAMES_PER_BLOCK, "clocks": _clocks(hosts), "sections": sections}
    return responses.data_json(request, answer)


def _sections(hosts: Hosts, index: int) -> list[dict[str, Any]]:
    """The sections of a host with their lanes: first those that tell why devices are idle, then those recorded."""
    timeline, host_index = hosts.timeline(index), hosts.host_indices[index]
    many_devices = sum(section.kind == "device" for section in timeline.sections) > _MOST_OPEN_DEVICES
    lanes, number = enumerate(zip(timeline.lanes, timeline.rows, strict=True)), -1
    why_sections: list[dict[str, Any]] = []
    recorded_sections: list[dict[str, Any]] = []
    for section in timeline.sections:
        entries = []
        for number, (lane, rows) in islice(lanes, len(section.lanes)):
            facts = {"id": lane.id, "name": lane.name, "detail": lane.detail, "kind": lane.kind, "unit": lane.unit}
            entries.append({"key": f"{host_index}.{number}", **facts, "rows": len(rows), "events": len(lane)})
        is_recorded = hosts.is_recorded(index, number)
        (recorded_sections if is_recorded else why_sections).append(
            {
                **{"host": hosts.views[index].host, "name": section.name, "kind": section.kind},
                **{"folded": not is_recorded and many_devices, "lanes": entries},
            }
        )
    return [*why_sections, *recorded_sections]


def _clocks(hosts: Hosts) -> dict[str, int] | None:
    """How far apart the hosts' clocks are, and the uncertainty of that, ps; None where it is unknown."""
    if hosts.clocks is None:
        return None
    ahead_ps = hosts.clocks["ahead_ps"].values()
    return {"apart": max(ahead_ps) - min(ahead_ps), "error": hosts.clocks["error_ps"]}


def slices(workspace: Workspace, request: Request) -> Response:
    """A slab with the visible slices of lanes, which the request lists as ``lane`` or ``lane:rows``.

    Begins and widths are uint32, in units of ``unit`` ps after ``origin``: so they hold the range of time and as much
    again on either side.
    """
    import numpy as np

    from ...model.lanes import COUNTER
    from ...store.slabs import pack

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    width = bounded_integer(request, "width", 1, _MOST_PIXELS)
    span = end - begin
    origin, unit = begin - span, max(1, -(-3 * span // (1 << 31)))
    requests = [text.partition(":") for text in listed(request, "lanes")]
    lanes = [(*hosts.lane(lane), int(limit) if is_number(limit) else 0) for lane, _, limit in requests]
    arrays: dict[str, Any] = {}
    parts: list[Any] = []
    counts: list[list[int]] = []
    for index, group in groupby(lanes, lambda lane: lane[0]):
        timeline, shift = hosts.timeline(index), hosts.shifts[index]
        lanes_of_host = [(lane_index, limit) for _, lane_index, limit in group]
        for i, (lane_index, _) in enumerate(lanes_of_host, len(counts)):
            if timeline.lanes[lane_index].kind == COUNTER:
                column = timeline.counter(lane_index, begin - shift, end - shift, width)
                arrays |= {f"{i}.begin": (column.begin + shift).astype(np.float64), f"{i}.low": column.low}
                arrays |= {f"{i}.high": column.high, f"{i}.last": column.last}
        visible = timeline.slices(lanes_of_host, begin - shift, end - shift, width)
        edges = [np.clip(times + shift - origin, 0, 3 * span) // unit for times in (visible.begin, visible.end)]
        parts.append((edges[0], edges[1] - edges[0], visible.name, visible.event, visible.count, visible.busy))
        bounds = np.searchsorted(visible.lane, np.arange(len(lanes_of_host) + 1))
        counts += [np.bincount(visible.row[low:high]).tolist() for low, high in pairwise(bounds.tolist())]
    dtypes = (np.uint32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint8)
    columns = list(zip(*parts, strict=True)) or [()] * len(dtypes)
    for name, dtype, pieces in zip(("begin", "width", "name", "event", "count", "busy"), dtypes, columns, strict=True):
        arrays[name] = np.concatenate([np.empty(0, dtype), *(piece.astype(dtype) for piece in pieces)])
    facts = {"begin": begin, "end": end, "origin": origin, "unit": unit, "lanes": [lane for lane, *_ in requests]}
    return responses.binary(request, pack({**facts, "counts": counts}, arrays))


def names(workspace: Workspace, request: Request) -> Response:
    """Blocks of names by ``host.block``."""
    hosts = Hosts(workspace, request)
    answer: dict[str, list[str]] = {}
    for text in listed(request, "blocks")[:_MOST_BLOCKS]:
        index, block = hosts.host_and_number(text, "block")
        timeline = hosts.timeline(index)
        numbers = range(block * _NAMES_PER_BLOCK, min((block + 1) * _NAMES_PER_BLOCK, len(timeline.names)))
        answer[text] = [short(timeline.short_names.get(number, timeline.names[number])) for number in numbers]
    return responses.data_json(request, answer)


def glance(workspace: Workspace, request: Request) -> Response:
    """What the first of the hosts does in a range of time, in a few names."""
    from ...timeline.busiest import glance as host_glance

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    width, shift = bounded_integer(request, "width", 1, _MOST_PIXELS), hosts.shifts[0]
    answer = host_glance(hosts.host(0), begin - shift, end - shift, width)
    return responses.data_json(request, answer | {"names": [short(name) for name in answer["names"]]})


def steps(workspace: Workspace, request: Request) -> Response:
    """The steps of each host."""
    return responses.data_json(request, _steps_by_host(Hosts(workspace, request)))


def _steps_by_host(hosts: Hosts) -> list[dict[str, Any]]:
    answer = []
    for view, shift in zip(hosts.views, hosts.shifts, strict=True):
        steps = view.steps()
        times = {key: [time + shift for time in steps[key]] for key in ("begin", "end")}
        answer.append({"host": view.host, **steps, **times})
    return answer


def aligned(workspace: Workspace, request: Request) -> Response:
    """How far a baseline's times are shifted so that a step of it begins where one of the session does."""
    from ...timeline.align import MOST_NAMES, StepSpans, align

    hosts, base_hosts = Hosts(workspace, request), Hosts(workspace, request, "base")
    if hosts.session.name == base_hosts.session.name:
        raise problem_error("same_session", "The baseline is this session itself.", "Choose another session.")

    def first_steps(hosts: Hosts) -> StepSpans:
        # Steps of several hosts are the same steps; one host's tell when they begin.
        first = next((steps for steps in _steps_by_host(hosts) if steps["begin"]), None)
        return StepSpans(*(first[key] if first else () for key in ("begin", "end", "name", "complete")))

    def side(steps: StepSpans, step_index: int | None) -> dict[str, Any]:
        step: dict[str, Any] = {"name": "", "begin": None, "end": None}
        if step_index is not None:
            name = short(steps.name[step_index])
            step = {"name": name, "begin": steps.begin[step_index], "end": steps.end[step_index]}
        return {"step": step_index, **step, "names": [short(name) for name in steps.name[:MOST_NAMES]]}

    steps, base_steps = first_steps(hosts), first_steps(base_hosts)
    step, base_step = (bounded_integer(request, name, 0, _LARGEST_STEP, -1) for name in ("step", "base_step"))
    alignment = align(steps, base_steps, None if step < 0 else step, None if base_step < 0 else base_step)
    answer = {"base_host": base_hosts.host_name, "offset": alignment.offset, "text": alignment.text}
    answer |= {"session": side(steps, alignment.step), "base": side(base_steps, alignment.base_step)}
    return responses.data_json(request, answer)
