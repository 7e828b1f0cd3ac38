"""The route of the timeline that tells of calls: merged into a tree, against a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import answers
from ..workspace import Workspace
from .query import bad
from .timeline_hosts import Hosts, selected_areas, short, time_range

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...timeline.selection import Area

_NODES = 5000
"""Of a tree that are drawn."""

Areas = Sequence[tuple[int, "Area"]]


def flame(workspace: Workspace, request: Request) -> Response:
    """The calls in a range of time on some rows of some lanes as a tree, or as a file for other tools."""
    from ...analysis.call_tree import against, inverted, without_small
    from ...timeline.calls import TIME, WEIGHTS

    hosts = Hosts(workspace, request)
    weight, kind = request.args.get("weight") or TIME, request.args.get("format", "")
    if weight not in WEIGHTS:
        raise bad("weight", Message("{weight} is none of {weights}.", weight=repr(weight), weights=", ".join(WEIGHTS)))
    areas, has_base = selected_areas(hosts, request), bool(request.args.get("base"))
    tree = _calls(hosts, areas, time_range(request, hosts), weight, not has_base)
    if kind:
        return _file(request, hosts, tree, kind, weight)
    is_inverted = request.args.get("inverted") == "1"
    facts = {"weight": weight, "unit": WEIGHTS[weight][1], "weights": _weights(hosts), "nodes": len(tree)}
    facts |= {"total_weight": _total_weight(tree)}
    tree = inverted(tree) if is_inverted else tree
    columns: dict[str, Any] = {}
    if has_base:
        there = Hosts(workspace, request, "base")
        base = _calls(there, _same_lanes(hosts, areas, there), time_range(request, there, "base_"), weight, False)
        facts |= {"base_total_weight": _total_weight(base)}
        tree, base = against(tree, inverted(base) if is_inverted else base)
        rank = _larger(tree, base)
        tree, base = without_small(tree, _NODES, rank), without_small(base, _NODES, rank)
        columns = {"base_total": base.total.tolist(), "delta": (tree.total - base.total).tolist()}
    else:
        tree = without_small(tree, _NODES)
    columns |= {name: getattr(tree, name).tolist() for name in ("parent", "name", "own", "total", "calls")}
    return answers.data_json(request, facts | columns | {"names": [short(name) for name in tree.names]})


def _total_weight(tree: CallTree) -> int:
    return int(tree.total[tree.parent < 0].sum())


def _larger(tree: CallTree, base: CallTree) -> Any:
    import numpy as np

    return np.maximum(tree.total, base.total)


def _file(request: Request, hosts: Hosts, tree: CallTree, kind: str, weight: str) -> Response:
    from ...export.call_trees import FORMATS, Weighed
    from ...timeline.calls import WEIGHTS

    if kind not in FORMATS:
        raise bad("format", Message("{kind} is none of {formats}.", kind=repr(kind), formats=", ".join(FORMATS)))
    body = FORMATS[kind].write(Weighed(tree, hosts.session.name, *WEIGHTS[weight]))
    return answers.binary_file(request, body, f"{weight}{FORMATS[kind].suffix}")


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


def _weights(hosts: Hosts) -> list[dict[str, str]]:
    """Those that any of the hosts tells of."""
    from ...timeline.calls import WEIGHTS, weights

    available = {weight for index in range(len(hosts.views)) for weight in weights(hosts.host(index))}
    return [{"id": weight, "label": label} for weight, (label, _) in WEIGHTS.items() if weight in available]
