"""Captures of one job that its hosts wrote apart: in run folders named by seconds, or side by side in any folder.

They are one session only where nothing speaks against it: a host that was captured twice has two sessions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from ..formats import xspace
from ..runtime.regex import regex
from .files import StoredSession

_STAMP = regex(r"(\d{4})[-_](\d\d)[-_](\d\d)[-_](\d\d)[-_](\d\d)[-_](\d\d)")
"""What profilers call a run folder: when its host began, by its own clock."""
_WORKER = regex(r"(?i)(?:worker|rank|host|process|proc)[-_]?\d+")
NEVER = "never"
_BEGIN_RANGE_S = 10
"""Hosts were captured together if they began within so many seconds of the first …"""
_WRITE_RANGE_NS = 60 * 10**9
"""… and wrote their files within so long of each other."""


def sessions_of_user(sessions: Sequence[StoredSession], choice: str) -> list[StoredSession]:
    """The sessions as the user wants them: joined by rule; besides, those that fit each of the patterns, with commas in
    between, are one; ``never`` joins none.
    """
    if choice == NEVER:
        return list(sessions)
    job_sessions = sessions_of_jobs(sessions)
    for pattern in filter(None, choice.split(",")):
        group = sorted(
            (session for session in job_sessions if fnmatchcase(session.name, pattern)),
            key=lambda session: session.name,
        )
        if len(group) > 1:
            job_sessions = [session for session in job_sessions if session not in group] + [_joined_session(group, "")]
    return job_sessions


def sessions_after_changes(sessions: Sequence[StoredSession], changes: Iterable[Sequence[str]]) -> list[StoredSession]:
    """The sessions after changes by a user, who wants sessions of several names as one, or the one of a name in parts.

    What names a session that is no longer there changes nothing.
    """
    joined_sessions = list(sessions)
    for names in changes:
        group = [session for session in joined_sessions if session.name in names]
        other_sessions = [session for session in joined_sessions if session.name not in names]
        if len(names) > 1 and len(group) > 1:
            joined_sessions = [
                *other_sessions,
                _joined_session(sorted(group, key=lambda session: names.index(session.name)), ""),
            ]
        elif len(names) == 1 and group:
            joined_sessions = [*other_sessions, *(group[0].pieces or group)]
    return joined_sessions


def _with_unique_hosts(group: Sequence[StoredSession]) -> list[StoredSession]:
    """Where several sessions have a host of one name, hosts are named after their sessions, too."""
    hosts = [host for session in group for host in session.hosts]
    if len(set(hosts)) == len(hosts):
        return list(group)
    return [
        session._replace(
            files=tuple(file._replace(host=f"{session.name.replace('/', '_')}_{file.host}") for file in session.files)
        )
        for session in group
    ]


def sessions_of_jobs(sessions: Iterable[StoredSession]) -> list[StoredSession]:
    """The sessions, in which those that one job's hosts wrote at one time are one, under the first one's name."""
    joined_sessions: list[StoredSession] = []
    jobs: dict[tuple[str, str], list[tuple[float, StoredSession]]] = {}
    for session in sessions:
        job = _job(session)
        if job:
            jobs.setdefault(job, []).append((_begin_s(session), session))
        else:
            joined_sessions.append(session)
    for (_, name), parts in jobs.items():
        for group in _groups_by_time(sorted(parts, key=lambda part: (part[0], part[1].name))):
            joined_sessions += [_joined_session(group, name)] if len(group) > 1 and _are_of_one_job(group) else group
    return joined_sessions


def _job(session: StoredSession) -> tuple[str, str] | None:
    """Where what may belong to the session lies, and the name for all; empty for that of the first.

    None for a session that is whole.
    """
    parent, _, folder = str(session.folder).rpartition("/" if isinstance(session.folder, str) else os.sep)
    if _STAMP.fullmatch(folder) and PurePosixPath(parent.replace(os.sep, "/")).parts[-2:] == ("plugins", "profile"):
        return parent, ""
    (file, *others) = session.files
    parent_name, _, own_name = session.name.rpartition("/")
    if others or xspace.host_of(file.path.name) is None or own_name != file.host or not _WORKER.search(own_name):
        return None
    name = "/".join(part for part in (parent_name, _WORKER.sub("", own_name).strip("-_. ")) if part)
    return str(session.folder), name or folder


def _begin_s(session: StoredSession) -> float:
    """When its folder's name says that it began, seconds; 0 for files beside one another, of which none tells."""
    from datetime import datetime

    stamp = _STAMP.fullmatch(os.path.basename(str(session.folder)))
    try:
        return datetime.fromisoformat("{}-{}-{}T{}:{}:{}+00:00".format(*stamp.groups())).timestamp() if stamp else 0.0
    except ValueError:
        return 0.0


def _groups_by_time(sessions: Sequence[tuple[float, StoredSession]]) -> Iterator[list[StoredSession]]:
    """Those that began within `_BEGIN_RANGE_S` of the first of them; they are in order of time."""
    group: list[StoredSession] = []
    first_begin = 0.0
    for begin, session in sessions:
        if group and begin - first_begin > _BEGIN_RANGE_S:
            yield group
            group = []
        first_begin = first_begin if group else begin
        group.append(session)
    if group:
        yield group


def _are_of_one_job(group: Sequence[StoredSession]) -> bool:
    """Whether each host is in one of them only, and all were written at about one time."""
    hosts = [host for session in group for host in session.hosts]
    mtimes_ns = [file.mtime_ns for session in group for file in session.files]
    return len(set(hosts)) == len(hosts) and max(mtimes_ns) - min(mtimes_ns) <= _WRITE_RANGE_NS


def _joined_session(group: Sequence[StoredSession], name: str) -> StoredSession:
    pieces = [piece for session in group for piece in session.pieces or (session,)]
    files = sorted((file for piece in _with_unique_hosts(pieces) for file in piece.files), key=lambda file: file.host)
    return StoredSession(name or group[0].name, group[0].folder, tuple(files), tuple(pieces))
