"""Routes about events of the timeline: one event's details, arrows, search, statistics of a selection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import responses
from ..workspace import Workspace
from .query import parameter_error
from .timeline_hosts import Hosts, comma_separated, selected_areas, short_name, time_range

if TYPE_CHECKING:
    from ...timeline.details import Arrow

_MOST_HITS = 10_000
"""Events that a search finds."""
_MOST_MATCHING_NAMES = 20_000
"""Names per host that a search lists, so that the timeline can highlight their events."""
_MOST_ARROWS = 400
"""Arrows per host."""
_MOST_TABLE_ROWS = 2000
"""Rows of statistics."""


def event(workspace: Workspace, request: Request) -> Response:
    """Details of an event and its arrows; of an interval of a lane that tells why a device is idle, also the causes."""
    from ...timeline import details, why

    hosts = Hosts(workspace, request)
    index, number = hosts.host_and_number(request.args.get("event", ""), "event")
    host, shift, host_index = hosts.host(index), hosts.shifts[index], hosts.host_indices[index]
    answer = details.details(host, number, hosts.decoded_timeline(index))
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
    answer["arrows"] = _arrow_entries(hosts, index, arrows)
    if gap:
        length = gap.end - gap.begin
        answer["gap"] = gap._asdict() | {
            "begin": gap.begin + shift,
            "end": gap.end + shift,
            "parts": [
                part._replace(name=short_name(part.name))._asdict() | {"share": part.ps / length} for part in gap.parts
            ],
            "before": f"{host_index}.{gap.before}" if gap.before >= 0 else "",
            "after": f"{host_index}.{gap.after}" if gap.after >= 0 else "",
            "next": short_name(gap.next),
            "launched_by": short_name(gap.launched_by),
        }
    return responses.data_json(request, answer)


def arrows(workspace: Workspace, request: Request) -> Response:
    """Arrows between lanes in a window."""
    from ...timeline import details, why

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    lanes = [hosts.lane(text.partition(":")[0]) for text in comma_separated(request, "lanes")]
    arrows: list[dict[str, Any]] = []
    total = 0
    for index, shift in enumerate(hosts.shifts):
        lanes_of_host = [
            lane for host_of_lane, lane in lanes if host_of_lane == index and hosts.is_recorded(index, lane)
        ]
        if not lanes_of_host and not hosts.why:
            continue
        host = hosts.host(index)
        host_arrows, count = details.arrows_between(host, lanes_of_host, begin - shift, end - shift, _MOST_ARROWS)
        if hosts.why:
            path_arrows, path_count = why.path_arrows(host, begin - shift, end - shift, _MOST_ARROWS)
            host_arrows, count = [*host_arrows, *path_arrows], count + path_count
        arrows += _arrow_entries(hosts, index, host_arrows)
        total += count
    kinds = {kind for index in range(len(hosts.views)) for kind in details.kinds(hosts.host(index))}
    kinds |= {why.ARROW} if hosts.why else set()
    return responses.data_json(request, {"arrows": arrows, "total": total, "kinds": sorted(kinds)})


def _arrow_entries(hosts: Hosts, index: int, arrows: Iterable[Arrow]) -> list[dict[str, Any]]:
    """Arrows with the lane, row and time of both ends; those with an end on no lane are left out."""
    timeline, shift, host_index = hosts.decoded_timeline(index), hosts.shifts[index], hosts.host_indices[index]

    def end(number: int) -> dict[str, Any] | None:
        lane_index, position = timeline.lane_set.find(number)
        if lane_index < 0:
            return None
        lane = timeline.lanes[lane_index]
        name = timeline.names[int(lane.name_of[position]) + lane.name_base]
        return {
            "event": f"{host_index}.{number}",
            "lane": f"{host_index}.{lane_index}",
            "row": int(timeline.rows[lane_index].row[position]),
            "name": short_name(name),
            "begin": int(lane.begin[position]) + shift,
            "end": int(lane.end[position]) + shift,
        }

    ends = ((end(arrow.source), end(arrow.target), arrow.kind) for arrow in arrows)
    return [{"kind": kind, "source": source, "target": target} for source, target, kind in ends if source and target]


def search(workspace: Workspace, request: Request) -> Response:
    """A slab with the events that match a text, ordered by begin or by length."""
    import numpy as np

    from ...store.slabs import pack
    from ...timeline.search import Pattern, hit_order
    from ...timeline.search import search as find

    hosts = Hosts(workspace, request)
    text = request.args.get("text", "")
    if not text:
        raise parameter_error("text", Message("There is no text to search for."))
    pattern = Pattern(text, request.args.get("regex") == "1")
    args, longest = request.args.get("args", "1") == "1", request.args.get("longest") == "1"
    parts: list[Any] = []
    matching_names: list[list[str]] = []
    total = 0
    for index, (host_index, shift) in enumerate(zip(hosts.host_indices, hosts.shifts, strict=True)):
        hits = find(hosts.host(index), pattern, args, longest)
        total += len(hits)
        first = slice(_MOST_HITS)
        hit_count = len(hits.event[first])
        times = [(column[first] + shift).astype(np.float64) for column in (hits.begin, hits.end)]
        hosts_and_rows = (np.full(hit_count, host_index, np.uint16), hits.lane[first], hits.row[first])
        parts.append((*hosts_and_rows, hits.event[first], hits.name[first], *times, hits.on_device[first]))
        matching_names.append([f"{host_index}.{name}" for name in hits.names[:_MOST_MATCHING_NAMES].tolist()])
    *columns, on_device = (np.concatenate(column) for column in zip(*parts, strict=True))
    arrays = dict(zip(("host", "lane", "row", "event", "name", "begin", "end"), columns, strict=True))
    order = hit_order(arrays["begin"], arrays["end"], on_device, longest)[:_MOST_HITS]
    arrays = {name: column[order] for name, column in arrays.items()}
    names = [name for host_names in matching_names for name in host_names]
    return responses.binary(request, pack({"total": total, "names": names}, arrays))


def statistics(workspace: Workspace, request: Request) -> Response:
    """A table of the events in a range of time on some rows of some lanes, by name and lane."""
    from ...timeline.selected_events import SelectedEvents, area_events
    from ...tools.answers.answer import table_json
    from ...tools.columns import selection

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    rows: list[SelectedEvents] = []
    bounds_ps: list[int] = []
    for index, area in selected_areas(hosts, request):
        shift = hosts.shifts[index]
        selected = area_events(hosts.host(index), area, begin - shift, end - shift)
        rows += [row._replace(name=short_name(row.name)) for row in selected.rows]
        bounds_ps += [time + shift for time in selected.span or ()]
    rows.sort(key=lambda row: -row.total_ps)
    first, last = min(bounds_ps, default=None), max(bounds_ps, default=None)
    facts = {"names": len(rows), "events": sum(row.event_count for row in rows), "begin": first, "end": last}
    table = table_json(selection.TABLE, selection.columns(rows[:_MOST_TABLE_ROWS]))
    return responses.data_json(request, facts | {"table": table})
