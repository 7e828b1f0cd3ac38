"""Timelines to look at: from the cache where they lie there, so that nothing need be decoded; otherwise worked out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..runtime.lru import Lru
from ..runtime.problems import ProblemError
from ..store import StoredFile, StoredSession
from ..store.result_cache import ResultCache

if TYPE_CHECKING:
    from ..model.host import Host
    from ..model.session import Session
    from ..timeline.view import View

WORTH_BYTES = 8 << 20
"""Captures below are decoded faster than anybody could notice."""
_MAPPED = 256
"""Timelines that stay mapped: they take address space, and memory only as long as nobody else needs it."""
_AFTER_S = 3.0
"""Writing waits for so long: who opens a timeline moves in it, and would wait for what writing works out."""
_WHAT = "timeline"


class Views:
    """Finds and keeps them; safe to use from many threads."""

    def __init__(self, results: ResultCache):
        self._results = results
        self._mapped: Lru[View] = Lru(_MAPPED)
        # While a host stays decoded, nothing else need be mapped.
        self._decoded: WeakValueDictionary[StoredFile, Host] = WeakValueDictionary()
        self._writing: set[StoredFile] = set()
        self._lock = threading.Lock()

    def of(self, session: Session, name: str) -> list[View]:
        """Of that host, or of all that can be read; raises `ProblemError` as `Session.select` does."""
        from ..timeline.view import view

        files = {file.host: file for file in session.stored.files}
        wanted = [files[name]] if name in files else list(files.values())
        mapped_views = [self._find(session.stored, file) for file in wanted]
        if name in ("", "ALL_HOSTS", *files) and None not in mapped_views:
            return [view for view in mapped_views if view]
        if len(wanted) > 1 and not session.fits:
            return list(self._folded(session, wanted))
        views = []
        for host in session.select(name):
            self._decoded[files[host.name]] = host
            views.append(view(host))
            self._keep(session.stored, files[host.name], host)
        return views

    def _folded(self, session: Session, files: Sequence[StoredFile]) -> Iterator[View]:
        """One host after another, apart from its events, which need not stay; raises where none can be read."""
        has_view = False
        for file in files:
            view = self._find(session.stored, file)
            if view is None:
                try:
                    view = self._without_events(session.stored, file, session.host(file.host))
                except ProblemError:
                    if not has_view and file is files[-1]:
                        raise
                    continue
            has_view = True
            yield view

    def _without_events(self, stored: StoredSession, file: StoredFile, host: Host) -> View:
        """Mapped from the cache, or copied where there is none."""
        from ..timeline.details import kinds
        from ..timeline.view import slab_pieces, view, view_of_slab

        # Stays known of the host when its events are gone.
        kinds(host)
        one, full_view = stored._replace(files=(file,)), view(host)
        if self._results.enabled:
            self._results.write(one, slab_pieces(full_view), _WHAT)
        slab = self._results.map(one, _WHAT)
        if slab is None:
            return view_of_slab(memoryview(b"".join(slab_pieces(full_view))))
        mapped = view_of_slab(slab)
        self._mapped.put(file, mapped)
        return mapped

    def _find(self, stored: StoredSession, file: StoredFile) -> View | None:
        from ..timeline.view import view, view_of_slab

        host = self._decoded.get(file)
        if host is not None:
            return view(host)
        mapped: View | None = self._mapped.get(file)
        if mapped or file.size < WORTH_BYTES:
            return mapped
        slab = self._results.map(stored._replace(files=(file,)), _WHAT)
        if slab is None:
            return None
        mapped_view = view_of_slab(slab)
        self._mapped.put(file, mapped_view)
        return mapped_view

    def _keep(self, stored: StoredSession, file: StoredFile, host: Host) -> None:
        """Write a timeline beside what else is done; whoever comes next need not decode."""
        with self._lock:
            if not self._results.enabled or file.size < WORTH_BYTES or file in self._writing:
                return
            self._writing.add(file)
        writer = threading.Timer(_AFTER_S, self._write, (stored, file, host))
        writer.name, writer.daemon = "timeline", True
        writer.start()

    def _write(self, stored: StoredSession, file: StoredFile, host: Host) -> None:
        from ..timeline.view import slab_pieces, view

        try:
            self._results.write(stored._replace(files=(file,)), slab_pieces(view(host)), _WHAT)
        finally:
            with self._lock:
                self._writing.discard(file)
