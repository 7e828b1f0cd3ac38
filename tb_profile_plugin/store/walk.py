"""A walk through a folder tree that reads only the folders that changed since the last one."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..formats import recognize
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from .files import StoredFile, stat_files
from .safe_read import head

_SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__"})
"""Large folders that no profiler writes to."""

_SETTLED_NS = 2_000_000_000
"""A folder read so soon after its last change may change again within the same tick of a coarse file clock."""

_BY_PRODUCT = regex(r"\.xplane\.riegeli$|\.profile-empty$|^memory\.prof$")
"""What profilers leave beside a capture, or instead of one."""

_DUMP = regex(r"(?:trace|dump|fr|recorder)_?(?:rank)?[_-]?\d{1,9}(?:\.(?:json|pkl|pickle|pt|bin|dump))?$")
"""What PyTorch's flight recorder, or whoever names its files after ranks, calls dumps."""


class Folder(NamedTuple):
    """What one folder holds, as far as captures go; all names without their path."""

    path: str
    captures: tuple[str, ...] = ()
    by_products: tuple[str, ...] = ()
    """Files that look like a profile and cannot be opened as one."""
    event_files: int = 0
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Symbolic links that may lead to folders."""
    trouble: str = ""
    """Why it could not be read."""
    dumps: int = 0
    """How many files are called as PyTorch's flight recorder calls its dumps."""


class _Visit(NamedTuple):
    folder: Folder
    mtime_ns: int
    settled: bool
    """Whether the modification time will tell of any further change."""


class Walker:
    """Walks one tree again and again; a folder is read anew only when its modification time moved."""

    def __init__(self) -> None:
        self._visits: dict[str, _Visit] = {}

    def walk(self, root: str) -> Iterator[Folder]:
        """Every folder once, by its shortest path without links if there is one; links make no cycles."""
        seen_folders: set[tuple[int, int]] = set()
        visited: dict[str, _Visit] = {}
        to_visit, links = deque([root]), deque[str]()
        while to_visit or links:
            path = to_visit.popleft() if to_visit else links.popleft()
            try:
                status = os.stat(path)
            except OSError as error:
                if path == root:
                    yield Folder(path, trouble=error.strerror or "it cannot be read")
                continue
            if (status.st_dev, status.st_ino) in seen_folders:
                continue
            seen_folders.add((status.st_dev, status.st_ino))
            visit = self._visits.get(path)
            if visit is None or not visit.settled or visit.mtime_ns != status.st_mtime_ns:
                settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NS
                visit = _Visit(folder_at(path), status.st_mtime_ns, settled)
            visited[path] = visit
            yield visit.folder
            to_visit.extend(os.path.join(path, name) for name in visit.folder.folders)
            links.extend(os.path.join(path, name) for name in visit.folder.links)
        self._visits = visited

    def files(self, folder: str, names: Iterable[str], earlier: Iterable[StoredFile]) -> tuple[StoredFile, ...]:
        """The captures of those names in a folder, by host; `earlier` are those of an earlier look."""
        return stat_files(folder, names, earlier)

    def head(self, folder: str, name: str) -> bytes:
        """How a file of a folder begins; see `safe_read.head`."""
        return head(Path(folder, name))


def folder_of(
    path: str,
    names: Iterable[str],
    folders: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
    looks_right: Callable[[str], bool] = lambda name: False,
    is_empty: Callable[[str], bool] = lambda name: False,
) -> Folder:
    """A folder by the names of its files; `recognize.captures` says what ``looks_right`` and ``is_empty`` tell."""
    sorted_names = sorted(names)
    captures = recognize.captures(sorted_names, looks_right, is_empty)
    by_products = tuple(name for name in sorted_names if _BY_PRODUCT.search(name))
    event_files = sum(".tfevents." in name for name in sorted_names)
    dumps = sum(_DUMP.search(name) is not None for name in {*sorted_names}.difference(captures))
    return Folder(path, tuple(captures), by_products, event_files, folders, links, dumps=dumps)


def folder_at(path: str) -> Folder:
    """What a folder of this machine holds."""
    names, folders, links = [], [], []
    try:
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED_FOLDERS:
                        folders.append(entry.name)
                elif entry.is_symlink() and not os.path.isfile(entry.path):
                    links.append(entry.name)
                else:
                    names.append(entry.name)
    except OSError as error:
        return Folder(path, trouble=error.strerror or "it cannot be read")

    def looks_right(name: str) -> bool:
        return recognize.recognised(head(Path(path, name))) is not None

    def is_empty(name: str) -> bool:
        with suppress(OSError):
            return os.stat(os.path.join(path, name)).st_size == 0
        return False

    return folder_of(path, names, tuple(folders), tuple(links), looks_right, is_empty)
