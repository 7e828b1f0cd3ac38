"""Answers with trees of calls: to draw, top down or inverted, alone or beside a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from .. import responses
from .query import selected_choice
from .timeline_hosts import short_name

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...export.call_trees import WeightedTree

TREE_PARAMETERS = ("weight", "inverted", "format")
"""Parameters of the routes that answer with trees."""
_MOST_NODES = 5000
"""Nodes of a tree that are drawn."""
_MOST_BASE_ONLY_NODES = 10
"""Nodes that only the baseline has and that are listed."""


def selected_weight(request: Request, weights: Mapping[str, object]) -> str:
    """The id of the weight that the request names, by default the first; raises `ProblemError` for an unknown one."""
    return selected_choice(request, "weight", [*weights], next(iter(weights)))


def tree_answer(
    request: Request, weighted: WeightedTree, base: CallTree | None, weight_id: str, labels: Mapping[str, str]
) -> Response:
    """The tree as flame graphs draw it, with its `_MOST_NODES` largest nodes; ``labels`` of all weights are by id.

    docs/http.md describes the fields, below ``/timeline/flame``.
    """
    from ...analysis.call_tree import inverted, without_small

    is_inverted = request.args.get("inverted") == "1"
    tree = inverted(weighted.tree) if is_inverted else weighted.tree
    answer: dict[str, Any] = {
        "weight": weight_id,
        "weights": [{"id": id, "label": label} for id, label in labels.items()],
        "unit": weighted.unit,
        "nodes": len(weighted.tree),
        "total_weight": _total_weight(weighted.tree),
    }
    if base is None:
        drawn_tree = without_small(tree, _MOST_NODES)
    else:
        drawn_tree, drawn_base = _largest_of_both(tree, inverted(base) if is_inverted else base)
        answer["base_total_weight"] = _total_weight(base)
        answer["base_only"] = _base_only(drawn_tree, drawn_base)
        answer["base_total"] = drawn_base.total.tolist()
        answer["delta"] = (drawn_tree.total - drawn_base.total).tolist()
    answer |= {name: getattr(drawn_tree, name).tolist() for name in ("parent", "name", "own", "total", "calls")}
    answer["names"] = [short_name(name) for name in drawn_tree.names]
    return responses.data_json(request, answer)


def _largest_of_both(tree: CallTree, base: CallTree) -> tuple[CallTree, CallTree]:
    """The two trees over the same nodes: those that are largest in either."""
    import numpy as np

    from ...analysis.call_tree import against, without_small

    tree, base = against(tree, base)
    larger_total = np.maximum(tree.total, base.total)
    return without_small(tree, _MOST_NODES, larger_total), without_small(base, _MOST_NODES, larger_total)


def _base_only(tree: CallTree, base: CallTree) -> dict[str, Any]:
    """Nodes that only the baseline has: the heaviest, how many others there are, and their weights in the baseline."""
    from ...analysis.call_tree import only_in_base

    nodes = only_in_base(tree, base)
    first, others = nodes[:_MOST_BASE_ONLY_NODES], nodes[_MOST_BASE_ONLY_NODES:]
    totals = {"others_total": int(base.total[others].sum()), "total": int(base.total[nodes].sum())}
    return {"nodes": first.tolist(), "others": len(others)} | totals


def tree_file(request: Request, weighted: WeightedTree, name: str) -> Response:
    """The tree with all nodes as a file to save; raises `ProblemError` for an unknown format."""
    from ...export.call_trees import FORMATS

    tree_format = FORMATS[selected_choice(request, "format", tuple(FORMATS), "")]
    return responses.binary_file(request, tree_format.write(weighted), f"{name}{tree_format.suffix}")


def _total_weight(tree: CallTree) -> int:
    return int(tree.total[tree.parent < 0].sum())
