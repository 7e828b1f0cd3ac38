"""Where captures lie: paths → sessions, files → bytes. Looking never writes."""

from __future__ import annotations

import os
from pathlib import Path

from ..formats import recognize
from ..runtime.messages import Message, listed, sentences
from ..runtime.problems import problem_error
from .content import contents, read, readable
from .files import ALL_HOSTS, StoredFile, StoredSession, host_of, hosts_without_capture, is_url, stat_files
from .logdir import Logdir, Root, Survey, roots
from .safe_read import Buffer, head
from .walk import folder_at

__all__ = [
    "ALL_HOSTS",
    "PAGE_SUFFIXES",
    "Buffer",
    "Logdir",
    "Root",
    "StoredFile",
    "StoredSession",
    "Survey",
    "contents",
    "hosts_without_capture",
    "read",
    "readable",
    "resolve",
    "roots",
    "sessions_at",
]


PAGE_SUFFIXES = (".html", ".htm")
"""How names of pages end, which are no captures."""


def resolve(path: str | os.PathLike[str]) -> StoredSession:
    """The session that a path means: a single file, a run folder with its hosts' files, or a logdir's newest session.

    Raises `ProblemError` (404) where there is none.
    """
    return sessions_at(path)[0]


def sessions_at(path: str | os.PathLike[str]) -> tuple[StoredSession, ...]:
    """The session that a path means, followed by the older ones of a logdir; raises as `resolve` does."""
    if isinstance(path, str) and is_url(path):
        return _sessions_at_url(path)
    folder = Path(path).expanduser().absolute()
    if folder.is_file():
        return (_session_of_file(folder),)
    if not folder.is_dir():
        remedy = Message("Name a logdir, a run folder, or a *.xplane.pb or *.pt.trace.json file.")
        raise problem_error("no_such_path", "This file or folder does not exist.", remedy, str(path), status=404)
    groups = list(
        recognize.sessions(folder_at(os.fspath(folder)).captures, is_run=True, head=lambda name: head(folder / name))
    )
    files = stat_files(folder, groups[0][1]) if len(groups) == 1 else ()
    return (StoredSession(folder.name, folder, files),) if files else _sessions_below(str(folder))


def _sessions_below(logdir: str) -> tuple[StoredSession, ...]:
    survey = Logdir(logdir).survey()
    if survey.sessions:
        return survey.sessions
    near = Message("Near misses: {files}.", files=listed(survey.near_misses[:3])) if survey.near_misses else ""
    remedy = sentences("Look for files that end in .xplane.pb or .pt.trace.json.", near)
    raise problem_error("no_sessions", "There is no capture below this folder.", remedy, logdir, status=404)


def _session_of_file(path: Path) -> StoredSession:
    if path.suffix in PAGE_SUFFIXES:
        remedy = Message(
            "Open it in a browser, or use it with tb-profile compare or check. Other commands need the capture."
        )
        raise problem_error("no_capture", "This is a report page, not a capture.", remedy, str(path))
    status = path.stat()
    host = host_of(path.name) or path.stem
    return StoredSession(host, path.parent, (StoredFile(host, path, status.st_size, status.st_mtime_ns),))


def _sessions_at_url(url: str) -> tuple[StoredSession, ...]:
    from .remote import RemoteTree, capture_at

    file = capture_at(url)
    if file:
        return (StoredSession(file.host, url.rpartition("/")[0], (file,)),)
    tree = RemoteTree()
    root = url.rstrip("/")
    folder = next((below for below in tree.folders_below(root) if below.path == root and below.captures), None)
    groups = list(recognize.sessions(folder.captures, is_run=True)) if folder else []
    if len(groups) == 1:
        return (StoredSession(root.rpartition("/")[2], root, tree.files(root, groups[0][1])),)
    return _sessions_below(url)
