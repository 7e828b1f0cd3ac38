"""XSpace captures, the format of TensorFlow, JAX and XLA: names of files, and bytes → columns (see `formats`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...runtime.regex import regex

if TYPE_CHECKING:
    from ..columns import XSpace

LOCALHOST = "localhost"
"""The host of a file that is named just ``xplane.pb``."""

_CAPTURE = regex(r"^(?:(?P<host>.+)\.)?xplane\.pb(?:\.gz)?$", re.DOTALL)


def host_of(name: str) -> str | None:
    """E.g. ``vm`` for ``vm.xplane.pb.gz``."""
    match = _CAPTURE.match(name)
    return (match["host"] or LOCALHOST) if match else None


def is_certain(name: str) -> bool:
    """Nothing else is named so."""
    return True


def is_by_product(name: str) -> bool:
    """It is what others are made of."""
    return False


def sessions(names: Iterable[str], is_run: bool, head: Callable[[str], bytes]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """A run folder is one session of many hosts; anywhere else each file is a session of its own."""
    files = tuple(names)
    if is_run and files:
        return [("", files)]
    return [(name.removesuffix(".gz").removesuffix(".pb").removesuffix(".xplane"), (name,)) for name in files]


STREAMED = False
"""Its texts stay where they stand in it."""


def reads(head: bytes) -> bool:
    """Whether it begins with a plane, or with one of the texts that may stand before planes."""
    return head[:1] in (b"\x0a", b"\x12", b"\x1a", b"\x22")


def decode(
    buffer: Any, where: str = "", progress: Callable[[str, float], None] = lambda phase, fraction: None
) -> XSpace:
    """As `recognize.decode`, of the XSpace in ``buffer`` (anything with the buffer protocol)."""
    # Large, and not needed to find captures.
    from . import reader

    return reader.decode(buffer, where, progress)
