"""Views of hosts' timelines: mapped from the result cache where they are kept, so that nothing need be decoded."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..runtime.lru import Lru
from ..runtime.problems import ProblemError
from ..store import ALL_HOSTS, StoredFile, StoredSession
from ..store.result_cache import ResultCache

if TYPE_CHECKING:
    from ..model.host import Host
    from ..model.session import Session
    from ..timeline.host_view import HostView

WORTH_BYTES = 8 << 20
"""Smaller captures are decoded too fast for anybody to notice, so that their views are not kept."""
_MOST_MAPPED = 256
"""Views that stay mapped: they take address space, and memory only as long as nobody else needs it."""
_WRITE_DELAY_S = 3.0
"""Time until a view is written: who has just opened a timeline moves in it, and would wait for the writing."""
_CACHE_KEY = "timeline"
"""Under which views are kept in the result cache."""


class Views:
    """Makes views of timelines and keeps them; safe to use from many threads."""

    def __init__(self, result_cache: ResultCache):
        self._result_cache = result_cache
        self._mapped_views: Lru[HostView] = Lru(_MOST_MAPPED)
        # The view of a decoded host costs nothing more.
        self._decoded_hosts: WeakValueDictionary[StoredFile, Host] = WeakValueDictionary()
        self._pending_writes: set[StoredFile] = set()
        self._lock = threading.Lock()

    def views_of(self, session: Session, name: str) -> list[HostView]:
        """The view of that host, or of all that can be read; raises `ProblemError` as `Session.select` does."""
        from ..timeline.host_view import view_of_host

        files = {file.host: file for file in session.stored.files}
        selected_files = [files[name]] if name in files else list(files.values())
        known_views = [self._known_view(session.stored, file) for file in selected_files]
        if name in ("", ALL_HOSTS, *files) and None not in known_views:
            return [view for view in known_views if view]
        if len(selected_files) > 1 and not session.fits:
            return list(self._one_by_one(session, selected_files))
        views = []
        for host in session.select(name):
            self._decoded_hosts[files[host.name]] = host
            views.append(view_of_host(host))
            self._write_later(session.stored, files[host.name], host)
        return views

    def _one_by_one(self, session: Session, files: Sequence[StoredFile]) -> Iterator[HostView]:
        """Views of one host after another that hold none of its events, so that these need not stay in memory.

        Hosts that cannot be read are left out; raises `ProblemError` where none can.
        """
        has_view = False
        for file in files:
            view = self._known_view(session.stored, file)
            if view is None:
                try:
                    view = self._stored_view(session.stored, file, session.host(file.host))
                except ProblemError:
                    if not has_view and file is files[-1]:
                        raise
                    continue
            has_view = True
            yield view

    def _stored_view(self, stored: StoredSession, file: StoredFile, host: Host) -> HostView:
        """The view written to the result cache and mapped from there, or a copy in memory where there is no cache."""
        from ..timeline.details import kinds
        from ..timeline.host_view import slab_pieces, view_of_host, view_of_slab

        # Kinds of arrows, worked out now, stay known of the host when its events are gone.
        kinds(host)
        full_view = view_of_host(host)
        if self._result_cache.enabled:
            self._result_cache.write(stored._replace(files=(file,)), slab_pieces(full_view), _CACHE_KEY)
        mapped_view = self._mapped_view(stored, file)
        return mapped_view or view_of_slab(memoryview(b"".join(slab_pieces(full_view))))

    def _known_view(self, stored: StoredSession, file: StoredFile) -> HostView | None:
        """The view of a host that is decoded or whose view is kept; None for others."""
        from ..timeline.host_view import view_of_host

        host = self._decoded_hosts.get(file)
        if host is not None:
            return view_of_host(host)
        mapped_view: HostView | None = self._mapped_views.get(file)
        if mapped_view or file.size < WORTH_BYTES:
            return mapped_view
        return self._mapped_view(stored, file)

    def _mapped_view(self, stored: StoredSession, file: StoredFile) -> HostView | None:
        """The view as the result cache keeps it; None where it does not."""
        from ..timeline.host_view import view_of_slab

        slab = self._result_cache.map(stored._replace(files=(file,)), _CACHE_KEY)
        if slab is None:
            return None
        mapped_view = view_of_slab(slab)
        self._mapped_views.put(file, mapped_view)
        return mapped_view

    def _write_later(self, stored: StoredSession, file: StoredFile, host: Host) -> None:
        """Write a view to the result cache in the background, so that the next server need not decode the host."""
        with self._lock:
            if not self._result_cache.enabled or file.size < WORTH_BYTES or file in self._pending_writes:
                return
            self._pending_writes.add(file)
        writer = threading.Timer(_WRITE_DELAY_S, self._write, (stored, file, host))
        writer.name, writer.daemon = "timeline", True
        writer.start()

    def _write(self, stored: StoredSession, file: StoredFile, host: Host) -> None:
        from ..timeline.host_view import slab_pieces, view_of_host

        try:
            self._result_cache.write(stored._replace(files=(file,)), slab_pieces(view_of_host(host)), _CACHE_KEY)
        finally:
            with self._lock:
                self._pending_writes.discard(file)
