"""Routes of the timeline that tell of events: one event, arrows, search, statistics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from .. import answers
from ..workspace import Workspace
from .query import bad, is_number
from .timeline_hosts import Hosts, listed, short, time_range

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...timeline.details import Arrow
    from ...timeline.selection import Area

_HITS = 10_000
_ARROWS = 400
_TABLE = 2000
_NODES = 5000
"""Of a tree of calls that are drawn."""


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
    from ...timeline.selection import statistics as summarise
    from ...tools.answers.answer import named_table
    from ...tools.columns import selection

    hosts = Hosts(workspace, request)
    begin, end = time_range(request, hosts)
    areas = _areas(hosts, request)
    rows: list[tuple[Any, ...]] = []
    bounds_ps: list[int] = []
    for index, shift in enumerate(hosts.shifts):
        areas_of_host = [area for at, area in areas if at == index]
        summary = summarise(hosts.host(index), areas_of_host, begin - shift, end - shift)
        names = hosts.timeline(index).names
        columns = (summary.name, summary.count, summary.total, summary.own, summary.least, summary.most)
        for number, *figures in zip(*(column.tolist() for column in columns), strict=True):
            rows.append((short(names[number]), *figures))
        if len(summary.name):
            bounds_ps += [summary.begin + shift, summary.end + shift]
    rows.sort(key=lambda row: -row[2])
    first, last = min(bounds_ps, default=None), max(bounds_ps, default=None)
    facts = {"names": len(rows), "events": sum(row[1] for row in rows), "begin": first, "end": last}
    return answers.data_json(request, facts | {"table": named_table(selection.TABLE, selection.columns(rows[:_TABLE]))})


def _areas(hosts: Hosts, request: Request) -> list[tuple[int, Area]]:
    """(index of the host, rows of a lane) as the request lists them, but for lanes that were not recorded."""
    from ...timeline.selection import Area

    areas = []
    for text in listed(request, "lanes"):
        lane, _, bounds = text.partition(":")
        low, _, high = bounds.partition("-")
        index, lane_index = hosts.lane(lane)
        if hosts.is_recorded(index, lane_index):
            some = is_number(low) and is_number(high)
            areas.append((index, Area(lane_index, int(low), int(high)) if some else Area(lane_index)))
    return areas


def flame(workspace: Workspace, request: Request) -> Response:
    """The calls in a range of time on some rows of some lanes as a tree, or as a file for other tools."""
    from ...analysis.call_tree import inverted, without_small
    from ...timeline.calls import TIME, WEIGHTS

    hosts = Hosts(workspace, request)
    weight, kind = request.args.get("weight") or TIME, request.args.get("format", "")
    if weight not in WEIGHTS:
        raise bad("weight", f"{weight!r} is none of {', '.join(WEIGHTS)}.")
    tree = _selected_calls(hosts, request, weight)
    label, unit = WEIGHTS[weight]
    if kind:
        from ...export.call_trees import FORMATS, Weighed

        if kind not in FORMATS:
            raise bad("format", f"{kind!r} is none of {', '.join(FORMATS)}.")
        body = FORMATS[kind].write(Weighed(tree, hosts.session.name, label, unit))
        return answers.binary_file(request, body, f"{weight}{FORMATS[kind].suffix}")
    whole, calls = int(tree.total[tree.parent < 0].sum()), len(tree)
    shown = without_small(inverted(tree) if request.args.get("inverted") == "1" else tree, _NODES)
    columns = {name: getattr(shown, name).tolist() for name in ("parent", "name", "own", "total", "calls")}
    facts = {"weight": weight, "unit": unit, "total_weight": whole, "nodes": calls, "weights": _weights(hosts)}
    return answers.data_json(request, facts | columns | {"names": [short(name) for name in shown.names]})


def _selected_calls(hosts: Hosts, request: Request, weight: str) -> CallTree:
    from ...analysis.call_tree import joined
    from ...timeline.calls import selected_calls

    begin, end = time_range(request, hosts)
    areas = _areas(hosts, request)
    trees = []
    for index, shift in enumerate(hosts.shifts):
        of_host = [area for at, area in areas if at == index]
        if of_host:
            trees.append(selected_calls(hosts.host(index), of_host, begin - shift, end - shift, weight))
    return joined(trees)


def _weights(hosts: Hosts) -> list[dict[str, str]]:
    """Those that any of the hosts tells of."""
    from ...timeline.calls import WEIGHTS, weights

    known = {weight for index in range(len(hosts.views)) for weight in weights(hosts.host(index))}
    return [{"id": weight, "label": label} for weight, (label, _) in WEIGHTS.items() if weight in known]
