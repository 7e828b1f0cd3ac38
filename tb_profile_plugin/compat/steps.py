"""The parts of a step as the existing plugin has them: fewer than ours, under its names."""

from __future__ import annotations

from ..analysis.parts import COMMUNICATION, DEVICE_COMPUTE, INPUT, UNEXPLAINED, Part

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
