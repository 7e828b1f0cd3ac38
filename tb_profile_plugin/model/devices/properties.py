"""What the devices are: type, number, and the facts that their planes state about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...formats.columns import Plane
from ...runtime.regex import regex
from ..host import Host
from ..per_host import per_host
from .capabilities import amd_architecture
from .plausible import vendor

UNKNOWN_HARDWARE, CPU_ONLY, GPU, TPU = "UNKNOWN_HARDWARE", "CPU_ONLY", "GPU", "TPU"

AMD, NVIDIA = "AMD", "Nvidia"
"""Vendors of GPUs, with which the names of their types begin."""
_ARCHITECTURES = {2: "Fermi", 3: "Kepler", 5: "Maxwell", 6: "Pascal", 9: "Hopper", 10: "Blackwell", 12: "Blackwell"}
_GPU_ALLOCATOR = regex(r"[G\0]PU_\d+_bfc$")
"""TensorFlow's allocators of one GPU's memory; on Windows it writes NUL over the first letter."""


@per_host(keep=True)
def host_device_type(host: Host) -> str:
    """The device as people name it, e.g. ``Nvidia GPU (Hopper)``, ``TPU v6 Lite``, ``CPU``."""
    if host.gpus:
        return _gpu_type(host.gpus[0])
    if host.tpus:
        return str(host.tpus[0].facts().get("device_type_string") or "TPU")
    return "CPU"


def device_type(hosts: Sequence[Host]) -> str:
    """Type of a session's devices: the last accelerator among its hosts, else the first host's."""
    types = [host_device_type(host) for host in hosts]
    return next((kind for kind in reversed(types) if kind != "CPU"), types[0])


@per_host(keep=True)
def device_count(host: Host) -> int:
    """Accelerators of a host, those that recorded nothing too."""
    return len(host.gpus or host.tpus)


@per_host(keep=True)
def host_facts(host: Host) -> dict[str, Any]:
    """What the plane of a host's threads states about the host."""
    return host.cpu.facts() if host.cpu else {}


def is_gpu_allocator(name: str) -> bool:
    """Whether an allocator of that name hands out the memory of one GPU."""
    return bool(_GPU_ALLOCATOR.match(name))


def hardware_type(kind: str) -> str:
    """``GPU``, ``TPU``, ``CPU_ONLY`` or ``UNKNOWN_HARDWARE`` by the device's name."""
    if "GPU" in kind:
        return GPU
    if "TPU" in kind:
        return TPU
    return CPU_ONLY if kind == "CPU" else UNKNOWN_HARDWARE


def _gpu_type(plane: Plane) -> str:
    facts = plane.facts()
    maker = vendor(facts)
    if maker == AMD:
        name = amd_architecture(facts)
        return f"AMD GPU - {name}" if name else "AMD GPU"
    if maker and maker != NVIDIA:
        return "GPU"
    name = _nvidia_architecture(_integer(facts.get("compute_cap_major")), _integer(facts.get("compute_cap_minor")))
    return f"Nvidia GPU ({name})" if name else "Nvidia GPU" if maker else "GPU"


def _nvidia_architecture(major: int, minor: int) -> str:
    if major == 7:
        return "Volta" if minor < 5 else "Turing"
    if major == 8:
        return "Ampere" if minor < 9 else "Ada Lovelace"
    return _ARCHITECTURES.get(major, "")


def _integer(value: Any) -> int:
    return value if isinstance(value, int) else 0
