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
    for _, _, device_run in devices(host):
        begins = _mean_begins(device_run, program)
        if begins:
            return begins
    return {}


def _mean_begins(device_run: DeviceRun, program: int) -> dict[str, float]:
    """Mean begins on one device; empty where the program did not run on it."""
    of_program = np.array([op.program == program for op in device_run.ops], np.bool_)
    rows = np.flatnonzero(device_run.op >= 0)
    rows = rows[of_program[device_run.op[rows]]] if len(of_program) else rows[:0]
    if not len(rows):
        return {}
    rows = rows[np.lexsort((device_run.begin[rows], device_run.op[rows]))]
    op, begin = device_run.op[rows], device_run.begin[rows]
    counts = np.bincount(op, minlength=len(device_run.ops))
    runs_of = counts if device_run.kernel is None else executions(op, device_run.kernel[rows], len(device_run.ops))
    runs = int(np.bincount(runs_of[runs_of > 0]).argmax())
    first = np.append(0, np.cumsum(counts))
    # What runs more or less often lies in a loop or a branch, or was cut by the capture's begin.
    once = np.flatnonzero((runs_of == runs) & (counts % runs == 0)).tolist()
    begins = {index: begin[first[index] : first[index + 1] : counts[index] // runs] for index in once}
    start: Array = np.min(np.stack([*begins.values()]), axis=0)
    return {device_run.ops[index].name: float((times - start).mean()) for index, times in begins.items()}
