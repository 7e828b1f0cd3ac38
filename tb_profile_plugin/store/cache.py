"""Files kept in the user's cache directory: bounded, shared by processes, safe to delete at any time.

They lie in one folder that this module made and marked as its own, and only under names that it gives: whatever else
lies there, and anywhere around it, is somebody else's and is neither read nor deleted. The time of a file's last use is
its modification time; the least recently used go first.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from ..runtime import settings
from ..runtime.memory import size_of
from ..runtime.regex import regex
from .safe_read import regular_file

try:
    # hashlib loads OpenSSL before it gives the same, which takes longer than an answer that was kept.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

KINDS = ("files", "results")
"""What entries are: captures fetched from other machines, and what tools answered."""

_DEFAULT_LIMIT = 10 << 30
_FOLDER = "tb-profile-cache"
_TAG_NAME = "CACHEDIR.TAG"
_SIGNATURE = b"""Signature: 8a477f597d28d172789f06886806bc55
# Made by tb-profile, which deletes files of its own in this folder. Backups may leave it out: https://bford.info/cachedir/
"""
"""The first line is the convention's, the second tells our folder from those of other programs."""
_DRAFT_SUFFIX = ".part"
_ENTRY_NAME = regex(rf"({'|'.join(KINDS)})-[0-9a-f]{{40}}(\.gz)?(\.[a-z0-9_]{{8}}\{_DRAFT_SUFFIX})?")
"""All names that entries and their drafts have."""
_ABANDONED_S = 3600
"""Drafts of which nothing was written for so long belong to no living process."""

_BLOCK = 4096
"""No file takes less of a disk."""
_PARTS_UNLISTED = 32
"""A process looks for what to delete when it has written this part of the limit since it last looked."""
_unlisted_bytes: dict[Path, int] = {}
_warned: set[tuple[Path, str]] = set()
_lock = threading.Lock()

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

logger = logging.getLogger(__name__)


def folder() -> Path:
    """Where all entries lie, whether or not it exists."""
    return Path(settings.read(settings.CACHE_DIR) or settings.user_cache(), _FOLDER)


def limit() -> int:
    """Bytes that all kinds may take together; an unreadable setting counts as none."""
    with suppress(ValueError):
        return size_of(settings.read(settings.CACHE_LIMIT))
    return _DEFAULT_LIMIT


def entry_path(kind: str, key: object, suffix: str = "") -> Path:
    """Where the entry of a key lies, if it does; the key's `repr` tells it from others, the suffix is none or .gz."""
    return folder() / f"{kind}-{digest_of(key)}{suffix}"


def digest_of(key: object) -> str:
    """40 hexadecimal digits that tell a key from others, by its `repr`."""
    return hasher(repr(key).encode("utf-8", "surrogatepass"), 20).hexdigest()


def hasher(content: bytes | memoryview = b"", size: int = 32) -> blake2b:
    """A hash of ``size`` bytes, begun with some content; `update` adds more."""
    return blake2b(content, digest_size=size)


def entry(path: Path) -> FileIO:
    """An entry, opened to be read; raises OSError for anything but a file that only this user can have put there."""
    _require_own_folder(path.parent)
    file = regular_file(path, _NO_LINK)
    if not _is_own(os.fstat(file.fileno())):
        file.close()
        raise PermissionError(errno.EPERM, "others may write to it", os.fspath(path))
    return file


def mark_used(path: Path) -> None:
    """Note that an entry was used just now."""
    with suppress(OSError):
        os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A file to fill, which takes its place whole when the block ends, and not at all when it fails; raises OSError."""
    _create_folder(path.parent)
    _require_own_folder(path.parent)
    name = path.with_name(f"{path.name}.{os.urandom(4).hex()}{_DRAFT_SUFFIX}")
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield name
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


def _create_folder(own_folder: Path) -> None:
    """Make our folder, which comes into being with its tag in it; whatever lies there already stays as it is."""
    if os.path.lexists(own_folder / _TAG_NAME):
        return
    # Only who makes it needs this and the archives that it loads.
    import tempfile

    own_folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = Path(tempfile.mkdtemp(prefix=f".{_FOLDER}-", dir=own_folder.parent))
    try:
        (draft / _TAG_NAME).write_bytes(_SIGNATURE)
        # Where another process was faster or another's folder lies, only an empty one is replaced.
        with suppress(OSError):
            draft.rename(own_folder)
    finally:
        with suppress(OSError):
            (draft / _TAG_NAME).unlink()
            draft.rmdir()


def _require_own_folder(own_folder: Path) -> None:
    """Raise OSError for a folder that is not there, and say for one that is not ours that it is not used."""
    status = os.lstat(own_folder)
    if not stat.S_ISDIR(status.st_mode):
        why = "it is not a folder, or it is a link"
    elif not _is_own(status):
        why = "it belongs to another user, or others may write to it"
    elif not _has_tag(own_folder):
        why = f"it is not marked as one of tb-profile's (by its {_TAG_NAME}), and its files may belong to someone else"
    else:
        return
    with _lock:
        is_new = (own_folder, why) not in _warned
        _warned.add((own_folder, why))
    if is_new:
        logger.warning("The cache %s is not used: %s.", own_folder, why)
    raise PermissionError(errno.EPERM, why, os.fspath(own_folder))


def _has_tag(own_folder: Path) -> bool:
    with suppress(OSError), regular_file(own_folder / _TAG_NAME, _NO_LINK) as tag:
        return bool(tag.read(len(_SIGNATURE) + 1) == _SIGNATURE)
    return False


def _is_own(status: os.stat_result) -> bool:
    """Whether only this user may have written it. Windows keeps others out of a user's own folders by itself."""
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_room(newest: Path) -> None:
    """Delete what was not used for longest until the rest fits; the newest stays in any case.

    Listing all entries for each that is written would take ever longer, so that they may take a little more than the
    limit for a while.
    """
    if not _must_list(newest):
        return
    entries = sorted(_entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
    undeletable = {path for path, status in entries if path == newest or _is_being_written(path, status)}
    room = limit() - sum(_disk_bytes(status) for path, status in entries if path in undeletable)
    for path, status in entries:
        if path not in undeletable:
            room -= _disk_bytes(status)
            if room < 0:
                with suppress(OSError):
                    path.unlink()


def _must_list(newest: Path) -> bool:
    try:
        size = _disk_bytes(newest.stat())
    except OSError:
        size = _BLOCK
    with _lock:
        unlisted = _unlisted_bytes.get(newest.parent, limit()) + size
        must_list = unlisted > limit() // _PARTS_UNLISTED
        _unlisted_bytes[newest.parent] = 0 if must_list else unlisted
    return must_list


def _disk_bytes(status: os.stat_result) -> int:
    return max(status.st_size, _BLOCK)


def _is_being_written(path: Path, status: os.stat_result) -> bool:
    """Whether it is a draft that some process may still be filling."""
    return path.suffix == _DRAFT_SUFFIX and time.time() - status.st_mtime < _ABANDONED_S


def _entries() -> Iterator[tuple[Path, os.stat_result]]:
    """All entries and drafts."""
    own_folder = folder()
    with suppress(OSError):
        _require_own_folder(own_folder)
        with os.scandir(own_folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if _ENTRY_NAME.fullmatch(entry.name) and stat.S_ISREG(status.st_mode):
                        yield Path(entry.path), status


def names() -> frozenset[str]:
    """Names of all entries and drafts."""
    return frozenset(path.name for path, _ in _entries())


def modified_ns() -> int:
    """When an entry last came or went, in ns since the epoch; 0 where there is no folder."""
    with suppress(OSError):
        return os.lstat(folder()).st_mtime_ns
    return 0


def usage() -> dict[str, tuple[int, int]]:
    """Entries and bytes by kind, drafts included."""
    sizes: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for path, status in _entries():
        sizes[path.name.partition("-")[0]].append(status.st_size)
    return {kind: (len(sizes_of_kind), sum(sizes_of_kind)) for kind, sizes_of_kind in sizes.items()}


def clear() -> int:
    """Delete all entries, and drafts that nobody fills; returns their bytes."""
    freed = 0
    for path, status in list(_entries()):
        if not _is_being_written(path, status):
            with suppress(OSError):
                path.unlink()
                freed += status.st_size
    return freed
