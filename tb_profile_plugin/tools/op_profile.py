"""Op Profile: where the devices' time goes, as a tree, and how much of it is wasted against what they could do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analysis.xla.op_profile import GROUPINGS, Node, tree
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import DEVICE
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Stacks, Table, Weight, by_column
from .answers.tool import Param, tool
from .columns import op_costs, xla

_NODES = Table(
    "nodes",
    "Op profile",
    (
        Column("id", "Node", doc="Id of the row."),
        Column("parent", "Parent", doc="Id of the row that contains it; blank at the top."),
        Column("depth", "Depth", doc="Depth in the tree; 0 at the top."),
        Column("name", "Name", "string", doc="Name of a program, category, scope, source line or op."),
        Column("kind", "Kind", "string", doc="Kind of row: group, op, other (work outside XLA programs) or idle."),
        Column("ops", "Ops", doc="Number of distinct ops in it."),
        Column("self_us", "Self time", unit="us", doc="Self time of its ops, over all devices.", depends=(DEVICE,)),
        Column(
            "share", "Share", unit="share", doc="Share of the devices' time, idle time included.", depends=(DEVICE,)
        ),
        Column(
            "of_busy",
            "Share of busy time",
            unit="share",
            doc="Share of the devices' time, without idle time.",
            depends=(DEVICE,),
        ),
        Column(
            "bound_us",
            "Roofline bound",
            unit="us",
            doc="Sum of its ops' roofline bounds, from their costs and the peaks.",
        ),
        Column(
            "wasted_us", "Wasted", unit="us", doc="Sum of its ops' self time above their bounds: what could be saved."
        ),
        Column("unknown_us", "Time without a bound", unit="us", doc="Self time of ops with unknown cost or peak."),
        Column(
            "efficiency",
            "Roofline efficiency",
            unit="share",
            doc="Roofline bound as a share of the self time of the ops that have one.",
        ),
        Column("bound_by", "Bottleneck", "string", doc="What limits most of its time."),
        Column("count", "Count", doc="Number of executions of an op."),
        Column("gflop_per_s", "GFLOP/s", doc="Known FLOPs per self time."),
        Column("gib_per_s", "Memory GiB/s", doc="Known bytes of device memory per self time."),
        Column("program_id", "Program id", "string", doc="Id of an op's program."),
        Column("op", "Op", "string", doc="Name of an op's instruction."),
        Column("category", "Category", "string", doc="XLA's category of an op."),
        Column("source", "Source", "string", doc="Source line of an op."),
        Column("expression", "Instruction", "string", doc="HLO text of an op's instruction."),
    ),
    doc="Tree of the devices' time, the largest first; work outside XLA programs and idle time come last.",
    # An instruction's whole text says what it comes from; its name alone does not.
    keyed=Keyed("name", "category", "kind", "expression", source="source", sums=("self_us",), parent="parent"),
    stacks=Stacks(
        "name",
        (Weight("self", "Self time", "self_us"), Weight("wasted", "Wasted", "wasted_us")),
        "us",
        parent="parent",
        without=("kind", "idle"),
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
    root = tree(table.ops, bounds, group_by)
    busy = table.self_ps + table.other_ps
    totals = busy + table.idle_ps, busy
    rows = [_row(i, *visit, *totals) for i, visit in enumerate(_walk(root))] if busy else []
    for name, kind, time in (
        (Message("Other work"), "other", table.other_ps),
        (Message("Idle"), "idle", table.idle_ps),
    ):
        if rows and time:
            rows.append(_extra_row(len(rows), name, kind, time, *totals))
    headline = Headline(xla.verdict(table, bounds), "info", "roofline_model") if rows else None
    facts = xla.time_facts(table, peaks, bounds)
    return Answer(facts, {"nodes": by_column(_NODES, rows)}, headline, xla.notes(session, table, peaks, bounds))


def _walk(root: Node) -> Iterator[tuple[Node, int | None, int]]:
    """Every node below the root before its children, with its parent's number and its depth."""
    waiting: list[tuple[Node, int | None, int]] = [(node, None, 0) for node in reversed(root.sorted())]
    number = 0
    while waiting:
        node, parent, depth = waiting.pop()
        yield node, parent, depth
        waiting += [(child, number, depth + 1) for child in reversed(node.sorted())]
        number += 1


def _row(number: int, node: Node, parent: int | None, depth: int, total_ps: int, busy: int) -> list[Any]:
    sums, op = node.sums, node.op
    has_bound, seconds = sums.bounded_ps > 0, sums.self_ps / 1e12
    leaf = op if not node.children else None
    return [
        number,
        parent,
        depth,
        node.name,
        "op" if leaf else "group",
        sums.ops,
        sums.self_ps / PS_PER_US,
        sums.self_ps / total_ps,
        sums.self_ps / busy,
        sums.bound_ps / PS_PER_US if has_bound else None,
        sums.wasted_ps / PS_PER_US if has_bound else None,
        sums.unknown_ps / PS_PER_US or None,
        sums.bound_ps / sums.bounded_ps if has_bound else None,
        sums.main_limit,
        leaf.executions if leaf else None,
        sums.flops / seconds / 1e9 if seconds and sums.flops else None,
        sums.bytes / seconds / 2**30 if seconds and sums.bytes else None,
        op_costs.program_text(leaf.program) if leaf else None,
        leaf.name if leaf else None,
        op.category if op else None,
        op.source if op else None,
        op.text if op else None,
    ]


def _extra_row(number: int, name: str, kind: str, time: int, total_ps: int, busy: int) -> list[Any]:
    shares = time / total_ps, None if kind == "idle" else time / busy
    filled = [number, None, 0, name, kind, None, time / PS_PER_US, *shares]
    return filled + [None] * (len(_NODES.columns) - len(filled))
