"""How long steps take and what they consist of, over one host or many; the one home of every step-time figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, median
from ..model.host import Host
from ..model.per_host import per_host
from ..problems import DEVICE, HOST, INPUT
from ..runtime.memo import lazy
from .breakdown import breakdown, whole_capture
from .chosen import ALL
from .parts import COMMUNICATION, Part
from .typical import Choice, choose

PS_PER_MS = 1e9


class Share(NamedTuple):
    """A reported part of the step."""

    id: str
    label: str
    parts: tuple[Part, ...]
    doc: str
    depends: tuple[str, ...] = ()
    """What of a capture it rests on, see `problems`."""


SHARES = (
    Share("compile", "Compilation", (Part.COMPILE,), "Compiling functions while no device works.", (HOST,)),
    Share(
        "input",
        "Input",
        (Part.INPUT_WAIT, Part.INPUT_COPY),
        "Waiting for the input pipeline, and copies from host to device.",
        (HOST, INPUT),
    ),
    Share("output", "Output", (Part.OUTPUT,), "Copies from device to host.", (DEVICE,)),
    Share(
        "kernel_launch",
        "Kernel launch",
        (Part.KERNEL_LAUNCH,),
        "The host launches kernels while no device works.",
        (HOST,),
    ),
    Share(
        "host_compute",
        "Host compute",
        (Part.HOST_COMPUTE,),
        "Other work of the host for this step while no device works.",
        (HOST,),
    ),
    Share(
        "device_to_device",
        "Device to device",
        (Part.DEVICE_TO_DEVICE,),
        "Copies on and between devices.",
        (DEVICE,),
    ),
    Share(
        "host_offload",
        "Host memory",
        (Part.HOST_OFFLOAD,),
        "The program waits for arrays that it reads from its host's memory or writes there.",
        (DEVICE,),
    ),
    Share(
        "collectives",
        "Collectives",
        COMMUNICATION,
        "Collective communication: between devices (NCCL, all-reduce), or by the host while nothing else works.",
        (DEVICE, HOST),
    ),
    Share(
        "device_compute_16",
        "Device compute 16-bit",
        (Part.COMPUTE_16,),
        "Kernels known to compute in 16-bit floats.",
        (DEVICE,),
    ),
    Share(
        "device_compute_32",
        "Device compute 32-bit",
        (Part.COMPUTE_32,),
        "Kernels known to compute in 32-bit floats.",
        (DEVICE,),
    ),
    Share(
        "device_compute_other",
        "Device compute other",
        (Part.COMPUTE_OTHER,),
        "Kernels of other or unknown precision.",
        (DEVICE,),
    ),
    Share(
        "unrecorded",
        "Device not recorded",
        (Part.UNRECORDED,),
        "The host waits in a call while the capture names a device but holds no event of it.",
        (DEVICE, HOST),
    ),
    Share(
        "waiting",
        "Waiting",
        (Part.WAITING,),
        "The host waits in a call of the framework or the driver, or sleeps, while nothing else of the step runs.",
        (HOST,),
    ),
    Share(
        "python",
        "Python",
        (Part.PYTHON,),
        "Only Python's own frames run: code between calls of the framework.",
        (HOST,),
    ),
    Share("other", "All others", (Part.OTHER,), "No event was recorded on the step's threads."),
)
"""Every part of a step once, in the order of the overview's table; each step's shares sum to the step."""


@dataclass(frozen=True, eq=False, repr=False)
class StepTimes:
    """Steps and their parts, in order of step number and time."""

    name: list[str]
    host: list[str]
    number: Array
    """int64[n]."""
    begin: Array
    """int64[n] ps."""
    complete: Array
    """bool[n]: the others are left out of averages."""
    part_ps: Array
    """int64[n, len(Part)]: sums to the step's duration."""
    wanted: str = ALL
    """Which steps averages go over, as `typical.choose` takes it."""

    def __len__(self) -> int:
        return len(self.number)

    @lazy
    def duration_ps(self) -> Array:
        """int64[n]."""
        answer: Array = self.part_ps.sum(axis=1)
        return answer

    @lazy
    def choice(self) -> Choice:
        """Which steps averages go over, and why not the others."""
        return choose(self.duration_ps, self.part_ps[:, Part.COMPILE], self.complete, self.wanted)

    @property
    def counted(self) -> Array:
        """int64[m]: the steps that averages go over."""
        return self.choice.kept

    @property
    def average_ms(self) -> float:
        """Of the counted steps; 0 without steps."""
        return float((self.duration_ps[self.counted] / PS_PER_MS).mean()) if len(self) else 0.0

    def ms(self, *parts: Part) -> Array:
        """float64[n]: time in these parts, all steps."""
        answer: Array = self.part_ps[:, list(parts)].sum(axis=1) / PS_PER_MS
        return answer

    def percent(self, *parts: Part) -> float:
        """Share of these parts in the time of the counted steps, 0–100; 0 without steps."""
        whole = int(self.part_ps[self.counted].sum())
        return 100.0 * int(self.part_ps[self.counted][:, list(parts)].sum()) / whole if whole else 0.0


class Summary(NamedTuple):
    """Average, median, sample standard deviation, smallest and largest of samples; None where they are too few."""

    average: float | None = None
    median: float | None = None
    deviation: float | None = None
    minimum: float | None = None
    maximum: float | None = None


def summary(samples: Array) -> Summary:
    """`Summary` of float64[n]."""
    if not len(samples):
        return Summary()
    low, high = float(samples.min()), float(samples.max())
    # The same sample again and again has no deviation, also where its mean is rounded.
    deviation = None if len(samples) < 2 else float(samples.std(ddof=1)) if high > low else 0.0
    return Summary(float(samples.mean()), median(samples), deviation, low, high)


@per_host(keep=True)
def step_parts(host: Host, step_event: str = "") -> Array:
    """int64[steps, len(Part)] ps: what each step of a host consists of."""
    return breakdown(host, host.steps_in_full(step_event)).part_ps


def host_steps(host: Host, step_event: str = "", wanted: str = ALL) -> StepTimes:
    """The steps of one host."""
    steps = host.steps_named(step_event)
    part_ps = step_parts(host, step_event)
    return StepTimes(steps.name, [host.name] * len(steps), steps.number, steps.begin, steps.complete, part_ps, wanted)


@per_host(keep=True)
def whole_parts(host: Host, step_event: str = "") -> Array | None:
    """int64[1, len(Part)] ps: what the whole capture of a host consists of; None where it has steps to go by."""
    return None if len(host.steps_named(step_event)) else whole_capture(host).part_ps


def whole(hosts: Sequence[Host], step_event: str = "") -> StepTimes:
    """Each host's whole capture as if it were a step: for captures in which no host has steps."""
    parts = [part for host in hosts if (part := whole_parts(host, step_event)) is not None]
    begin = np.array([host.window[0] for host in hosts], np.int64)
    count = len(hosts)
    names = ["capture"] * count
    return StepTimes(
        names, [h.name for h in hosts], np.zeros(count, np.int64), begin, np.ones(count, bool), np.concatenate(parts)
    )


NEEDS = (Host.steps_named, step_parts)
"""Per-host functions that `slowest` and `over_hosts` merge."""


def slowest(hosts: Sequence[Host], step_event: str = "", wanted: str = ALL) -> StepTimes:
    """Steps aligned over hosts by number, each as its slowest host lived it; complete if it is on all hosts."""
    each = [host_steps(host, step_event, wanted) for host in hosts]
    if len(each) == 1:
        return each[0]
    joined = StepTimes(
        [name for steps in each for name in steps.name],
        [host for steps in each for host in steps.host],
        np.concatenate([steps.number for steps in each]),
        np.concatenate([steps.begin for steps in each]),
        np.concatenate([steps.complete for steps in each]),
        np.concatenate([steps.part_ps for steps in each]),
    )
    order = np.lexsort((-joined.duration_ps, joined.number))
    number = joined.number[order]
    first = order[np.append(True, number[1:] != number[:-1])] if len(order) else order
    _, place = np.unique(joined.number, return_inverse=True)
    complete = np.bincount(place.reshape(-1), ~joined.complete) == 0
    picked = first.tolist()
    return StepTimes(
        [joined.name[i] for i in picked],
        [joined.host[i] for i in picked],
        joined.number[first],
        joined.begin[first],
        complete,
        joined.part_ps[first],
        wanted,
    )


class HostSteps(NamedTuple):
    """How one of several hosts went through its steps."""

    host: str
    steps: int
    """Complete ones."""
    average_ms: float
    """Of its complete steps."""
    slowest: int
    """How many of the shared steps took longest here; where several hosts took equally long, none was slowest."""


def over_hosts(hosts: Sequence[Host], step_event: str = "") -> tuple[int, list[HostSteps]]:
    """How many steps are complete on all hosts, and each host's part in them; nothing to tell with a single host."""
    if len(hosts) < 2:
        return 0, []
    each = [host_steps(host, step_event) for host in hosts]
    times = [
        dict(zip(steps.number[steps.complete].tolist(), steps.duration_ps[steps.complete].tolist(), strict=True))
        for steps in each
    ]
    shared = set(times[0]).intersection(*times[1:])
    slowest = [0] * len(hosts)
    for number in shared:
        taken = [durations[number] for durations in times]
        if taken.count(max(taken)) == 1:
            slowest[taken.index(max(taken))] += 1
    return len(shared), [
        HostSteps(host.name, len(durations), sum(durations.values()) / len(durations) / PS_PER_MS, many)
        for host, durations, many in zip(hosts, times, slowest, strict=True)
        if durations
    ]


def compared(shared: int, each: Sequence[HostSteps]) -> str:
    """What `over_hosts` found in words: which host was the slowest most often, or that there is nothing to say."""
    if not shared:
        return "no step is complete on all hosts, so they cannot be compared"
    most = max(host.slowest for host in each)
    first = [host.host for host in each if host.slowest == most]
    steps = f"{shared:,} step{'' if shared == 1 else 's'}"
    if not most:
        return "equally fast in the shared step" if shared == 1 else f"equally fast in all {shared:,} shared steps"
    if len(first) > 2:
        return f"{len(first)} hosts were the slowest equally often"
    return f"{' and '.join(first)} {'were each' if len(first) > 1 else 'was'} the slowest in {most:,} of {steps}"
