"""When the instructions of an XLA program run, counted from when its run begins."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from .executed import Ran
from .ops import devices, executions


@per_host
def moments(host: Host, program: int) -> dict[str, float]:
    """Mean begin in ps, by name, of the instructions that run once in each run of a program; of its first device."""
    for _, _, ran in devices(host):
        begins = _moments(ran, program)
        if begins:
            return begins
    return {}


def _moments(ran: Ran, program: int) -> dict[str, float]:
    of_program = np.array([op.program == program for op in ran.ops], np.bool_)
    rows = np.flatnonzero(ran.op >= 0)
    rows = rows[of_program[ran.op[rows]]] if len(of_program) else rows[:0]
    if not len(rows):
        return {}
    rows = rows[np.lexsort((ran.begin[rows], ran.op[rows]))]
    op, begin = ran.op[rows], ran.begin[rows]
    counts = np.bincount(op, minlength=len(ran.ops))
    runs_of = counts if ran.kernel is None else executions(op, ran.kernel[rows], len(ran.ops))
    runs = int(np.bincount(runs_of[runs_of > 0]).argmax())
    first = np.append(0, np.cumsum(counts))
    # What runs more or less often lies in a loop or a branch, or was cut by the capture's begin.
    once = np.flatnonzero((runs_of == runs) & (counts % runs == 0)).tolist()
    begins = {index: begin[first[index] : first[index + 1] : counts[index] // runs] for index in once}
    start: Array = np.min(np.stack([*begins.values()]), axis=0)
    return {ran.ops[index].name: float((times - start).mean()) for index, times in begins.items()}
