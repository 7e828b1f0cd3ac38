"""Names of framework operations, as TensorFlow, tf.data, JAX, XLA and PyTorch write them."""

from __future__ import annotations

import re
from functools import lru_cache

from ...formats.columns import vocabulary
from ...runtime.records import NamedTuple
from ...runtime.regex import regex

UNKNOWN, TENSORFLOW, TFDATA, JAX, PYTORCH, MEMCPY = "Unknown", "TensorFlow", "TfData", "JAX", "PyTorch", "Memcpy"

_TF_NAME = regex(r"[A-Za-z0-9.][A-Za-z0-9_.\/>-]*")
_TF_TYPE = regex(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = regex(r"[a-z_][a-z0-9_]*(\[.*\])?", re.DOTALL)
_NUMBER_AT_END = regex(r"_\d+$")

COPY, COPY_TO_DEVICE = "Memcpy", "MemcpyHToD"
"""A copy of which nothing tells the direction; one from the host to a device."""
_TENSORFLOW_COPIES = {
    "memcpyhtod": COPY_TO_DEVICE,
    "memcpydtoh": "MemcpyDToH",
    "memcpydtod": "MemcpyDToD",
    "memcpyhtoh": "MemcpyHToH",
}
"""Copies as TensorFlow annotates them, by the first ten letters."""

_DIRECTED_COPY = regex(
    r"(?:\[?cuda |cu|cuda|hip)?(?:mem(?:cpy|ory ?copy) ?([hdap])[a-z]*(?:to|2)([hdap])"
    r"|(?:mem)?copy ?(host|device|peer)(?:to|2)(host|device|peer))",
    re.IGNORECASE,
)
"""Copies as CUPTI, ROCm and drivers name them: MemcpyH2D, CopyDeviceToDevice, hipMemcpyHtoDAsync."""
_UNDIRECTED_COPY = regex(r"(?:cu|cuda|hip)?[Mm]em(?:cpy|ory ?copy)(?![a-z0-9_])|\[CUDA memcpy")
"""Copies whose names have no direction: MemcpyOther, hipMemcpyWithStream."""
_COPY_KERNELS = "__amd_rocclr_copy"
"""Kernels by which AMD's runtime copies (HIP's ROCclr, `blit` sources): their names tell no direction."""

COPIES = (COPY_TO_DEVICE, "MemcpyDToH", "MemcpyDToD", "MemcpyHToH", COPY)
"""What copies are called here, whoever recorded them."""


class OpName(NamedTuple):
    """A framework operation."""

    category: str
    """Its framework, `UNKNOWN` or `MEMCPY`: one of the six constants above."""
    name: str
    """Full name."""
    type: str
    """E.g. ``MatMul``; empty if unknown."""

    @property
    def is_known(self) -> bool:
        """Whether some framework's naming was recognised."""
        return self.category != UNKNOWN

    @property
    def is_dataset(self) -> bool:
        """Whether this is a tf.data iterator."""
        return self.type == "Dataset"


@lru_cache(maxsize=65536)
def parse(text: str) -> OpName:
    """The operation named by an event or by a ``tf_op`` stat, e.g. ``model/dense/MatMul:MatMul``."""
    name, colon, type_name = text.partition(":")
    if not colon:
        kind = _TENSORFLOW_COPIES.get(text[:10].lower(), "")
        return OpName(MEMCPY, text, kind) if kind else OpName(UNKNOWN, text, "")
    if name == "Iterator":
        return OpName(TFDATA, text, "Dataset")
    if _TF_NAME.fullmatch(name) and _TF_TYPE.fullmatch(type_name):
        return OpName(TENSORFLOW, name, type_name)
    kind = type_name or _NUMBER_AT_END.sub("", name.rpartition("/")[2])
    if _JAX_TYPE.fullmatch(kind):
        return OpName(JAX, name, kind.partition("[")[0])
    if not type_name:
        return OpName(TENSORFLOW, name, kind)
    return OpName(UNKNOWN, text, "")


@lru_cache(maxsize=65536)
def memcpy(name: str) -> str:
    """The direction of a device's copy by the name of its event or of the call that launched it, one of `COPIES`.

    Empty for anything else.
    """
    if name.startswith(_COPY_KERNELS):
        return COPY
    match = _DIRECTED_COPY.match(name)
    if not match:
        return COPY if _UNDIRECTED_COPY.match(name) else ""
    source, target = ("H" if memory[0] in "hH" else "D" for memory in match.groups() if memory)
    return f"Memcpy{source}To{target}"


def torch(text: str) -> OpName:
    """An op of PyTorch, behind the modules that it works for: ``ResNet_0/Conv2d_0/aten::conv2d``."""
    return OpName(PYTORCH, text, text.rpartition("/")[2])


def of_event(name: str, category: str) -> OpName:
    """The operation that an event's name tells, where the profiler states a category (see `Plane.categories`)."""
    if not category:
        return parse(name)
    return torch(name) if category in vocabulary.TORCH_OPS else OpName(UNKNOWN, name, "")


def is_path(text: str) -> bool:
    """Whether a text names an op: by a path of scopes, or with a type. XLA names copies of an argument after that."""
    path, _, type_name = text.partition(":")
    return bool(type_name) or "/" in path or "(" in path


_TORCH_GRADIENT = regex(r"Backward\d*$|_backward(?:_(?:(?!_backward_)\w)+)?$|^autograd::engine::evaluate_function")
"""Nodes of PyTorch's autograd, and ATen's ops for gradients."""


def is_gradient(name: str, kind: str) -> bool:
    """Whether an operation computes gradients, by its type (PyTorch) or by scopes of its name (TensorFlow, JAX)."""
    if _TORCH_GRADIENT.search(kind):
        return True
    if _TF_TYPE.fullmatch(kind) and _TF_NAME.fullmatch(name):
        return any(scope == "gradient_tape" or scope.startswith("gradients") for scope in name.split("/"))
    return any(scope.startswith("transpose(") for scope in name.split("/"))
