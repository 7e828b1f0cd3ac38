"""TensorFlow Stats: which operations cost most, on the host and on the devices, in every framework that left names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from ..analysis.deviceops import device_ops
from ..analysis.hostops import host_ops
from ..analysis.ops import IDLE, Group, Op, OpTable, grouped, merged
from ..contract.answer import Answer, Column, Headline, Table
from ..contract.tool import tool
from ..model.devices import host_device_type
from ..model.host import Host
from ..model.names import is_gradient
from ..model.session import Session
from ..problems import DEVICE as ON_DEVICE
from ..problems import HOST as ON_HOST

_PS_PER_US = 1e6
_NUMBER = re.compile(r"(?:[._-]\d+)+$")
"""With which compilers tell ops of one kind apart: ``dot.3``, ``fusion.12``."""
DEVICE, HOST = "Device", "Host"

_PLACE = Column("place", "Where", "string", doc="Where the op ran: on a device or on the host.")
_TIMES = (
    Column("occurrences", "Count", doc="How often it ran."),
    Column("total_us", "Total time", unit="us", doc="With the ops inside it, over all threads or streams."),
    Column("self_us", "Self time", unit="us", doc="Without the ops inside it."),
    Column(
        "share",
        "Share",
        unit="share",
        doc="Self time, of that of all ops in the same place.",
        depends=(ON_HOST, ON_DEVICE),
    ),
)
_OPS = Table(
    "ops",
    "Ops",
    (
        _PLACE,
        Column("type", "Type", "string", doc="Type of the op; for HLO ops without a framework op, theirs."),
        Column("name", "Operation", "string", doc="Full name of the op."),
        *_TIMES,
        Column("cumulative", "Cumulative", unit="share", doc="Share of this op and those above it in the same place."),
        Column("share_with_idle", "Share, idle included", unit="share", doc="The same with idle time as an op."),
        Column("cumulative_with_idle", "Cumulative, idle included", unit="share", doc="The same with idle time."),
        Column("average_us", "Average time", unit="us", doc="Total time per occurrence."),
        Column("self_average_us", "Average self", unit="us", doc="Self time per occurrence."),
        Column("gflop_per_s", "GFLOP/s", doc="By the capture's own counts; blank where it holds none."),
        Column("model_gflop_per_s", "Model GFLOP/s", doc="What the model's arithmetic needs; blank where not stated."),
        Column("gib_per_s", "Memory GiB/s", doc="By the capture's own counts of bytes; blank where it holds none."),
        Column("flop_per_byte", "FLOP/byte", doc="Operational intensity: FLOPs per byte accessed."),
        Column("tensor_core_share", "Tensor cores", unit="share", doc="Of the op's kernel time, on tensor cores."),
        Column("execution", "Execution", "string", doc="Eager: run op by op; Function: inside a compiled function."),
        Column("kernels", "Kernels", doc="Kernels and copies that the op ran on the device; blank on the host."),
        Column("min_us", "Shortest", unit="us", doc="Shortest occurrence, of kernels on a device."),
        Column("max_us", "Longest", unit="us", doc="Longest occurrence, of kernels on a device."),
        Column("module", "HLO module", "string", doc="The XLA program of an HLO op."),
    ),
    doc="Device ops first, each place by self time; the time without any op is the row of type IDLE. All "
    "times are summed over threads and streams, so that they may exceed the capture's length.",
)
_TYPES = Table(
    "types",
    "Op types",
    (
        _PLACE,
        Column("type", "Type", "string", doc="Type of the ops."),
        Column("ops", "Ops", doc="How many ops of this type there are."),
        *_TIMES,
    ),
    doc="The ops by type, without idle time.",
)
_FACTS = (Column("training", "Training", "boolean", doc="Whether any op computes a gradient, by its name."),)


@tool("Ops", order=20, facts=_FACTS, tables=(_OPS, _TYPES), needs=(device_ops, host_ops, host_device_type))
def framework_op_stats(session: Session, hosts: Sequence[Host]) -> Answer:
    """Which operations take the time?"""
    places = {DEVICE: merged([device_ops(h) for h in hosts]), HOST: merged([host_ops(h) for h in hosts])}
    gradient = any(is_gradient(op.name, op.type) for table in places.values() for op in table.ops)
    types = {place: grouped(table.ops, kind) for place, table in places.items()}
    return Answer(
        {"training": gradient},
        {"ops": _ops(places), "types": _types(types)},
        _headline(DEVICE if types[DEVICE] else HOST, types[DEVICE] or types[HOST]),
    )


def kind(op: Op) -> str:
    """What an op is listed as."""
    return op.type or op.category or _NUMBER.sub("", op.name) or "Unknown"


def _headline(place: str, types: Sequence[Group]) -> Headline | None:
    whole = sum(each.self_ps for each in types)
    if not whole:
        return None
    three = sum(each.self_ps for each in types[:3]) / whole
    rest = f"; the three largest types take {three:.0%}" if len(types) > 3 else ""
    share = types[0].self_ps / whole
    return Headline(f"{types[0].name} takes {share:.0%} of the op time on the {place.lower()}{rest}.", "info")


def _types(types: dict[str, list[Group]]) -> dict[str, list[object]]:
    whole = {place: sum(each.self_ps for each in groups) for place, groups in types.items()}
    rows = [(place, each) for place, groups in types.items() for each in groups]
    return {
        "place": [place for place, _ in rows],
        "type": [each.name for _, each in rows],
        "ops": [each.ops for _, each in rows],
        "occurrences": [each.occurrences for _, each in rows],
        "total_us": [each.total_ps / _PS_PER_US for _, each in rows],
        "self_us": [each.self_ps / _PS_PER_US for _, each in rows],
        "share": [each.self_ps / whole[place] if whole[place] else None for place, each in rows],
    }


def _ops(places: dict[str, OpTable]) -> dict[str, list[object]]:
    listed = [(place, _with_idle(table)) for place, table in places.items()]
    rows = [(place, op) for place, each in listed for op in each]
    shares = [share for _, each in listed for share in _shares(each)]
    ops = [op for _, op in rows]
    return {
        "place": [place for place, _ in rows],
        "type": [kind(op) for op in ops],
        "name": [op.name for op in ops],
        "occurrences": [op.occurrences for op in ops],
        "total_us": [op.total_ps / _PS_PER_US for op in ops],
        "self_us": [op.self_ps / _PS_PER_US for op in ops],
        "share": [each[0] for each in shares],
        "cumulative": [each[1] for each in shares],
        "share_with_idle": [each[2] for each in shares],
        "cumulative_with_idle": [each[3] for each in shares],
        "average_us": [op.total_ps / _PS_PER_US / op.occurrences if op.occurrences else None for op in ops],
        "self_average_us": [op.self_ps / _PS_PER_US / op.occurrences if op.occurrences else None for op in ops],
        "gflop_per_s": [op.gflop_per_s for op in ops],
        "model_gflop_per_s": [
            op.model_flops / (op.total_ps / 1e3) if op.model_flops and op.total_ps else None for op in ops
        ],
        "gib_per_s": [op.bytes / (op.total_ps / 1e3) * 1e9 / 2**30 if op.bytes and op.total_ps else None for op in ops],
        "flop_per_byte": [op.flops / op.bytes if op.flops and op.bytes else None for op in ops],
        "tensor_core_share": [
            op.tensor_core_ps / op.total_ps if place == DEVICE and op.total_ps else None for place, op in rows
        ],
        "execution": [None if op.type == IDLE else "Eager" if op.eager else "Function" for op in ops],
        "kernels": [op.kernels if place == DEVICE else None for place, op in rows],
        "min_us": [op.min_ps / _PS_PER_US for op in ops],
        "max_us": [op.max_ps / _PS_PER_US for op in ops],
        "module": [op.module for op in ops],
    }


def _with_idle(table: OpTable) -> list[Op]:
    idle = Op(IDLE, IDLE, IDLE, total_ps=table.idle_ps, self_ps=table.idle_ps)
    return sorted([*table.ops, *([idle] if table.window_ps else [])], key=lambda op: (-op.self_ps, op.name))


def _shares(ops: Sequence[Op]) -> list[tuple[float | None, ...]]:
    """Of each op, and of the idle time among them: share and running share without and with idle time."""
    busy = [None if op.type == IDLE else op.self_ps for op in ops]
    return list(zip(*_running(busy), *_running([op.self_ps for op in ops]), strict=True))


def _running(times: Sequence[int | None]) -> tuple[list[float | None], list[float | None]]:
    """Shares and running shares of the sum; None where a time is, or where nothing took any."""
    whole = sum(filter(None, times))
    running = accumulate(time or 0 for time in times)
    known = [time is not None and whole > 0 for time in times]
    shares = [time / whole if time is not None and ok else None for time, ok in zip(times, known, strict=True)]
    return shares, [time / whole if ok else None for time, ok in zip(running, known, strict=True)]
