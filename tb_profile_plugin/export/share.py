"""Captures to give away, with or without what they tell about the machines and people they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from .. import store
from ..formats import recognize, xspace
from ..model.host import Host
from ..model.session import ALL_HOSTS, Session
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError
from . import redact, redact_trace
from .names import Names


@dataclass(frozen=True)
class Contents:
    """What one host's capture tells about the machines and people it comes from."""

    host: str
    alias: str
    """What the host is called where it is redacted."""
    size: int
    """Bytes of the file."""
    recorded_ns: int
    """When, ns since the epoch; 0 where the capture does not say."""
    hosts: tuple[str, ...]
    """What it calls its machine, besides ``host``."""
    users: tuple[str, ...]
    """As paths tell them."""
    addresses: tuple[str, ...]
    """IP addresses, or what looks like some."""
    source_stats: int
    """Stats of source code: lines, files, stacks."""
    programs: tuple[str, ...]
    """XLA programs, with all of their code."""
    events: int
    file: str
    """What the file as it is is called where it is given away."""
    kept: str
    """Why it is not redacted, in a sentence; empty where it can be."""


def contents(session: Session, name: str) -> Contents:
    """What a host's capture, given away as it is, tells; raises `ProblemError` where it cannot be read."""
    host, file = session.host(name), _file(session, name)
    data = store.read(file)
    return Contents(
        host=name,
        alias=alias(session, name),
        size=file.size,
        recorded_ns=host.origin_ns,
        hosts=tuple(sorted({*host.space.hostnames} - {name})),
        users=tuple(redact.users_in(data)),
        addresses=tuple(redact.addresses_in(data)),
        source_stats=sum(map(redact.source_stats, host.space.planes)),
        programs=tuple(sorted({module.name for module in host.modules.values()})),
        events=sum(len(plane.events) for plane in host.space.planes),
        file=file_name(session, name, False),
        kept=_why_not_redacted(host, data),
    )


def _why_not_redacted(host: Host, data: Any) -> str:
    damaged = recognize.is_xspace(data) and any(problem.code == "damaged_capture" for problem in host.space.problems)
    return Message("This capture is damaged and cannot be redacted safely.") if damaged else ""


def capture(session: Session, host: str, redacted: bool, names: Names | None = None) -> bytes | memoryview:
    """One host's capture as a file; raises `ProblemError` where several could be meant. For names see `redacted`."""
    names_of_hosts = _hosts(session, host)
    if len(names_of_hosts) > 1:
        listed = ", ".join(names_of_hosts[:8])
        problem = Problem(
            "one_host",
            Message("A capture file holds one host."),
            Message("Choose a host with --host: {listed}.", listed=listed),
            session.name,
        )
        raise ProblemError(problem)
    return (
        _redacted(session, names_of_hosts[0], names)
        if redacted
        else memoryview(store.read(_file(session, names_of_hosts[0])))
    )


def file_name(session: Session, name: str, redacted: bool) -> str:
    """How a host's capture is called where it is given away; raises `ProblemError` (404) for an unknown one."""
    file = _file(session, name)
    ending = ".xplane.pb" if xspace.host_of(file.where.replace("\\", "/").rpartition("/")[2]) else ".pt.trace.json"
    return f"{alias(session, name) if redacted else name}{ending}"


def redacted(session: Session, host: str, names: Names | None = None) -> Iterator[Host]:
    """The hosts as strangers may see them, one by one, called ``host-1``, ``host-2`` … by place in the session.

    Words are called as ``names`` has it, to which new ones are added; by default they are the session's own.
    """
    names_of_hosts = _hosts(session, host)
    return (Host(alias(session, name), recognize.decode(_redacted(session, name, names))) for name in names_of_hosts)


def pseudonyms(sessions: Sequence[Session], file: Path | None = None) -> Names:
    """Those by which sessions agree, the first one's: of a key file, which need not exist yet, to go on with.

    Raises `ProblemError` where the file is none.
    """
    names = Names(_key(sessions[0]))
    if file:
        names.take(file)
    for session in sessions:
        names.add_hosts(session.name, {name: alias(session, name) for name in session.hosts})
    return names


def _hosts(session: Session, host: str) -> list[str]:
    return list(session.hosts) if host in ("", ALL_HOSTS) else [host]


def _file(session: Session, host: str) -> store.StoredFile:
    if host not in session.hosts:
        session.host(host)
    return next(file for file in session.stored.files if file.host == host)


def alias(session: Session, host: str) -> str:
    """What a host is called in redacted captures."""
    return f"host-{session.hosts.index(host) + 1}"


_first: WeakKeyDictionary[Session, Names] = WeakKeyDictionary()
"""Names of the first host's words, by which all hosts of a session agree."""


def _redacted(session: Session, host: str, names: Names | None = None) -> bytes:
    if names:
        return _rewritten(session, host, names)
    if host == session.hosts[0]:
        return _redacted_first(session)
    if session not in _first:
        with suppress(ProblemError):
            _redacted_first(session)
    return _rewritten(session, host, _first[session])


def _redacted_first(session: Session) -> bytes:
    names = Names(_key(session))
    try:
        return _rewritten(session, session.hosts[0], names)
    finally:
        names.open = False
        _first[session] = names


def _rewritten(session: Session, host: str, names: Names) -> bytes:
    data = store.read(_file(session, host))
    aliases = {name: alias(session, name) for name in session.hosts}
    way = redact.redacted if recognize.is_xspace(data) else redact_trace.redacted
    return way(data, host, aliases, names)


def _key(session: Session) -> bytes:
    """What nobody knows who has only redacted captures; the same for all hosts, whose ops thus keep one name."""
    for file in session.stored.files:
        with suppress(ProblemError):
            return hashlib.sha256(store.read(file)).digest()
    return os.urandom(32)
