"""A session: the hosts of one capture, each decoded when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import patience, store, xspace
from ..problems import Problem, ProblemError
from .devices import device_type
from .host import Host
from .residents import Residents

ALL_HOSTS = "ALL_HOSTS"
_ALONE_BYTES = 512 << 20
"""What a session by itself keeps decoded: scripts and the command line ask it little more than once."""


class Session:
    """One capture of one or many hosts. Safe to use from several threads."""

    def __init__(self, stored: store.StoredSession, residents: Residents | None = None):
        """`residents` bound what stays decoded, over several sessions where they share them."""
        self.stored = stored
        self.name = stored.name
        self.hosts: tuple[str, ...] = stored.hosts
        """Names, sorted."""
        self._files = {file.host: file for file in stored.files}
        self._hosts: dict[str, Host] = {}
        self._residents = residents or Residents(_ALONE_BYTES)
        self._sizes: dict[str, int] = {}
        """Bytes of what was decoded, inflated."""
        self._unreadable: dict[str, Problem] = {}
        self._phases: dict[str, tuple[str, float]] = {}
        self._locks = {host: threading.Lock() for host in self.hosts}
        self._crowds = {host: patience.Crowd() for host in self.hosts}

    def host(self, name: str) -> Host:
        """That host; raises `ProblemError` for an unknown one (404) or an unreadable file."""
        if name not in self._files:
            names = ", ".join(self.hosts[:8])
            problem = Problem("unknown_host", f"This session has no host {name!r}.", f"Hosts: {names}.", self.name)
            raise ProblemError(problem, 404)
        patience.check()
        # A capture is decoded for all who wait for it, so that one of them may go.
        with self._crowds[name].joined(), self._locks[name]:
            host = self._hosts.get(name)
            if host is None:
                host = Host(name, load=self._decode, loaded=self._decoded, size=self._files[name].size)
                # Whether it can be read is known from here on.
                _ = host.space
                self._hosts[name] = host
        self._residents.use(host)
        return host

    def close(self) -> None:
        """Let go of what is decoded."""
        for host in list(self._hosts.values()):
            self._residents.drop(host)

    def _decoded(self, host: Host) -> None:
        self._residents.add(host, self._sizes[host.name], partial(self._thin, host))

    def _thin(self, host: Host) -> None:
        self._hosts[host.name] = host.thinned()

    def _decode(self, host: Host) -> xspace.XSpace:
        name = host.name

        def progress(phase: str, fraction: float) -> None:
            patience.check()
            self._phases[name] = (phase, fraction)

        try:
            progress("Opening", 0.0)
            file = self._files[name]
            content = store.read(file, lambda fraction: progress("Fetching", fraction))
            if name in self._hosts and _replaced(file):
                remedy = "Reload the page, which shows the new one."
                raise ProblemError(Problem("changed", "The capture was replaced meanwhile.", remedy, file.where), 409)
            self._sizes[name] = len(content)
            return xspace.decode(content, file.where, progress)
        except ProblemError as error:
            self._unreadable[name] = error.problem
            raise
        finally:
            self._phases.pop(name, None)

    def select(self, name: str = "", prepare: Callable[[Host], object] | None = None) -> list[Host]:
        """That host, or all that can be read for ``ALL_HOSTS`` or nothing; raises `ProblemError` if none can.

        Where not all fit into memory at once, `prepare` is called with each while it is decoded, so that the small
        results that are wanted of it remain.
        """
        # One host alone needs its whole capture however little room there is.
        fit = len(self.hosts) == 1 or self._residents.hold(self.stored.size)
        if name not in ("", ALL_HOSTS):
            return [self.host(name)]
        readable: list[str] = []
        failure: ProblemError | None = None
        for each in self.hosts:
            try:
                host = self.host(each)
                if prepare and not fit:
                    prepare(host)
                    self._residents.drop(host)
                readable.append(each)
            except ProblemError as error:  # noqa: PERF203 - one unreadable host must not hide the others
                failure = error
        if failure and not readable:
            raise failure
        return [self.host(each) for each in readable]

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Hosts whose files could not be read so far."""
        return tuple(self._unreadable)

    def problems(self) -> list[Problem]:
        """Of the hosts decoded so far, and of those that could not be."""
        found = list(self._unreadable.values())
        for host in list(self._hosts.values()):
            found += host.problems
        return found

    def facts(self) -> dict[str, Any]:
        """Device, hosts, steps and length of the session for a list of sessions; decodes what is needed."""
        hosts = self.select(prepare=_figures)
        begin = min(host.window[0] for host in hosts)
        end = max(host.window[1] for host in hosts)
        return {
            "device": device_type(hosts),
            "steps": max(_figures(host)["steps"] for host in hosts),
            "duration_ms": (end - begin) / 1e9,
            "events": sum(_figures(host)["events"] for host in hosts),
        }

    def progress(self) -> list[dict[str, Any]]:
        """What is being decoded now, and how far it is; never decodes."""
        phases = list(self._phases.items())
        return [{"host": host, "phase": phase, "fraction": fraction} for host, (phase, fraction) in phases]


def _replaced(file: store.StoredFile) -> bool:
    """Whether the file on disk is another one by now."""
    facts = file.path.stat()
    return not file.url and (facts.st_size, facts.st_mtime_ns) != (file.size, file.mtime_ns)


def _figures(host: Host) -> dict[str, Any]:
    """What `Session.facts` needs of a host."""

    def look() -> dict[str, Any]:
        return {"steps": len(host.steps), "events": len(host.trace), "window": host.window, "type": device_type([host])}

    return host.once("figures", look)
