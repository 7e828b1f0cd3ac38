"""Roofline Model: is each op held up by arithmetic or by memory, and how far is it from what the device could do?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.xla.op import XlaOps
from ..analysis.xla.roofline import TRANSFER, UNKNOWN, Peaks, Sums
from ..analysis.xla.transfers import Transfers, merged_transfers, transfers
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, message, sentences
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column
from .answers.tool import tool
from .columns import op_costs, xla

_OPS = Table(
    "ops",
    "XLA ops",
    (*xla.IDENTITY, *xla.FIGURES, *xla.ORIGIN),
    doc="One row per instruction of a program, over all devices, by self time.",
    keyed=Keyed("name", "category", "program", "op_name", "expression", "source", sums=("self_us",)),
)
_CEILINGS = Table(
    "ceilings",
    "Ceilings",
    (
        Column("name", "Ceiling", "string", texts=True, doc="Number type or memory that sets the ceiling."),
        Column("kind", "Kind", "string", texts=True, doc="Kind of ceiling: compute or memory."),
        Column("gflop_per_s", "GFLOP/s", doc="Peak rate for this number type; blank for memories."),
        Column("gib_per_s", "GiB/s", doc="Peak bandwidth of this memory; blank for number types."),
        Column("ridge", "Ridge, FLOP/byte", doc="Intensity of this memory above which compute is the limit."),
        Column("source", "Source", "string", doc="Source of the peak: given by an option, or known of the device."),
    ),
    doc="Peaks of the device: a level for each number type, a slope for each memory.",
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        Column("program", "Program", "string"),
        Column("program_id", "Program id", "string"),
        Column("ops", "Ops", doc="Number of instructions that ran."),
        Column("self_us", "Self time", unit="us", doc="Self time of the program's ops, over all devices."),
        Column("bound_us", "Roofline bound", unit="us", doc="Sum of its ops' roofline bounds."),
        Column("wasted_us", "Wasted", unit="us", doc="Sum of its ops' self time above their roofline bounds."),
        Column("unknown_share", "Time without a bound", unit="share", doc="Share of its time in ops of unknown cost."),
        Column("gflop_per_s", "GFLOP/s", doc="Known FLOPs per self time."),
        Column("gib_per_s", "Memory GiB/s", doc="Known bytes of device memory per self time."),
        Column("flop_per_byte", "FLOP/byte", doc="Ratio of the known FLOPs to the known bytes."),
        Column("bound_by", "Bottleneck", "string", doc="What limits most of the program's time."),
    ),
    keyed=Keyed("program", sums=("self_us", "wasted_us")),
)
_TRANSFERS = Table(
    "transfers",
    "Transfers",
    (
        Column("program", "Program", "string"),
        Column("program_id", "Program id", "string"),
        Column("name", "Started by", "string", doc="Instruction that starts the transfer."),
        Column("done", "Awaited by", "string", doc="Instruction that waits for the transfer."),
        Column("direction", "Direction", "string", doc="Source and target memory."),
        Column("count", "Transfers", doc="Number of transfers over all devices."),
        Column("bytes", "Bytes", unit="bytes", doc="Bytes that the capture states."),
        Column("span_us", "In flight", unit="us", doc="Sum of the transfers' times from start to end."),
        Column(
            "waiting_us",
            "Waited for",
            unit="us",
            doc="Self time of the waiting instruction. Blank if a device did not record its transfers.",
        ),
        Column("hidden", "Hidden", unit="share", doc="Share of the time in flight in which no instruction waited."),
    ),
    doc="Copies between memories while other ops run (TPU); concurrent transfers share the link.",
)
_FACTS = (
    *xla.TIME_FACTS,
    Column(
        "efficiency",
        "Roofline efficiency",
        unit="share",
        doc="Roofline bound as a share of the self time of the ops that have one.",
    ),
    Column(
        "mfu",
        "FLOPs utilization",
        unit="share",
        doc="FLOPs of the ops as a share of the devices' 16-bit peak, idle time included.",
    ),
    Column(
        "transfer_gb_per_s",
        "Transfers, GB/s",
        doc="Bytes of transfers (10⁹ per second) while at least one is in flight; mean of the devices.",
    ),
    Column(
        "transfer_us",
        "Transfer time",
        unit="us",
        doc="Time in which at least one transfer is in flight, over all devices.",
    ),
)


@tool(
    "Roofline",
    group="Ops",
    order=30,
    params=xla.PEAKS,
    facts=_FACTS,
    tables=(_CEILINGS, _PROGRAMS, _TRANSFERS, _OPS),
    needs=(*xla.NEEDS, transfers),
    precheck=xla.NEEDS[:1],
    unavailable=xla.unavailable,
)
def roofline_model(session: Session, hosts: Sequence[Host], peak_tflops: str, peak_gbps: str) -> Answer:
    """Are ops limited by compute or by memory, and how far are they from the device's peak?"""
    table, peaks, bounds = xla.all_ops(hosts, peak_tflops, peak_gbps)
    programs: dict[tuple[str, str], Sums] = {}
    total = Sums()
    for op, bound in zip(table.ops, bounds, strict=True):
        programs.setdefault((op.module, op_costs.program_text(op.program)), Sums()).add(op, bound)
        total.add(op, bound)
    rows = [
        [*xla.identity(op), *xla.figures(op, bound), *xla.origin(op)]
        for op, bound in zip(table.ops, bounds, strict=True)
    ]
    moved = merged_transfers([transfers(host) for host in hosts])
    seconds = (table.self_ps + table.other_ps + table.idle_ps) / 1e12
    facts = xla.time_facts(table, peaks, bounds) | {
        "efficiency": total.bound_ps / total.bounded_ps if total.bounded_ps else None,
        "mfu": total.flops / seconds / peaks.best_flops if seconds and peaks.best_flops and total.flops else None,
        "transfer_gb_per_s": moved.bytes_per_second and moved.bytes_per_second / 1e9,
        "transfer_us": moved.busy_ps / PS_PER_US or None,
    }
    ordered = sorted(programs.items(), key=lambda item: -item[1].self_ps)
    tables = {
        "ceilings": by_column(_CEILINGS, _ceilings(table, peaks)),
        "programs": by_column(_PROGRAMS, [_program(*name, sums) for name, sums in ordered]),
        "transfers": by_column(_TRANSFERS, _transfers(moved, table)),
        "ops": by_column(_OPS, rows),
    }
    return Answer(facts, tables, _headline(total, moved), xla.notes(session, table, peaks, bounds))


def _ceilings(table: XlaOps, peaks: Peaks) -> list[list[Any]]:
    """Of the types that the ops use and of the memories that the device has."""
    source = Message("given") if peaks.by_user else Message("known of the device")
    used = {peaks.reachable_type(op) for op in table.ops if op.flops}
    ceilings: list[list[Any]] = [
        [name, Message("compute"), rate / 1e9, None, None, source] for name, rate in peaks.flops.items() if name in used
    ]
    memories = ({"HBM": peaks.bandwidth} if peaks.bandwidth else {}) | peaks.on_chip | peaks.host_link
    for name, rate in memories.items():
        ridge = peaks.best_flops / rate if peaks.best_flops else None
        ceilings.append([name, Message("memory"), None, rate / 2**30, ridge, source])
    return ceilings


def _program(module: str, program: str, sums: Sums) -> list[Any]:
    has_bound, seconds = sums.bounded_ps > 0, sums.self_ps / 1e12
    return [
        module,
        program,
        sums.ops,
        sums.self_ps / PS_PER_US,
        sums.bound_ps / PS_PER_US if has_bound else None,
        sums.wasted_ps / PS_PER_US if has_bound else None,
        sums.unknown_ps / sums.self_ps if sums.self_ps else None,
        sums.flops / seconds / 1e9 if seconds and sums.flops else None,
        sums.bytes / seconds / 2**30 if seconds and sums.bytes else None,
        sums.flops / sums.bytes if sums.flops and sums.bytes else None,
        sums.main_limit,
    ]


def _transfers(moved: Transfers, table: XlaOps) -> list[list[Any]]:
    """Waiting is compared only where as many waits as transfers were recorded: not every device may record them."""
    waiting = {(op.program, op.name, op.executions): op.self_ps for op in table.ops if op.is_transfer}
    rows = []
    for transfer in moved.transfers:
        waited = waiting.get((transfer.program, transfer.done, transfer.count))
        hidden = None if waited is None or not transfer.span_ps else max(1 - waited / transfer.span_ps, 0.0)
        times = transfer.span_ps / PS_PER_US, None if waited is None else waited / PS_PER_US
        identity = (
            transfer.module,
            op_costs.program_text(transfer.program),
            transfer.name,
            transfer.done,
            transfer.direction,
        )
        rows.append([*identity, transfer.count, transfer.bytes, *times, hidden])
    return rows


def _headline(total: Sums, moved: Transfers) -> Headline | None:
    if not total.self_ps:
        return None
    unknown = total.unknown_ps / total.self_ps
    if total.bounded_ps < xla.NOTABLE * total.self_ps:
        text = (
            Message("Almost no op has a roofline bound: its cost or the device's peaks are unknown.")
            if total.bounded_ps
            else Message("No op has a roofline bound: its cost or the device's peaks are unknown.")
        )
        return Headline(text, "unknown")
    reached = total.bound_ps / total.bounded_ps
    by = max(total.self_ps_by_limit, key=lambda name: total.self_ps_by_limit[name])
    if by in xla.WAITS and total.self_ps_by_limit[by] > total.self_ps / 2:
        rate = moved.bytes_per_second if by == TRANSFER else None
        waits = {"share": total.self_ps_by_limit[by] / total.self_ps, "other": xla.WAITS[by]}
        text = (
            Message("{share} of the ops' time waits for {other} at {speed} GB/s.", **waits, speed=f"{rate / 1e9:.3g}")
            if rate
            else Message("{share} of the ops' time waits for {other}.", **waits)
        )
        return Headline(
            sentences(text, Message("Ops of known cost reach {share} of their roofline.", share=reached)), "info"
        )
    return Headline(
        sentences(
            Message(
                "Ops of known cost reach {share} of their roofline; {saved_pair} could be saved.",
                share=reached,
                saved_pair=(total.wasted_ps, total.bounded_ps),
            ),
            "" if by == UNKNOWN else Message("Main bottleneck: {bound}.", bound=message(by)),
            Message("{share} of the time has no bound.", share=unknown) if unknown >= 0.01 else "",
        ),
        "info",
    )
