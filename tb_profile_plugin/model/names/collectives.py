"""Collectives: what devices or hosts do together, by the names that XLA, frameworks and libraries give it."""

from __future__ import annotations

from functools import lru_cache

from ...runtime.regex import regex

_OPCODE = regex(
    r"(?:all-reduce|all-gather|all-to-all|ragged-all-to-all|reduce-scatter|collective-permute|collective-broadcast"
    r"|send|recv)\b"
)
"""XLA's opcodes and what op profiles derive from them: ``all-reduce-start``, ``all-gather fusion``."""

_RANGE = regex(r"(?:nccl|gloo|mpi|ucc|xccl):\w+")
_CPU_RANGE = regex(r"(?:gloo|mpi):\w+")
_POINT_TO_POINT = regex(r"(?:gloo|mpi|ucc):(?:send|recv)")
_KERNEL = regex(r"[nr]ccl[A-Z]\w*")
_OP = regex(
    r".*:(?:_?Collective(?:Reduce|Gather|Bcast|AllToAll|Permute)\w*|_?Nccl(?:All)?(?:Reduce|Broadcast)\w*|Horovod\w+)$"
)
"""Types of TensorFlow's and Horovod's ops, at the end of an op's name."""
_ON_HOST = regex(
    # Events of TensorFlow's collective executor and of its kernels (core/common_runtime, core/kernels/collective_ops).
    r"(?:Base)?Collective(?:Executor|Op\w*Kernel|ParamResolver\w*)::"
    # Libraries: what PyTorch names after its backends, MPI's functions, Horovod's activities.
    r"|gloo::?|mpi:\w|MPI_[A-Z]|c10d::\w*(?:reduce|gather|broadcast|all_?to_?all|barrier)"
    # XLA's meeting of threads before a collective on the CPU or a launch of NCCL, and its coordination service.
    r"|(?:Invoke)?Rendezvous\b|Wait for rendezvous|Wait: pending_threads=|\w*WaitAtBarrier"
    # XLA:CPU's ops, whose names are opcodes or JAX's primitives with a number.
    r"|(?:(?:all|ragged-all|collective)-[a-z-]+|reduce-scatter(?:-start|-done)?"
    r"|psum(?:_invariant|_scatter)?|all_gather(?:_invariant)?|all_to_all|ppermute|reduce_scatter)(?:\.\d+)*$"
)


@lru_cache(maxsize=65536)
def is_opcode(text: str) -> bool:
    """Whether an XLA opcode or category is that of a collective; sends and receives between devices are, too."""
    return bool(_OPCODE.match(text))


@lru_cache(maxsize=65536)
def is_part_on_host(name: str) -> bool:
    """Whether an event of a host's thread is part of a collective."""
    return bool(_OP.match(name) or _ON_HOST.match(name))


def is_any(name: str) -> bool:
    """Whether an event of a thread or a device is a collective, or part of one."""
    return is_range(name) or is_part_on_host(name) or is_opcode(name.lstrip("%")) or bool(_KERNEL.match(name))


@lru_cache(maxsize=65536)
def is_range(name: str) -> bool:
    """Whether PyTorch named a range after its backend and a collective."""
    return bool(_RANGE.match(name))


@lru_cache(maxsize=65536)
def is_cpu_range(name: str) -> bool:
    """Whether PyTorch named it after a backend that communicates on threads of its own, also beside devices."""
    return bool(_CPU_RANGE.match(name))


def is_point_to_point(name: str) -> bool:
    """Whether PyTorch named it after a backend that communicates on the CPU, and a message from one worker to another.

    It begins on the thread that asks for it, which goes on meanwhile, and ends when somebody has waited for it.
    """
    return bool(_POINT_TO_POINT.match(name))


@lru_cache(maxsize=65536)
def is_op(name: str) -> bool:
    """Whether an event of a host's thread is one collective, not a part of one: a range of PyTorch's, or an op."""
    return is_range(name) or bool(_OP.match(name))
