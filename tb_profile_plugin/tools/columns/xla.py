"""What all pages of XLA's ops say alike: why there are none, options for peaks, and an op's columns and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...analysis.xla.op import XlaOp, XlaOps, merged_ops
from ...analysis.xla.op_profile import program_name
from ...analysis.xla.ops import xla_ops
from ...analysis.xla.roofline import (
    COMPUTE,
    IMPOSSIBLE,
    INTERCONNECT,
    LATENCY,
    MEMORY,
    TRANSFER,
    Bound,
    Peaks,
    bound,
    peaks_of,
    sums_of,
)
from ...formats.xspace.hlo import signed
from ...formats.xspace.hlo.fields import MESSAGES
from ...formats.xspace.hlo.module import Module
from ...model.devices.properties import host_device_type
from ...model.host import Host
from ...model.session import Session
from ...runtime.messages import Message, sentences, some_of
from ...runtime.problems import DEVICE, Problem, ProblemError, problem_error
from ...runtime.units import PS_PER_US
from ..answers.answer import Column
from ..answers.tool import Param
from .op_costs import program_text

NEEDS = (xla_ops, host_device_type)
NOTABLE = 0.01
"""Share of the ops' time from which on what is said of a part of it matters."""

PEAKS = (
    Param("peak_tflops", "", "Peak TFLOP/s of a device, instead of the known one."),
    Param("peak_gbps", "", "Peak GB/s (10⁹ bytes) of a device's memory, instead of the known one."),
)
"""Options by which peaks are given."""


def unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    """Why there is no op of an XLA program; None where there is one."""
    tables = [xla_ops(host) for host in hosts]
    return None if any(table.ops for table in tables) else nothing(session, any(table.programs for table in tables))


def nothing(session: Session, programs: bool) -> Problem:
    """Why there is no op, where programs are in the capture and where none are."""
    if programs:
        return Problem(
            "no_xla_ops",
            "This capture holds XLA programs, but no event names the instruction that ran.",
            "Capture while the program runs steps.",
            session.name,
            "info",
        )
    remedy = Message(
        "Capture JAX, PyTorch/XLA or TensorFlow with jit_compile=True, with HLO protos enabled. For other "
        "programs, open Framework ops, PyTorch operators or Kernels."
    )
    return Problem("no_xla_program", "This capture holds no XLA program.", remedy, session.name, "info")


def all_ops(hosts: Sequence[Host], peak_tflops: str, peak_gbps: str) -> tuple[XlaOps, Peaks, list[Bound]]:
    """The ops of the hosts, the peaks to compare with, and what holds each op up."""
    table = merged_ops([xla_ops(host) for host in hosts])
    peaks = peaks_of(table.devices, _number("peak_tflops", peak_tflops), _number("peak_gbps", peak_gbps))
    return table, peaks, [bound(op, peaks) for op in table.ops]


def program_of(modules: Mapping[int, Module], wanted: str) -> Module:
    """The program of an id, of ``name(id)``, or of a name that only one has; raises `ProblemError` (404) for none."""
    module = modules.get(signed(int(wanted))) if wanted.isdecimal() and len(wanted) <= _DIGITS else None
    if module is not None:
        return module
    titled = [module for module in modules.values() if module.title == wanted]
    called = [module for module in modules.values() if module.name == wanted]
    if titled or len(called) == 1:
        return (titled or called)[0]
    raise no_such_program(wanted, [module.title for module in called or modules.values()])


def no_such_program(wanted: str, titles: Sequence[str]) -> ProblemError:
    """That a name is of no program, with the names of those that there are."""
    message = Message("There is no program {program}.", program=repr(wanted))
    remedy = Message("There are: {names}.", names=some_of(titles, 8))
    return problem_error("no_such_program", message, remedy, status=404)


_DIGITS = 20
"""Of the largest program id."""


def _number(name: str, text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise problem_error(
            "bad_option",
            Message("{name}={text} is not a number above 0.", name=name, text=repr(text)),
            "Give a number above 0.",
        )
    return value


def notes(session: Session, table: XlaOps, peaks: Peaks, bounds: Sequence[Bound]) -> list[Problem]:
    """What the reader must know: why there is nothing; what is not read whole, cannot be, or is not known."""
    if not table.ops:
        return [nothing(session, table.programs > 0)]
    problems = unread(table.damaged, table.cut)
    above = [
        op.name
        for op, bound in zip(table.ops, bounds, strict=True)
        if (bound.efficiency(op) or 0) > IMPOSSIBLE and op.total_ps
    ]
    if above:
        message = Message(
            "{ops} would exceed the device's peak: the stated cost is too high, or the peak too low.",
            ops=some_of(above, 3),
        )
        remedy = Message(
            "Give this device's peaks as peak_tflops and peak_gbps; operands from a cache can also cause this."
        )
        problems.append(Problem("above_peak", message, remedy, peaks.device, "warning"))
    if not peaks.bandwidth or not peaks.flops:
        message = (
            Message("The peaks of {device} are unknown, so ops have no roofline bound.", device=peaks.device)
            if peaks.device
            else Message("The peaks of this device are unknown, so ops have no roofline bound.")
        )
        remedy = Message("Give peak_tflops and peak_gbps under Options.")
        problems.append(Problem("no_peaks", message, remedy, "", "warning"))
    return problems


def unread(damaged: Sequence[str], cut: Sequence[str]) -> list[Problem]:
    """What to say of programs, by their titles, of which a part cannot be read, and of those that are too large."""
    problems = []
    if damaged:
        message = Message("Part of {programs} cannot be read.", programs=some_of(damaged, 3))
        remedy = Message("Capture again; the figures cover only what could be read.")
        problems.append(Problem("damaged_program", message, remedy, "", "warning"))
    if cut:
        message = Message(
            "Only the first {count} instructions of {programs} were read.", count=MESSAGES, programs=some_of(cut, 3)
        )
        remedy = Message("Compile the program in parts.")
        problems.append(Problem("large_program", message, remedy, "", "warning"))
    return problems


TIME_FACTS = (
    Column("device", "Device", "string", doc="Device whose peaks the ops are compared with."),
    Column("self_us", "In XLA's ops", unit="us", doc="Self time of all ops, over all devices."),
    Column(
        "other_us",
        "In other work",
        unit="us",
        doc="Time of copies and of kernels outside XLA programs, over all devices.",
    ),
    Column("idle_us", "Idle", unit="us", doc="Idle time between a device's first and last event, over all devices."),
    Column("wasted_us", "Wasted", unit="us", doc="Self time of ops above their roofline bound."),
    Column(
        "unknown_share",
        "Time without a bound",
        unit="share",
        doc="Share of the ops' time in ops with unknown cost or peak.",
    ),
)
"""Facts about all ops together."""


def time_facts(table: XlaOps, peaks: Peaks, bounds: Sequence[Bound]) -> dict[str, Any]:
    """Values of `TIME_FACTS`."""
    sums = sums_of(table.ops, bounds)
    return {
        "device": peaks.device,
        "self_us": table.self_ps / PS_PER_US,
        "other_us": table.other_ps / PS_PER_US,
        "idle_us": table.idle_ps / PS_PER_US,
        "wasted_us": sums.wasted_ps / PS_PER_US if sums.bounded_ps else None,
        "unknown_share": sums.unknown_ps / sums.self_ps if sums.self_ps else None,
    }


IDENTITY = (
    Column("program", "Program", "string", doc="Name of the XLA program."),
    Column("program_id", "Program id", "string", doc="Id that distinguishes programs of one name."),
    Column("name", "Op", "string", doc="Name of the HLO instruction."),
    Column("category", "Category", "string", doc="XLA's category of the instruction, e.g. loop fusion."),
)
FIGURES = (
    Column(
        "count",
        "Count",
        doc="Number of executions over all devices; on GPUs, from the number of its kernels.",
    ),
    Column("kernels", "Kernels", doc="Number of GPU kernels that it ran; blank on other devices."),
    Column(
        "total_us",
        "Total time",
        unit="us",
        doc="Time of the op with the ops nested in it, over all devices.",
        depends=(DEVICE,),
    ),
    Column("average_us", "Average", unit="us", doc="Total time per execution."),
    Column(
        "self_us",
        "Self time",
        unit="us",
        doc="Time of the op without the ops nested in it, over all devices.",
        depends=(DEVICE,),
    ),
    Column("self_average_us", "Average self", unit="us", doc="Self time per execution."),
    Column(
        "bound_us",
        "Roofline bound",
        unit="us",
        doc="Shortest possible time: FLOPs at the device's peak, or bytes at its bandwidth, whichever is longer. "
        "Blank if unknown.",
    ),
    Column("wasted_us", "Wasted", unit="us", doc="Self time above the roofline bound: what could be saved."),
    Column("efficiency", "Roofline efficiency", unit="share", doc="Roofline bound as a share of the total time."),
    Column(
        "bound_by",
        "Bottleneck",
        "string",
        doc="What limits the op: compute, HBM (device memory), latency (too short), transfer (asynchronous copy) "
        "or interconnect (collective).",
    ),
    Column("gflop_per_s", "GFLOP/s", doc="FLOPs per total time; a multiply-add counts as two."),
    Column(
        "model_gflop_per_s",
        "Model GFLOP/s",
        doc="Model FLOPs per total time, as the capture states them, else all FLOPs; blank if unknown.",
    ),
    Column(
        "gtranscendental_per_s",
        "G functions/s",
        doc="Transcendental functions (exponentials, roots, tangents) per total time; FLOPs leave them out.",
    ),
    Column("gib_per_s", "Memory GiB/s", doc="Bytes of operands and results per total time."),
    Column("hbm_gib_per_s", "HBM GiB/s", doc="Bytes of operands and results in device memory per total time."),
    Column("flop_per_byte", "FLOP/byte", doc="Operational intensity: FLOPs per byte accessed."),
    Column("flops", "FLOPs", doc="FLOPs of all executions; blank if unknown."),
    Column("bytes", "Bytes", unit="bytes", doc="Bytes of operands and results over all executions; blank if unknown."),
    Column(
        "cost",
        "Cost source",
        "string",
        doc="Where FLOPs and bytes come from: stated by the capture, computed from shapes, partly computed "
        "(bytes only), or unknown. Ops that run or await others have none of their own.",
    ),
    Column("dtype", "Type", "string", doc="Number type of a product's operands, else of the result."),
)
ORIGIN = (
    Column("op_name", "Framework op", "string", doc="Framework op that the instruction comes from, with its scopes."),
    Column("source", "Source", "string", doc="Innermost source line outside of installed packages."),
    Column("stack", "Stack", "string", doc="Frames of the source line's stack, innermost first."),
    Column("expression", "Instruction", "string", doc="HLO text of the instruction."),
    Column(
        "recomputed", "Recomputed", "boolean", doc="Whether XLA computes it again to save memory (rematerialization)."
    ),
    Column("core", "Core", "string", doc="Kind of core that ran the op."),
)


def identity(op: XlaOp) -> list[Any]:
    """Values of `IDENTITY`."""
    return [op.module, program_text(op.program), op.name, op.category]


def figures(op: XlaOp, bound: Bound) -> list[Any]:
    """Values of `FIGURES`."""
    runs, wasted = op.executions, bound.wasted_ps(op)
    return [
        runs,
        op.kernels or None,
        op.total_ps / PS_PER_US,
        op.total_ps / PS_PER_US / runs if runs else None,
        op.self_ps / PS_PER_US,
        op.self_ps / PS_PER_US / runs if runs else None,
        None if bound.bound_ps is None else bound.bound_ps / PS_PER_US,
        None if wasted is None else wasted / PS_PER_US,
        bound.efficiency(op),
        bound.limit,
        _rate(op.flops, op, 1e9),
        _rate(op.model_flops, op, 1e9),
        _rate(op.transcendentals, op, 1e9),
        _rate(op.bytes, op, 2**30),
        _rate(op.hbm_bytes, op, 2**30),
        op.flops / op.bytes if op.flops is not None and op.bytes else None,
        op.flops,
        op.bytes,
        op.cost,
        op.dtype or None,
    ]


def origin(op: XlaOp) -> list[Any]:
    """Values of `ORIGIN`."""
    return [op.op_name, op.source, "\n".join(op.stack), op.text, op.is_recomputed, op.core]


def _rate(count: float | None, op: XlaOp, unit: float) -> float | None:
    return count / (op.total_ps / 1e12) / unit if count is not None and op.total_ps else None


_WHY = {
    LATENCY: Message("each execution is too short"),
    COMPUTE: Message("compute-bound"),
    MEMORY: Message("memory-bound"),
}


WAITS: dict[str, Message] = {
    TRANSFER: Message("transfers between memories"),
    INTERCONNECT: Message("other devices"),
}
"""What ops wait for that calculate nothing meanwhile, by what holds them up."""


def _waiting(table: XlaOps, bounds: Sequence[Bound]) -> Message | None:
    """What most of the time waits for; None where most of it does not."""
    times = {
        by: sum(op.self_ps for op, bound in zip(table.ops, bounds, strict=True) if bound.limit == by) for by in WAITS
    }
    by, time = max(times.items(), key=lambda item: item[1])
    if time <= table.self_ps / 2:
        return None
    most = next(op for op, bound in zip(table.ops, bounds, strict=True) if bound.limit == by)
    return Message(
        "{share} of the ops' time waits for {other} ({time_ps}). Largest: {op} of {program}, {op_ps}.",
        share=time / table.self_ps,
        other=WAITS[by],
        time_ps=time,
        op=most.name,
        program=most.module,
        op_ps=most.self_ps,
    )


def verdict(table: XlaOps, bounds: Sequence[Bound]) -> Message:
    """Where the time goes and what wastes most of it, in two sentences."""
    total_ps = table.self_ps
    if not total_ps:
        return Message("No op took time.")
    programs: dict[str, int] = {}
    for op in table.ops:
        programs[program_name(op)] = programs.get(program_name(op), 0) + op.self_ps
    first, most = max(programs.items(), key=lambda item: item[1])
    text = Message(
        "{share} of the ops' time is in {program}.",
        share=most / total_ps,
        program=first or Message("a program without a name"),
    )
    waiting = _waiting(table, bounds)
    if waiting:
        return waiting
    waste = [(bound.wasted_ps(op) or 0.0, op, bound) for op, bound in zip(table.ops, bounds, strict=True)]
    wasted_ps, op, bound = max(waste, key=lambda entry: entry[0])
    if wasted_ps < NOTABLE * total_ps:
        largest = table.ops[0]
        return sentences(
            text, Message("The largest op, {op}, takes {share}.", op=largest.name, share=largest.self_ps / total_ps)
        )
    values = {"op": op.name, "program": op.module, "wasted_ps": wasted_ps, "self_ps": op.self_ps}
    if bound.limit not in _WHY:
        return sentences(
            text,
            Message(
                "{op} of {program} could save most: {wasted_ps} of its {self_ps} are above the roofline bound.",
                **values,
            ),
        )
    return sentences(
        text,
        Message(
            "{op} of {program} could save most: {wasted_ps} of its {self_ps} are above the roofline bound ({why}).",
            **values,
            why=_WHY[bound.limit],
        ),
    )
