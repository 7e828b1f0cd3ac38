"""The route of the timeline that tells of calls: merged into a tree, against a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from ..workspace import Workspace
from . import trees
from .timeline_hosts import Hosts, selected_areas, time_range

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...timeline.selection import Area

Areas = Sequence[tuple[int, "Area"]]


def flame(workspace: Workspace, request: Request) -> Response:
    """The calls in a range of time on some rows of some lanes as a tree, or as a file for other tools."""
    from ...export.call_trees import WeightedTree
    from ...timeline.calls import WEIGHTS

    hosts = Hosts(workspace, request)
    weight = trees.selected_weight(request, [(id, label) for id, (label, _) in WEIGHTS.items()])
    areas, has_base = selected_areas(hosts, request), bool(request.args.get("base"))
    tree = _calls(hosts, areas, time_range(request, hosts), weight, not has_base)
    weighed = WeightedTree(tree, hosts.session.name, *WEIGHTS[weight])
    if request.args.get("format"):
        return trees.file(request, weighed, weight)
    base = None
    if has_base:
        there = Hosts(workspace, request, "base")
        base = _calls(there, _same_lanes(hosts, areas, there), time_range(request, there, "base_"), weight, False)
    return trees.drawn(request, weighed, base, weight, _weights(hosts))


def _calls(hosts: Hosts, areas: Areas, span: tuple[int, int], weight: str, numbered: bool) -> CallTree:
    from ...analysis.call_tree import joined
    from ...timeline.calls import selected_calls

    begin, end = span
    trees = []
    for index, shift in enumerate(hosts.shifts):
        of_host = [area for at, area in areas if at == index]
        if of_host:
            trees.append(selected_calls(hosts.host(index), of_host, begin - shift, end - shift, weight, numbered))
    return joined(trees)


def _same_lanes(hosts: Hosts, areas: Areas, there: Hosts) -> Areas:
    """Rows of all lanes of the baseline that are called, and are of a kind, as one of those that are selected."""
    wanted: dict[tuple[str, str, str], Area] = {}
    for index, area in areas:
        wanted.setdefault(_called(hosts, index)[area.lane], area)
    return [
        (index, wanted[called]._replace(lane=lane_index))
        for index in range(len(there.views))
        for lane_index, called in enumerate(_called(there, index))
        if called in wanted and there.is_recorded(index, lane_index)
    ]


def _called(hosts: Hosts, index: int) -> list[tuple[str, str, str]]:
    """(kind of section, name, kind) of each lane of a host."""
    sections = hosts.timeline(index).sections
    return [(section.kind, lane.name, lane.kind) for section in sections for lane in section.lanes]


def _weights(hosts: Hosts) -> list[tuple[str, str]]:
    """Those that any of the hosts tells of."""
    from ...timeline.calls import WEIGHTS, weights

    available = {weight for index in range(len(hosts.views)) for weight in weights(hosts.host(index))}
    return [(weight, label) for weight, (label, _) in WEIGHTS.items() if weight in available]
