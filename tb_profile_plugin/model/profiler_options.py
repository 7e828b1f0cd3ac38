"""With which options a capture was really made: the profiler notes them, whatever was asked for."""

from __future__ import annotations

import numpy as np

from ..formats.columns import vocabulary
from ..formats.xspace import wire
from ..runtime.arrays import Array, distinct, median
from ..runtime.regex import regex
from .devices.properties import is_gpu_allocator
from .host import Host
from .names import op_names
from .per_host import per_host

LEVELS = {2: "host_tracer_level", 3: "device_tracer_level", 4: "python_tracer_level"}
"""By their field in ProfileOptions."""
_LEAST_NUMBERS = 50
"""Below so many numbers nothing is said about those between them."""
_GPU_POLLING_THREAD = regex(r"tf_(?:GPU|Device)_Event_Manager\b")
"""Threads of TensorFlow on which it learns what a GPU has done."""
_COMPUTE_OP = regex(r"_?(?:Fused)?(?:Conv\dD|DepthwiseConv\dd|(?:Batch)?MatMul)")
"""Types of ops that any training spends its time on."""


@per_host(keep=True)
def levels(host: Host) -> dict[str, int]:
    """The tracer levels that were in effect on a host; empty where its capture does not say."""
    plane = host.space.plane(vocabulary.TASK_ENVIRONMENT)
    options = plane.facts().get("profile_options") if plane else None
    if not isinstance(options, bytes):
        return {}
    # Not by protobuf, which takes a tenth of a small capture's time to load.
    fields, damage = wire.fields(np.frombuffer(bytearray(options), np.uint8), np.int64(0), np.int64(len(options)))
    if damage != wire.NO_DAMAGE:
        return {}
    values = {number: value for number, wire_type, value, _, _ in fields.tolist() if wire_type == wire.VARINT}
    return {name: values.get(number, 0) for number, name in LEVELS.items()}


def versions(host: Host) -> dict[str, str]:
    """Versions of the programs that recorded a host, as far as its capture names them (JAX does)."""
    plane = host.space.plane(vocabulary.METADATA)
    facts = plane.facts() if plane else {}
    stated = {name.removesuffix("_version"): str(value) for name, value in facts.items() if name.endswith("_version")}
    return {name: value for name, value in sorted(stated.items()) if name != value}


@per_host(keep=True)
def is_unrecorded(host: Host) -> bool:
    """Whether the capture names an accelerator of which no event was recorded, and that may have run."""
    return bool(host.gpus or host.tpus) and not host.devices and not leaves_gpu_unused(host)


@per_host(keep=True)
def leaves_gpu_unused(host: Host) -> bool:
    """Whether a capture names a GPU, and its program computes on the CPU.

    TensorFlow does so where it cannot use the GPU: nothing is allocated on one, no thread polls its events, and
    products or convolutions run on threads of the host.
    """
    if host.devices or not host.gpus or host.tpus or host.cpu is None:
        return False
    if any(_GPU_POLLING_THREAD.match(name) for name in host.cpu.lines.name):
        return False
    if not any(_COMPUTE_OP.match(op_names.parse(name).type) for name in host.cpu.names):
        return False
    return not any(map(is_gpu_allocator, host.cpu.stat(vocabulary.ALLOCATOR_NAME).codes[1]))


@per_host(keep=True)
def looks_for_cupti(host: Host) -> bool:
    """Whether the profiler reports of CUPTI, which only builds with CUDA look for."""
    return any("cupti" in text.lower() for text in (*host.space.errors, *host.space.warnings))


@per_host(keep=True)
def one_op_of(host: Host) -> int:
    """n where the trace holds one of n ops; 1 where it holds all, or nothing tells.

    PyTorch counts its ops; in a trace that was filtered or sampled most numbers lack the next one.
    """
    if host.cpu is None or not host.cpu.has_stat(vocabulary.EXTERNAL_ID):
        return 1
    numbers = distinct(host.cpu.numbers(vocabulary.EXTERNAL_ID, np.arange(len(host.cpu.events)), 0))
    numbers = numbers[numbers > 0]
    return int(median(np.diff(numbers))) if len(numbers) >= _LEAST_NUMBERS else 1


@per_host(keep=True)
def counter_range_count(host: Host) -> int:
    """How many kernels CUPTI counted in, where it recorded none: it runs each again and again, and the host waits."""
    return 0 if host.devices else len(counter_ranges(host))


def counter_ranges(host: Host) -> Array:
    """int64[k]: numbers in the trace of the events that stand for kernels that CUPTI counted in."""
    rows = [np.empty(0, np.int64)]
    for plane in host.gpus:
        is_counted = np.array([category == vocabulary.TORCH_COUNTER_RANGE for category in plane.categories], bool)
        rows.append(host.trace.slice_of(plane).start + np.flatnonzero(is_counted[plane.events.name]))
    return np.concatenate(rows)
