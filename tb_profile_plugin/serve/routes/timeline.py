"""Routes of the timeline that draw it: lanes, what is visible of them, names, steps, how two lie over each other."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

from werkzeug.wrappers import Request, Response

from ...runtime.problems import problem_error
from .. import answers
from ..workspace import Workspace
from .query import bounded_integer, is_number
from .timeline_hosts import Hosts, listed, short, time_range

_BLOCK = 128
"""Names that are sent together."""
_WIDEST = 16384
_MOST_OPEN = 6
"""Sections of devices, with those that tell why they are idle: where there are more, these are folded at first."""
_MOST_STEPS = 1 << 31


def lanes(workspace: Workspace, request: Request) -> Response:
    """Sections and lanes in the order in which to show them."""
    hosts = Hosts(workspace, request)
    sections: list[dict[str, Any]] = []
    for index, host_index in enumerate(hosts.host_indices):
        timeline = hosts.timeline(index)
        rows = iter(timeline.rows)
        number = derived = 0
        devices = sum(section.kind == "device" for section in timeline.sections)
        before = len(sections)
        for section in timeline.sections:
            entries = []
            for lane in section.lanes:
                facts = {"id": lane.id, "name": lane.name, "detail": lane.detail, "kind": lane.kind, "unit": lane.unit}
                entries.append({"key": f"{host_index}.{number}", **facts, "rows": len(next(rows)), "events": len(lane)})
                number += 1
            described: dict[str, Any] = {"host": hosts.views[index].host, "name": section.name, "kind": section.kind}
            recorded = hosts.is_recorded(index, number - 1)
            described |= {"folded": not recorded and devices > _MOST_OPEN, "lanes": entries}
            sections.insert(len(sections) if recorded else before + derived, described)
            derived += not recorded
    answer = {"duration": hosts.duration, "block": _BLOCK, "clocks": _clocks(hosts), "sections": sections}
    return answers.data_json(request, answer)


def _clocks(hosts: Hosts) -> dict[str, int] | None:
    """How far apart the hosts' clocks are, and how exactly that is known, ps."""
    if hosts.clocks is None:
        return None
    ahead_ps = hosts.clocks["ahead_ps"].values()
    return {"apart": max(ahead_ps) - min(ahead_ps), "error": hosts.clocks["error_ps"]}


def slices(workspace: Workspace, request: Request) -> Response:
    """A slab with the visible slices of lanes."""
    import numpy as np

    from ...model.lanes import COUNTER
    from ...store.slabs import pack

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    width = bounded_integer(request, "width", 1, _WIDEST)
    span = end - begin
    origin, unit = begin - span, max(1, -(-3 * span // (1 << 31)))
    requests = [text.partition(":") for text in listed(request, "lanes")]
    lanes = [(*hosts.lane(lane), int(limit) if is_number(limit) else 0) for lane, _, limit in requests]
    arrays: dict[str, Any] = {}
    parts: list[Any] = []
    counts: list[list[int]] = []
    for index, group in groupby(lanes, lambda lane: lane[0]):
        timeline, shift = hosts.timeline(index), hosts.shifts[index]
        of_host = [(lane_index, limit) for _, lane_index, limit in group]
        for i, (lane_index, _) in enumerate(of_host, len(counts)):
            if timeline.lanes[lane_index].kind == COUNTER:
                column = timeline.counter(lane_index, begin - shift, end - shift, width)
                arrays |= {f"{i}.begin": (column.begin + shift).astype(np.float64), f"{i}.low": column.low}
                arrays |= {f"{i}.high": column.high, f"{i}.last": column.last}
        seen = timeline.slices(of_host, begin - shift, end - shift, width)
        edges = [np.clip(times + shift - origin, 0, 3 * span) // unit for times in (seen.begin, seen.end)]
        parts.append((edges[0], edges[1] - edges[0], seen.name, seen.event, seen.count, seen.busy))
        bounds = np.searchsorted(seen.lane, np.arange(len(of_host) + 1))
        counts += [np.bincount(seen.row[low:high]).tolist() for low, high in pairwise(bounds.tolist())]
    dtypes = (np.uint32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint8)
    columns = list(zip(*parts, strict=True)) or [()] * len(dtypes)
    for name, dtype, pieces in zip(("begin", "width", "name", "event", "count", "busy"), dtypes, columns, strict=True):
        arrays[name] = np.concatenate([np.empty(0, dtype), *(piece.astype(dtype) for piece in pieces)])
    facts = {"begin": begin, "end": end, "origin": origin, "unit": unit, "lanes": [lane for lane, *_ in requests]}
    return answers.binary(request, pack({**facts, "counts": counts}, arrays))


def names(workspace: Workspace, request: Request) -> Response:
    """Blocks of names."""
    hosts = Hosts(workspace, request)
    answer: dict[str, list[str]] = {}
    for text in listed(request, "blocks")[:200]:
        index, block = hosts.pair(text, "block")
        timeline = hosts.timeline(index)
        numbers = range(block * _BLOCK, min((block + 1) * _BLOCK, len(timeline.names)))
        answer[text] = [short(timeline.short_names.get(number, timeline.names[number])) for number in numbers]
    return answers.data_json(request, answer)


def glance(workspace: Workspace, request: Request) -> Response:
    """A stretch of the first of the hosts at a glance."""
    from ...timeline.busiest import glance as at_a_glance

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    answer = at_a_glance(
        hosts.host(0), begin - hosts.shifts[0], end - hosts.shifts[0], bounded_integer(request, "width", 1, _WIDEST)
    )
    return answers.data_json(request, answer | {"names": [short(name) for name in answer["names"]]})


def steps(workspace: Workspace, request: Request) -> Response:
    """The steps of each host."""
    return answers.data_json(request, _steps(Hosts(workspace, request)))


def _steps(hosts: Hosts) -> list[dict[str, Any]]:
    answer = []
    for view, shift in zip(hosts.views, hosts.shifts, strict=True):
        steps = view.steps()
        times = {key: [time + shift for time in steps[key]] for key in ("begin", "end")}
        answer.append({"host": view.host, **steps, **times})
    return answer


def aligned(workspace: Workspace, request: Request) -> Response:
    """How a baseline's times lie over the session's: a step of either begins at the same place."""
    from ...timeline.align import MOST_NAMES, Steps
    from ...timeline.align import aligned as align

    here, there = Hosts(workspace, request), Hosts(workspace, request, "base")
    if here.session.name == there.session.name:
        raise problem_error("same_session", "The baseline is this session itself.", "Choose another session.")
    sides = []
    for hosts in (here, there):
        # Steps of several hosts are the same steps; one host's tell when they begin.
        first = next((steps for steps in _steps(hosts) if steps["begin"]), None)
        keys = ("begin", "end", "name", "complete")
        sides.append(Steps(*(first[key] if first else () for key in keys)))
    selected = [bounded_integer(request, name, 0, _MOST_STEPS, -1) for name in ("step", "base_step")]
    alignment = align(sides[0], sides[1], *(None if number < 0 else number for number in selected))

    def side(steps: Steps, step_index: int | None) -> dict[str, Any]:
        names = [short(name) for name in steps.name[:MOST_NAMES]]
        at: dict[str, Any] = {"name": "", "begin": None, "end": None}
        if step_index is not None:
            at = {"name": short(steps.name[step_index]), "begin": steps.begin[step_index], "end": steps.end[step_index]}
        return {"step": step_index, **at, "names": names}

    answer = {"base_host": there.host_name, "offset": alignment.offset, "text": alignment.text}
    answer |= {"session": side(sides[0], alignment.step), "base": side(sides[1], alignment.base_step)}
    return answers.data_json(request, answer)
