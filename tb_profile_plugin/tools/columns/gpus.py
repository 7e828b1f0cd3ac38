"""What the GPUs of a capture can do at best, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.devices.capabilities import Capabilities
from ...model.devices.properties import host_device_type
from ...model.host import Host
from ..answers.answer import Column, Table

Gpus = Sequence[tuple[Host, str, Capabilities]]
"""Each with its host and its name."""
_PEAKS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
DEVICES = Table(
    "devices",
    "Devices",
    (
        Column("device", "Device", "string", doc="Name of the host and number of the GPU."),
        Column("type", "Type", "string", doc="Vendor and generation, as the capture states them."),
        Column("cores", "Cores", doc="Number of streaming multiprocessors (AMD: compute units)."),
        Column("clock_ghz", "Clock, GHz", doc="Clock rate that the capture states."),
        Column("memory_bytes", "Memory", unit="iB", doc="Memory of the device."),
        Column("memory_gb_per_s", "Memory GB/s", doc="Peak bandwidth of the device's memory."),
        *[
            Column(
                f"peak_{kind}",
                f"{kind} TFLOP/s",
                doc="Peak for dense arithmetic at that clock, from the vendor's tables.",
            )
            for kind in _PEAKS
        ],
        Column("host", "Host", "string", doc="Host of the device."),
    ),
    doc="Peak performance of the GPUs in this capture.",
)


def device_values(gpus: Gpus) -> dict[str, list[object]]:
    """Values of `DEVICES` by column."""
    peaks: dict[str, list[object]] = {
        f"peak_{kind}": [can.peak_flops[kind] / 1e12 if kind in can.peak_flops else None for _, _, can in gpus]
        for kind in _PEAKS
    }
    return {
        "device": [f"{host.name} {device}" for host, device, _ in gpus],
        "type": [host_device_type(host) for host, _, _ in gpus],
        "cores": [can.cores or None for _, _, can in gpus],
        "clock_ghz": [can.clock_ghz or None for _, _, can in gpus],
        "memory_bytes": [can.memory_bytes or None for _, _, can in gpus],
        "memory_gb_per_s": [can.memory_bandwidth / 1e9 or None for _, _, can in gpus],
        **peaks,
        "host": [host.name for host, _, _ in gpus],
    }
