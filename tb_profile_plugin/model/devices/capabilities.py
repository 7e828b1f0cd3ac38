"""What a device can do at best: peak FLOP/s by type and memory bandwidth, from its plane's facts and from tables.

Peaks are dense, at the clock that the capture states. Sources: the arithmetic throughput table of NVIDIA's CUDA
programming guide (results per clock and multiprocessor; a multiply-add is two FLOPs) and the architecture white
papers for tensor cores; AMD's CDNA white papers for compute units.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ...formats.columns import Plane, vocabulary
from ...runtime.messages import Message
from ...runtime.records import record
from ..host import Host
from ..names.kernel_table import BF16, FP8, FP16, FP32, FP64, INT8, TF32
from ..per_host import per_host

_NVIDIA_FLOPS_PER_CLOCK: dict[tuple[int, int], dict[str, int]] = {
    (2, 0): {FP64: 8, FP32: 64},
    (3, 0): {FP64: 128, FP32: 384},
    (5, 0): {FP64: 4, FP32: 256},
    (6, 0): {FP64: 64, FP32: 128, FP16: 256},
    (6, 1): {FP64: 8, FP32: 256, FP16: 4, INT8: 1024},
    (7, 0): {FP64: 64, FP32: 128, FP16: 1024},
    (7, 5): {FP64: 4, FP32: 128, FP16: 1024, INT8: 2048},
    (8, 0): {FP64: 128, FP32: 128, TF32: 1024, BF16: 2048, FP16: 2048, INT8: 4096},
    (8, 6): {FP64: 4, FP32: 256, TF32: 256, BF16: 512, FP16: 1024, INT8: 2048},
    (8, 9): {FP64: 4, FP32: 256, TF32: 512, BF16: 1024, FP16: 1024, FP8: 2048, INT8: 2048},
    (9, 0): {FP64: 256, FP32: 256, TF32: 2048, BF16: 4096, FP16: 4096, FP8: 8192, INT8: 8192},
    (10, 0): {FP64: 128, FP32: 256, TF32: 4096, BF16: 8192, FP16: 8192, FP8: 16384, INT8: 16384},
    (10, 3): {FP64: 4, FP32: 256, TF32: 4096, BF16: 8192, FP16: 8192, FP8: 16384},
    (12, 0): {FP64: 4, FP32: 256, TF32: 256, BF16: 512, FP16: 1024, FP8: 2048, INT8: 2048},
}
"""FLOPs per clock and multiprocessor by compute capability: the better of ordinary and tensor cores. A minor version
that is not named has those of the one before it.
"""

_AMD_FLOPS_PER_CLOCK: dict[str, dict[str, int]] = {
    "gfx908": {FP64: 64, FP32: 256, BF16: 512, FP16: 1024, INT8: 1024},
    "gfx90a": {FP64: 256, FP32: 256, BF16: 1024, FP16: 1024, INT8: 1024},
    "gfx942": {FP64: 256, FP32: 256, TF32: 1024, BF16: 2048, FP16: 2048, FP8: 4096, INT8: 4096},
    "gfx950": {FP64: 128, FP32: 256, BF16: 4096, FP16: 4096, FP8: 8192, INT8: 8192},
}
"""FLOPs per clock and compute unit."""

_GFX_BY_VERSION = {(9, 4): "gfx942", (9, 5): "gfx950"}
"""Architecture by (major, minor) of captures that state no name."""

_AMD_BANDWIDTH = {"gfx942": 5.3e12, "gfx950": 8.0e12}
"""Bytes per second of memory by AMD's data sheets (MI300A and MI300X, MI355X). Captures state half of it: they take the
controllers' clock for the data rate."""
_HALF_RATE = 0.55
"""A stated bandwidth up to this share of the data sheet's is such a half."""
_PCIE = {3: 15.75e9, 4: 31.5e9, 5: 63.0e9}
"""Bytes per second and direction over 16 lanes, by generation of PCI Express: 8, 16 and 32 GT/s at 128 bits in 130."""

_NVIDIA_PCIE = {
    **{(6, 0): 3, (6, 1): 3, (7, 0): 3, (7, 5): 3, (8, 0): 4, (8, 6): 4, (8, 9): 4},
    **{(9, 0): 5, (10, 0): 5, (10, 3): 5, (12, 0): 5},
}
_AMD_PCIE = {"gfx908": 4, "gfx90a": 4, "gfx942": 5, "gfx950": 5}
"""The generation that a GPU has by its data sheet; some systems link GPUs and hosts otherwise."""

SHARED = Message("shared memory")
"""The name of a GPU's memory on the chip."""

_SHARED_BYTES = 32 * 4
_AMD_SHARED_BYTES = {"gfx950": 256}
"""Bytes per clock of a multiprocessor's shared memory: 32 banks of 4 bytes; AMD's CDNA 4 doubled it."""


@record
class Capabilities:
    """Peaks of one device; 0 and empty where they are not known."""

    cores: int
    """Streaming multiprocessors or compute units."""
    clock_ghz: float
    memory_bytes: int
    memory_bandwidth: float
    """Bytes per second."""
    peak_flops: dict[str, float] = field(default_factory=dict)
    """FLOP/s by type of the numbers, as `model.names.kernel_table` names them."""
    flops_per_clock: dict[str, int] = field(default_factory=dict)
    """FLOP of a core in one cycle by type of the numbers, which are known without a clock, too."""
    tensor_cores: bool | None = None
    """Whether it has tensor cores (AMD: matrix cores)."""
    on_chip: dict[str, float] = field(default_factory=dict)
    """Bytes per second of memories on the chip: a TPU's VMEM, as its plane states; a GPU's `SHARED` memory."""
    host_link: dict[str, float] = field(default_factory=dict)
    """Bytes per second and direction to the host's memory, by the link's name; empty where it is not known."""


@per_host(keep=True)
def gpu_capabilities(host: Host) -> list[tuple[str, Capabilities]]:
    """Name (``GPU:0``) and capabilities of each GPU of a host, those that recorded nothing too."""
    return [(plane.name.removeprefix(vocabulary.DEVICE), capabilities(plane)) for plane in host.gpus]


def capabilities(plane: Plane) -> Capabilities:
    """What the device can do whose plane it is."""
    facts = plane.facts()
    cores, clock_hz = int(_number(facts, "core_count")), _number(facts, "clock_rate") * 1e3
    flops_per_clock = _flops_per_clock(facts)
    peaks = {dtype: flops * cores * clock_hz for dtype, flops in flops_per_clock.items() if cores and clock_hz}
    stated_teraflops = _number(facts, "peak_teraflops_per_second")
    if stated_teraflops:  # Captures state that of 16-bit numbers.
        peaks |= {BF16: stated_teraflops * 1e12, FP16: stated_teraflops * 1e12}
    on_chip = {
        f"VMEM {name}": _number(facts, f"peak_vmem_{key}_bw_gigabytes_per_second") * 1e9
        for name, key in (("read", "rd"), ("write", "wr"))
    }
    if plane.name.startswith(vocabulary.GPU):
        architecture = amd_architecture(facts) if _is_amd(facts) else ""
        per_clock = _AMD_SHARED_BYTES.get(architecture, _SHARED_BYTES)
        on_chip[SHARED] = cores * clock_hz * per_clock
    return Capabilities(
        cores=cores,
        clock_ghz=clock_hz / 1e9,
        memory_bytes=int(_number(facts, "memory_size")),
        memory_bandwidth=_bandwidth(facts),
        peak_flops=peaks,
        flops_per_clock=flops_per_clock,
        tensor_cores=_tensor_cores(facts),
        on_chip={name: rate for name, rate in on_chip.items() if rate},
        host_link=_host_link(facts),
    )


def _host_link(facts: dict[str, Any]) -> dict[str, float]:
    """Bytes per second of the link to the host by its name; empty where it is not known."""
    if _is_amd(facts):
        generation = _AMD_PCIE.get(amd_architecture(facts))
    else:
        generation = _NVIDIA_PCIE.get(_compute_capability(facts))
    link = Message("host link (PCIe {generation}.0 ×16)", generation=generation)
    return {link: _PCIE[generation]} if generation else {}


def _bandwidth(facts: dict[str, Any]) -> float:
    """Bytes per second of the memory: as stated, unless that is half of what the data sheet says."""
    stated_bandwidth = _number(facts, "memory_bandwidth") or _number(facts, "peak_hbm_bw_gigabytes_per_second") * 1e9
    data_sheet = _AMD_BANDWIDTH.get(amd_architecture(facts), 0.0) if _is_amd(facts) else 0.0
    return data_sheet if 0 < stated_bandwidth <= _HALF_RATE * data_sheet else stated_bandwidth


_FIRST_WITH_TENSOR_CORES = 7
"""Major version from which NVIDIA's GPUs have tensor cores."""
_AMD_MATRIX_CORES = {10: False, 11: True, 12: True}
"""Whether AMD's GPUs of a major version have matrix cores (RDNA 3 and later: WMMA); of 9 those that
`_AMD_FLOPS_PER_CLOCK` names."""


def _tensor_cores(facts: dict[str, Any]) -> bool | None:
    """Whether the GPU has tensor or matrix cores; None where its version is not known."""
    major, _ = _compute_capability(facts)
    if _is_amd(facts):
        return True if amd_architecture(facts) in _AMD_FLOPS_PER_CLOCK else _AMD_MATRIX_CORES.get(major)
    return major >= _FIRST_WITH_TENSOR_CORES if major else None


@per_host(keep=True)
def tensor_core_name(host: Host) -> str:
    """What the vendor of a host's GPUs calls the cores that multiply matrices."""
    vendors = {plane.facts().get("device_vendor") for plane in host.gpus}
    return Message("matrix cores") if vendors == {"AMD"} else Message("tensor cores")


def _flops_per_clock(facts: dict[str, Any]) -> dict[str, int]:
    """FLOPs per clock of one core by dtype; empty where its version is not known."""
    if _is_amd(facts):
        return _AMD_FLOPS_PER_CLOCK.get(amd_architecture(facts), {})
    return _NVIDIA_FLOPS_PER_CLOCK.get(_known_capability(facts), {})


def _known_capability(facts: dict[str, Any]) -> tuple[int, int]:
    """The compute capability of `_NVIDIA_FLOPS_PER_CLOCK` that an NVIDIA GPU counts as; (0, 0) for none."""
    major, minor = _compute_capability(facts)
    versions = [version for version in _NVIDIA_FLOPS_PER_CLOCK if version[0] == major and version[1] <= minor]
    return max(versions, default=(0, 0))


def amd_architecture(facts: dict[str, Any]) -> str:
    """As AMD's compilers name it, e.g. ``gfx950``; empty where the plane's facts do not tell."""
    return str(facts.get("gpu_device_name") or _GFX_BY_VERSION.get(_compute_capability(facts), ""))


def _is_amd(facts: dict[str, Any]) -> bool:
    return facts.get("device_vendor") == "AMD"


def _compute_capability(facts: dict[str, Any]) -> tuple[int, int]:
    """(major, minor); 0 for what is not known."""
    return int(_number(facts, "compute_cap_major")), int(_number(facts, "compute_cap_minor"))


def _number(facts: dict[str, Any], name: str) -> float:
    """The number that a fact is; 0 for anything else."""
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
