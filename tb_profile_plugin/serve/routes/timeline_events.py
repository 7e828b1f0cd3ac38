"""Routes of the timeline that tell of events: one event, arrows, search, statistics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import answers
from ..workspace import Workspace
from .query import bad
from .timeline_hosts import Hosts, listed, selected_areas, short, time_range

if TYPE_CHECKING:
    from ...timeline.details import Arrow

_HITS = 10_000
_ARROWS = 400
_TABLE = 2000


def event(workspace: Workspace, request: Request) -> Response:
    """All about one event, its links included."""
    from ...timeline import details, why

    hosts = Hosts(workspace, request)
    index, number = hosts.pair(request.args.get("event", ""), "event")
    host, shift, host_index = hosts.host(index), hosts.shifts[index], hosts.host_indices[index]
    answer = details.details(host, number, hosts.of_host(index))
    arrows = details.arrows_of(host, number)
    gap = None
    if not hosts.is_recorded(index, answer["lane"]):
        answer["args"], arrows = why.explanation(host, number)
        gap = why.gap(host, number)
    lane = hosts.timeline(index).lanes[answer["lane"]]
    answer["begin"] += shift
    answer["end"] += shift
    answer |= {"event": f"{host_index}.{number}", "lane": f"{host_index}.{answer['lane']}", "host": host.name}
    answer |= {"lane_name": lane.name, "lane_id": lane.id}
    answer["arrows"] = _arrows(hosts, index, arrows)
    if gap:
        sides = (("before", gap.before), ("after", gap.after))
        around = {side: f"{host_index}.{at}" if at >= 0 else "" for side, at in sides}
        length = gap.end - gap.begin
        parts = [part._replace(name=short(part.name))._asdict() | {"share": part.ps / length} for part in gap.parts]
        times = {"begin": gap.begin + shift, "end": gap.end + shift, "parts": parts, **around}
        answer["gap"] = gap._asdict() | times | {"next": short(gap.next), "launched_by": short(gap.launched_by)}
    return answers.data_json(request, answer)


def arrows(workspace: Workspace, request: Request) -> Response:
    """Arrows between lanes in a window."""
    from ...timeline import details, why

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    lanes = [hosts.lane(text.partition(":")[0]) for text in listed(request, "lanes")]
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


def _arrows(hosts: Hosts, index: int, arrows: Iterable[Arrow]) -> list[dict[str, Any]]:
    """Arrows with where their ends lie; an end that no lane shows leaves the arrow out."""
    timeline, shift, host_index = hosts.of_host(index), hosts.shifts[index], hosts.host_indices[index]

    def end(number: int) -> dict[str, Any] | None:
        at, position = timeline.lane_set.find(number)
        if at < 0:
            return None
        lane = timeline.lanes[at]
        name = timeline.names[int(lane.name_of[position]) + lane.name_base]
        spot = {"lane": f"{host_index}.{at}", "row": int(timeline.rows[at].row[position]), "name": short(name)}
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

    hosts = Hosts(workspace, request)
    text = request.args.get("text", "")
    if not text:
        raise bad("text", Message("There is no text to search for."))
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
    """Per name and lane, what lies in a range of time on some rows of some lanes."""
    from ...timeline.selection import statistics as summarise
    from ...tools.answers.answer import table_json
    from ...tools.columns import selection

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    areas = selected_areas(hosts, request)
    rows: list[tuple[Any, ...]] = []
    bounds_ps: list[int] = []
    for index, area in areas:
        timeline, shift = hosts.timeline(index), hosts.shifts[index]
        summary = summarise(hosts.host(index), [area], begin - shift, end - shift)
        lane = timeline.lanes[area.lane]
        title = " ".join(filter(None, (lane.name, lane.detail)))
        columns = (summary.name, summary.count, summary.total, summary.own, summary.least, summary.most)
        for number, *figures in zip(*(column.tolist() for column in columns), strict=True):
            rows.append((short(timeline.names[number]), title, *figures))
        if len(summary.name):
            bounds_ps += [summary.begin + shift, summary.end + shift]
    rows.sort(key=lambda row: -row[3])
    first, last = min(bounds_ps, default=None), max(bounds_ps, default=None)
    facts = {"names": len(rows), "events": sum(row[2] for row in rows), "begin": first, "end": last}
    return answers.data_json(request, facts | {"table": table_json(selection.TABLE, selection.columns(rows[:_TABLE]))})
