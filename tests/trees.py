"""What trees of calls say, and what holds of each of them."""

import numpy as np

from tb_profile_plugin.analysis.call_tree import CallTree


def paths(tree: CallTree) -> dict[str, tuple[int, int]]:
    """(own, total) by path."""
    texts: list[str] = []
    for parent, name in zip(tree.parent.tolist(), tree.name.tolist(), strict=True):
        texts.append((texts[parent] + "/" if parent >= 0 else "") + tree.names[name])
    assert len(set(texts)) == len(texts)
    return dict(zip(texts, zip(tree.own.tolist(), tree.total.tolist(), strict=True), strict=True))


def holds(tree: CallTree) -> None:
    """Parents stand first, nothing is negative, and every total is its node's own and its children's totals."""
    sums = tree.own.copy()
    inside = tree.parent >= 0
    np.add.at(sums, tree.parent[inside], tree.total[inside])
    assert (sums == tree.total).all()
    assert (tree.own >= 0).all()
    assert (tree.parent < np.arange(len(tree))).all()
