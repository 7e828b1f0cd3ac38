"""HLO Stats: every op of the XLA programs that ran, how fast it is, what holds it up, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..model.host import Host
from ..model.session import Session
from ..runtime.problems import DEVICE
from .answers.answer import Answer, Headline, Keyed, Table, by_id, number, ratio
from .answers.tool import tool
from .columns import xla

_SHARES = (
    number("of_busy", "Share of busy time", "share", "Share of the devices' time, without idle time.", DEVICE),
    number("share", "Share", "share", "Share of the devices' time, idle time included.", DEVICE),
    number("cumulative", "Cumulative", "share", "Share of this op and the ops above it."),
)
_OPS = Table(
    "ops",
    "XLA ops",
    (*xla.IDENTITY, *_SHARES, *xla.FIGURES, *xla.ORIGIN),
    doc="One row per instruction of a program, over all devices, by self time.",
    keyed=Keyed("name", "category", "program", "op_name", "expression", "source", sums=("self_us",)),
)


@tool(
    "HLO stats",
    group="Ops",
    order=26,
    params=xla.PEAKS,
    facts=xla.TIME_FACTS,
    tables=(_OPS,),
    needs=xla.NEEDS,
    precheck=xla.NEEDS[:1],
    unavailable=xla.unavailable,
)
def hlo_stats(session: Session, hosts: Sequence[Host], peak_tflops: str, peak_gbps: str) -> Answer:
    """How fast are the ops of the XLA programs, and what limits them?"""
    table, peaks, bounds = xla.all_ops(hosts, peak_tflops, peak_gbps)
    busy_ps = table.self_ps + table.other_ps
    total_ps = busy_ps + table.idle_ps
    running_sums = accumulate(op.self_ps for op in table.ops)
    rows = [
        {
            **xla.identity(op),
            "of_busy": ratio(op.self_ps, busy_ps),
            "share": op.self_ps / total_ps,
            "cumulative": sum_so_far / total_ps,
            **xla.figures(op, bound),
            **xla.origin(op),
        }
        for op, bound, sum_so_far in zip(table.ops, bounds, running_sums, strict=True)
        if total_ps
    ]
    headline = Headline(xla.time_sentence(table, bounds), "info", "op_profile") if rows else None
    facts = xla.time_facts(table, peaks, bounds)
    return Answer(facts, {"ops": by_id(_OPS, rows)}, headline, xla.op_notes(session, table, peaks, bounds))
