"""The list of all sessions, with the facts of those that were looked at; made anew as far as something changed."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from ..store import Logdir, StoredSession, Survey
from ..store.result_cache import ResultCache, pack, to_json

HEALTH = ("health",)
"""What `Workspace.health` keeps a session's facts under."""
_SETTLED_NS = 2_000_000_000
"""A folder whose last change is younger may change again within the same tick of a coarse file clock."""


def entry(stored: StoredSession, facts: dict[str, Any] | None) -> dict[str, Any]:
    """What the list says about a session."""
    return {
        "run": stored.name,
        "folder": str(stored.folder),
        "modified": stored.modified,
        "hosts": list(stored.hosts),
        "size": stored.size,
        "facts": facts,
        "parts": list(stored.parts),
    }


class _Row:
    """A session as it stands in the list."""

    def __init__(self, stored: StoredSession, results: ResultCache):
        self.entry_name = results.entry_path(stored, *HEALTH).name
        self.tell(stored, None)

    def tell(self, stored: StoredSession, facts: dict[str, Any] | None) -> None:
        self.has_facts = facts is not None
        self.text = to_json(entry(stored, facts))


class Listing:
    """Safe to use from many threads."""

    def __init__(self, logdir: Logdir, results: ResultCache):
        self._logdir = logdir
        self._results = results
        self._rows: dict[StoredSession, _Row] = {}
        self._survey: Survey | None = None
        self._changed = True
        self._modified_ns = -1
        self._packed = b""
        self._lock = threading.Lock()

    def learn(self, stored: StoredSession, facts: dict[str, Any]) -> None:
        """Show these facts from now on."""
        with self._lock:
            if stored not in self._rows:
                self._rows[stored] = _Row(stored, self._results)
            if not self._rows[stored].has_facts:
                self._rows[stored].tell(stored, facts)
                self._changed = True

    def forget(self, stored: StoredSession) -> None:
        """Drop a session whose files are others now."""
        with self._lock:
            # What is on the list goes with the list.
            if not self._survey or self._survey.by_name.get(stored.name) != stored:
                self._rows.pop(stored, None)

    def packed(self) -> bytes:
        """The list as compressed JSON; never decodes."""
        survey = self._logdir.survey()
        with self._lock:
            if survey is not self._survey:
                rows = self._rows
                self._rows = {stored: rows.get(stored) or _Row(stored, self._results) for stored in survey.sessions}
                self._survey, self._changed, self._modified_ns = survey, True, -1
            self._recall()
            if self._changed:
                self._packed, self._changed = pack(self._written(survey)), False
            return self._packed

    def _recall(self) -> None:
        """Take over what this or another process kept since the last time."""
        modified_ns = self._results.modified_ns()
        if modified_ns == self._modified_ns:
            return
        self._modified_ns = modified_ns if time.time_ns() - modified_ns > _SETTLED_NS else -1
        names = self._results.names()
        for stored, row in self._rows.items():
            if row.entry_name in names and not row.has_facts:
                health = self._results.get(stored, *HEALTH)
                if health:
                    row.tell(stored, json.loads(health)["facts"])
                    self._changed = True

    def _written(self, survey: Survey) -> bytes:
        counts = {
            "event_files": survey.event_files,
            "captures": survey.captures,
            "near_misses": list(survey.near_misses),
            "dumps": list(survey.dumps),
        }
        head = to_json({"logdir": self._logdir.spec, "searched": list(survey.searched), "found": counts})
        rows = b",".join(self._rows[stored].text for stored in survey.sessions)
        return b"".join([head[:-1], b',"sessions":[', rows, b"]}"])
