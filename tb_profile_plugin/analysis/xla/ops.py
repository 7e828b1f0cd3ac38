"""The ops of XLA programs that ran: how often, how long, and what they cost, on TPUs, GPUs and the CPU."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...formats.columns.codes import combine
from ...model.devices.capabilities import Capabilities, capabilities
from ...model.events.intervals import union
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.records import NamedTuple
from ..self_times import SELF_PS, TOTAL_PS, nested_times
from .device_runs import DeviceRun, cpu_runs, gpu_run, tpu_run
from .op import COSTS, XlaOpTable, merged_ops


@per_host(keep=True)
def xla_ops(host: Host) -> XlaOpTable:
    """The ops of all XLA programs that ran on the host's devices, else on the host itself."""
    tables = [_table_of(host, device) for device in devices(host) if len(device.run.begin)]
    # What only copies, beside a device that computes, is no device of the programs.
    tables = [table for table in tables if table.ops] or tables
    table = merged_ops(tables) if tables else XlaOpTable(program_count=len(host.modules))
    programs = dict.fromkeys(op.program for op in table.ops)
    modules = [host.modules[program] for program in programs if program in host.modules]
    table.damaged_programs = [module.title for module in modules if module.damaged]
    table.cut_programs = [module.title for module in modules if module.cut]
    return table


class XlaDevice(NamedTuple):
    """A device that runs programs of XLA."""

    name: str
    capabilities: Capabilities
    run: DeviceRun


def devices(host: Host) -> list[XlaDevice]:
    """The devices of a host, else the host's CPU as XLA divides it."""
    if not host.devices:
        return [XlaDevice(name, Capabilities(0, 0, 0, 0), run) for name, run in cpu_runs(host)]
    run_of = gpu_run if host.gpus else tpu_run
    return [
        XlaDevice(plane.name.removeprefix(vocabulary.DEVICE), capabilities(plane), run_of(host, plane))
        for plane in host.devices
    ]


def _table_of(host: Host, device: XlaDevice) -> XlaOpTable:
    """The ops of one device with their figures, which are filled in in place."""
    device_run = device.run
    has_op, size = device_run.op >= 0, len(device_run.ops)
    op = device_run.op[has_op]
    is_execution = np.ones(len(op), bool) if device_run.is_part is None else ~device_run.is_part[has_op]
    counts = np.bincount(op[is_execution], minlength=size)
    kernels = np.zeros(size, np.int64) if device_run.kernel is None else counts
    runs = counts if device_run.kernel is None else executions(op, device_run.kernel[has_op], size)
    figures = zip(runs.tolist(), kernels.tolist(), *_total_and_self_ps(device_run, is_execution).tolist(), strict=True)
    for xla_op, row in zip(device_run.ops, figures, strict=True):
        xla_op.executions, xla_op.kernels, xla_op.total_ps, xla_op.self_ps = row
        for name in COSTS:
            cost = getattr(xla_op, name)
            setattr(xla_op, name, None if cost is None else cost * xla_op.executions)
    busy_begin, busy_end = device_run.busy
    return XlaOpTable(
        ops=[xla_op for xla_op in device_run.ops if xla_op.executions],
        devices=[(device.name, device.capabilities)],
        busy_ps=int((busy_end - busy_begin).sum()),
        window_ps=int(busy_end.max() - busy_begin.min()),
        program_count=len(host.modules),
    )


def _total_and_self_ps(device_run: DeviceRun, is_execution: Array) -> Array:
    """int64[2, ops] ps: total and self time of each op; ``is_execution`` is False of parts of others."""
    has_op, size = device_run.op >= 0, len(device_run.ops)
    op, begin, end = device_run.op[has_op], device_run.begin[has_op], device_run.end[has_op]
    if device_run.line is None:
        totals = np.zeros(size, np.int64)
        np.add.at(totals, op, end - begin)
        return np.stack((totals, totals))
    line = device_run.line[has_op]
    order = np.lexsort((-end, begin, line))
    bounds = np.append(np.flatnonzero(np.append(True, np.diff(line[order]) != 0)), len(order)).astype(np.int64)
    figures, _ = nested_times(bounds, begin[order], (end - begin)[order], op[order].astype(np.int32), size)
    total_ps, self_ps = figures[:, TOTAL_PS], figures[:, SELF_PS]
    for op_with_parts in distinct(op[~is_execution]).tolist():
        # Its threads work at once: no moment of it counts twice.
        is_of_op = op == op_with_parts
        part_begin, part_end = union(begin[is_of_op], end[is_of_op])
        total_ps[op_with_parts] = (part_end - part_begin).sum()
    return np.stack((total_ps, self_ps))


def executions(op: Array, kernel: Array, ops: int) -> Array:
    """int64[ops]: an execution may take several kernels; the median of how often each of them ran, rounded up.

    Kernels that lost their op, or that run twice in an execution, do not matter then.
    """
    example, code = combine(op, kernel)
    counts, owner = np.bincount(code, minlength=len(example)), op[example]
    order = np.lexsort((counts, owner))
    first = np.searchsorted(owner[order], np.arange(ops + 1))
    low, high = first[:-1], first[1:]
    last = max(len(order) - 1, 0)
    median_count = counts[order][np.minimum((low + high) // 2, last)]
    return np.where(high > low, median_count, 0)
