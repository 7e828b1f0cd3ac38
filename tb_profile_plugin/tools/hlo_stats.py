"""HLO Stats: every op of the XLA programs that ran, how fast it is, what holds it up, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..contract import xlaops
from ..contract.answer import Answer, Column, Headline, Keyed, Table, by_column
from ..contract.tool import tool
from ..model.host import Host
from ..model.session import Session
from ..problems import DEVICE

_SHARES = (
    Column("share", "Share", unit="share", doc="Self time, of the devices' time, idle included.", depends=(DEVICE,)),
    Column("cumulative", "Cumulative", unit="share", doc="Share of this op and those above it."),
)
_OPS = Table(
    "ops",
    "XLA ops",
    (*xlaops.IDENTITY, *_SHARES, *xlaops.FIGURES, *xlaops.ORIGIN),
    doc="One row per instruction of a program, over all devices, by self time.",
    keyed=Keyed("name", "category", "program", "op_name", "expression", "source", sums=("self_us",)),
)


@tool(
    "HLO stats",
    order=24,
    params=xlaops.PEAKS,
    facts=xlaops.TIMES,
    tables=(_OPS,),
    needs=xlaops.NEEDS,
    precheck=xlaops.NEEDS[:1],
    unavailable=xlaops.unavailable,
)
def hlo_stats(session: Session, hosts: Sequence[Host], peak_tflops: str, peak_gbps: str) -> Answer:
    """How fast is each op of the XLA programs, and what holds it up?"""
    table, peaks, bounds = xlaops.all_ops(hosts, peak_tflops, peak_gbps)
    whole = table.self_ps + table.other_ps + table.idle_ps
    running = accumulate(op.self_ps for op in table.ops)
    rows = [
        [*xlaops.identity(op), op.self_ps / whole, so_far / whole, *xlaops.figures(op, found), *xlaops.origin(op)]
        for op, found, so_far in zip(table.ops, bounds, running, strict=True)
        if whole
    ]
    headline = Headline(xlaops.verdict(table, bounds), "info", "op_profile") if rows else None
    facts = xlaops.times(table, peaks, bounds)
    return Answer(facts, {"ops": by_column(_OPS, rows)}, headline, xlaops.notes(session, table, peaks, bounds))
