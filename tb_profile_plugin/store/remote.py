"""Captures on other machines: any URL that fsspec has a package for. They are fetched into the cache before use."""

from __future__ import annotations

import errno
import functools
import os
import posixpath
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ..formats import recognize
from ..runtime import cancellation
from ..runtime.messages import Message, sentences
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import CACHE_DIR
from . import cache
from .files import StoredFile, host_of
from .remote_errors import translated_errors
from .walk import Folder, folder_of
from .web_server import bounded_response, files_below_page, is_web, serves_parts

_PIECE_BYTES = 16 << 20
"""Bytes asked for at a time."""
_READERS = 8
"""Requests that are under way together."""
_WRITE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that only writing raises, without the name of a file."""

_TIME_KEYS = ("LastModified", "last_modified", "Last-Modified", "updated", "mtime", "modified", "created")
_VERSION_KEYS = ("ETag", "etag", "generation")
"""Keys under which file systems of fsspec tell when a file was written, and what version it is."""

Progress = Callable[[float], None]


class RemoteTree:
    """The captures below a URL; every walk asks anew."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, Any]] = {}

    def walk(self, root: str) -> Iterator[Folder]:
        """Every folder that holds files; one with `trouble` where the URL cannot be read."""
        try:
            yield from self.folders_below(root)
        except ProblemError as error:
            yield Folder(root, trouble=sentences(error.problem.message, error.problem.remedy))

    def folders_below(self, root: str) -> list[Folder]:
        """The folders below a URL that hold files; raises `ProblemError` where the URL cannot be read."""
        with translated_errors(root):
            files, base = _file_system(root)
            entries = files_below_page(files, base) if is_web(root) else files.find(base, detail=True)
            prefix = base.rstrip("/") + "/"
            facts = {f"{root.rstrip('/')}/{name.removeprefix(prefix)}": entry for name, entry in entries.items()}
            if not facts:
                # A search passes over what it cannot read; a list says why.
                files.ls(base, detail=False)
            unsized = [url for url, entry in facts.items() if entry.get("size") is None and host_of(_file_name(url))]
            with ThreadPoolExecutor(_READERS) as pool:
                facts |= zip(unsized, pool.map(lambda url: files.info(facts[url]["name"]), unsized), strict=True)
        self._facts = facts
        folders: dict[str, list[str]] = {}
        for url in facts:
            folders.setdefault(posixpath.dirname(url), []).append(_file_name(url))
        return [
            folder_of(path, names, is_empty=functools.partial(self._is_empty, path))
            for path, names in sorted(folders.items())
        ]

    def _is_empty(self, folder: str, name: str) -> bool:
        """Whether the latest walk found a file of that name, with nothing in it."""
        return self._facts.get(f"{folder}/{name}", {}).get("size") == 0

    def files(self, folder: str, names: Iterable[str], earlier: Iterable[StoredFile] = ()) -> tuple[StoredFile, ...]:
        """The captures of those names in a folder of the latest walk, by host; the plain one of two."""
        files: dict[str, StoredFile] = {}
        for name in sorted(names):
            host = host_of(name)
            if host is not None and host not in files:
                is_substitute = any(self._is_empty(folder, capture) for capture in recognize.captures_of(name))
                stored = _stored_file(host, f"{folder}/{name}", self._facts[f"{folder}/{name}"])
                files[host] = stored._replace(is_substitute=is_substitute)
        return tuple(files[host] for host in sorted(files))

    def head(self, folder: str, name: str) -> bytes:
        """Nothing: files are not fetched for how they begin."""
        return b""


def capture_at(url: str) -> StoredFile | None:
    """The capture at a URL that names one, None for any other; raises `ProblemError` where it cannot be read."""
    host = host_of(_file_name(url))
    if host is None:
        return None
    with translated_errors(url):
        files, path = _file_system(url)
        return _stored_file(host, url, files.info(path))


def fetch(file: StoredFile, progress: Progress = lambda fraction: None) -> None:
    """Make a remote file lie at its `path`; parts are read side by side where the server gives parts.

    Raises `ProblemError` where it cannot be read, or changed since it was listed.
    """
    with suppress(OSError):
        cache.entry(file.path).close()
        cache.mark_used(file.path)
        return
    with translated_errors(file.url):
        files, path = _file_system(file.url)
        in_parts = file.size > _PIECE_BYTES and serves_parts(files, path)
        try:
            with cache.draft(file.path) as draft:
                if in_parts:
                    _fetch_parts(files, path, file, os.fspath(draft), progress)
                else:
                    _fetch_file(files, path, file, os.fspath(draft), progress)
                current = _stored_file(file.host, file.url, files.info(path))
                if current._replace(is_substitute=file.is_substitute) != file:
                    raise _changed_error(file)
        except OSError as error:
            if _names_path_at(error, file.path.parents[1]) or error.errno in _WRITE_ERRORS:
                remedy = Message("Free some space, or set {cache_dir} to another folder.", cache_dir=CACHE_DIR)
                message = Message("The cache cannot be written: {reason}.", reason=error.strerror)
                raise problem_error("unwritable", message, remedy, str(file.path.parent), status=507) from error
            raise


def _names_path_at(error: OSError, folder: Path) -> bool:
    """Whether an error is about a path in a folder, or above it."""
    path = Path(str(error.filename)) if error.filename else None
    return path is not None and (path.is_relative_to(folder) or folder.is_relative_to(path))


def _fetch_parts(files: Any, path: str, file: StoredFile, draft: str, progress: Progress) -> None:
    write_lock = threading.Lock()
    written_bytes = 0
    with open(draft, "r+b") as out, ThreadPoolExecutor(_READERS) as pool:

        def fetch_part(begin: int) -> None:
            nonlocal written_bytes
            end = min(begin + _PIECE_BYTES, file.size)
            part = files.cat_file(path, start=begin, end=end)
            if len(part) != end - begin:
                raise _changed_error(file)
            with write_lock:
                out.seek(begin)
                out.write(part)
                written_bytes += len(part)
                progress(written_bytes / file.size)

        try:
            for _ in pool.map(fetch_part, range(0, file.size, _PIECE_BYTES)):
                cancellation.check()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fetch_file(files: Any, path: str, file: StoredFile, draft: str, progress: Progress) -> None:
    from fsspec.callbacks import Callback

    def report(size: int | None, value: int, **unused: object) -> None:
        progress(min(value / (size or file.size or 1), 1.0))

    files.get_file(path, draft, callback=Callback(hooks={"progress": report}))


def _file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, with the credentials that its package finds by itself, and the path in it."""
    from fsspec.config import conf
    from fsspec.core import url_to_fs

    configured = conf.get(url.partition("://")[0], {}).get("client_kwargs", {})
    options = {"client_kwargs": {**configured, "response_class": bounded_response()}} if is_web(url) else {}
    files, path = url_to_fs(url, use_listings_cache=False, **options)
    files.invalidate_cache()
    return files, path


def _file_name(url: str) -> str:
    return posixpath.basename(url.partition("?")[0])


def _stored_file(host: str, url: str, facts: dict[str, Any]) -> StoredFile:
    size = int(facts.get("size") or 0)
    version = next((str(facts[name]) for name in _VERSION_KEYS if facts.get(name)), "")
    modified = next((_nanoseconds(facts[name]) for name in _TIME_KEYS if facts.get(name)), 0)
    return StoredFile(host, _cache_path(url, size, modified, version), size, modified, url, version)


def _cache_path(url: str, size: int, modified: int, version: str) -> Path:
    return cache.entry_path("files", (url, size, modified, version), ".gz" if _file_name(url).endswith(".gz") else "")


def relocated(file: StoredFile) -> StoredFile:
    """The file with its path on this machine, if another machine found it: each one fetches into its own cache."""
    return file._replace(path=_cache_path(file.url, file.size, file.mtime_ns, file.version)) if file.url else file


def _nanoseconds(time: Any) -> int:
    """ns since the epoch, from a number, a text or a datetime, as file systems tell times; 0 where it is neither."""
    # Slow to import; only dates of HTTP need it.
    from email.utils import parsedate_to_datetime

    try:
        if isinstance(time, str):
            iso = time[:4].isdigit()
            time = datetime.fromisoformat(time.replace("Z", "+00:00")) if iso else parsedate_to_datetime(time)
        return int((time.timestamp() if isinstance(time, datetime) else float(time)) * 1e9)
    except (TypeError, ValueError):
        return 0


def _changed_error(file: StoredFile) -> ProblemError:
    remedy = Message("Try again when the file is complete.")
    return problem_error("changed", "The file changed while being read.", remedy, file.url, status=409)
