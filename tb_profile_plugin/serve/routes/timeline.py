"""Routes of the timeline: lanes, what is visible of them, names, steps, search, statistics, details, arrows.

Times are ps since the first event of the hosts that are shown. A lane or an event is named ``host.number``, where the
host is its place among the session's hosts, so that a name stays good whichever hosts are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.memo import lazy
from ...runtime.problems import Problem, ProblemError
from .. import answers
from ..workspace import Workspace
from .query import ALL_HOSTS, bad, bounded_integer, is_number

if TYPE_CHECKING:
    from ...model.host import Host
    from ...timeline.details import Arrow
    from ...timeline.tiles import HostTimeline, Timeline
    from ...timeline.view import View

_BLOCK = 128
"""Names that are sent together."""
_LONGEST_NAME = 300
_WIDEST = 16384
_HITS = 10_000
_ARROWS = 400
_TABLE = 2000
_MOST_LANES = 4000
_MOST_STEPS = 1 << 31


class _Hosts:
    """The hosts that a request is about, on one clock."""

    def __init__(self, workspace: Workspace, request: Request, of: str = "run"):
        """``of`` is the parameter that names the session; a host that it lacks stands for all of them."""
        run = request.args.get(of, "")
        if not run:
            raise bad(of, f"The parameter {of!r} is missing.")
        self._workspace, host = workspace, request.args.get("host", "")
        self.why = request.args.get("why") == "1"
        self.session = workspace.session(run)
        self.host_name = host if of == "run" or host in self.session.hosts else ALL_HOSTS

    @lazy
    def views(self) -> list[View]:
        """All that it takes to look at them."""
        return self._workspace.views.of(self.session, self.host_name)

    def host(self, index: int) -> Host:
        """The same, decoded; of many hosts one after another, so that not all need be in memory."""
        return self.session.host(self.views[index].host)

    @lazy
    def host_indices(self) -> list[int]:
        return [self.session.hosts.index(view.host) for view in self.views]

    @lazy
    def shifts(self) -> list[int]:
        from ...model import clock

        return clock.shifts(self.views)

    @property
    def duration(self) -> int:
        from ...model import clock

        return clock.duration(self.views)

    def timeline(self, index: int) -> Timeline:
        """With lanes that tell why devices are idle, behind all others, where they are asked for."""
        return self.of_host(index) if self.why else self.views[index].timeline

    def of_host(self, index: int) -> HostTimeline:
        """The same of the decoded host."""
        from ...timeline.tiles import timeline
        from ...timeline.why import why_timeline

        return why_timeline(self.host(index)) if self.why else timeline(self.host(index))

    def is_recorded(self, index: int, lane_index: int) -> bool:
        """Whether the lane is there without being asked for."""
        return lane_index < len(self.views[index].timeline.rows)

    def pair(self, text: str, what: str) -> tuple[int, int]:
        """(index in ``views``, number) of a lane or event."""
        host, dot, number = text.partition(".")
        if not (dot and is_number(host) and is_number(number)) or int(host) not in self.host_indices:
            raise bad(what, f"{text!r} names no {what} of the hosts that are shown.")
        return self.host_indices.index(int(host)), int(number)

    def lane(self, text: str) -> tuple[int, int]:
        index, lane_index = self.pair(text, "lane")
        if lane_index >= len(self.timeline(index).rows):
            raise bad("lane", f"There is no lane {text!r}.")
        return index, lane_index


def _range(request: Request, hosts: _Hosts) -> tuple[int, int]:
    limit = 2 * hosts.duration + 1_000_000
    begin = bounded_integer(request, "begin", -limit, limit, 0)
    end = bounded_integer(request, "end", -limit, limit, hosts.duration)
    if end <= begin:
        raise bad("end", "The range of time is empty.")
    return begin, end


def _listed(request: Request, name: str) -> list[str]:
    parts = [part for part in request.args.get(name, "").split(",") if part]
    if len(parts) > _MOST_LANES:
        raise bad(name, f"{len(parts)} are too many to show.")
    return parts


def lanes(workspace: Workspace, request: Request) -> Response:
    """Sections and lanes in the order in which to show them."""
    hosts = _Hosts(workspace, request)
    sections: list[dict[str, Any]] = []
    for index, host_index in enumerate(hosts.host_indices):
        timeline = hosts.timeline(index)
        rows = iter(timeline.rows)
        number, before = 0, len(sections)
        for section in timeline.sections:
            entries = []
            for lane in section.lanes:
                facts = {"id": lane.id, "name": lane.name, "detail": lane.detail, "kind": lane.kind}
                entries.append({"key": f"{host_index}.{number}", **facts, "rows": len(next(rows)), "events": len(lane)})
                number += 1
            described = {"host": hosts.views[index].host, "name": section.name, "kind": section.kind, "lanes": entries}
            recorded = hosts.is_recorded(index, number - 1)
            sections.insert(len(sections) if recorded else before, described)
    answer = {"duration": hosts.duration, "block": _BLOCK, "sections": sections}
    return answers.data_json(request, answer)


def slices(workspace: Workspace, request: Request) -> Response:
    """A slab with the visible slices of lanes."""
    import numpy as np

    from ...model.lanes import COUNTER
    from ...store.slabs import pack

    hosts = _Hosts(workspace, request)
    begin, end = _range(request, hosts)
    width = bounded_integer(request, "width", 1, _WIDEST)
    span = end - begin
    origin, unit = begin - span, max(1, -(-3 * span // (1 << 31)))
    requests = [text.partition(":") for text in _listed(request, "lanes")]
    lanes = [(*hosts.lane(lane), int(limit) if is_number(limit) else 0) for lane, _, limit in requests]
    arrays: dict[str, Any] = {}
    parts: list[Any] = []
    counts = []
    for i, (index, lane_index, limit) in enumerate(lanes):
        timeline, shift = hosts.timeline(index), hosts.shifts[index]
        if timeline.lanes[lane_index].kind == COUNTER:
            column = timeline.counter(lane_index, begin - shift, end - shift, width)
            arrays |= {f"{i}.begin": (column.begin + shift).astype(np.float64), f"{i}.low": column.low}
            arrays |= {f"{i}.high": column.high, f"{i}.last": column.last}
            counts.append(0)
            continue
        seen = timeline.slices([(lane_index, limit)], begin - shift, end - shift, width)
        edges = [np.clip(times + shift - origin, 0, 3 * span) // unit for times in (seen.begin, seen.end)]
        parts.append((edges[0], edges[1] - edges[0], seen.row, seen.name, seen.event, seen.count, seen.busy))
        counts.append(len(seen.row))
    dtypes = (np.uint32, np.uint32, np.uint16, np.uint32, np.uint32, np.uint32, np.uint8)
    columns = list(zip(*parts, strict=True)) or [()] * len(dtypes)
    for name, dtype, pieces in zip(
        ("begin", "width", "row", "name", "event", "count", "busy"), dtypes, columns, strict=True
    ):
        arrays[name] = np.concatenate([np.empty(0, dtype), *(piece.astype(dtype) for piece in pieces)])
    facts = {"begin": begin, "end": end, "origin": origin, "unit": unit, "lanes": [lane for lane, *_ in requests]}
    return answers.binary(request, pack({**facts, "counts": counts}, arrays))


def names(workspace: Workspace, request: Request) -> Response:
    """Blocks of names."""
    hosts = _Hosts(workspace, request)
    answer: dict[str, list[str]] = {}
    for text in _listed(request, "blocks")[:200]:
        index, block = hosts.pair(text, "block")
        names = hosts.timeline(index).names
        numbers = range(block * _BLOCK, min((block + 1) * _BLOCK, len(names)))
        answer[text] = [_short(names[number]) for number in numbers]
    return answers.data_json(request, answer)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def glance(workspace: Workspace, request: Request) -> Response:
    """A stretch of the first of the hosts at a glance."""
    from ...timeline.busiest import glance as at_a_glance

    hosts = _Hosts(workspace, request)
    begin, end = _range(request, hosts)
    answer = at_a_glance(
        hosts.host(0), begin - hosts.shifts[0], end - hosts.shifts[0], bounded_integer(request, "width", 1, _WIDEST)
    )
    return answers.data_json(request, answer | {"names": [_short(name) for name in answer["names"]]})


def steps(workspace: Workspace, request: Request) -> Response:
    """The steps of each host."""
    return answers.data_json(request, _steps(_Hosts(workspace, request)))


def _steps(hosts: _Hosts) -> list[dict[str, Any]]:
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

    here, there = _Hosts(workspace, request), _Hosts(workspace, request, "base")
    if here.session.name == there.session.name:
        raise ProblemError(Problem("same_session", "The baseline is this session itself.", "Choose another session."))
    sides = []
    for hosts in (here, there):
        # Steps of several hosts are the same steps; one host's tell when they begin.
        first = next((steps for steps in _steps(hosts) if steps["begin"]), None)
        keys = ("begin", "end", "name", "complete")
        sides.append(Steps(*(first[key] if first else () for key in keys)))
    selected = [bounded_integer(request, name, 0, _MOST_STEPS, -1) for name in ("step", "base_step")]
    alignment = align(sides[0], sides[1], *(None if number < 0 else number for number in selected))

    def side(steps: Steps, step_index: int | None) -> dict[str, Any]:
        names = [_short(name) for name in steps.name[:MOST_NAMES]]
        at: dict[str, Any] = {"name": "", "begin": None, "end": None}
        if step_index is not None:
            at = {
                "name": _short(steps.name[step_index]),
                "begin": steps.begin[step_index],
                "end": steps.end[step_index],
            }
        return {"step": step_index, **at, "names": names}

    answer = {"base_host": there.host_name, "offset": alignment.offset, "text": alignment.text}
    answer |= {"session": side(sides[0], alignment.step), "base": side(sides[1], alignment.base_step)}
    return answers.data_json(request, answer)


def event(workspace: Workspace, request: Request) -> Response:
    """All about one event, its links included."""
    from ...timeline import details, why

    hosts = _Hosts(workspace, request)
    index, number = hosts.pair(request.args.get("event", ""), "event")
    host, shift, host_index = hosts.host(index), hosts.shifts[index], hosts.host_indices[index]
    answer = details.details(host, number, hosts.of_host(index))
    arrows = details.arrows_of(host, number)
    if not hosts.is_recorded(index, answer["lane"]):
        answer["args"], arrows = why.explanation(host, number)
    lane = hosts.timeline(index).lanes[answer["lane"]]
    answer["begin"] += shift
    answer["end"] += shift
    answer |= {"event": f"{host_index}.{number}", "lane": f"{host_index}.{answer['lane']}", "host": host.name}
    answer |= {"lane_name": lane.name, "lane_id": lane.id}
    answer["arrows"] = _arrows(hosts, index, arrows)
    return answers.data_json(request, answer)


def arrows(workspace: Workspace, request: Request) -> Response:
    """Arrows between lanes in a window."""
    from ...timeline import details, why

    hosts = _Hosts(workspace, request)
    begin, end = _range(request, hosts)
    lanes = [hosts.lane(text.partition(":")[0]) for text in _listed(request, "lanes")]
    arrows: list[dict[str, Any]] = []
    total = 0
    for index, shift in enumerate(hosts.shifts):
        lanes_of_host = [lane_index for at, lane_index in lanes if at == index and hosts.is_recorded(index, lane_index)]
        if not lanes_of_host and not hosts.why:
            continue
        host = hosts.host(index)
        some, all_of_them = details.arrows_between(host, lanes_of_host, begin - shift, end - shift, _ARROWS)
        along, steps = why.path_arrows(host, begin - shift, end - shift, _ARROWS) if hosts.why else ([], 0)
        arrows += _arrows(hosts, index, [*some, *along])
        total += all_of_them + steps
    kinds = {kind for index in range(len(hosts.views)) for kind in details.kinds(hosts.host(index))}
    kinds |= {why.ARROW} if hosts.why else set()
    return answers.data_json(request, {"arrows": arrows, "total": total, "kinds": sorted(kinds)})


def _arrows(hosts: _Hosts, index: int, arrows: Iterable[Arrow]) -> list[dict[str, Any]]:
    """Arrows with where their ends lie; an end that no lane shows leaves the arrow out."""
    timeline, shift, host_index = hosts.of_host(index), hosts.shifts[index], hosts.host_indices[index]

    def end(number: int) -> dict[str, Any] | None:
        at, position = timeline.lane_set.find(number)
        if at < 0:
            return None
        lane = timeline.lanes[at]
        name = timeline.names[int(lane.name_of[position]) + lane.name_base]
        spot = {"lane": f"{host_index}.{at}", "row": int(timeline.rows[at].row[position]), "name": _short(name)}
        times = {"begin": int(lane.begin[position]) + shift, "end": int(lane.end[position]) + shift}
        return {"event": f"{host_index}.{number}", **spot, **times}

    ends = ((end(arrow.source), end(arrow.target), arrow.kind) for arrow in arrows)
    return [{"kind": kind, "source": source, "target": target} for source, target, kind in ends if source and target]


def search(workspace: Workspace, request: Request) -> Response:
    """A slab with the events that match a text, by begin or by length."""
    import numpy as np

    from ...store.slabs import pack
    from ...timeline.search import Pattern, ordered
    from ...timeline.search import search as find

    hosts = _Hosts(workspace, request)
    text = request.args.get("text", "")
    if not text:
        raise bad("text", "There is no text to search for.")
    wanted = Pattern(text, request.args.get("regex") == "1")
    args, longest = request.args.get("args", "1") == "1", request.args.get("longest") == "1"
    parts: list[Any] = []
    matching: list[list[str]] = []
    total = 0
    for index, (host_index, shift) in enumerate(zip(hosts.host_indices, hosts.shifts, strict=True)):
        hits = find(hosts.host(index), wanted, args, longest)
        total += len(hits)
        part = slice(_HITS)
        size = len(hits.event[part])
        times = [(column[part] + shift).astype(np.float64) for column in (hits.begin, hits.end)]
        columns = (hits.lane[part], hits.row[part], hits.event[part], hits.name[part])
        parts.append((np.full(size, host_index, np.uint16), *columns, *times, hits.on_device[part]))
        matching.append([f"{host_index}.{name}" for name in hits.names[:20_000].tolist()])
    *joined, on_device = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = ordered(joined[5], joined[6], on_device, longest)[:_HITS]
    arrays = dict(
        zip(("host", "lane", "row", "event", "name", "begin", "end"), (c[order] for c in joined), strict=True)
    )
    return answers.binary(
        request, pack({"total": total, "names": [name for part in matching for name in part]}, arrays)
    )


def statistics(workspace: Workspace, request: Request) -> Response:
    """Per name, what lies in a range of time on some rows of some lanes."""
    from ...timeline.selection import Area
    from ...timeline.selection import statistics as summarise
    from ...tools.answers.answer import named_table
    from ...tools.columns import selection

    hosts = _Hosts(workspace, request)
    begin, end = _range(request, hosts)
    areas: list[tuple[int, Area]] = []
    for text in _listed(request, "lanes"):
        lane, _, bounds = text.partition(":")
        low, _, high = bounds.partition("-")
        index, lane_index = hosts.lane(lane)
        if not hosts.is_recorded(index, lane_index):
            continue
        some = is_number(low) and is_number(high)
        areas.append((index, Area(lane_index, int(low), int(high)) if some else Area(lane_index)))
    rows: list[tuple[Any, ...]] = []
    bounds_ps: list[int] = []
    for index, shift in enumerate(hosts.shifts):
        areas_of_host = [area for at, area in areas if at == index]
        summary = summarise(hosts.host(index), areas_of_host, begin - shift, end - shift)
        names = hosts.timeline(index).names
        columns = (summary.name, summary.count, summary.total, summary.own, summary.least, summary.most)
        for number, *figures in zip(*(column.tolist() for column in columns), strict=True):
            rows.append((_short(names[number]), *figures))
        if len(summary.name):
            bounds_ps += [summary.begin + shift, summary.end + shift]
    rows.sort(key=lambda row: -row[2])
    first, last = min(bounds_ps, default=None), max(bounds_ps, default=None)
    facts = {"names": len(rows), "events": sum(row[1] for row in rows), "begin": first, "end": last}
    return answers.data_json(request, facts | {"table": named_table(selection.TABLE, selection.columns(rows[:_TABLE]))})
