"""A capture's files as they lie on disk, and what they are called."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..formats import recognize
from ..runtime.records import NamedTuple
from ..runtime.regex import regex

ALL_HOSTS = "ALL_HOSTS"
"""The name that stands for all hosts of a session together."""
_DERIVED_FILE = regex(
    r"^(?P<host>.+?)\.(?:(?:trace|memory_profile|viewer)\.json(?:\.gz)?|(?:overview_page|input_pipeline|kernel_stats)\.pb"
    r"|tensorflow_stats\.pb|xplane\.riegeli)$",
    re.DOTALL,
)
"""What profilers and older viewers write beside a host's capture."""


def is_url(path: str) -> bool:
    """Whether a path names a place on another machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


class StoredFile(NamedTuple):
    """One host's capture; equal facts mean equal content, so results are kept by them."""

    host: str
    path: Path
    """Where it lies on this machine, or will lie once it is fetched from ``url``."""
    size: int
    """Bytes on disk."""
    mtime_ns: int
    url: str = ""
    """Where it comes from; empty for a file of this machine."""
    version: str = ""
    """What its server calls this content, e.g. an ETag; empty where there is none."""
    is_substitute: bool = False
    """Whether it is read in the place of the host's own capture, which lies empty beside it."""

    @property
    def where(self) -> str:
        """Path or URL, for people."""
        return self.url or str(self.path)


class StoredSession(NamedTuple):
    """The files of one capture, under the name that people know it by."""

    name: str
    folder: Path | str
    """A URL where it lies on another machine."""
    files: tuple[StoredFile, ...]
    """Ordered by host."""
    pieces: tuple[StoredSession, ...] = ()
    """The sessions that it was joined of; empty for one that lies in one place."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the sessions that it was joined of."""
        return tuple(piece.name for piece in self.pieces)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, sorted."""
        return tuple(file.host for file in self.files)

    @property
    def folders(self) -> list[Path]:
        """Where its files lie; empty where that is another machine."""
        if not isinstance(self.folder, Path):
            return []
        return list(dict.fromkeys([self.folder, *(file.path.parent for file in self.files)]))

    @property
    def size(self) -> int:
        """Bytes on disk, all hosts together."""
        return sum(file.size for file in self.files)

    @property
    def modified(self) -> float:
        """When its newest file was written: seconds since the epoch."""
        return max((file.mtime_ns for file in self.files), default=0) / 1e9


def host_of(name: str) -> str | None:
    """The host that the name of a capture's file tells, e.g. ``vm`` for ``vm.xplane.pb.gz``; None for any other."""
    host = recognize.host_of(name)
    return None if host is None else _readable(host)


def _readable(name: str) -> str:
    """The name as text that JSON and addresses can hold; bytes that are none stand there as ``\\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def hosts_without_capture(session: StoredSession) -> tuple[str, ...]:
    """Hosts of which a run folder of this machine holds only what is made beside a capture, in order of their names."""
    hosts: set[str] = set()
    for folder in session.folders:
        if folder.parts[-3:-1] != ("plugins", "profile"):
            continue
        with suppress(OSError):
            names = {Path(file.path).name for file in session.files}
            matches = [_DERIVED_FILE.match(name) for name in os.listdir(folder) if name not in names]
            hosts |= {_readable(match["host"]) for match in matches if match}
    return tuple(sorted(hosts - set(session.hosts)))


def stat_files(
    folder: str | os.PathLike[str], names: Iterable[str], previous_files: Iterable[StoredFile] = ()
) -> tuple[StoredFile, ...]:
    """The captures among a folder's file names, by host; what vanished meanwhile, or is no file, is left out.

    Where a host's file lies there plain and compressed, the plain one is taken. Those of `previous_files` that did not
    change are taken over.
    """
    earlier_of_host = {file.host: file for file in previous_files}
    files: dict[str, StoredFile] = {}
    for name in sorted(names):
        host = host_of(name)
        if host is None or host in files:
            continue
        try:
            status = os.stat(os.path.join(folder, name))
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        old, is_substitute = earlier_of_host.get(host), _replaces_empty_capture(folder, name)
        facts = name, status.st_size, status.st_mtime_ns, is_substitute
        if old and (old.path.name, old.size, old.mtime_ns, old.is_substitute) == facts:
            files[host] = old
        else:
            path = Path(folder, name)
            files[host] = StoredFile(host, path, status.st_size, status.st_mtime_ns, is_substitute=is_substitute)
    return tuple(files[host] for host in sorted(files))


def _replaces_empty_capture(folder: str | os.PathLike[str], name: str) -> bool:
    """Whether a file was made of a capture that lies empty beside it."""
    for capture in recognize.captures_of(name):
        with suppress(OSError):
            if os.stat(os.path.join(folder, capture)).st_size == 0:
                return True
    return False
