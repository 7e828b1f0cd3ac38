"""The route of the timeline's flame graph: selected calls merged into a tree, beside a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from ..workspace import Workspace
from . import trees
from .timeline_hosts import Hosts, selected_areas, time_range

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...timeline.selection import LaneRows

Areas = Sequence[tuple[int, "LaneRows"]]
"""(index of the host, selected rows of a lane)."""


def flame(workspace: Workspace, request: Request) -> Response:
    """The calls in a range of time on some rows of some lanes as a tree, or as a file for other tools."""
    from ...export.call_trees import WeightedTree
    from ...timeline.calls import WEIGHTS

    hosts = Hosts(workspace, request)
    weight = trees.selected_weight(request, WEIGHTS)
    areas, has_base = selected_areas(hosts, request), bool(request.args.get("base"))
    tree = _merged_calls(hosts, areas, time_range(request, hosts), weight, numbered=not has_base)
    weighted = WeightedTree(tree, hosts.session.name, *WEIGHTS[weight])
    if request.args.get("format"):
        return trees.tree_file(request, weighted, weight)
    base = None
    if has_base:
        base_hosts = Hosts(workspace, request, "base")
        base_areas = _matching_areas(hosts, areas, base_hosts)
        base = _merged_calls(base_hosts, base_areas, time_range(request, base_hosts, "base_"), weight, numbered=False)
    return trees.tree_answer(request, weighted, base, weight, _recorded_weights(hosts))


def _merged_calls(hosts: Hosts, areas: Areas, span: tuple[int, int], weight: str, numbered: bool) -> CallTree:
    from ...analysis.call_tree import combined_tree
    from ...timeline.calls import selected_calls

    begin, end = span
    trees_of_hosts = []
    for index, shift in enumerate(hosts.shifts):
        areas_of_host = [area for host_index, area in areas if host_index == index]
        if areas_of_host:
            host, window = hosts.host(index), (begin - shift, end - shift)
            trees_of_hosts.append(selected_calls(host, areas_of_host, *window, weight, numbered))
    return combined_tree(trees_of_hosts)


def _matching_areas(hosts: Hosts, areas: Areas, base_hosts: Hosts) -> Areas:
    """The areas on lanes of the baseline whose name and kinds are those of a selected lane."""
    area_by_key: dict[tuple[str, str, str], LaneRows] = {}
    for index, area in areas:
        area_by_key.setdefault(_lane_keys(hosts, index)[area.lane], area)
    return [
        (index, area_by_key[key]._replace(lane=lane_index))
        for index in range(len(base_hosts.views))
        for lane_index, key in enumerate(_lane_keys(base_hosts, index))
        if key in area_by_key and base_hosts.is_recorded(index, lane_index)
    ]


def _lane_keys(hosts: Hosts, index: int) -> list[tuple[str, str, str]]:
    """(kind of section, name, kind) of each lane of a host, by which lanes of a baseline are found."""
    sections = hosts.timeline(index).sections
    return [(section.kind, lane.name, lane.kind) for section in sections for lane in section.lanes]


def _recorded_weights(hosts: Hosts) -> dict[str, str]:
    """Labels of the weights that any of the hosts recorded, by id."""
    from ...timeline.calls import WEIGHTS, weights

    available = {weight for index in range(len(hosts.views)) for weight in weights(hosts.host(index))}
    return {id: weight.label for id, weight in WEIGHTS.items() if id in available}
