"""The parts of a step under the existing plugin's names, which sum several of `Part`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis.steps.step_time import StepTimes
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array
from .breakdown import parts_of_steps
from .parts import COMMUNICATION, DEVICE_COMPUTE, INPUT, UNEXPLAINED, Part

PARTS: dict[str, tuple[Part, ...]] = {
    "Device compute": DEVICE_COMPUTE,
    "Device to device": (Part.DEVICE_TO_DEVICE, Part.HOST_OFFLOAD),
    "Device collective communication": COMMUNICATION,
    "Host compute": (Part.HOST_COMPUTE, Part.WAITING, Part.PYTHON),
    "Kernel launch": (Part.KERNEL_LAUNCH,),
    "Input": INPUT,
    "Output": (Part.OUTPUT,),
    "Compilation": (Part.COMPILE,),
    "All others": UNEXPLAINED,
}
"""Names of the generic step events, ids 1 to 9, and the parts that they sum."""


@per_host(keep=True)
def step_parts(host: HostWithSteps) -> Array:
    """int64[steps, len(Part)]: the parts of each step of a host, ps."""
    return parts_of_steps(host, host.grouped_steps)


def parts_of(steps: StepTimes, hosts: Sequence[HostWithSteps]) -> Array:
    """int64[n, len(Part)]: the parts of each of these steps on its host, ps."""
    host_of = {host.name: host for host in hosts}
    rows = [step_parts(host_of[name])[row] for name, row in zip(steps.host, steps.row.tolist(), strict=True)]
    return np.array(rows, np.int64).reshape(len(rows), len(Part))


def percent(part_ps: Array, *parts: Part) -> float:
    """Share of these parts in the time of the steps (int64[n, len(Part)]), 0–100; 0 without steps."""
    total_ps = int(part_ps.sum())
    return 100.0 * int(part_ps[:, list(parts)].sum()) / total_ps if total_ps else 0.0
