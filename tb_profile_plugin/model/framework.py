"""Which framework ran the program, whose language remedies speak, and whether it trained."""

from __future__ import annotations

from collections.abc import Callable

from ..formats.columns import vocabulary
from ..runtime.regex import regex
from .host import Host
from .names import op_names
from .per_host import per_host
from .profiler_options import versions

TENSORFLOW, JAX, PYTORCH = "tensorflow", "jax", "pytorch"

_MARKS = (
    (PYTORCH, regex(r"aten::|ProfilerStep#|torch/")),
    (JAX, regex(r"PjitFunction\(|\$\S*(?:jax|pjit\.py|profiler\.py:\d+ (?:start|stop)_trace)|PjRtCApi")),
    (TENSORFLOW, regex(r"FunctionRun|ExecutorState::Process|EagerExecute|EagerKernelExecute|Iterator::|train \d")),
)
"""Names of events that only this framework writes; a program of the first may use those after it for its input."""


@per_host(keep=True)
def framework(host: Host) -> str:
    """``tensorflow``, ``jax``, ``pytorch``, or empty where nothing tells."""
    plane = host.space.plane(vocabulary.METADATA)
    stated = plane.facts().get(vocabulary.FRAMEWORK) if plane else None
    if isinstance(stated, str):
        return stated
    if "jax" in versions(host):
        return JAX
    names = host.cpu.names if host.cpu else []
    for candidate, pattern in _MARKS:
        if any(pattern.match(name) for name in names):
            return candidate
    modules = [plane for plane in host.devices if vocabulary.XLA_MODULES in list(plane.lines.name)]
    if any(name.startswith("jit_") for plane in modules for name in plane.names):
        return JAX
    return TENSORFLOW if any(":" in name and "/" in name for plane in host.devices for name in plane.names) else ""


@per_host(keep=True)
def is_training(host: Host) -> bool:
    """Whether the XLA programs of a host hold gradient ops, or its ops in PyTorch are some."""
    if host.cpu and framework(host) == PYTORCH:
        return any(
            category in vocabulary.TORCH_OPS and op_names.is_gradient(name, name)
            for name, category in zip(host.cpu.names, host.cpu.categories, strict=True)
        )
    origins = {pair for module in host.modules.values() for pair in zip(module.op_names, module.op_types, strict=True)}
    return any(op_names.is_gradient(*origin) for origin in origins)


def op_names_of(host: Host) -> Callable[[str], op_names.OpName]:
    """What makes an op's name of a ``tf_op`` stat in this host's capture."""
    return op_names.torch if framework(host) == PYTORCH else op_names.parse
