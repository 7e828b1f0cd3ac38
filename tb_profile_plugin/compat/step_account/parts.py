"""The parts of a step as the existing plugin knows them: what a moment of it is spent on."""

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
    HOST_OFFLOAD = 5
    """The program's own transfers between a device's memory and its host's: offloaded arrays, sends and receives."""
    COLLECTIVES = 6
    COMPILE = 7
    INPUT_WAIT = 8
    INPUT_COPY = 9
    KERNEL_LAUNCH = 10
    HOST_COMPUTE = 11
    HOST_COLLECTIVES = 12
    """Collectives by the host's threads, and what waits for them, while neither a device nor another thread works."""
    UNRECORDED = 13
    WAITING = 14
    PYTHON = 15
    OTHER = 16


INPUT = (Part.INPUT_WAIT, Part.INPUT_COPY)
DEVICE_COMPUTE = (Part.COMPUTE_16, Part.COMPUTE_32, Part.COMPUTE_OTHER)
COMMUNICATION = (Part.COLLECTIVES, Part.HOST_COLLECTIVES)
DEVICE = (*DEVICE_COMPUTE, Part.OUTPUT, Part.DEVICE_TO_DEVICE, Part.HOST_OFFLOAD, Part.COLLECTIVES)
UNEXPLAINED = (Part.UNRECORDED, Part.OTHER)
"""Parts of which nothing tells what the step spends them on."""

NOTHING = -1
"""Events that take part in no part: markers, calls that only wait for what they enclose."""
