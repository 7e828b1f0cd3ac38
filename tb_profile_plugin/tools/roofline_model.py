"""Roofline: is each op limited by compute or by memory, and how far is it from what the device could do?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.xla.op import XlaOpTable
from ..analysis.xla.roofline import TRANSFER, UNKNOWN, OpSums, Peaks
from ..analysis.xla.transfers import Transfer, Transfers, merged_transfers, transfers
from ..formats.xspace.hlo import program_text
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, message, sentences
from ..runtime.units import PS_PER_S, PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Table, by_column, by_id, number, ratio, text
from .answers.tool import tool
from .columns import xla

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
        text("name", "Ceiling", "Number type or memory that sets the ceiling.", translated=True),
        text("kind", "Kind", "Kind of ceiling: compute or memory.", translated=True),
        number("gflop_per_s", "GFLOP/s", doc="Peak rate for this number type; blank for memories."),
        number("gib_per_s", "GiB/s", doc="Peak bandwidth of this memory; blank for number types."),
        number("ridge", "Ridge, FLOP/byte", doc="Intensity of this memory above which compute is the limit."),
        text("source", "Source", "Source of the peak: given by an option, or known of the device."),
    ),
    doc="Peaks of the device: a level for each number type, a slope for each memory.",
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        text("program", "Program"),
        text("program_id", "Program id"),
        number("ops", "Ops", doc="Number of instructions that ran."),
        number("self_us", "Self time", "us", "Self time of the program's ops, over all devices."),
        number("bound_us", "Roofline bound", "us", "Sum of its ops' roofline bounds."),
        number("wasted_us", "Wasted", "us", "Sum of its ops' self time above their roofline bounds."),
        number("unknown_share", "Time without a bound", "share", "Share of its time in ops of unknown cost."),
        number("gflop_per_s", "GFLOP/s", doc="Known FLOPs per self time."),
        number("gib_per_s", "Memory GiB/s", doc="Known bytes of device memory per self time."),
        number("flop_per_byte", "FLOP/byte", doc="Ratio of the known FLOPs to the known bytes."),
        text("bound_by", "Bottleneck", "What limits most of the program's time."),
    ),
    keyed=Keyed("program", sums=("self_us", "wasted_us")),
)
_TRANSFERS = Table(
    "transfers",
    "Transfers",
    (
        text("program", "Program"),
        text("program_id", "Program id"),
        text("name", "Started by", "Instruction that starts the transfer."),
        text("done", "Awaited by", "Instruction that waits for the transfer."),
        text("direction", "Direction", "Source and target memory."),
        number("count", "Transfers", doc="Number of transfers over all devices."),
        number("bytes", "Bytes", "bytes", "Bytes that the capture states."),
        number("span_us", "In flight", "us", "Sum of the transfers' times from start to end."),
        number(
            "waiting_us",
            "Waited for",
            "us",
            "Self time of the waiting instruction. Blank if a device did not record its transfers.",
        ),
        number("hidden", "Hidden", "share", "Share of the time in flight in which no instruction waited."),
    ),
    doc="Copies between memories while other ops run (TPU); concurrent transfers share the link.",
)
_FACTS = (
    *xla.TIME_FACTS,
    xla.SUMMED_EFFICIENCY,
    number(
        "mfu",
        "FLOPs utilization",
        "share",
        "FLOPs of the ops as a share of the devices' 16-bit peak, idle time included. "
        "The Overview's MFU is that of the model's FLOPs, at the peaks of their types.",
    ),
    number(
        "transfer_gb_per_s",
        "Transfers, GB/s",
        doc="Bytes of transfers (10⁹ per second) while at least one is in flight; mean of the devices.",
    ),
    number("transfer_us", "Transfer time", "us", "Time in which at least one transfer is in flight, over all devices."),
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
    sums_by_program: dict[tuple[str, str], OpSums] = {}
    total = OpSums()
    for op, bound in zip(table.ops, bounds, strict=True):
        sums_by_program.setdefault((op.module, program_text(op.program)), OpSums()).add(op, bound)
        total.add(op, bound)
    rows = [
        xla.identity(op) | xla.figures(op, bound) | xla.origin(op) for op, bound in zip(table.ops, bounds, strict=True)
    ]
    all_transfers = merged_transfers([transfers(host) for host in hosts])
    seconds = (table.self_ps + table.other_ps + table.idle_ps) / PS_PER_S
    facts = xla.time_facts(table, peaks, bounds) | {
        "efficiency": ratio(total.bound_ps, total.bounded_ps),
        "mfu": total.flops / seconds / peaks.best_flops if seconds and peaks.best_flops and total.flops else None,
        "transfer_gb_per_s": all_transfers.bytes_per_second and all_transfers.bytes_per_second / 1e9,
        "transfer_us": all_transfers.busy_ps / PS_PER_US or None,
    }
    ordered_programs = sorted(sums_by_program.items(), key=lambda item: -item[1].self_ps)
    tables = {
        "ceilings": by_column(_CEILINGS, _ceiling_rows(table, peaks)),
        "programs": by_id(_PROGRAMS, [_program_row(*module_and_id, sums) for module_and_id, sums in ordered_programs]),
        "transfers": by_id(_TRANSFERS, _transfer_rows(all_transfers, table)),
        "ops": by_id(_OPS, rows),
    }
    return Answer(facts, tables, _headline(total, all_transfers), xla.op_notes(session, table, peaks, bounds))


def _ceiling_rows(table: XlaOpTable, peaks: Peaks) -> list[list[Any]]:
    """The peaks of the number types that ops use and of the memories that the device has."""
    source = Message("given") if peaks.by_user else Message("known of the device")
    used_types = {peaks.reachable_type(op) for op in table.ops if op.flops}
    ceilings: list[list[Any]] = [
        [name, Message("compute"), peak / 1e9, None, None, source]
        for name, peak in peaks.flops.items()
        if name in used_types
    ]
    memories = ({"HBM": peaks.bandwidth} if peaks.bandwidth else {}) | peaks.on_chip | peaks.host_link
    for name, peak in memories.items():
        ridge = peaks.best_flops / peak if peaks.best_flops else None
        ceilings.append([name, Message("memory"), None, peak / 2**30, ridge, source])
    return ceilings


def _program_row(module: str, program: str, sums: OpSums) -> dict[str, Any]:
    has_bound, seconds = sums.bounded_ps > 0, sums.self_ps / PS_PER_S
    return {
        "program": module,
        "program_id": program,
        "ops": sums.ops,
        "self_us": sums.self_ps / PS_PER_US,
        "bound_us": sums.bound_ps / PS_PER_US if has_bound else None,
        "wasted_us": sums.wasted_ps / PS_PER_US if has_bound else None,
        "unknown_share": ratio(sums.unknown_ps, sums.self_ps),
        "gflop_per_s": sums.flops / seconds / 1e9 if seconds and sums.flops else None,
        "gib_per_s": sums.bytes / seconds / 2**30 if seconds and sums.bytes else None,
        "flop_per_byte": sums.flops / sums.bytes if sums.flops and sums.bytes else None,
        "bound_by": sums.main_limit,
    }


def _transfer_row(transfer: Transfer, wait_ps: int | None) -> dict[str, Any]:
    return {
        "program": transfer.module,
        "program_id": program_text(transfer.program),
        "name": transfer.name,
        "done": transfer.done_name,
        "direction": transfer.direction,
        "count": transfer.count,
        "bytes": transfer.bytes,
        "span_us": transfer.span_ps / PS_PER_US,
        "waiting_us": None if wait_ps is None else wait_ps / PS_PER_US,
        "hidden": None if wait_ps is None or not transfer.span_ps else max(1 - wait_ps / transfer.span_ps, 0.0),
    }


def _transfer_rows(all_transfers: Transfers, table: XlaOpTable) -> list[dict[str, Any]]:
    """Waiting is known only where as many waits as transfers were recorded: not every device may record them."""
    wait_ps_by_key = {(op.program, op.name, op.executions): op.self_ps for op in table.ops if op.is_transfer}
    return [
        _transfer_row(transfer, wait_ps_by_key.get((transfer.program, transfer.done_name, transfer.count)))
        for transfer in all_transfers.transfers
    ]


def _headline(total: OpSums, all_transfers: Transfers) -> Headline | None:
    if not total.self_ps:
        return None
    unknown_share = total.unknown_ps / total.self_ps
    if total.bounded_ps < xla.NOTABLE * total.self_ps:
        sentence = (
            Message("Almost no op has a roofline bound: its cost or the device's peaks are unknown.")
            if total.bounded_ps
            else Message("No op has a roofline bound: its cost or the device's peaks are unknown.")
        )
        return Headline(sentence, "unknown")
    efficiency = total.bound_ps / total.bounded_ps
    share_sentence = Message("Ops of known cost reach {share} of their roofline.", share=efficiency)
    limit = max(total.self_ps_by_limit, key=lambda limit: total.self_ps_by_limit[limit])
    if limit in xla.WAITS and total.self_ps_by_limit[limit] > total.self_ps / 2:
        return Headline(sentences(_wait_sentence(total, limit, all_transfers), share_sentence), "info")
    return Headline(
        sentences(
            Message(
                "Ops of known cost reach {share} of their roofline; {saved_pair} could be saved over all steps.",
                share=efficiency,
                saved_pair=(total.wasted_ps, total.bounded_ps),
            ),
            "" if limit == UNKNOWN else Message("Main bottleneck: {bound}.", bound=message(limit)),
            Message("{share} of the time has no bound.", share=unknown_share) if unknown_share >= xla.NOTABLE else "",
        ),
        "info",
    )


def _wait_sentence(total: OpSums, limit: str, all_transfers: Transfers) -> Message:
    """How much of the time ops wait for one of `xla.WAITS`; for transfers, how fast they are, too."""
    rate = all_transfers.bytes_per_second if limit == TRANSFER else None
    values = {"share": total.self_ps_by_limit[limit] / total.self_ps, "other": xla.WAITS[limit]}
    if rate:
        return Message(
            "{share} of the ops' time waits for {other} at {speed} GB/s.", **values, speed=f"{rate / 1e9:.3g}"
        )
    return Message("{share} of the ops' time waits for {other}.", **values)
