"""What a device computes between one collective and the next, so that hosts can tell whether they did the same."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ...formats.columns import vocabulary
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ..activity.communication import Collectives, collectives, thread_collectives
from ..activity.devices.device_work import device_work
from ..activity.devices.work import CPU_COMPUTE, DeviceWork, Kind
from ..xla.device_runs import OpMaker, ops_of_events
from ..xla.op import XlaOp

_SIZE_MARKERS = {vocabulary.KERNEL_DETAILS: "grid:", "Input Dims": "[", vocabulary.HLO_OP: ""}
"""Stats that tell how large an operation is, and what stands in them if they do; so do the names of a TPU's."""
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""2**64 by the golden ratio: multiplying by it spreads numbers over 64 bits (Fibonacci hashing)."""


class WorkBefore(NamedTuple):
    """What was computed before each collective of a host, since the launch of its group's one before; columns of length
    n.
    """

    event: Array
    """int64[n]: number of the collective in the host's trace, ascending."""
    launch: Array
    """int64[n] ps: when the host launched the collective; its own begin where that is not known."""
    ps: Array
    """int64[n]: how long the work took, one operation after the other."""
    operations: Array
    """int64[n]: how many."""
    name_hash: Array
    """uint64[n]: equal where as many operations of the same names ran."""
    size_hash: Array
    """uint64[n]: equal where these had the same sizes, too."""
    is_known: Array
    """bool[n]: whether names and sizes tell how much work it is."""
    on_threads: Array
    """bool[n]: whether threads of the CPU share it out as they come, so that its order and its borders vary."""


@per_host(keep=True)
def work_before(host: Host) -> WorkBefore:
    """For all collectives of all devices.

    Work is put in the order of its launches, which is the program's, whatever the devices make of it.
    """
    works, thread_table = device_work(host), thread_collectives(host)
    pairs = [*zip(works, collectives(host), strict=True)]
    if len(thread_table.event):
        busiest = max(works, key=lambda work: int((work.kind == Kind.COLLECTIVE).sum()))
        pairs.append((busiest, thread_table))
    parts = [_work_before(host, work, table) for work, table in pairs if len(table.event)]
    empty_columns = [np.empty(0, dtype) for dtype in (*(np.int64,) * 4, *(np.uint64,) * 2, *(bool,) * 2)]
    columns = [np.concatenate(column) for column in zip(empty_columns, *parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return WorkBefore(*(column[order] for column in columns))


def _work_before(host: Host, work: DeviceWork, table: Collectives) -> WorkBefore:
    """The work before the collectives of one device, ``table``."""
    rows, collective_rows = np.flatnonzero(work.kind == Kind.COMPUTE), np.flatnonzero(work.kind == Kind.COLLECTIVE)
    launch_of = dict(
        zip(work.event[collective_rows].tolist(), work.launch_begin[collective_rows].tolist(), strict=True)
    )
    begins = zip(table.event.tolist(), table.begin.tolist(), strict=True)
    launch_ps = np.array([launch_of.get(event, begin) for event, begin in begins], np.int64)
    launches, position = np.unique(launch_ps, return_inverse=True)
    segment = np.searchsorted(launches, work.launch_begin[rows])
    rows, segment = rows[segment < len(launches)], segment[segment < len(launches)]
    name_hash, size_hash, is_sized = _hashes(host, work.event[rows])
    previous = table.previous_in_group
    first = np.where(previous >= 0, position[previous] + 1, 0)
    for row in np.flatnonzero(first > position).tolist():
        # Collectives of one launch follow the same work.
        first[row] = first[previous[row]]

    def sums_before(values: Array) -> Array:
        """By collective, the sum of the values of the work before it."""
        sums = np.zeros(len(launches) + 1, values.dtype)
        np.add.at(sums, segment + 1, values)
        sums = np.cumsum(sums, dtype=values.dtype)
        return sums[position + 1] - sums[first]

    return WorkBefore(
        event=table.event.astype(np.int64),
        launch=launch_ps,
        ps=sums_before((work.end - work.begin)[rows]),
        operations=sums_before(np.ones(len(rows), np.int64)),
        name_hash=sums_before(name_hash),
        size_hash=sums_before(size_hash),
        is_known=sums_before((~is_sized).astype(np.int64)) == 0,
        on_threads=np.full(len(table.event), work.name == CPU_COMPUTE),
    )


def _hashes(host: Host, events: Array) -> tuple[Array, Array, Array]:
    """(hashes of names, hashes with sizes, are sizes stated), uint64, uint64, bool[k]: the same on all hosts."""
    trace = host.trace
    name_rows, inverse = np.unique(trace.name_of[events], return_inverse=True)
    names = np.array([crc32(trace.names[row].encode()) for row in name_rows.tolist()], np.uint64)[inverse]
    sizes, is_sized = np.zeros(len(events), np.uint64), np.full(len(events), bool(host.tpus), bool)
    for offset, plane in trace.parts:
        in_plane = (events >= offset) & (events < offset + len(plane.events))
        plane_rows = events[in_plane] - offset
        if not len(plane_rows):
            continue
        for stat, marker in _SIZE_MARKERS.items():
            if plane.has_stat(stat):
                codes, texts = plane.stat(stat).codes_by_owner(len(plane.events))
                sizes[in_plane] += _checksums(texts)[codes[plane_rows]]
                is_sized[in_plane] |= np.array([*(marker in text for text in texts), False])[codes[plane_rows]]
        if plane.has_stat(vocabulary.HLO_OP):
            op, ops = ops_of_events(OpMaker(host), plane)
            names[in_plane] += _checksums([_fused_opcodes(host, xla_op) for xla_op in ops])[op[plane_rows]]
            sizes[in_plane] += _checksums([f"{xla_op.flops} {xla_op.bytes}" for xla_op in ops])[op[plane_rows]]
    spread_names = (names + np.uint64(1)) * _HASH_FACTOR
    return spread_names, (spread_names ^ (sizes << np.uint64(17))) * _HASH_FACTOR, is_sized


def _checksums(texts: Sequence[str]) -> Array:
    """uint64[texts + 1]; the last, which -1 chooses, is 0."""
    return np.array([*(crc32(text.encode()) for text in texts), 0], np.uint64)


def _fused_opcodes(host: Host, op: XlaOp) -> str:
    """What a fusion does: the kinds of its instructions; empty for whatever is none, or whose program is not there."""
    module = host.modules.get(op.program)
    callees = module.callees[module.row(op.name)] if module and op.opcode == "fusion" else ()
    return " ".join(module.opcodes[row] for row in module.rows_in(callees[0])) if module and callees else ""
