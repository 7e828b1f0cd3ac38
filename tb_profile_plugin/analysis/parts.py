"""The parts of a step: what a moment can be spent on."""

from __future__ import annotations

from enum import IntEnum


class Part(IntEnum):
    """What a moment of a step is spent on; where several happen at once the first of these has it.

    Devices come first: a moment in which a device works is the device's. The host's activities follow in the order
    in which they explain why no device works.
    """

    COMPUTE_16 = 0
    COMPUTE_32 = 1
    COMPUTE_OTHER = 2
    OUTPUT = 3
    DEVICE_TO_DEVICE = 4
    COLLECTIVES = 5
    COMPILE = 6
    INPUT_WAIT = 7
    INPUT_COPY = 8
    KERNEL_LAUNCH = 9
    HOST_COMPUTE = 10
    UNRECORDED = 11
    WAITING = 12
    PYTHON = 13
    OTHER = 14


INPUT = (Part.INPUT_WAIT, Part.INPUT_COPY)
DEVICE_COMPUTE = (Part.COMPUTE_16, Part.COMPUTE_32, Part.COMPUTE_OTHER)
DEVICE = (*DEVICE_COMPUTE, Part.OUTPUT, Part.DEVICE_TO_DEVICE, Part.COLLECTIVES)
UNEXPLAINED = (Part.UNRECORDED, Part.OTHER)
"""Parts of which nothing tells what the step spends them on."""

NOTHING = -1
"""Events that take part in no part: markers, calls that only wait for what they enclose."""

COPIES = {
    "MemcpyHToD": Part.INPUT_COPY,
    "MemcpyDToH": Part.OUTPUT,
    "MemcpyDToD": Part.DEVICE_TO_DEVICE,
    "MemcpyHToH": Part.HOST_COMPUTE,
}
"""Copies by their direction."""
