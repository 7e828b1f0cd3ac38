"""When the instructions of an XLA program run, counted from when its run begins."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from .device_runs import DeviceRun
from .ops import devices, executions


@per_host
def mean_begins(host: Host, program: int) -> dict[str, float]:
    """Mean begin in ps, by name, of the instructions that run once in each run of a program; of its first device."""
    for device in devices(host):
        begins = _mean_begins(device.run, program)
        if begins:
            return begins
    return {}


def _mean_begins(device_run: DeviceRun, program: int) -> dict[str, float]:
    """Mean begins on one device; empty where the program did not run on it."""
    is_of_program = np.array([op.program == program for op in device_run.ops], np.bool_)
    rows = np.flatnonzero(device_run.op >= 0)
    rows = rows[is_of_program[device_run.op[rows]]] if len(is_of_program) else rows[:0]
    if not len(rows):
        return {}
    rows = rows[np.lexsort((device_run.begin[rows], device_run.op[rows]))]
    op, begin = device_run.op[rows], device_run.begin[rows]
    counts = np.bincount(op, minlength=len(device_run.ops))
    runs_of_op = counts if device_run.kernel is None else executions(op, device_run.kernel[rows], len(device_run.ops))
    runs = int(np.bincount(runs_of_op[runs_of_op > 0]).argmax())
    first = np.append(0, np.cumsum(counts))
    # What runs more or less often lies in a loop or a branch, or was cut by the capture's begin.
    ops_once_per_run = np.flatnonzero((runs_of_op == runs) & (counts % runs == 0)).tolist()
    begins = {index: begin[first[index] : first[index + 1] : counts[index] // runs] for index in ops_once_per_run}
    run_begin: Array = np.min(np.stack([*begins.values()]), axis=0)
    return {device_run.ops[index].name: float((times - run_begin).mean()) for index, times in begins.items()}
