"""Routes of the timeline that draw it: lanes, their visible slices, names, steps, and how a baseline is aligned."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.problems import problem_error
from .. import responses
from ..workspace import Workspace
from .query import bounded_integer, is_number
from .timeline_hosts import Hosts, comma_separated, short_name, time_range

if TYPE_CHECKING:
    from ...timeline.align import StepSpans

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
_SLICE_DTYPES = {**dict.fromkeys(("begin", "width", "name", "event", "count"), "uint32"), "busy": "uint8"}
"""Arrays of slices, and their types."""


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
    why_sections: list[dict[str, Any]] = []
    recorded_sections: list[dict[str, Any]] = []
    lane_end = 0
    for section in timeline.sections:
        first_lane, lane_end = lane_end, lane_end + len(section.lanes)
        lanes = []
        for number, lane in enumerate(section.lanes, first_lane):
            facts = {"id": lane.id, "name": lane.name, "detail": lane.detail, "kind": lane.kind, "unit": lane.unit}
            sizes = {"rows": len(timeline.rows[number]), "events": len(lane)}
            lanes.append({"key": f"{host_index}.{number}", **facts, **sizes})
        is_recorded = hosts.is_recorded(index, lane_end - 1)
        facts = {"host": hosts.views[index].host, "name": section.name, "kind": section.kind}
        (recorded_sections if is_recorded else why_sections).append(
            {**facts, "folded": not is_recorded and many_devices, "lanes": lanes}
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
    requests = [text.partition(":") for text in comma_separated(request, "lanes")]
    lanes = [(*hosts.lane(lane), int(limit) if is_number(limit) else 0) for lane, _, limit in requests]
    arrays: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    counts: list[list[int]] = []
    for index, group in groupby(lanes, lambda lane: lane[0]):
        timeline, shift = hosts.timeline(index), hosts.shifts[index]
        lanes_of_host = [(lane_index, limit) for _, lane_index, limit in group]
        for i, (lane_index, _) in enumerate(lanes_of_host, len(counts)):
            if timeline.lanes[lane_index].kind == COUNTER:
                counter = timeline.counter(lane_index, begin - shift, end - shift, width)
                counter = counter._replace(begin=(counter.begin + shift).astype(np.float64))
                arrays |= {f"{i}.{name}": values for name, values in counter._asdict().items()}
        visible = timeline.slices(lanes_of_host, begin - shift, end - shift, width)
        edges = [np.clip(times + shift - origin, 0, 3 * span) // unit for times in (visible.begin, visible.end)]
        parts.append(vars(visible) | {"begin": edges[0], "width": edges[1] - edges[0]})
        bounds = np.searchsorted(visible.lane, np.arange(len(lanes_of_host) + 1))
        counts += [np.bincount(visible.row[low:high]).tolist() for low, high in pairwise(bounds.tolist())]
    for name, dtype in _SLICE_DTYPES.items():
        arrays[name] = np.concatenate([np.empty(0, dtype), *(part[name].astype(dtype) for part in parts)])
    facts = {"begin": begin, "end": end, "origin": origin, "unit": unit, "lanes": [lane for lane, *_ in requests]}
    return responses.binary(request, pack({**facts, "counts": counts}, arrays))


def names(workspace: Workspace, request: Request) -> Response:
    """Blocks of names by ``host.block``."""
    hosts = Hosts(workspace, request)
    answer: dict[str, list[str]] = {}
    for text in comma_separated(request, "blocks")[:_MOST_BLOCKS]:
        index, block = hosts.host_and_number(text, "block")
        timeline = hosts.timeline(index)
        numbers = range(block * _NAMES_PER_BLOCK, min((block + 1) * _NAMES_PER_BLOCK, len(timeline.names)))
        answer[text] = [short_name(timeline.short_names.get(number, timeline.names[number])) for number in numbers]
    return responses.data_json(request, answer)


def glance(workspace: Workspace, request: Request) -> Response:
    """What the first of the hosts does in a range of time, in a few names."""
    from ...timeline.busiest import glance as host_glance

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    width, shift = bounded_integer(request, "width", 1, _MOST_PIXELS), hosts.shifts[0]
    answer = host_glance(hosts.host(0), begin - shift, end - shift, width)
    return responses.data_json(request, answer | {"names": [short_name(name) for name in answer["names"]]})


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
    from ...timeline.align import align

    hosts, base_hosts = Hosts(workspace, request), Hosts(workspace, request, "base")
    if hosts.session.name == base_hosts.session.name:
        raise problem_error("same_session", "The baseline is this session itself.", "Choose another session.")
    steps, base_steps = _step_spans(hosts), _step_spans(base_hosts)
    step, base_step = (bounded_integer(request, name, 0, _LARGEST_STEP, -1) for name in ("step", "base_step"))
    alignment = align(steps, base_steps, None if step < 0 else step, None if base_step < 0 else base_step)
    answer = {"base_host": base_hosts.host_name, "offset": alignment.offset, "text": alignment.text}
    answer |= {"session": _aligned_side(steps, alignment.step), "base": _aligned_side(base_steps, alignment.base_step)}
    return responses.data_json(request, answer)


def _step_spans(hosts: Hosts) -> StepSpans:
    """The steps of the first host that has some: those of several hosts are the same steps."""
    from ...timeline.align import StepSpans

    first = next((steps for steps in _steps_by_host(hosts) if steps["begin"]), None)
    return StepSpans(*(first[key] if first else () for key in StepSpans._fields))


def _aligned_side(steps: StepSpans, step: int | None) -> dict[str, Any]:
    """The step that is aligned, and the names of the first ones."""
    from ...timeline.align import MOST_NAMES

    names = [short_name(name) for name in steps.name[:MOST_NAMES]]
    if step is None:
        return {"step": None, "name": "", "begin": None, "end": None, "names": names}
    name = short_name(steps.name[step])
    return {"step": step, "name": name, "begin": steps.begin[step], "end": steps.end[step], "names": names}
