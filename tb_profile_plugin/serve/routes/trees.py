"""Answers with trees of calls: to draw, top down or inverted, alone or beside a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import responses
from .query import parameter_error
from .timeline_hosts import short

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...export.call_trees import WeightedTree

TREE_PARAMETERS = ("weight", "inverted", "format")
"""Parameters of the routes that answer with trees."""
_MOST_NODES = 5000
"""Nodes of a tree that are drawn."""
_MOST_BASE_ONLY_NODES = 10
"""Nodes that only the baseline has and that are listed."""

Labels = Sequence[tuple[str, str]]
"""(id, label) of the weights that nodes can have."""


def selected_weight(request: Request, weights: Labels) -> str:
    """The id of the weight that the request names, by default the first; raises `ProblemError` for an unknown one."""
    ids = [id for id, _ in weights]
    weight = request.args.get("weight") or ids[0]
    if weight not in ids:
        raise parameter_error(
            "weight", Message("{weight} is none of {weights}.", weight=repr(weight), weights=", ".join(ids))
        )
    return weight


def tree_answer(
    request: Request, weighed: WeightedTree, base: CallTree | None, weight: str, weights: Labels
) -> Response:
    """The tree as flame graphs draw it, with its `_MOST_NODES` largest nodes."""
    import numpy as np

    from ...analysis.call_tree import against, inverted, without_small

    tree, is_inverted = weighed.tree, request.args.get("inverted") == "1"
    facts = {"weight": weight, "unit": weighed.unit, "nodes": len(tree), "total_weight": _total_weight(tree)}
    facts |= {"weights": [{"id": id, "label": label} for id, label in weights]}
    tree = inverted(tree) if is_inverted else tree
    columns: dict[str, Any] = {}
    if base is None:
        tree = without_small(tree, _MOST_NODES)
    else:
        facts |= {"base_total_weight": _total_weight(base)}
        tree, base = against(tree, inverted(base) if is_inverted else base)
        rank = np.maximum(tree.total, base.total)
        tree, base = without_small(tree, _MOST_NODES, rank), without_small(base, _MOST_NODES, rank)
        facts |= {"base_only": _base_only(tree, base)}
        columns = {"base_total": base.total.tolist(), "delta": (tree.total - base.total).tolist()}
    columns |= {name: getattr(tree, name).tolist() for name in ("parent", "name", "own", "total", "calls")}
    return responses.data_json(request, facts | columns | {"names": [short(name) for name in tree.names]})


def _base_only(tree: CallTree, base: CallTree) -> dict[str, Any]:
    """Nodes that only the baseline has: the heaviest, how many others there are, and their weights in the baseline."""
    from ...analysis.call_tree import only_in_base

    nodes = only_in_base(tree, base)
    first, others = nodes[:_MOST_BASE_ONLY_NODES], nodes[_MOST_BASE_ONLY_NODES:]
    totals = {"others_total": int(base.total[others].sum()), "total": int(base.total[nodes].sum())}
    return {"nodes": first.tolist(), "others": len(others)} | totals


def tree_file(request: Request, weighed: WeightedTree, name: str) -> Response:
    """The tree with all nodes as a file to save; raises `ProblemError` for an unknown format."""
    from ...export.call_trees import FORMATS

    kind = request.args["format"]
    if kind not in FORMATS:
        raise parameter_error(
            "format", Message("{kind} is none of {formats}.", kind=repr(kind), formats=", ".join(FORMATS))
        )
    return responses.binary_file(request, FORMATS[kind].write(weighed), f"{name}{FORMATS[kind].suffix}")


def _total_weight(tree: CallTree) -> int:
    return int(tree.total[tree.parent < 0].sum())
