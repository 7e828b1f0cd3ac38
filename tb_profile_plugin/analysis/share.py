"""Captures to give away, with or without what they tell about the machines and people they come from."""

from __future__ import annotations

from .. import store, xspace
from ..model.host import Host
from ..model.session import ALL_HOSTS, Session
from ..problems import Problem, ProblemError
from ..xspace import redact


def capture(session: Session, host: str, redacted: bool) -> bytes | memoryview:
    """One host's capture as a file; raises `ProblemError` where several could be meant."""
    names = _names(session, host)
    if len(names) > 1:
        listed = ", ".join(names[:8])
        problem = Problem("one_host", "A capture is of one host.", f"Name one with --host: {listed}.", session.name)
        raise ProblemError(problem)
    return _redacted(session, names[0]) if redacted else memoryview(store.read(_file(session, names[0])))


def redacted(session: Session, host: str) -> list[Host]:
    """The hosts as strangers may see them, called ``host-1``, ``host-2`` … by their places in the session."""
    names = _names(session, host)
    return [Host(_alias(session, name), xspace.decode(_redacted(session, name))) for name in names]


def _names(session: Session, host: str) -> list[str]:
    return list(session.hosts) if host in ("", ALL_HOSTS) else [host]


def _file(session: Session, host: str) -> store.StoredFile:
    if host not in session.hosts:
        session.host(host)
    return next(file for file in session.stored.files if file.host == host)


def _alias(session: Session, host: str) -> str:
    return f"host-{session.hosts.index(host) + 1}"


def _redacted(session: Session, host: str) -> bytes:
    file = _file(session, host)
    return redact.redacted(store.read(file), host, _alias(session, host))
