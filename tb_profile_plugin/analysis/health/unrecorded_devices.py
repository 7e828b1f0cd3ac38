"""Devices that the host drove, by what its threads did, against those whose kernels were recorded."""

from __future__ import annotations

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices.copies import copies
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import distinct
from ...runtime.records import NamedTuple
from ...runtime.regex import regex

_JAX_THREAD = "py_xla_execute/"
"""JAX runs programs on several devices from a thread for each (PjRt's execution threads)."""
_TENSORFLOW_THREAD = regex(r"tf_gpu_private_(\d+)/")
"""TensorFlow with ``TF_GPU_THREAD_MODE=gpu_private`` has threads for each GPU, named after its number."""
_RUN = regex(r"\w*LoadedExecutable::E|ExecutorState::Process")
"""The run of a program or of ops."""
_KERNEL_LAUNCH = regex(r"(?:cu|cuda|hip)\w*?Launch(?:(?!Launch)\w)*?Kernel")


class DeviceUsage(NamedTuple):
    """How many devices the host drove, and the names of those that recorded kernels."""

    device_count: int
    recorded: tuple[str, ...]


@per_host(keep=True)
def device_usage(host: Host) -> DeviceUsage:
    """By threads for each device that ran programs, or by the devices that launches name, whichever are more."""
    recorded = tuple(
        plane.name.removeprefix(vocabulary.DEVICE)
        for plane in host.devices
        if len(copies(host)[plane.name].row) < host.on_streams(plane).sum()
    )
    if host.cpu is None or not host.gpus:
        return DeviceUsage(0, recorded)
    driven_count = max(_thread_device_count(host.cpu), _launch_device_count(host.cpu))
    return DeviceUsage(min(driven_count, len(host.gpus)), recorded)


def _thread_device_count(plane: Plane) -> int:
    """Devices that have threads of their own on which something ran."""
    busy_lines = distinct(plane.events.line[plane.named(lambda name: _RUN.match(name) is not None)])
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
