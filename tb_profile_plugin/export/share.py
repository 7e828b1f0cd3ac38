"""Captures to give away, with or without what they tell about the machines and people they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .. import formats, store, xspace
from ..model.host import Host
from ..model.session import ALL_HOSTS, Session
from ..problems import Problem, ProblemError
from . import redact, redact_trace


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
        alias=_alias(session, name),
        size=file.size,
        recorded_ns=host.origin_ns,
        hosts=tuple(sorted({*host.space.hostnames} - {name})),
        users=tuple(redact.users_in(data)),
        addresses=tuple(redact.addresses_in(data)),
        source_stats=sum(map(redact.source_stats, host.space.planes)),
        programs=tuple(sorted({module.name for module in host.modules.values()})),
        events=sum(len(plane.events) for plane in host.space.planes),
        file=file_name(session, name, False),
        kept=_kept(host, data),
    )


def _kept(host: Host, data: Any) -> str:
    damaged = formats.is_xspace(data) and any(problem.code == "damaged_capture" for problem in host.space.problems)
    return "This capture is damaged, so that nobody can say what it holds: it is not redacted." if damaged else ""


def capture(session: Session, host: str, redacted: bool) -> bytes | memoryview:
    """One host's capture as a file; raises `ProblemError` where several could be meant."""
    names = _names(session, host)
    if len(names) > 1:
        listed = ", ".join(names[:8])
        problem = Problem("one_host", "A capture is of one host.", f"Name one with --host: {listed}.", session.name)
        raise ProblemError(problem)
    return _redacted(session, names[0], _key(session)) if redacted else memoryview(store.read(_file(session, names[0])))


def file_name(session: Session, name: str, redacted: bool) -> str:
    """How a host's capture is called where it is given away; raises `ProblemError` (404) for an unknown one."""
    file = _file(session, name)
    ending = ".xplane.pb" if xspace.host_of(file.where.replace("\\", "/").rpartition("/")[2]) else ".pt.trace.json"
    return f"{_alias(session, name) if redacted else name}{ending}"


def redacted(session: Session, host: str) -> Iterator[Host]:
    """The hosts as strangers may see them, one by one, called ``host-1``, ``host-2`` … by place in the session."""
    names = _names(session, host)
    key = _key(session)
    return (Host(_alias(session, name), formats.decode(_redacted(session, name, key))) for name in names)


def _names(session: Session, host: str) -> list[str]:
    return list(session.hosts) if host in ("", ALL_HOSTS) else [host]


def _file(session: Session, host: str) -> store.StoredFile:
    if host not in session.hosts:
        session.host(host)
    return next(file for file in session.stored.files if file.host == host)


def _alias(session: Session, host: str) -> str:
    return f"host-{session.hosts.index(host) + 1}"


def _redacted(session: Session, host: str, key: bytes) -> bytes:
    data = store.read(_file(session, host))
    aliases = {name: _alias(session, name) for name in session.hosts}
    way = redact.redacted if formats.is_xspace(data) else redact_trace.redacted
    return way(data, host, aliases, key)


def _key(session: Session) -> bytes:
    """What nobody knows who has only redacted captures; the same for all hosts, whose ops thus keep one name."""
    for file in session.stored.files:
        with suppress(ProblemError):
            return hashlib.sha256(store.read(file)).digest()
    return os.urandom(32)
