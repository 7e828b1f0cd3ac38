"""How much memory captures may take: what the user says, else what the machine has; and giving it back."""

from __future__ import annotations

import mmap
import os
import re
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from . import settings
from .messages import Message, localized
from .problems import problem_error
from .regex import regex

_SIZE = regex(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_CGROUP_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_DEFAULT_BYTES = 8 << 30
"""Where the system does not tell how much there is."""


def size_of(text: str) -> int:
    """Bytes of ``500M``, ``2G``, ``1.5 GiB`` (all by 1024); raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(localized("{text} is not a size such as 500M or 2G", text=repr(text)))
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def configured_limit() -> int:
    """Bytes that the environment allows; 0 where it says nothing, or nothing readable."""
    with suppress(ValueError):
        return size_of(settings.read(settings.MEMORY_LIMIT))
    return 0


def limit() -> int:
    """Bytes that one capture may take while it is read and decoded."""
    return configured_limit() or _machine_bytes()


def _machine_bytes() -> int:
    """What this machine has, or the container that this process lives in."""
    sizes = []
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _CGROUP_FILES:
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min(sizes, default=_DEFAULT_BYTES)


class MemoryBudget:
    """What reading one capture has taken of the limit so far, by however many threads."""

    def __init__(self, where: str):
        self._where = where
        self._limit = limit()
        self._used = 0
        self._lock = threading.Lock()

    def allows(self, size: int) -> bool:
        """Whether ``size`` more bytes stay within the limit."""
        return self._used + size <= self._limit

    def take(self, size: int) -> None:
        """Note ``size`` more bytes, before they are allocated; raises `ProblemError` (422) beyond the limit."""
        with self._lock:
            self._used += size
        if not self.allows(0):
            message = Message(
                "The capture is larger than the memory limit of {limit} GiB.", limit=f"{self._limit / 2**30:.2g}"
            )
            remedy = Message(
                "Capture for a shorter time, or raise the limit: {memory_limit}=16G, or --memory-limit 16G.",
                memory_limit=settings.MEMORY_LIMIT,
            )
            raise problem_error("too_large", message, remedy, self._where, status=422)

    def release(self, size: int) -> None:
        """Note that ``size`` bytes are free again."""
        with self._lock:
            self._used -= size


BLOCK = 1 << 16
"""Bytes that are given back together: a page of memory, or several."""


def release_blocks(content: Any, spans: Iterable[tuple[int, int]]) -> None:
    """Give the memory of these (begin, end) of a file's bytes back, which begin at a `BLOCK`; they read as zeros then.

    Only what `store.read` has read into memory of its own can be given back in parts.
    """
    if isinstance(content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        for begin, end in spans:
            content.madvise(mmap.MADV_DONTNEED, begin, end - begin)


def trim_heap() -> None:
    """Give the memory of arrays that are gone back to the system, where the C library keeps it for later ones."""
    if trim := _libc_function("malloc_trim"):
        trim(0)


_TRIM_DELAY_S = 0.1
_trim_planned = threading.Lock()
"""Held from when `trim_heap_soon` plans to trim until that is done."""


def trim_heap_soon() -> None:
    """`trim_heap` in a tenth of a second, once for all who ask until then: memory given back is slow to get again."""
    if _libc_function("malloc_trim") and _trim_planned.acquire(blocking=False):
        timer = threading.Timer(_TRIM_DELAY_S, _trim_as_planned)
        timer.daemon = True
        timer.start()


def _trim_as_planned() -> None:
    _trim_planned.release()
    trim_heap()


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""glibc's malloc.h."""


def keep_freed_memory() -> None:
    """Let the C library keep the memory of arrays for later ones, where one capture after another needs as much."""
    if set_option := _libc_function("mallopt"):
        set_option(_M_MMAP_THRESHOLD, 32 << 20)
        set_option(_M_TRIM_THRESHOLD, 256 << 20)


def limit_arenas() -> None:
    """Let the C library allocate from two pools (arenas), not one per thread, which would double the memory in use."""
    if set_option := _libc_function("mallopt"):
        set_option(_M_ARENA_MAX, 2)


@cache
def _libc_function(function: str) -> Any:
    """A function of Linux's C library; None elsewhere, and where that has none of the name."""
    import ctypes

    return getattr(ctypes.CDLL(None), function, None) if sys.platform == "linux" else None
