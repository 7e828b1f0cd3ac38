"""Devices that the host drove, by what its threads did, against those whose kernels were recorded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices.copies import copies
from ...model.devices.properties import is_gpu_allocator
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.steps import recorded_steps
from ...runtime.arrays import distinct
from ...runtime.messages import Message, listed
from ...runtime.problems import Problem
from ...runtime.records import NamedTuple
from ...runtime.regex import regex

_JAX_THREAD = "py_xla_execute/"
"""JAX runs programs on several devices from a thread for each (PjRt's execution threads)."""
_TENSORFLOW_THREAD = regex(r"tf_gpu_private_(\d+)/")
"""TensorFlow with ``TF_GPU_THREAD_MODE=gpu_private`` has threads for each GPU, named after its number."""
_PROGRAM_RUN = regex(r"\w*LoadedExecutable::E|ExecutorState::Process")
"""The run of a program or of ops."""
_KERNEL_LAUNCH = regex(r"(?:cu|cuda|hip)\w*?Launch(?:(?!Launch)\w)*?Kernel")


class DeviceUsage(NamedTuple):
    """How many devices the host drove, and the names of those that recorded kernels."""

    device_count: int
    recorded: tuple[str, ...]


@per_host(keep=True)
def device_usage(host: Host) -> DeviceUsage:
    """By threads for each device that ran programs, by the devices that launches name, or by those of which memory was
    allocated, whichever are more.
    """
    recorded = tuple(
        plane.name.removeprefix(vocabulary.DEVICE)
        for plane in host.devices
        if len(copies(host)[plane.name].row) < host.on_streams(plane).sum()
    )
    if host.cpu is None or not host.gpus:
        return DeviceUsage(0, recorded)
    counts = (_thread_device_count, _launch_device_count, _allocator_count)
    driven_count = max(count(host.cpu) for count in counts)
    return DeviceUsage(min(driven_count, len(host.gpus)), recorded)


def findings(host: HostWithSteps) -> Iterator[Problem]:
    """That devices stopped recording before the last step, and that some recorded nothing at all."""
    usage, count = device_usage(host), len(host.steps)
    recorded_count = recorded_steps.recorded_count(host.trace, host.grouped_steps)
    advice = Message("Capture fewer steps, or upgrade the profiler, and check its log for dropped events.")
    if recorded_count < count:
        text = Message(
            "{devices} recorded kernels in {recorded} of {count} steps; averages leave out the others.",
            devices=listed(usage.recorded),
            recorded=recorded_count,
            count=count,
        )
        yield Problem("devices_unrecorded", text, advice, host.name, "warning")
    if host.devices and usage.device_count > len(usage.recorded):
        if usage.recorded:
            text = Message(
                "The host used {count} devices, but only {devices} recorded kernels. "
                "Unrecorded devices may have been busy.",
                count=usage.device_count,
                devices=listed(usage.recorded),
            )
        else:
            text = Message(
                "The host used {count} devices, but none recorded a kernel. Unrecorded devices may have been busy.",
                count=usage.device_count,
            )
        yield Problem("devices_unrecorded", text, advice, host.name, "warning")


def _thread_device_count(plane: Plane) -> int:
    """Devices that have threads of their own on which something ran."""
    busy_lines = distinct(plane.events.line[plane.rows_named(_PROGRAM_RUN.match)])
    devices: set[str] = set()
    for name in (plane.lines.name[line] for line in busy_lines.tolist()):
        match = _TENSORFLOW_THREAD.match(name)
        if match or name.startswith(_JAX_THREAD):
            devices.add(match[1] if match else name)
    return len(devices)


def _launch_device_count(plane: Plane) -> int:
    """Devices that launches of kernels name."""
    is_launch = np.array([_KERNEL_LAUNCH.match(name) is not None for name in plane.heads], bool)
    column = plane.stat("device_id")
    return len(distinct(column.numbers[is_launch[plane.events.name[column.owner]]]))


def _allocator_count(plane: Plane) -> int:
    """Devices of which TensorFlow allocated memory."""
    return sum(map(is_gpu_allocator, plane.stat(vocabulary.ALLOCATOR_NAME).codes[1]))
