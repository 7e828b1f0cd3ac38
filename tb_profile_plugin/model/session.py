"""A session: the hosts of one capture, each decoded when it is first asked for."""

from __future__ import annotations

import threading
from typing import Any

from .. import store, xspace
from ..problems import Problem, ProblemError
from .devices import device_type
from .host import Host

ALL_HOSTS = "ALL_HOSTS"


class Session:
    """One capture of one or many hosts. Safe to use from several threads."""

    def __init__(self, stored: store.StoredSession):
        self.stored = stored
        self.name = stored.name
        self.hosts: tuple[str, ...] = stored.hosts
        """Names, sorted."""
        self._files = {file.host: file for file in stored.files}
        self._hosts: dict[str, Host] = {}
        self._unreadable: dict[str, Problem] = {}
        self._phases: dict[str, tuple[str, float]] = {}
        self._locks = {host: threading.Lock() for host in self.hosts}

    def host(self, name: str) -> Host:
        """That host, decoded; raises `ProblemError` for an unknown one (404) or an unreadable file."""
        if name not in self._files:
            names = ", ".join(self.hosts[:8])
            problem = Problem("unknown_host", f"This session has no host {name!r}.", f"Hosts: {names}.", self.name)
            raise ProblemError(problem, 404)
        with self._locks[name]:
            if name not in self._hosts:
                self._hosts[name] = self._decode(name)
            return self._hosts[name]

    def _decode(self, name: str) -> Host:
        def progress(phase: str, fraction: float) -> None:
            self._phases[name] = (phase, fraction)

        try:
            progress("Opening", 0.0)
            file = self._files[name]
            content = store.read(file, lambda fraction: progress("Fetching", fraction))
            return Host(name, xspace.decode(content, file.where, progress))
        except ProblemError as error:
            self._unreadable[name] = error.problem
            raise
        finally:
            self._phases.pop(name, None)

    def select(self, name: str = "") -> list[Host]:
        """That host, or all that can be read for ``ALL_HOSTS`` or nothing; raises `ProblemError` if none can."""
        if name not in ("", ALL_HOSTS):
            return [self.host(name)]
        readable: list[Host] = []
        failure: ProblemError | None = None
        for each in self.hosts:
            try:
                readable.append(self.host(each))
            except ProblemError as error:  # noqa: PERF203 - one unreadable host must not hide the others
                failure = error
        if failure and not readable:
            raise failure
        return readable

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
        hosts = self.select()
        begin = min(host.window[0] for host in hosts)
        end = max(host.window[1] for host in hosts)
        return {
            "device": device_type(hosts),
            "steps": max(len(host.steps) for host in hosts),
            "duration_ms": (end - begin) / 1e9,
            "events": sum(len(host.trace) for host in hosts),
        }

    def progress(self) -> list[dict[str, Any]]:
        """What is being decoded now, and how far it is; never decodes."""
        phases = list(self._phases.items())
        return [{"host": host, "phase": phase, "fraction": fraction} for host, (phase, fraction) in phases]
