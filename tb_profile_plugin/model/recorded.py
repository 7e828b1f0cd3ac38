"""With which options a capture was really made: the profiler notes them, whatever was asked for."""

from __future__ import annotations

import numpy as np

from ..arrays import distinct, median
from ..columns import vocabulary
from ..xspace import wire
from .host import Host
from .per_host import per_host

LEVELS = {2: "host_tracer_level", 3: "device_tracer_level", 4: "python_tracer_level"}
"""By their field in ProfileOptions."""
_FEW_OPS = 50
"""Below so many numbers nothing is said about those between them."""
_VARINT = 0
"""The wire type of numbers."""


@per_host(keep=True)
def levels(host: Host) -> dict[str, int]:
    """The tracer levels that were in effect on a host; empty where its capture does not say."""
    plane = host.space.plane(vocabulary.TASK_ENVIRONMENT)
    noted = plane.facts().get("profile_options") if plane else None
    if not isinstance(noted, bytes):
        return {}
    # Not by protobuf, which takes a tenth of a small capture's time to load.
    fields, damage = wire.messages(np.frombuffer(bytearray(noted), np.uint8), np.int64(0), np.int64(len(noted)))
    if damage != wire.GOOD:
        return {}
    stated = {number: value for number, kind, value, _, _ in fields.tolist() if kind == _VARINT}
    return {name: stated.get(number, 0) for number, name in LEVELS.items()}


def versions(host: Host) -> dict[str, str]:
    """Versions of the programs that recorded a host, as far as its capture names them (JAX does)."""
    plane = host.space.plane(vocabulary.METADATA)
    facts = plane.facts() if plane else {}
    named = {name.removesuffix("_version"): str(value) for name, value in facts.items() if name.endswith("_version")}
    return {name: value for name, value in sorted(named.items()) if name != value}


@per_host(keep=True)
def one_op_of(host: Host) -> int:
    """Of how many ops the trace holds one: 1 where all are there, or nothing tells.

    PyTorch counts its ops; in a trace that was filtered or sampled most numbers lack the next one.
    """
    if host.cpu is None or not host.cpu.has_stat(vocabulary.EXTERNAL_ID):
        return 1
    numbers = distinct(host.cpu.numbers(vocabulary.EXTERNAL_ID, np.arange(len(host.cpu.events)), 0))
    numbers = numbers[numbers > 0]
    return int(median(np.diff(numbers))) if len(numbers) >= _FEW_OPS else 1
