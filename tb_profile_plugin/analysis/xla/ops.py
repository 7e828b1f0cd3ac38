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
from ..self_times import nested_times
from .device_runs import DeviceRun, cpu_runs, gpu_run, tpu_run
from .op import COSTS, XlaOpTable, merged_ops


@per_host(keep=True)
def xla_ops(host: Host) -> XlaOpTable:
    """The ops of all XLA programs that ran on the host's devices, else on the host itself."""
    tables = [
        _measured(host, name, peaks, device_run) for name, peaks, device_run in devices(host) if len(device_run.begin)
    ]
    table = merged_ops(tables) if tables else XlaOpTable(programs=len(host.modules))
    programs = dict.fromkeys(op.program for op in table.ops)
    modules = [host.modules[program] for program in programs if program in host.modules]
    table.damaged = [module.title for module in modules if module.damaged]
    table.cut = [module.title for module in modules if module.cut]
    return table


def devices(host: Host) -> list[tuple[str, Capabilities, DeviceRun]]:
    """Name of each device, what it can do, and what ran on it."""
    if not host.devices:
        return [(name, Capabilities(0, 0, 0, 0), device_run) for name, device_run in cpu_runs(host)]
    read = gpu_run if host.gpus else tpu_run
    return [
        (plane.name.removeprefix(vocabulary.DEVICE), capabilities(plane), read(host, plane)) for plane in host.devices
    ]


def _measured(host: Host, device: str, peaks: Capabilities, device_run: DeviceRun) -> XlaOpTable:
    has_op = device_run.op >= 0
    op, begin, end = device_run.op[has_op], device_run.begin[has_op], device_run.end[has_op]
    size = len(device_run.ops)
    is_execution = np.ones(len(op), bool) if device_run.is_part is None else ~device_run.is_part[has_op]
    counts = np.bincount(op[is_execution], minlength=size)
    if device_run.line is None:
        totals = np.zeros(size, np.int64)
        np.add.at(totals, op, end - begin)
        figures = np.stack((counts, totals, totals), 1)
    else:
        order = np.lexsort((-end, begin, device_run.line[has_op]))
        lines = np.append(np.flatnonzero(np.append(True, np.diff(device_run.line[has_op][order]) != 0)), len(order))
        figures, _ = nested_times(
            lines.astype(np.int64), begin[order], (end - begin)[order], op[order].astype(np.int32), size
        )
        for with_parts in distinct(op[~is_execution]).tolist():
            # Its threads work at once: no moment of it counts twice.
            of_op = op == with_parts
            part_begin, part_end = union(begin[of_op], end[of_op])
            figures[with_parts, 1] = (part_end - part_begin).sum()
    runs = counts if device_run.kernel is None else executions(op, device_run.kernel[has_op], size)
    for i, xla_op in enumerate(device_run.ops):
        xla_op.executions, xla_op.total_ps, xla_op.self_ps = int(runs[i]), int(figures[i, 1]), int(figures[i, 2])
        xla_op.kernels = int(counts[i]) if device_run.kernel is not None else 0
        for name in COSTS:
            one = getattr(xla_op, name)
            setattr(xla_op, name, None if one is None else one * xla_op.executions)
    busy = int((device_run.busy[1] - device_run.busy[0]).sum())
    table = XlaOpTable(
        [xla_op for xla_op in device_run.ops if xla_op.executions], [(device, peaks)], busy, programs=len(host.modules)
    )
    table.window_ps = int(device_run.busy[1].max() - device_run.busy[0].min())
    return table


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
    middle = counts[order][np.minimum((low + high) // 2, last)]
    return np.where(high > low, middle, 0)
