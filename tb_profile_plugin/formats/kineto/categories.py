"""What the categories and names of PyTorch's events mean; each with its source.

Sources: pytorch/kineto, libkineto/src (``output_json.cpp``, ``ActivityType.cpp``) and its tb_plugin as of April 2026;
pytorch, torch/profiler and torch/csrc/profiler.
"""

from __future__ import annotations

import re

from ...runtime.regex import regex
from ..columns.vocabulary import TORCH_MODULE

OTHER, OP, ANNOTATION, RUNTIME, PYTHON, WORK, DERIVED, OVERHEAD, WINDOW, MEMORY = range(10)
"""Roles of events: of programs that are not PyTorch; on threads ops, ranges that a program names, calls of a driver and
Python frames; on devices work and what only tells about it; the profiler's own time; what it recorded; allocations.
"""

_CATEGORIES = {
    OP: "cpu_op operator",
    ANNOTATION: "user_annotation",
    OTHER: "cpu_instant_event",
    PYTHON: "python_function",
    RUNTIME: (
        "cuda_runtime cuda_driver runtime mtia_runtime xpu_runtime xpu_driver glow_runtime privateuse1_runtime "
        "privateuse1_driver"
    ),
    WORK: "kernel concurrent_kernel gpu_memcpy memcpy gpu_memset memset mtia_ccp_events hpu_op",
    DERIVED: "gpu_user_annotation mtia_user_annotation cuda_sync cuda_event cuda_profiler_range collective_comm",
    OVERHEAD: "overhead",
    WINDOW: "trace",
}
ROLES = {category: role for role, categories in _CATEGORIES.items() for category in categories.split()}
"""By category in small letters: those until torch 1.11 begin with capitals."""

MEMORY_EVENT = "[memory]"
ABOUT_RECORDING = ("Iteration Start: PyTorch Profiler", "Record Window End")
"""Instants that only say when it was recorded; their times can be far off."""

_TORCH_RANGE = regex(
    r"ProfilerStep#|Optimizer\.(?:step|zero_grad)#|enumerate\(Data(?:Loader|Pipe)|(?:nccl|gloo|mpi|ucc|xccl):"
)
"""Ranges that torch names itself, which until torch 1.11 have the category of ops."""

FRAME = regex(r"(.+)\((\d+)\): (.*)", re.DOTALL)
"""A Python frame: file, line, function."""


def role_of(category: str, name: str) -> int:
    """The role of events of that category and name."""
    role = ROLES.get(category.lower(), OTHER)
    if role == OP and _TORCH_RANGE.match(name):
        return ANNOTATION
    return MEMORY if name == MEMORY_EVENT and role in (OTHER, OP) else role


def frame_name(name: str) -> str:
    """A Python frame as Python's tracer of TensorFlow and JAX names it: ``$file.py:12 function``."""
    match = FRAME.fullmatch(name)
    return f"${match[1]}:{match[2]} {match[3]}" if match else f"${name}"


def module_name(frame: str) -> str:
    """``Conv2d_3`` of ``nn.Module: Conv2d_3``; empty for another frame."""
    return frame.removeprefix(TORCH_MODULE) if frame.startswith(TORCH_MODULE) else ""
