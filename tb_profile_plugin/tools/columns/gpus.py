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
        Column("device", "Device", "string", doc="Host and GPU."),
        Column("type", "Type", "string", doc="Vendor and generation, from the plane's facts."),
        Column("cores", "Cores", doc="Streaming multiprocessors (AMD: compute units)."),
        Column("clock_ghz", "Clock, GHz", doc="As the capture states it."),
        Column("memory_bytes", "Memory", unit="iB", doc="Of the device."),
        Column("memory_gigabytes_per_second", "Memory GB/s", doc="Peak bandwidth of the device's memory."),
        *[
            Column(f"peak_{kind}", f"{kind} TFLOP/s", doc="Dense peak at that clock, by the vendor's tables.")
            for kind in _PEAKS
        ],
    ),
    doc="What the GPUs of this capture can do at best.",
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
        "memory_gigabytes_per_second": [can.memory_bandwidth / 1e9 or None for _, _, can in gpus],
        **peaks,
    }
