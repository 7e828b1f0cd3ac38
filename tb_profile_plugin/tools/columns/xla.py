"""What all pages of XLA's ops share: why there are none, options for peaks, and an op's columns and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...analysis.xla.op import XlaOp, XlaOpTable, merged_ops
from ...analysis.xla.op_profile import program_name
from ...analysis.xla.ops import xla_ops
from ...analysis.xla.roofline import (
    COMPUTE,
    INTERCONNECT,
    LATENCY,
    MEMORY,
    MOST_OF_PEAK,
    TRANSFER,
    Bound,
    Peaks,
    bound_of,
    peaks_of,
    sums_of,
)
from ...formats.xspace.hlo import program_text, signed
from ...formats.xspace.hlo.fields import MOST_MESSAGES
from ...formats.xspace.hlo.module import Module
from ...model.devices.properties import host_device_type
from ...model.host import Host
from ...model.session import Session
from ...runtime.messages import Message, sentences, some_of
from ...runtime.problems import DEVICE, Problem, ProblemError, problem_error
from ...runtime.units import PS_PER_S, PS_PER_US
from ..answers.answer import flag, number, ratio, text
from ..answers.tool import Param
from .op_costs import MODEL_RATE

NEEDS = (xla_ops, host_device_type)
NOTABLE = 0.01
"""Parts below this share of the ops' time are not worth a sentence."""

PEAKS = (
    Param("peak_tflops", "", "Peak TFLOP/s of a device, instead of the known one."),
    Param("peak_gbps", "", "Peak GB/s (10⁹ bytes) of a device's memory, instead of the known one."),
)
"""Options by which peaks are given."""
_MOST_DIGITS = 20
"""Digits of the largest program id, of 64 bits."""


def unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    """Why there is no op of an XLA program; None where there is one."""
    tables = [xla_ops(host) for host in hosts]
    if any(table.ops for table in tables):
        return None
    return no_ops_problem(session, any(table.program_count for table in tables))


def no_ops_problem(session: Session, has_programs: bool) -> Problem:
    """Why the session has no ops of XLA, depending on whether it has programs."""
    if has_programs:
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


def all_ops(hosts: Sequence[Host], peak_tflops: str, peak_gbps: str) -> tuple[XlaOpTable, Peaks, list[Bound]]:
    """The ops of the hosts, the peaks to compare with, and each op's roofline bound.

    Raises `ProblemError` for an option that is no positive number.
    """
    table = merged_ops([xla_ops(host) for host in hosts])
    peaks = peaks_of(table.devices, _peak("peak_tflops", peak_tflops), _peak("peak_gbps", peak_gbps))
    return table, peaks, [bound_of(op, peaks) for op in table.ops]


def program_of(modules: Mapping[int, Module], program: str) -> Module:
    """The program of an id, a title ``name(id)``, or a name that only one has; raises `ProblemError` (404) for none."""
    module = modules.get(signed(int(program))) if program.isdecimal() and len(program) <= _MOST_DIGITS else None
    if module is not None:
        return module
    with_title = [module for module in modules.values() if module.title == program]
    with_name = [module for module in modules.values() if module.name == program]
    if with_title or len(with_name) == 1:
        return (with_title or with_name)[0]
    raise no_such_program(program, [module.title for module in with_name or modules.values()])


def name_in_sentences(program: Module, programs: Iterable[Module]) -> str:
    """A program's name, with its id only where several have that name."""
    return _name_if_unique(program.name, program.title, [other.name for other in programs])


def _name_if_unique(name: str, title: str, names: Iterable[str]) -> str:
    return name if [*names].count(name) == 1 else title


def no_such_program(program: str, known_titles: Sequence[str]) -> ProblemError:
    """The error (404) that there is no such program, with the titles of those that there are."""
    message = Message("There is no program {program}.", program=repr(program))
    remedy = Message("There are: {names}.", names=some_of(known_titles, 8))
    return problem_error("no_such_program", message, remedy, status=404)


def _peak(name: str, option: str) -> float:
    """The value of an option of `PEAKS`; 0 for an empty text."""
    try:
        value = float(option or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        message = Message("{name}={text} is not a number above 0.", name=name, text=repr(option))
        raise problem_error("bad_option", message, "Give a number above 0.")
    return value


def op_notes(session: Session, table: XlaOpTable, peaks: Peaks, bounds: Sequence[Bound]) -> list[Problem]:
    """Notes about the ops: that there are none, are not all read, are impossibly fast, or have unknown peaks."""
    if not table.ops:
        return [no_ops_problem(session, table.program_count > 0)]
    problems = unread_problems(table.damaged_programs, table.cut_programs)
    too_fast = [
        op.name
        for op, bound in zip(table.ops, bounds, strict=True)
        if (bound.efficiency(op) or 0) > MOST_OF_PEAK and op.total_ps
    ]
    if too_fast:
        message = Message(
            "{ops} would exceed the device's peak: the stated cost is too high, or the peak too low.",
            ops=some_of(too_fast, 3),
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
        problems.append(Problem("no_peaks", message, "Give peak_tflops and peak_gbps under Options.", "", "warning"))
    return problems


def unread_problems(damaged_titles: Sequence[str], cut_titles: Sequence[str]) -> list[Problem]:
    """Notes about programs that are damaged, or that are too large and were cut; both are titles."""
    problems = []
    if damaged_titles:
        message = Message("Part of {programs} cannot be read.", programs=some_of(damaged_titles, 3))
        remedy = Message("Capture again; the figures cover only what could be read.")
        problems.append(Problem("damaged_program", message, remedy, "", "warning"))
    if cut_titles:
        message = Message(
            "Only the first {count} instructions of {programs} were read.",
            count=MOST_MESSAGES,
            programs=some_of(cut_titles, 3),
        )
        problems.append(Problem("large_program", message, "Compile the program in parts.", "", "warning"))
    return problems


TIME_FACTS = (
    text("device", "Device", "Device whose peaks the ops are compared with."),
    number("self_us", "In XLA's ops", "us", "Self time of all ops, over all devices."),
    number("other_us", "In other work", "us", "Time of copies and of kernels outside XLA programs, over all devices."),
    number("idle_us", "Idle", "us", "Idle time between a device's first and last event, over all devices."),
    number("wasted_us", "Wasted", "us", "Self time of ops above their roofline bound."),
    number(
        "unknown_share", "Time without a bound", "share", "Share of the ops' time in ops with unknown cost or peak."
    ),
)
"""Facts about all ops together."""


def time_facts(table: XlaOpTable, peaks: Peaks, bounds: Sequence[Bound]) -> dict[str, Any]:
    """Values of `TIME_FACTS`."""
    sums = sums_of(table.ops, bounds)
    return {
        "device": peaks.device,
        "self_us": table.self_ps / PS_PER_US,
        "other_us": table.other_ps / PS_PER_US,
        "idle_us": table.idle_ps / PS_PER_US,
        "wasted_us": sums.wasted_ps / PS_PER_US if sums.bounded_ps else None,
        "unknown_share": ratio(sums.unknown_ps, sums.self_ps),
    }


SUMMED_EFFICIENCY = number(
    "efficiency", "Roofline efficiency", "share", "Roofline bound as a share of the self time of the ops that have one."
)
IDENTITY = (
    text("program", "Program", "Name of the XLA program."),
    text("program_id", "Program id", "Id that distinguishes programs of one name."),
    text("name", "Op", "Name of the HLO instruction."),
    text("category", "Category", "XLA's category of the instruction, e.g. loop fusion."),
)
FIGURES = (
    number("count", "Count", doc="Number of executions over all devices; on GPUs, from the number of its kernels."),
    number("kernels", "Kernels", doc="Number of GPU kernels that it ran; blank on other devices."),
    number("total_us", "Total time", "us", "Time of the op with the ops nested in it, over all devices.", DEVICE),
    number("average_us", "Average", "us", "Total time per execution."),
    number(
        "self_us",
        "Self time",
        "us",
        "Time of the op without the ops nested in it, over all devices. On the CPU, a moment of a run counts for the "
        "op that began last on any thread.",
        DEVICE,
    ),
    number("self_average_us", "Average self", "us", "Self time per execution."),
    number(
        "bound_us",
        "Roofline bound",
        "us",
        "Shortest possible time: FLOPs at the device's peak, or bytes at its bandwidth, whichever is longer. "
        "Blank if unknown.",
    ),
    number("wasted_us", "Wasted", "us", "Self time above the roofline bound: what could be saved."),
    number("efficiency", "Roofline efficiency", "share", "Roofline bound as a share of the total time."),
    text(
        "bound_by",
        "Bottleneck",
        "What limits the op: compute, HBM (device memory), latency (too short), transfer (asynchronous copy) "
        "or interconnect (collective).",
    ),
    number("gflop_per_s", "GFLOP/s", doc="FLOPs per total time; a multiply-add counts as two."),
    MODEL_RATE,
    number(
        "gtranscendental_per_s",
        "G functions/s",
        doc="Transcendental functions (exponentials, roots, tangents) per total time; FLOPs leave them out.",
    ),
    number("gib_per_s", "Memory GiB/s", doc="Bytes of operands and results per total time."),
    number("hbm_gib_per_s", "HBM GiB/s", doc="Bytes of operands and results in device memory per total time."),
    number("flop_per_byte", "FLOP/byte", doc="Operational intensity: FLOPs per byte accessed."),
    number("flops", "FLOPs", doc="FLOPs of all executions; blank if unknown."),
    number("bytes", "Bytes", "bytes", "Bytes of operands and results over all executions; blank if unknown."),
    text(
        "cost",
        "Cost source",
        "Where FLOPs and bytes come from: stated by the capture, computed from shapes, partly computed "
        "(bytes only), or unknown. Ops that run or await others have none of their own.",
    ),
    text("dtype", "Type", "Number type of a product's operands, else of the result."),
)
ORIGIN = (
    text("op_name", "Framework op", "Framework op that the instruction comes from, with its scopes."),
    text("source", "Source", "Innermost source line outside of installed packages."),
    text("stack", "Stack", "Frames of the source line's stack, innermost first."),
    text("expression", "Instruction", "HLO text of the instruction."),
    flag("recomputed", "Recomputed", "Whether XLA computes it again to save memory (rematerialization)."),
    text("core", "Core", "Kind of core that ran the op."),
)


def identity(op: XlaOp) -> dict[str, Any]:
    """Values of `IDENTITY` by id."""
    return {"program": op.module, "program_id": program_text(op.program), "name": op.name, "category": op.category}


def figures(op: XlaOp, bound: Bound) -> dict[str, Any]:
    """Values of `FIGURES` by id."""
    count, wasted_ps = op.executions, bound.wasted_ps(op)
    return {
        "count": count,
        "kernels": op.kernels or None,
        "total_us": op.total_ps / PS_PER_US,
        "average_us": ratio(op.total_ps / PS_PER_US, count),
        "self_us": op.self_ps / PS_PER_US,
        "self_average_us": ratio(op.self_ps / PS_PER_US, count),
        "bound_us": None if bound.bound_ps is None else bound.bound_ps / PS_PER_US,
        "wasted_us": None if wasted_ps is None else wasted_ps / PS_PER_US,
        "efficiency": bound.efficiency(op),
        "bound_by": bound.limit,
        "gflop_per_s": _per_second(op.flops, op, 1e9),
        "model_gflop_per_s": _per_second(op.model_flops, op, 1e9),
        "gtranscendental_per_s": _per_second(op.transcendentals, op, 1e9),
        "gib_per_s": _per_second(op.bytes, op, 2**30),
        "hbm_gib_per_s": _per_second(op.hbm_bytes, op, 2**30),
        "flop_per_byte": ratio(op.flops, op.bytes),
        "flops": op.flops,
        "bytes": op.bytes,
        "cost": op.cost_source,
        "dtype": op.dtype or None,
    }


def origin(op: XlaOp) -> dict[str, Any]:
    """Values of `ORIGIN` by id."""
    return {
        "op_name": op.op_name,
        "source": op.source,
        "stack": "\n".join(op.stack),
        "expression": op.text,
        "recomputed": op.is_recomputed,
        "core": op.core,
    }


def _per_second(count: float | None, op: XlaOp, unit: float) -> float | None:
    return count / (op.total_ps / PS_PER_S) / unit if count is not None and op.total_ps else None


_BOUND_LABELS = {
    LATENCY: Message("each execution is too short"),
    COMPUTE: Message("compute-bound"),
    MEMORY: Message("memory-bound"),
}
WAITS: dict[str, Message] = {TRANSFER: Message("transfers between memories"), INTERCONNECT: Message("other devices")}
"""What ops wait for without computing, by their bottleneck."""


def _waiting_sentence(table: XlaOpTable, bounds: Sequence[Bound]) -> Message | None:
    """What most of the ops' time waits for; None where most of it does not wait."""
    ops_and_bounds = list(zip(table.ops, bounds, strict=True))
    ops_of = {limit: [op for op, bound in ops_and_bounds if bound.limit == limit] for limit in WAITS}
    limit, ops = max(ops_of.items(), key=lambda item: sum(op.self_ps for op in item[1]))
    wait_ps = sum(op.self_ps for op in ops)
    if wait_ps <= table.self_ps / 2:
        return None
    largest = ops[0]
    return Message(
        "{share} of the ops' time waits for {other} ({time_ps}). Largest: {op} of {program}, {op_ps}.",
        share=wait_ps / table.self_ps,
        other=WAITS[limit],
        time_ps=wait_ps,
        op=largest.name,
        program=largest.module,
        op_ps=largest.self_ps,
    )


def time_sentence(table: XlaOpTable, bounds: Sequence[Bound]) -> Message:
    """Where the time goes and what wastes most of it, in two sentences."""
    total_ps = table.self_ps
    if not total_ps:
        return Message("No op took time.")
    waiting_sentence = _waiting_sentence(table, bounds)
    if waiting_sentence:
        return waiting_sentence
    ps_by_program: Counter[str] = Counter()
    name_of: dict[str, str] = {}
    for op in table.ops:
        title = program_name(op)
        ps_by_program[title] += op.self_ps
        name_of[title] = op.module
    title, program_ps = ps_by_program.most_common(1)[0]
    program = _name_if_unique(name_of[title], title, name_of.values())
    sentence = Message(
        "{share} of the ops' time is in {program}.",
        share=program_ps / total_ps,
        program=program or Message("a program without a name"),
    )
    return sentences(sentence, _largest_waste_sentence(table, bounds))


def _largest_waste_sentence(table: XlaOpTable, bounds: Sequence[Bound]) -> Message:
    """Which op could save most; the largest one where none could save notably."""
    candidates = [(bound.wasted_ps(op) or 0.0, op, bound) for op, bound in zip(table.ops, bounds, strict=True)]
    wasted_ps, op, bound = max(candidates, key=lambda entry: entry[0])
    if wasted_ps < NOTABLE * table.self_ps:
        largest = table.ops[0]
        share = largest.self_ps / table.self_ps
        return Message("The largest op, {op}, takes {share}.", op=largest.name, share=share)
    values = {"op": op.name, "program": op.module, "wasted_ps": wasted_ps, "self_ps": op.self_ps}
    if bound.limit not in _BOUND_LABELS:
        return Message(
            "{op} of {program} could save most over all steps: {wasted_ps} of its {self_ps} are above the "
            "roofline bound.",
            **values,
        )
    return Message(
        "{op} of {program} could save most over all steps: {wasted_ps} of its {self_ps} are above the "
        "roofline bound ({why}).",
        **values,
        why=_BOUND_LABELS[bound.limit],
    )
