"""Framework ops: which operations cost most, on the host and on the devices, in every framework that names them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter

from ..analysis.ops.async_transfers import AsyncTransfer, host_bandwidth, host_link, transfers, transfers_of_host
from ..analysis.ops.device_ops import device_ops
from ..analysis.ops.grouping import best_grouping, merged_scopes
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_table import IDLE, ON_DEVICE, ON_HOST, Op, OpGroup, OpTable, grouped, merged
from ..analysis.ops.shares import largest
from ..model.devices.properties import GPU, device_type, hardware_type, host_device_type
from ..model.host import Host
from ..model.names.op_names import PYTORCH, is_gradient
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import DEVICE as DEVICES
from ..runtime.problems import HOST as THREADS
from ..runtime.regex import regex, without_end
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Table, by_column, flag, number, ratio, text
from .answers.tool import tool
from .columns.op_costs import BOUND, COSTS, cost_values

_TRAILING_NUMBERS = regex(r"(?:[._-]\d+)+")
"""What compilers append to tell ops of one kind apart: ``dot.3``, ``fusion.12``."""

_LOCATION = text("place", "Where", "Place where the op ran: a device or the host.", translated=True)
_TIMES = (
    number("count", "Count", doc="Number of times the op ran."),
    number("total_us", "Total time", "us", "Time of the op with the ops nested in it, over all threads or streams."),
    number("self_us", "Self time", "us", "Time of the op without the ops nested in it."),
    number(
        "share",
        "Share of host or device",
        "share",
        "Share of the self time of all ops in the same place: on the host, or on the devices.",
        *(THREADS, DEVICES),
    ),
)
_OPS = Table(
    "ops",
    "Ops",
    (
        _LOCATION,
        text("type", "Type", "Type of the op; of an HLO op without framework op, the HLO type."),
        text("name", "Operation", "Full name of the op."),
        *_TIMES,
        number("cumulative", "Cumulative", "share", "Share of this op and the ops above it in the same place."),
        number(
            "share_with_idle",
            "Share, idle included",
            "share",
            "Share of the place's time from the first to the last event; ops side by side divide it among them.",
        ),
        number(
            "cumulative_with_idle",
            "Cumulative, idle included",
            "share",
            "Share of this op and the ops above it, idle time included.",
        ),
        number("average_us", "Average", "us", "Total time per occurrence."),
        number("self_average_us", "Average self", "us", "Self time per occurrence."),
        *COSTS,
        number("tensor_core_share", "Tensor cores", "share", "Share of the op's kernel time on tensor cores."),
        text("execution", "Execution", "How the op ran: Eager, or Function (compiled); blank for PyTorch."),
        number(
            "kernels", "Kernels", doc="Number of kernels and copies that the op ran on the device; blank on the host."
        ),
        number(
            "shortest_us", "Shortest", "us", "Duration of the shortest occurrence; on a device, of the shortest kernel."
        ),
        number(
            "longest_us", "Longest", "us", "Duration of the longest occurrence; on a device, of the longest kernel."
        ),
        text("module", "HLO module", "The XLA program of an HLO op."),
        *BOUND,
    ),
    doc="Ops by self time, device ops first; type IDLE is time without ops. Times are summed over threads and streams; "
    "XLA's ops on the CPU have the times of HLO stats.",
    paged=True,
    keyed=Keyed("name", "type", "module", within=("place",), sums=("self_us",)),
)
_TYPES = Table(
    "types",
    "Op types",
    (
        _LOCATION,
        text("type", "Type", "Type of the ops."),
        number("ops", "Ops", doc="Number of ops of this type."),
        *_TIMES,
    ),
    doc="Ops by type, without idle time.",
    keyed=Keyed("type", within=("place",), sums=("self_us",)),
)
_SHARES = Table(
    "shares",
    "Shares of the ops' time",
    (
        text("of", "Of", "Place of the ops, and what their time is grouped by."),
        flag("idle", "Idle included", "Whether idle time counts as an op."),
        text("name", "Name"),
        number(
            "time_us", "Time", "us", "Self time; with idle time, the op's part of the time from first to last event."
        ),
    ),
    doc="Largest entries of each grouping; the others are one row.",
)
_SCOPES = Table(
    "scopes",
    "Ops, numbered scopes merged",
    (
        _LOCATION,
        text("name", "Operation", "Name of ops that differ only in the numbers of scopes, such as layers."),
        number("ops", "Ops", doc="Number of ops with this name."),
        *_TIMES,
    ),
    doc="Ops by name without the scopes' numbers, without idle time.",
    keyed=Keyed("name", within=("place",), sums=("self_us",)),
)
_TRANSFERS = Table(
    "transfers",
    "Transfers",
    (
        text("name", "Operation", "Instruction that starts the transfer."),
        text("kind", "What", "Kind of transfer: a collective, or a copy on the device, from its host or to it."),
        number("count", "Count", doc="Number of transfers, over all devices."),
        number("bytes", "Bytes", "iB", "Bytes of the array that a transfer moves, from its shape; blank if unknown."),
        number("waited_us", "Waited", "us", "Time that the program waited, in the start and the done instruction."),
        number("flight_us", "In flight", "us", "Time from start to done, in which other work can run."),
        number("gib_per_s", "GiB/s", doc="Bytes per time in flight; blank if unknown or implausible."),
    ),
    doc="Asynchronous copies and collectives of XLA's programs; a start and its done are one row.",
)
_FACTS = (
    text("grouping", "Grouping", "Table whose first ten rows explain most of the time."),
    flag("training", "Training", "Whether an op computes a gradient, judged by names."),
    number(
        "host_memory_gib_per_s",
        "Host memory, GiB/s",
        doc="Bandwidth between devices and their host's memory, while such transfers are in flight; blank without any.",
    ),
)


_NEEDS = (device_ops, host_ops, host_device_type, transfers_of_host, host_link)


@tool(
    "Framework ops",
    group="Ops",
    order=20,
    facts=_FACTS,
    tables=(_OPS, _TYPES, _SCOPES, _TRANSFERS, _SHARES),
    needs=_NEEDS,
)
def framework_op_stats(session: Session, hosts: Sequence[Host]) -> Answer:
    """Which operations take the time?"""
    tables = {ON_DEVICE: merged([device_ops(h) for h in hosts]), ON_HOST: merged([host_ops(h) for h in hosts])}
    is_training = any(is_gradient(op.name, op.type) for table in tables.values() for op in table.ops)
    bandwidth = host_bandwidth(hosts)
    type_groups = {key: grouped(table.ops, display_type) for key, table in tables.items()}
    scope_groups = {key: grouped(table.ops, lambda op: merged_scopes(op.name)) for key, table in tables.items()}
    location = ON_DEVICE if type_groups[ON_DEVICE] else ON_HOST
    times = {
        "ops": [op.self_ps for op in tables[location].ops],
        "scopes": [group.self_ps for group in scope_groups[location]],
        "types": [group.self_ps for group in type_groups[location]],
    }
    return Answer(
        {
            "grouping": best_grouping(times),
            "training": is_training,
            "host_memory_gib_per_s": bandwidth and bandwidth / 2**30,
        },
        {
            "ops": _op_columns(tables, hardware_type(device_type(hosts)) == GPU),
            "types": _group_columns("type", type_groups),
            "scopes": _group_columns("name", scope_groups),
            "transfers": _transfer_columns(transfers(hosts)),
            "shares": _share_columns(tables),
        },
        _headline(location, type_groups[location]),
    )


def display_type(op: Op) -> str:
    """The type that an op is listed under: its own, else its category, else its name without a number."""
    return op.type or op.category or without_end(_TRAILING_NUMBERS, op.name) or "Unknown"


def _headline(location: str, types: Sequence[OpGroup]) -> Headline | None:
    total_ps = sum(group.self_ps for group in types)
    if not total_ps:
        return None
    values = {"type": types[0].name, "share": types[0].self_ps / total_ps, "place": location.lower()}
    if len(types) <= 3:
        return Headline(
            Message(
                "{type} takes {share} of the op time on the {place, select, host {host} other {device}}.", **values
            ),
            "info",
        )
    return Headline(
        Message(
            "{type} takes {share} of the op time on the {place, select, host {host} other {device}}; the three largest "
            "types take {three_share}.",
            **values,
            three_share=sum(group.self_ps for group in types[:3]) / total_ps,
        ),
        "info",
    )


def _transfer_columns(transfers: Sequence[AsyncTransfer]) -> dict[str, list[object]]:
    return {
        "name": [transfer.name for transfer in transfers],
        "kind": [transfer.kind for transfer in transfers],
        "count": [transfer.occurrences for transfer in transfers],
        "bytes": [transfer.size or None for transfer in transfers],
        "waited_us": [transfer.waited_ps / PS_PER_US for transfer in transfers],
        "flight_us": [transfer.flight_ps / PS_PER_US for transfer in transfers],
        "gib_per_s": [transfer.bandwidth and transfer.bandwidth / 2**30 for transfer in transfers],
    }


def _group_columns(column: str, groups_by_location: dict[str, list[OpGroup]]) -> dict[str, list[object]]:
    total_ps = {location: sum(group.self_ps for group in groups) for location, groups in groups_by_location.items()}
    rows = [(location, group) for location, groups in groups_by_location.items() for group in groups]
    return {
        "place": [location for location, _ in rows],
        column: [group.name for _, group in rows],
        "ops": [group.ops for _, group in rows],
        "count": [group.occurrences for _, group in rows],
        "total_us": [group.total_ps / PS_PER_US for _, group in rows],
        "self_us": [group.self_ps / PS_PER_US for _, group in rows],
        "share": [ratio(group.self_ps, total_ps[location]) for location, group in rows],
    }


def _share_columns(tables: dict[str, OpTable]) -> dict[str, list[object]]:
    rows = [
        (
            Message(
                "On the {place, select, host {host} other {device}}, by {by, select, type {type} other {op}}",
                place=location.lower(),
                by=grouping,
            ),
            with_idle,
            name,
            ps / PS_PER_US,
        )
        for with_idle in (False, True)
        for location, table in tables.items()
        for grouping, name_of in (("type", display_type), ("op", attrgetter("name")))
        for name, ps in largest(
            (name_of(op), ps)
            for op, ps in (_window_times(table) if with_idle else [(op, op.self_ps) for op in table.ops])
        )
    ]
    return by_column(_SHARES, rows)


def _op_columns(tables: dict[str, OpTable], on_gpu: bool) -> dict[str, list[object]]:
    rows = [(location, op) for location, table in tables.items() for op in _ops_with_idle(table)]
    ops = [op for _, op in rows]
    return {
        "place": [location for location, _ in rows],
        "type": [display_type(op) for op in ops],
        "name": [op.name for op in ops],
        "count": [op.occurrences for op in ops],
        "total_us": [op.total_ps / PS_PER_US for op in ops],
        "self_us": [op.self_ps / PS_PER_US for op in ops],
        **_idle_and_busy_shares(list(tables.values())),
        "average_us": [ratio(op.total_ps / PS_PER_US, op.occurrences) for op in ops],
        "self_average_us": [ratio(op.self_ps / PS_PER_US, op.occurrences) for op in ops],
        **cost_values(ops),
        "tensor_core_share": [
            ratio(op.tensor_core_ps, op.total_ps) if on_gpu and location == ON_DEVICE else None for location, op in rows
        ],
        "execution": [_execution(op) for op in ops],
        "kernels": [op.kernels if location == ON_DEVICE else None for location, op in rows],
        "shortest_us": [ratio(op.min_ps, PS_PER_US) for op in ops],
        "longest_us": [ratio(op.max_ps, PS_PER_US) for op in ops],
        "module": [op.module for op in ops],
    }


def _execution(op: Op) -> str | None:
    if op.type == IDLE or op.framework == PYTORCH:
        return None
    return "Eager" if op.eager else "Function"


def _ops_with_idle(table: OpTable) -> list[Op]:
    """The ops and the idle time as one of them, by self time."""
    idle = Op(IDLE, IDLE, IDLE, total_ps=table.idle_ps, self_ps=table.idle_ps)
    return sorted([*table.ops, *([idle] if table.window_ps else [])], key=lambda op: (-op.self_ps, op.name))


def _window_times(table: OpTable) -> list[tuple[Op, float]]:
    """The ops and the idle time, and the part of each in the time from the first to the last event, ps.

    The busy part of it is divided among ops in proportion to their self times, since ops on several streams overlap.
    """
    scale = table.busy_ps / table.self_ps if table.self_ps else 0.0
    return [(op, op.self_ps if op.type == IDLE else op.self_ps * scale) for op in _ops_with_idle(table)]


def _idle_and_busy_shares(tables: Sequence[OpTable]) -> dict[str, list[object]]:
    """Four columns of `_OPS`: shares and running shares, without and with idle time."""
    columns: dict[str, list[object]] = {
        id: [] for id in ("share", "cumulative", "share_with_idle", "cumulative_with_idle")
    }
    for table in tables:
        window_times = _window_times(table)
        busy_ps = [None if op.type == IDLE else op.self_ps for op, _ in window_times]
        cells = (*_shares_and_running_shares(busy_ps), *_shares_and_running_shares([ps for _, ps in window_times]))
        for column, table_cells in zip(columns.values(), cells, strict=True):
            column += table_cells
    return columns


def _shares_and_running_shares(times: Sequence[float | None]) -> tuple[list[float | None], list[float | None]]:
    """Each time's share of the sum, and the sum of shares up to it; None where the time is, or where the sum is 0."""
    total = sum(filter(None, times))
    sums = accumulate(time or 0 for time in times)
    shares = [ratio(time, total) for time in times]
    return shares, [
        None if time is None else ratio(sum_so_far, total) for time, sum_so_far in zip(times, sums, strict=True)
    ]
