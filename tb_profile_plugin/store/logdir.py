"""The sessions below a logdir, by the names that TensorBoard's users know them by."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

from ..formats import recognize
from ..runtime import settings
from ..runtime.memo import lazy
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.records import NamedTuple
from .files import StoredSession, is_url
from .job_hosts import sessions_after_changes, sessions_of_user
from .walk import Folder, Walker

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .remote import RemoteTree

_RESCAN_S = 1.0
"""So long after a walk the next one begins at the earliest."""
_RESCAN_SHARE = 10
"""Between walks lies so many times what one takes: they take a tenth of the time, however large the tree."""
_PATIENCE_S = 0.5
"""How long a request waits for a new walk while there is an older one to answer from."""
_MOST_NEAR_MISSES = 20
_MOST_COMPARED = 1000
"""An unknown name is compared with so many names at most, and only if it has fewer characters: that takes time."""


class Root(NamedTuple):
    """A folder that is searched, and the prefix of its sessions' names (empty for none)."""

    prefix: str
    path: str
    """Absolute; a URL where it lies on another machine."""


class _SurveyFields(NamedTuple):
    """The fields of a `Survey`. It is a class of its own, since a NamedTuple itself keeps no results of `lazy`."""

    searched: tuple[str, ...]
    """Paths and URLs."""
    sessions: tuple[StoredSession, ...]
    """Newest first."""
    event_files: int
    near_misses: tuple[str, ...]
    """Texts that name what looks like a capture, and say why it is none."""
    dumps: Mapping[str, str]
    """Folders in which the ranks of a job left dumps of PyTorch's flight recorder, by their names."""


class Survey(_SurveyFields):
    """What one look at a logdir found."""

    @lazy
    def by_name(self) -> Mapping[str, StoredSession]:
        """The sessions by their names."""
        return {session.name: session for session in self.sessions}

    def find_by_name(self, name: str) -> StoredSession | None:
        """The session of that name, or the one that a session of that name was joined into."""
        return self.by_name.get(name) or self._by_part.get(name)

    @lazy
    def _by_part(self) -> Mapping[str, StoredSession]:
        return {part: session for session in self.sessions for part in session.parts}

    @property
    def captures(self) -> int:
        """Files of captures, of all sessions."""
        return sum(len(session.files) for session in self.sessions)


class _WalkedFolder(NamedTuple):
    """What a folder held in the last walk."""

    folder: Folder
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """Names of sessions, which others may have, too, and of their files."""
    sessions: tuple[StoredSession | None, ...]
    """One for each group, none where no file can be read."""


def roots(spec: str) -> tuple[Root, ...]:
    """The folders that a logdir names: one path, or ``name:path,name:path`` as TensorBoard's --logdir_spec has it."""
    if not spec or os.path.exists(os.path.expanduser(spec)):
        return (_root_of("", spec),) if spec else ()
    folders = []
    for part in filter(None, spec.split(",")):
        prefix, colon, path = part.partition(":")
        has_prefix = colon and not part.startswith("/") and not is_url(part) and not os.path.splitdrive(part)[0]
        folders.append(_root_of(prefix, path) if has_prefix else _root_of("", part))
    return tuple(folders)


def _root_of(prefix: str, path: str) -> Root:
    return Root(prefix, path if is_url(path) else os.path.abspath(os.path.expanduser(path)))


def _pure_path(path: str) -> PurePath:
    """A path or URL as something with parents and parts."""
    return PurePosixPath(path.partition("://")[2]) if is_url(path) else Path(path)


class Logdir:
    """The sessions below one or several folders; looked for again as time passes, never more than needed."""

    def __init__(self, spec: str):
        self.spec = spec
        self._trees: dict[str, Walker | RemoteTree] = {}
        self._lock = threading.Lock()
        self._latest_survey: Survey | None = None
        self._next_walk_at = 0.0
        self._walk: Future[Survey] | None = None
        self._folders: dict[tuple[str, str], _WalkedFolder] = {}
        self._changes: tuple[tuple[str, ...], ...] = ()

    def join(self, *names: str) -> StoredSession:
        """From now on, sessions of these names are one, which has the first one's name; raises as `find` does."""
        return self._change(tuple(self.find(name).name for name in names))

    def split(self, name: str) -> StoredSession:
        """From now on, the session's parts are sessions; the first of them. Raises as `find` does."""
        return self._change((self.find(name).name,))

    def _change(self, names: tuple[str, ...]) -> StoredSession:
        with self._lock:
            self._changes += (names,)
            latest = self._latest_survey
            if latest:
                self._latest_survey = latest._replace(
                    sessions=_newest_first(sessions_after_changes(latest.sessions, [names]))
                )
        return self.find(names[0])

    def sessions(self) -> list[StoredSession]:
        """All sessions, newest first; new ones appear within seconds."""
        return list(self.survey().sessions)

    def find(self, name: str) -> StoredSession:
        """The session of that name; raises `ProblemError` (404), naming close matches, where there is none."""
        survey = self.survey()
        session = survey.find_by_name(name)
        if session:
            return session
        # It takes longer to import than most walks take.
        from difflib import get_close_matches

        names = list(islice(survey.by_name, _MOST_COMPARED))
        close = (get_close_matches(name, names, n=3) if len(name) < _MOST_COMPARED else []) or names[:3]
        remedy = (
            Message("There are: {close}.", close=", ".join(close))
            if close
            else Message("The logdir holds no sessions.")
        )
        raise problem_error(
            "unknown_run", Message("There is no session named {name}.", name=repr(name)), remedy, self.spec, status=404
        )

    def survey(self) -> Survey:
        """What is there, from a recent walk."""
        from concurrent.futures import Future
        from concurrent.futures import TimeoutError as WalkTimeout

        with self._lock:
            latest = self._latest_survey
            if latest is not None and time.monotonic() < self._next_walk_at:
                return latest
            if self._walk is None:
                self._walk = Future()
                threading.Thread(target=self._run_walk, args=(self._walk,), name="logdir walk", daemon=True).start()
            walk = self._walk
        try:
            return walk.result(_PATIENCE_S if latest else None)
        except WalkTimeout:
            assert latest is not None, "a walk without a time limit always answers"
            return latest

    def _run_walk(self, walk: Future[Survey]) -> None:
        begin = time.monotonic()
        try:
            survey = self._survey_now()
        except Exception as error:
            with self._lock:
                self._walk = None
            walk.set_exception(error)
            return
        with self._lock:
            self._latest_survey, self._walk = survey, None
            end = time.monotonic()
            self._next_walk_at = end + max(_RESCAN_S, _RESCAN_SHARE * (end - begin))
        walk.set_result(survey)

    def _survey_now(self) -> Survey:
        searched = roots(self.spec)
        self._trees = {root.path: self._trees.get(root.path) or _tree(root.path) for root in searched}
        walked_folders: dict[tuple[str, str], _WalkedFolder] = {}
        sessions: list[StoredSession] = []
        names: set[str] = set()
        misses: list[str] = []
        dumps: dict[str, str] = {}
        event_files = 0
        for root in searched:
            folders = list(self._trees[root.path].walk(root.path))
            event_files += sum(folder.event_files for folder in folders)
            misses += [miss for folder in folders for miss in _near_misses(folder, root)]
            for folder in folders:
                if folder.dumps and not is_url(root.path):
                    name, path = _dumps_folder(folder, root)
                    dumps.setdefault(name, path)
            folders_of_root = self._walked_folders(root, folders)
            walked_folders |= folders_of_root
            sessions += [_with_unique_name(session, names) for session in _root_sessions(folders_of_root.values())]
        self._folders = walked_folders
        paths = tuple(root.path for root in searched)
        regrouped_sessions = _newest_first(sessions_after_changes(sessions, self._changes))
        survey = Survey(paths, regrouped_sessions, event_files, tuple(misses[:_MOST_NEAR_MISSES]), dumps)
        # The same one as long as nothing changes: what others made of it stays good.
        return self._latest_survey if self._latest_survey == survey else survey

    def _walked_folders(self, root: Root, folders: Iterable[Folder]) -> dict[tuple[str, str], _WalkedFolder]:
        """Those of a root's folders that hold captures, by the root's prefix and their path."""
        tree = self._trees[root.path]
        keys = [((root.prefix, folder.path), folder) for folder in folders if folder.captures]
        return {key: _walked_folder(folder, tree, root, self._folders.get(key)) for key, folder in keys}


def _tree(path: str) -> Walker | RemoteTree:
    if not is_url(path):
        return Walker()
    # Large, and not needed for folders of this machine.
    from .remote import RemoteTree

    return RemoteTree()


def _root_sessions(walked: Iterable[_WalkedFolder]) -> list[StoredSession]:
    """The sessions in a root's folders, as the user has captures of one job joined."""
    sessions = [session for folder in walked for session in folder.sessions if session]
    return sessions_of_user(sessions, settings.read(settings.JOIN))


def _newest_first(sessions: Iterable[StoredSession]) -> tuple[StoredSession, ...]:
    """The newest first."""
    return tuple(sorted(sessions, key=lambda session: (-session.modified, session.name)))


def _walked_folder(folder: Folder, tree: Walker | RemoteTree, root: Root, last: _WalkedFolder | None) -> _WalkedFolder:
    """A folder with its sessions; those that did not change since ``last`` are the same objects."""
    if last and last.folder == folder:
        groups, last_sessions = last.groups, last.sessions
    else:
        groups = tuple(_session_files(folder, root, partial(tree.head, folder.path)))
        last_sessions = (None,) * len(groups)
    sessions: list[StoredSession | None] = []
    for (name, file_names), old in zip(groups, last_sessions, strict=True):
        files = tree.files(folder.path, file_names, old.files if old else ())
        if not old or old.files != files:
            location = folder.path if is_url(folder.path) else Path(folder.path)
            old = StoredSession(name, location, files) if files else None
        sessions.append(old)
    return _WalkedFolder(folder, groups, tuple(sessions))


def _session_files(folder: Folder, root: Root, head: recognize.Head) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sessions of a folder by its formats, under the folder's name or below it."""
    path = _pure_path(folder.path)
    prefix = f"{root.prefix}/" if root.prefix else ""
    in_run = is_run(path)
    own_name = _run_name(path, root) if in_run else path.relative_to(_pure_path(root.path)).as_posix()
    for name, files in recognize.sessions(folder.captures, in_run, head):
        yield prefix + ((PurePosixPath(own_name) / name).as_posix() if own_name != "." or name else path.name), files


def is_run(path: PurePath) -> bool:
    """Whether a folder is where the frameworks write the files of one capture."""
    return path.parts[-3:-1] == ("plugins", "profile")


def _run_name(path: PurePath, root: Root) -> str:
    """``train/<run>`` for ``train/plugins/profile/<run>``, just the run where the logdir lies deeper than ``train``."""
    run_parent, logdir = path.parents[2], _pure_path(root.path)
    return (run_parent.relative_to(logdir) / path.name).as_posix() if run_parent.is_relative_to(logdir) else path.name


def _dumps_folder(folder: Folder, root: Root) -> tuple[str, str]:
    """(name, path) of where all ranks' dumps lie: the folder, or the one above where each rank has a folder."""
    path = folder.path if folder.dumps > 1 or folder.path == root.path else os.path.dirname(folder.path)
    relative = PurePath(os.path.relpath(path, root.path)).as_posix()
    return "/".join(filter(None, (root.prefix, "" if relative == "." else relative))) or PurePath(path).name, path


def _with_unique_name(session: StoredSession, names: set[str]) -> StoredSession:
    """The session under its name as valid Unicode, numbered where another session has it already."""
    valid_name = os.fsencode(session.name).decode("utf-8", "replace")
    number, unique = 1, valid_name
    while unique in names:
        number += 1
        unique = f"{valid_name} ({number})"
    names.add(unique)
    return session if unique == session.name else session._replace(name=unique)


def _near_misses(folder: Folder, root: Root) -> Iterator[str]:
    if folder.trouble:
        yield f"{folder.path}: {folder.trouble}"
    elif not folder.captures:
        where = os.path.relpath(folder.path, root.path)
        if folder.by_products:
            yield Message(
                "{path}: a by-product of a profiler, without its *.xplane.pb", path=f"{where}/{folder.by_products[0]}"
            )
        elif is_run(_pure_path(folder.path)) and not folder.folders:
            yield Message("{path}: a run folder without a *.xplane.pb", path=where)
