"""Captures to give away, with or without what they tell about the machines and people they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from .. import store
from ..formats import recognize, xspace
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.records import record
from . import redact, redact_trace
from .pseudonyms import Pseudonyms


@record
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
    host, file = session.host(name), _stored_file(session, name)
    data = store.read(file)
    return Contents(
        host=name,
        alias=alias(session, name),
        size=file.size,
        recorded_ns=host.origin_ns,
        hosts=tuple(sorted({*host.space.hostnames} - {name})),
        users=tuple(redact.users_in(data)),
        addresses=tuple(redact.addresses_in(data)),
        source_stats=sum(map(redact.source_stat_count, host.space.planes)),
        programs=tuple(sorted({module.name for module in host.modules.values()})),
        events=sum(len(plane.events) for plane in host.space.planes),
        file=file_name(session, name, False),
        kept=_why_not_redacted(host, data),
    )


def _why_not_redacted(host: Host, data: Any) -> str:
    damaged = recognize.is_xspace(data) and any(problem.code == "damaged_capture" for problem in host.space.problems)
    return Message("This capture is damaged and cannot be redacted safely.") if damaged else ""


def capture(session: Session, host: str, redacted: bool, pseudonyms: Pseudonyms | None = None) -> bytes | memoryview:
    """One host's capture as a file, redacted as `redacted` does; raises `ProblemError` where several could be meant."""
    names = _host_names(session, host)
    if len(names) > 1:
        names_text = ", ".join(names[:8])
        remedy = Message("Choose a host with --host: {listed}.", listed=names_text)
        raise problem_error("one_host", "A capture file holds one host.", remedy, session.name)
    return (
        _redacted_capture(session, names[0], pseudonyms)
        if redacted
        else memoryview(store.read(_stored_file(session, names[0])))
    )


def file_name(session: Session, name: str, redacted: bool) -> str:
    """How a host's capture is called where it is given away; raises `ProblemError` (404) for an unknown one."""
    file = _stored_file(session, name)
    ending = ".xplane.pb" if xspace.host_of(file.where.replace("\\", "/").rpartition("/")[2]) else ".pt.trace.json"
    return f"{alias(session, name) if redacted else name}{ending}"


def redacted_hosts(session: Session, host: str, pseudonyms: Pseudonyms | None = None) -> Iterator[Host]:
    """The hosts as strangers may see them, one by one, called ``host-1``, ``host-2`` … by place in the session.

    New words are added to ``pseudonyms``; by default these are the session's own.
    """
    names = _host_names(session, host)
    return (
        Host(alias(session, name), recognize.decode(_redacted_capture(session, name, pseudonyms))) for name in names
    )


def shared_pseudonyms(sessions: Sequence[Session], file: Path | None = None) -> Pseudonyms:
    """The pseudonyms that several sessions share, keyed by the first one, with those of a key file if it exists.

    Raises `ProblemError` where the file is none.
    """
    pseudonyms = Pseudonyms(_pseudonym_key(sessions[0]))
    if file:
        pseudonyms.read(file)
    for session in sessions:
        pseudonyms.add_hosts(session.name, {name: alias(session, name) for name in session.hosts})
    return pseudonyms


def _host_names(session: Session, host: str) -> list[str]:
    return list(session.hosts) if host in ("", store.ALL_HOSTS) else [host]


def _stored_file(session: Session, host: str) -> store.StoredFile:
    if host not in session.hosts:
        session.host(host)
    return next(file for file in session.stored.files if file.host == host)


def alias(session: Session, host: str) -> str:
    """What a host is called in redacted captures."""
    return f"host-{session.hosts.index(host) + 1}"


_pseudonyms_of_first_host: WeakKeyDictionary[Session, Pseudonyms] = WeakKeyDictionary()
"""By session: all of its hosts share the pseudonyms of the first host's words."""


def _redacted_capture(session: Session, host: str, pseudonyms: Pseudonyms | None = None) -> bytes:
    if pseudonyms:
        return _redacted_bytes(session, host, pseudonyms)
    if host == session.hosts[0]:
        return _redacted_first_host(session)
    if session not in _pseudonyms_of_first_host:
        with suppress(ProblemError):
            _redacted_first_host(session)
    return _redacted_bytes(session, host, _pseudonyms_of_first_host[session])


def _redacted_first_host(session: Session) -> bytes:
    pseudonyms = Pseudonyms(_pseudonym_key(session))
    try:
        return _redacted_bytes(session, session.hosts[0], pseudonyms)
    finally:
        pseudonyms.is_open = False
        _pseudonyms_of_first_host[session] = pseudonyms


def _redacted_bytes(session: Session, host: str, pseudonyms: Pseudonyms) -> bytes:
    data = store.read(_stored_file(session, host))
    aliases = {name: alias(session, name) for name in session.hosts}
    redact_bytes = redact.redacted if recognize.is_xspace(data) else redact_trace.redacted
    return redact_bytes(data, host, aliases, pseudonyms)


def _pseudonym_key(session: Session) -> bytes:
    """A key that redacted captures do not tell: a hash of the first readable file. One for all hosts."""
    for file in session.stored.files:
        with suppress(ProblemError):
            return hashlib.sha256(store.read(file)).digest()
    return os.urandom(32)
