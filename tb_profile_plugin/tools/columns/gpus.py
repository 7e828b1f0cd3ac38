"""What the GPUs of a capture can do at best, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.devices.capabilities import Capabilities
from ...model.devices.properties import host_device_type
from ...model.host import Host
from ..answers.answer import Table, number, ratio, text

Gpus = Sequence[tuple[Host, str, Capabilities]]
"""(host, name of a GPU on it, what that GPU can do)."""
_DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
"""Number types of the peaks that `Capabilities` knows."""
DEVICES = Table(
    "devices",
    "Devices",
    (
        text("device", "Device", "Name of the host and number of the GPU."),
        text("type", "Type", "Vendor and generation, as the capture states them."),
        number("cores", "Cores", doc="Number of streaming multiprocessors (AMD: compute units)."),
        number("clock_ghz", "Clock, GHz", doc="Clock rate that the capture states."),
        number("memory_bytes", "Memory", "iB", "Memory of the device."),
        number("memory_gb_per_s", "Memory GB/s", doc="Peak bandwidth of the device's memory."),
        *[
            number(
                f"peak_{dtype}",
                f"{dtype} TFLOP/s",
                doc="Peak for dense arithmetic at that clock, from the vendor's tables.",
            )
            for dtype in _DTYPES
        ],
        text("host", "Host", "Host of the device."),
    ),
    doc="Peak performance of the GPUs in this capture.",
)


def device_values(gpus: Gpus) -> dict[str, list[object]]:
    """Values of `DEVICES` by column."""
    all_capabilities = [capabilities for _, _, capabilities in gpus]
    peaks: dict[str, list[object]] = {
        f"peak_{dtype}": [ratio(capabilities.peak_flops.get(dtype), 1e12) for capabilities in all_capabilities]
        for dtype in _DTYPES
    }
    return {
        "device": [f"{host.name} {device}" for host, device, _ in gpus],
        "type": [host_device_type(host) for host, _, _ in gpus],
        "cores": [capabilities.cores or None for capabilities in all_capabilities],
        "clock_ghz": [capabilities.clock_ghz or None for capabilities in all_capabilities],
        "memory_bytes": [capabilities.memory_bytes or None for capabilities in all_capabilities],
        "memory_gb_per_s": [capabilities.memory_bandwidth / 1e9 or None for capabilities in all_capabilities],
        **peaks,
        "host": [host.name for host, _, _ in gpus],
    }
