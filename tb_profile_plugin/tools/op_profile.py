"""Op profile: where the devices' time goes, as a tree, and how much of it is wasted against what they could do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analysis.xla.op_profile import GROUPINGS, ProfileNode
from ..analysis.xla.op_profile import tree as op_tree
from ..formats.xspace.hlo import program_text
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import DEVICE
from ..runtime.units import PS_PER_S, PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Stacks, Table, Weight, by_id, number, text
from .answers.tool import Param, tool
from .columns import xla

_NODES = Table(
    "nodes",
    "Op profile",
    (
        number("id", "Node", doc="Id of the row."),
        number("parent", "Parent", doc="Id of the row that contains it; blank at the top."),
        number("depth", "Depth", doc="Depth in the tree; 0 at the top."),
        text("name", "Name", "Name of a program, category, scope, source line or op."),
        text("kind", "Kind", "Kind of row: group, op, other (work outside XLA programs) or idle."),
        number("ops", "Ops", doc="Number of distinct ops in it."),
        number("self_us", "Self time", "us", "Self time of its ops, over all devices.", DEVICE),
        number("share", "Share", "share", "Share of the devices' time, idle time included.", DEVICE),
        number("of_busy", "Share of busy time", "share", "Share of the devices' time, without idle time.", DEVICE),
        number("bound_us", "Roofline bound", "us", "Sum of its ops' roofline bounds, from their costs and the peaks."),
        number("wasted_us", "Wasted", "us", "Sum of its ops' self time above their bounds: what could be saved."),
        number("unknown_us", "Time without a bound", "us", "Self time of ops with unknown cost or peak."),
        xla.SUMMED_EFFICIENCY,
        text("bound_by", "Bottleneck", "What limits most of its time."),
        number("count", "Count", doc="Number of executions of an op."),
        number("gflop_per_s", "GFLOP/s", doc="Known FLOPs per self time."),
        number("gib_per_s", "Memory GiB/s", doc="Known bytes of device memory per self time."),
        text("program_id", "Program id", "Id of an op's program."),
        text("op", "Op", "Name of an op's instruction."),
        text("category", "Category", "XLA's category of an op."),
        text("source", "Source", "Source line of an op."),
        text("expression", "Instruction", "HLO text of an op's instruction."),
    ),
    doc="Tree of the devices' time, the largest first; work outside XLA programs and idle time come last.",
    # An instruction's whole text says what it comes from; its name alone does not.
    keyed=Keyed("name", "category", "kind", "expression", source="source", sums=("self_us",), parent="parent"),
    stacks=Stacks(
        "name",
        (Weight("self", "Self time", "self_us"), Weight("wasted", "Wasted", "wasted_us")),
        "us",
        parent="parent",
        excluded=("kind", "idle"),
        per_step=True,
    ),
)
_GROUP_BY = Param("group_by", GROUPINGS[0], "Property to group the ops by.", GROUPINGS)


@tool(
    "Op profile",
    group="Ops",
    order=28,
    params=(_GROUP_BY, *xla.PEAKS),
    facts=xla.TIME_FACTS,
    tables=(_NODES,),
    needs=xla.NEEDS,
    precheck=xla.NEEDS[:1],
    unavailable=xla.unavailable,
)
def op_profile(session: Session, hosts: Sequence[Host], group_by: str, peak_tflops: str, peak_gbps: str) -> Answer:
    """Which part of the XLA programs takes the devices' time, and how much of it could be saved?"""
    table, peaks, bounds = xla.all_ops(hosts, peak_tflops, peak_gbps)
    root = op_tree(table.ops, bounds, group_by)
    busy_ps = table.self_ps + table.other_ps
    total_ps = busy_ps + table.idle_ps
    rows = []
    if busy_ps:
        rows = [_node_row(id, *visit, total_ps, busy_ps) for id, visit in enumerate(_walk(root))]
    if rows and table.other_ps:
        shares = table.other_ps / total_ps, table.other_ps / busy_ps
        rows.append(_extra_row(len(rows), Message("Other work"), "other", table.other_ps, *shares))
    if rows and table.idle_ps:
        rows.append(_extra_row(len(rows), Message("Idle"), "idle", table.idle_ps, table.idle_ps / total_ps, None))
    headline = Headline(xla.time_sentence(table, bounds), "info", "roofline_model") if rows else None
    facts = xla.time_facts(table, peaks, bounds)
    return Answer(facts, {"nodes": by_id(_NODES, rows)}, headline, xla.op_notes(session, table, peaks, bounds))


def _walk(root: ProfileNode) -> Iterator[tuple[ProfileNode, int | None, int]]:
    """(node, its parent's id, its depth), parents before children; a node's id is its position in this order."""
    stack: list[tuple[ProfileNode, int | None, int]] = [(node, None, 0) for node in reversed(root.sorted_children())]
    id = 0
    while stack:
        node, parent, depth = stack.pop()
        yield node, parent, depth
        stack += [(child, id, depth + 1) for child in reversed(node.sorted_children())]
        id += 1


def _node_row(
    id: int, node: ProfileNode, parent: int | None, depth: int, total_ps: int, busy_ps: int
) -> dict[str, Any]:
    sums, op = node.sums, node.op
    has_bound, seconds = sums.bounded_ps > 0, sums.self_ps / PS_PER_S
    leaf = op if not node.children else None
    return {
        "id": id,
        "parent": parent,
        "depth": depth,
        "name": node.name,
        "kind": "op" if leaf else "group",
        "ops": sums.ops,
        "self_us": sums.self_ps / PS_PER_US,
        "share": sums.self_ps / total_ps,
        "of_busy": sums.self_ps / busy_ps,
        "bound_us": sums.bound_ps / PS_PER_US if has_bound else None,
        "wasted_us": sums.wasted_ps / PS_PER_US if has_bound else None,
        "unknown_us": sums.unknown_ps / PS_PER_US or None,
        "efficiency": sums.bound_ps / sums.bounded_ps if has_bound else None,
        "bound_by": sums.main_limit,
        "count": leaf.executions if leaf else None,
        "gflop_per_s": sums.flops / seconds / 1e9 if seconds and sums.flops else None,
        "gib_per_s": sums.bytes / seconds / 2**30 if seconds and sums.bytes else None,
        "program_id": program_text(leaf.program) if leaf else None,
        "op": leaf.name if leaf else None,
        "category": op.category if op else None,
        "source": op.source if op else None,
        "expression": op.text if op else None,
    }


def _extra_row(id: int, name: str, kind: str, ps: int, share: float, busy_share: float | None) -> dict[str, Any]:
    """A row at the top that is no node of the tree."""
    row = dict.fromkeys(column.id for column in _NODES.columns)
    return row | {
        "id": id,
        "depth": 0,
        "name": name,
        "kind": kind,
        "self_us": ps / PS_PER_US,
        "share": share,
        "of_busy": busy_share,
    }
