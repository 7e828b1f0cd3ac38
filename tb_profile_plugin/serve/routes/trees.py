"""Answers with trees of calls: to draw, top down or inverted, by themselves or against a baseline's, or as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from .. import answers
from .query import bad
from .timeline_hosts import short

if TYPE_CHECKING:
    from ...analysis.call_tree import CallTree
    from ...export.call_trees import WeightedTree

TREE = ("weight", "inverted", "format")
"""Parameters of these routes."""
_NODES = 5000
"""Of a tree that are drawn."""

_BASE_NODES = 10
"""Of those that only the baseline has: so many are listed."""

Labels = Sequence[tuple[str, str]]
"""What calls could be weighed by: ids and what they are called."""


def selected_weight(request: Request, weights: Labels) -> str:
    """The weight that is asked for, by default the first; raises `ProblemError` for any other."""
    ids = [id for id, _ in weights]
    weight = request.args.get("weight") or ids[0]
    if weight not in ids:
        raise bad("weight", Message("{weight} is none of {weights}.", weight=repr(weight), weights=", ".join(ids)))
    return weight


def drawn(request: Request, weighed: WeightedTree, base: CallTree | None, weight: str, weights: Labels) -> Response:
    """The tree as flame graphs draw it, of very many nodes the largest."""
    from ...analysis.call_tree import against, inverted, without_small

    tree, is_inverted = weighed.tree, request.args.get("inverted") == "1"
    facts = {"weight": weight, "unit": weighed.unit, "nodes": len(tree), "total_weight": _total_weight(tree)}
    facts |= {"weights": [{"id": id, "label": label} for id, label in weights]}
    tree = inverted(tree) if is_inverted else tree
    columns: dict[str, Any] = {}
    if base is None:
        tree = without_small(tree, _NODES)
    else:
        facts |= {"base_total_weight": _total_weight(base)}
        tree, base = against(tree, inverted(base) if is_inverted else base)
        rank = _larger(tree, base)
        tree, base = without_small(tree, _NODES, rank), without_small(base, _NODES, rank)
        facts |= {"base_only": _base_only(tree, base)}
        columns = {"base_total": base.total.tolist(), "delta": (tree.total - base.total).tolist()}
    columns |= {name: getattr(tree, name).tolist() for name in ("parent", "name", "own", "total", "calls")}
    return answers.data_json(request, facts | columns | {"names": [short(name) for name in tree.names]})


def _base_only(tree: CallTree, base: CallTree) -> dict[str, Any]:
    """What has no width in the tree: its heaviest nodes, how many others there are, and what they weigh in the base."""
    from ...analysis.call_tree import only_in_base

    nodes = only_in_base(tree, base)
    first, others = nodes[:_BASE_NODES], nodes[_BASE_NODES:]
    totals = {"others_total": int(base.total[others].sum()), "total": int(base.total[nodes].sum())}
    return {"nodes": first.tolist(), "others": len(others)} | totals


def file(request: Request, weighed: WeightedTree, name: str) -> Response:
    """All nodes, in the format that is asked for; raises `ProblemError` for an unknown one."""
    from ...export.call_trees import FORMATS

    kind = request.args["format"]
    if kind not in FORMATS:
        raise bad("format", Message("{kind} is none of {formats}.", kind=repr(kind), formats=", ".join(FORMATS)))
    return answers.binary_file(request, FORMATS[kind].write(weighed), f"{name}{FORMATS[kind].suffix}")


def _total_weight(tree: CallTree) -> int:
    return int(tree.total[tree.parent < 0].sum())


def _larger(tree: CallTree, base: CallTree) -> Any:
    import numpy as np

    return np.maximum(tree.total, base.total)
