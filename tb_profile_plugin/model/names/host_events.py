"""What names of events on the host's threads tell, each rule once: compiling, waiting, input, marks, calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array
from ...runtime.regex import regex

MARKERS = ("train", "test", "TraceContext")
CALLS = (vocabulary.EAGER_KERNEL_EXECUTE, "FunctionRun")
"""Calls that wait for what they lead to, which is recorded elsewhere or not at all."""
EXECUTORS = ("ExecutorState::", "ExecutorDoneCallback")
"""Begins of the names of what TensorFlow's executors do between ops, and all that small ops leave."""
_INPUT_REQUEST = regex(r"iteratorgetnext|enumerate\(Data(?:Loader|Pipe)", re.IGNORECASE)
"""Names of calls of tf.data, and of PyTorch's DataLoader (torch/utils/data/dataloader.py)."""

MAKES_INPUT = regex(rf"(?:{vocabulary.EAGER_OP_CALL})?(?:MakeIterator|\w+Dataset(?:V\d+)?$)")
"""Names of what makes a pipeline of tf.data: its parts, then what iterates over it."""

_COMPILING = regex(
    r"backend_compile|lower_sharding_computation|Xla\w*Compil|Codegen$|HLO passes|\w*[Aa]utotun|\w*AlgorithmPicker"
    r"|\w*Compiler::(?!BufferFrom)|\w*(?:Client|Executable|Cache)::\w*Compil|Compil(?:e|ing)[A-Z ]|PTX->"
)
"""Compilation by TensorFlow's XLA, by JAX, and by XLA's own passes and trials of kernels.

``PjRtCApiCompiler::BufferFromHostBuffer`` of JAX 0.11 is a copy to the device, whatever its class is called.
"""
_SLEEPING = regex(r"\$time sleep$|\$\S+ sleep$|\$?<built-in function sleep>$")
_WAITING = regex(r".*(?:Await\b|\b[Ww]ait\b|WaitFor|Synchronize$|block_until_ready)")
"""Waiting for other threads or for a device, by names of frameworks, drivers and Python's frames."""

_DEVICE_DONE = regex(r"(?:cu|cuda|hip)(?:Device|Ctx)Synchronize$")
"""Calls of a driver that return when all that was launched on a device is done."""
_STREAM_DONE = regex(r"(?:cu|cuda|hip)(?:Stream|Event)Synchronize$")
"""Calls of a driver that return when all that was launched on a stream is done, or all before an event of it."""


_TORCH_STEP = "ProfilerStep#"
"""Begin of the marks of PyTorch's profiler."""


def is_marker(name: str) -> bool:
    """Whether a program or a framework marks a step by an event of that name."""
    return name.startswith(_TORCH_STEP) or (name.startswith(MARKERS) and "/" not in name)


def is_frame(name: str) -> bool:
    """Whether it is a function of Python, which tracers write as ``$file.py:12 function``."""
    return name.startswith(vocabulary.PYTHON_FRAME)


def are_frames(names: Sequence[str]) -> Array:
    """bool[n]: which of the names are functions of Python."""
    return np.array([is_frame(name) for name in names], bool)


def is_compiling(name: str) -> bool:
    """Whether something is compiled meanwhile."""
    return bool(_COMPILING.match(name))


def is_sleeping(name: str) -> bool:
    """Whether a thread sleeps by a call of its own."""
    return bool(_SLEEPING.match(name))


def is_waiting(name: str) -> bool:
    """Whether a thread waits for others or for a device."""
    return bool(_WAITING.match(name))


def waits_for_devices(name: str) -> bool:
    """Whether a call waits until all that was launched is done."""
    return bool(_DEVICE_DONE.match(name))


def waits_for_stream(name: str) -> bool:
    """Whether a call waits for what was launched on one stream."""
    return bool(_STREAM_DONE.match(name))


@lru_cache(maxsize=65536)
def asks_for_input(name: str) -> bool:
    """Whether a thread takes an element of an input pipeline, and waits until there is one."""
    return bool(_INPUT_REQUEST.match(name))
