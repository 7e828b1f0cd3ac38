"""The list of all sessions, with the facts of those that were opened before; only what changed is written anew."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from ..store import Logdir, StoredSession, Survey
from ..store.result_cache import ResultCache, pack, to_json

HEALTH = ("health",)
"""The question under which `Workspace.health` keeps a session's facts in the result cache."""
_SETTLED_NS = 2_000_000_000
"""A folder whose last change is younger may change again within the same tick of a coarse file clock."""


def session_entry(stored: StoredSession, facts: dict[str, Any] | None) -> dict[str, Any]:
    """A session as the list has it, without facts where none are known."""
    return {
        "run": stored.name,
        "folder": str(stored.folder),
        "modified": stored.modified,
        "hosts": list(stored.hosts),
        "size": stored.size,
        "facts": facts,
        "parts": list(stored.parts),
    }


class _ListedSession:
    """A session in the list, as JSON text."""

    def __init__(self, stored: StoredSession, result_cache: ResultCache):
        self.cache_file = result_cache.entry_path(stored, *HEALTH).name
        """Name of the file in which the result cache keeps its facts."""
        self.set_facts(stored, None)

    def set_facts(self, stored: StoredSession, facts: dict[str, Any] | None) -> None:
        self.has_facts = facts is not None
        self.json = to_json(session_entry(stored, facts))


class Listing:
    """The list of a logdir's sessions; safe to use from many threads."""

    def __init__(self, logdir: Logdir, result_cache: ResultCache):
        self._logdir = logdir
        self._result_cache = result_cache
        self._entries: dict[StoredSession, _ListedSession] = {}
        self._survey: Survey | None = None
        self._is_stale = True
        self._modified_ns = -1
        self._packed = b""
        self._lock = threading.Lock()

    def add_facts(self, stored: StoredSession, facts: dict[str, Any]) -> None:
        """List the session with these facts from now on."""
        with self._lock:
            if stored not in self._entries:
                self._entries[stored] = _ListedSession(stored, self._result_cache)
            if not self._entries[stored].has_facts:
                self._entries[stored].set_facts(stored, facts)
                self._is_stale = True

    def forget(self, stored: StoredSession) -> None:
        """Drop a session whose files are others now."""
        with self._lock:
            # Those on the list are dropped when the list is made anew.
            if not self._survey or self._survey.by_name.get(stored.name) != stored:
                self._entries.pop(stored, None)

    def packed_json(self) -> bytes:
        """The list as compressed JSON; never decodes."""
        survey = self._logdir.survey()
        with self._lock:
            if survey is not self._survey:
                old = self._entries
                self._entries = {
                    stored: old.get(stored) or _ListedSession(stored, self._result_cache) for stored in survey.sessions
                }
                self._survey, self._is_stale, self._modified_ns = survey, True, -1
            self._add_cached_facts()
            if self._is_stale:
                self._packed, self._is_stale = pack(self._as_json(survey)), False
            return self._packed

    def _add_cached_facts(self) -> None:
        """Add facts that this or another process put into the result cache since the last time."""
        modified_ns = self._result_cache.modified_ns()
        if modified_ns == self._modified_ns:
            return
        self._modified_ns = modified_ns if time.time_ns() - modified_ns > _SETTLED_NS else -1
        names = self._result_cache.names()
        for stored, entry in self._entries.items():
            if entry.cache_file in names and not entry.has_facts:
                health = self._result_cache.get(stored, *HEALTH)
                if health:
                    entry.set_facts(stored, json.loads(health)["facts"])
                    self._is_stale = True

    def _as_json(self, survey: Survey) -> bytes:
        counts = {
            "event_files": survey.event_files,
            "captures": survey.captures,
            "near_misses": list(survey.near_misses),
            "dumps": list(survey.dumps),
        }
        head = to_json({"logdir": self._logdir.spec, "searched": list(survey.searched), "found": counts})
        entries = b",".join(self._entries[stored].json for stored in survey.sessions)
        return b"".join([head[:-1], b',"sessions":[', entries, b"]}"])
