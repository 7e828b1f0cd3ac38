"""Files kept in the user's cache directory: bounded, shared by processes, safe to delete at any time.

The time of a file's last use is its modification time; the least recently used go first.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..runtime.memory import size_of

KINDS = ("files", "results")
"""Folders of the cache: captures fetched from other machines, and what tools answered."""

_DIRECTORY = "TB_PROFILE_CACHE_DIR"
_LIMIT = "TB_PROFILE_CACHE_LIMIT"
_DEFAULT_LIMIT = 10 << 30
_DRAFT = ".part"
_ABANDONED_S = 24 * 3600
"""Drafts this old belong to no living process."""

_BLOCK = 4096
"""No file takes less of a disk."""
_UNSEEN = 32
"""A process looks for what to delete when it has written this part of the limit since it last looked."""
_unseen: dict[Path, int] = {}
_lock = threading.Lock()


def directory() -> Path:
    """The cache directory, whether or not it exists."""
    named = os.environ.get(_DIRECTORY)
    if named:
        return Path(named)
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    elif os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return Path(base, "tb-profile")


def limit() -> int:
    """Bytes that all kinds may take together; an unreadable setting counts as none."""
    with suppress(ValueError):
        return size_of(os.environ.get(_LIMIT, ""))
    return _DEFAULT_LIMIT


def place(kind: str, key: object, suffix: str = "") -> Path:
    """Where the entry of a key lies, if it does; the key's `repr` tells it from others."""
    name = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return directory() / kind / f"{name}{suffix}"


def used(path: Path) -> None:
    """Note that an entry was used just now."""
    with suppress(OSError):
        os.utime(path)


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A file to fill, which takes its place whole when the block ends, and not at all when it fails; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(suffix=_DRAFT, dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        try:
            os.replace(name, path)
        except PermissionError:
            # Windows does not replace a mapped file; whoever mapped it made the same one.
            if not path.exists():
                raise
    finally:
        with suppress(OSError):
            os.unlink(name)
    _make_room(path)


def _make_room(newest: Path) -> None:
    """Delete what was not used for longest until the rest fits; the newest stays in any case.

    Listing all entries for each that is written would take ever longer, so that they may take a little more than the
    limit for a while.
    """
    if not _is_time_to_look(newest):
        return
    entries = sorted(((facts.st_mtime, _weight(facts), path) for path, facts in _entries()), reverse=True)
    room = limit() - next((weight for _, weight, path in entries if path == newest), 0)
    for _, weight, path in entries:
        if path == newest:
            continue
        room -= weight
        if room < 0:
            with suppress(OSError):
                path.unlink()


def _is_time_to_look(newest: Path) -> bool:
    try:
        weight = _weight(newest.stat())
    except OSError:
        weight = _BLOCK
    with _lock:
        unseen = _unseen.get(directory(), limit()) + weight
        look = unseen > limit() // _UNSEEN
        _unseen[directory()] = 0 if look else unseen
    return look


def _weight(facts: os.stat_result) -> int:
    return max(facts.st_size, _BLOCK)


def _entries() -> Iterator[tuple[Path, os.stat_result]]:
    """All entries; drafts that others are filling are none, and abandoned ones are deleted."""
    for kind in KINDS:
        with suppress(OSError), os.scandir(directory() / kind) as found:
            for entry in found:
                with suppress(OSError):
                    facts = entry.stat(follow_symlinks=False)
                    if not entry.name.endswith(_DRAFT):
                        yield Path(entry.path), facts
                    elif time.time() - facts.st_mtime > _ABANDONED_S:
                        os.unlink(entry.path)


def usage() -> dict[str, tuple[int, int]]:
    """Entries and bytes by kind."""
    sizes: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for path, facts in _entries():
        sizes[path.parent.name].append(facts.st_size)
    return {kind: (len(each), sum(each)) for kind, each in sizes.items()}


def clear() -> int:
    """Delete all entries; returns their bytes."""
    freed = 0
    for path, facts in list(_entries()):
        with suppress(OSError):
            path.unlink()
            freed += facts.st_size
    return freed
