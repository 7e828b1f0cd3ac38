"""What a device's events do, as far as names, categories and shapes tell: precision of compute, direction of copies."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices.copies import copies
from ...model.host import Host
from ...model.names import collectives, hlo_text, kernels, op_names
from ...runtime.arrays import Array
from ...runtime.regex import regex


class DeviceKind(IntEnum):
    """What an event of a device does."""

    COMPUTE_16 = 0
    COMPUTE_32 = 1
    COMPUTE_OTHER = 2
    """Computing in another precision, or in one that nothing tells."""
    COLLECTIVE = 3
    TO_DEVICE = 4
    FROM_DEVICE = 5
    ON_DEVICE = 6
    """Between devices, within one, or in a direction that nothing tells."""
    HOST_MEMORY = 7
    """The program's own transfers between a device's memory and its host's: offloaded arrays, sends and receives."""
    ON_HOST = 8
    """From the host's memory to the host's memory."""


COMPUTE = (DeviceKind.COMPUTE_16, DeviceKind.COMPUTE_32, DeviceKind.COMPUTE_OTHER)
_KINDS_OF_PRECISIONS = {kernels.COMPUTE_16: DeviceKind.COMPUTE_16, kernels.COMPUTE_32: DeviceKind.COMPUTE_32}
_KINDS_OF_COPIES = {
    op_names.COPY_TO_DEVICE: DeviceKind.TO_DEVICE,
    "MemcpyDToH": DeviceKind.FROM_DEVICE,
    "MemcpyDToD": DeviceKind.ON_DEVICE,
    "MemcpyHToH": DeviceKind.ON_HOST,
    "Memcpy": DeviceKind.ON_DEVICE,
}
"""By the names of `op_names.COPIES`."""
_KINDS_OF_CATEGORIES = (
    ("infeed", DeviceKind.TO_DEVICE),
    ("outfeed", DeviceKind.FROM_DEVICE),
    ("host send", DeviceKind.HOST_MEMORY),
    ("host recv", DeviceKind.HOST_MEMORY),
    ("copy-start", DeviceKind.ON_DEVICE),
    ("copy-done", DeviceKind.ON_DEVICE),
)
"""Categories of XLA's ops, by their begin, beside those of collectives."""
_MOVES_ARRAYS = regex(r"copy|(?:dynamic-)?(?:update-)?slice|async-")
"""Opcodes that move arrays as they are."""


def device_kinds(host: Host, plane: Plane) -> Array:
    """int8[events]: the `DeviceKind` of each event of a device's plane.

    Of copies by their direction, of XLA's ops by category and memory, else by the kernel's name and the op's shape.
    """
    kind_of_name = np.array([_kind_of_name(name) for name in plane.names], np.int8)
    categories = plane.metadata_stat(vocabulary.HLO_CATEGORY)
    for row, text in zip(categories.owner.tolist(), categories.strings, strict=True):
        kind = _kind_of_category(text)
        if kind is not None:
            kind_of_name[row] = kind
    for row, text in enumerate(plane.names):
        instruction = hlo_text.parse(text)
        if (
            instruction
            and (instruction.reads_host or instruction.writes_host)
            and _MOVES_ARRAYS.match(instruction.opcode)
        ):
            kind_of_name[row] = DeviceKind.HOST_MEMORY
    kinds: Array = kind_of_name[plane.events.name]
    device_copies = copies(host)[plane.name]
    kind_of_copy = np.array([_KINDS_OF_COPIES[kind] for kind in op_names.COPIES], np.int8)
    kinds[device_copies.row] = kind_of_copy[device_copies.kind]
    _refine_by_shape(plane, kinds)
    return kinds


def event_kinds(host: Host) -> Array:
    """int8[events + 1]: the `DeviceKind` of each event of a device; the last for work that no event tells."""
    kind_of_event = np.full(len(host.trace) + 1, DeviceKind.COMPUTE_OTHER, np.int8)
    for plane in host.devices:
        kind_of_event[host.trace.slice_of(plane)] = device_kinds(host, plane)
    return kind_of_event


def _refine_by_shape(plane: Plane, kinds: Array) -> None:
    """Set the precision of what computes and states a shape: the name tells it, or the shape's type."""
    shape = plane.stat(vocabulary.SHAPE)
    computes = kinds[shape.owner] <= DeviceKind.COMPUTE_OTHER
    owners, texts = shape.owner[computes].tolist(), np.array(shape.strings, object)[computes].tolist()
    for event, text in zip(owners, texts, strict=True):
        precision = kernels.precision(plane.names[plane.events.name[event]], text)
        kinds[event] = _KINDS_OF_PRECISIONS.get(precision, DeviceKind.COMPUTE_OTHER)


def _kind_of_category(text: str) -> DeviceKind | None:
    if collectives.is_opcode(text):
        return DeviceKind.COLLECTIVE
    return next((kind for prefix, kind in _KINDS_OF_CATEGORIES if text.startswith(prefix)), None)


def _kind_of_name(name: str) -> int:
    if kernels.is_collective(name):
        return DeviceKind.COLLECTIVE
    return _KINDS_OF_PRECISIONS.get(kernels.precision(name), DeviceKind.COMPUTE_OTHER)
