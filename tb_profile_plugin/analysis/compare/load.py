"""Digests of what people name: sessions, kept from the last time they were asked for, files of digests, and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runtime import cancellation
from ...runtime.messages import Message
from ...runtime.problems import Problem, ProblemError, problem_error
from ...runtime.records import NamedTuple
from ...store import PAGE_SUFFIXES, StoredSession, sessions_at
from ...store.result_cache import ResultCache, pack, unpack
from ..digest.record import VERSION, Digest
from ..steps.step_choice import TYPICAL

if TYPE_CHECKING:
    from ...model.session import Neighbours, Session

_BEGIN = b'{\n"causes":'
"""How canonical digests begin, as no capture does."""


class Source(NamedTuple):
    """A session, or a digest that lies in a file or a report, as it was named: ``PATH#steps=10-40&host=worker-0``."""

    name: str
    stored: StoredSession | None
    digest: Digest | None
    host: str = ""
    step_event: str = ""
    steps: str = TYPICAL
    older: int = 0
    """Sessions of the same logdir that were left, since its newest one is taken."""

    @property
    def question(self) -> tuple[object, ...]:
        """What its digest is kept under, besides the session."""
        return ("digest", VERSION, self.host, self.step_event, self.steps)


_CHOICES = ("host", "steps", "step_event")


def source(text: str, step_event: str = "", steps: str = TYPICAL) -> Source:
    """What a text names; raises `ProblemError` for what is not there, or a choice that does not exist."""
    path, mark, choices = text.rpartition("#") if "=" in text.rpartition("#")[2] else (text, "", "")
    options: dict[str, Any] = {"step_event": step_event, "steps": steps}
    for choice in choices.split("&") if mark else ():
        name, _, value = choice.partition("=")
        if name not in _CHOICES:
            remedy = Message("Use {choices}, e.g. PATH#steps=10-40.", choices=", ".join(_CHOICES))
            raise problem_error("bad_option", Message("{name} is not a valid choice.", name=repr(name)), remedy, text)
        options[name] = value
    file = Path(path)
    if file.suffix == ".json" and file.is_file():
        content = file.read_bytes()
        if content.startswith(_BEGIN):
            return Source(file.stem, None, Digest.from_json(content, path))
    if file.suffix in PAGE_SUFFIXES and file.is_file():
        from ..digest import embedded

        return Source(file.stem, None, embedded.read(file))
    stored, *older = sessions_at(path)
    return Source(stored.name, stored, None, **options, older=len(older))


def cached_digest(wanted: Source, cache: ResultCache) -> Digest | None:
    """The digest if nothing has to be decoded for it."""
    if wanted.digest or not wanted.stored:
        return wanted.digest
    packed = cache.get(wanted.stored, *wanted.question)
    return Digest.from_json(unpack(packed)) if packed else None


def digest_of(wanted: Source, cache: ResultCache, session: Callable[[], Session]) -> Digest:
    """The digest, worked out if it has to be, and kept from now on."""
    cached = cached_digest(wanted, cache)
    if cached or not wanted.stored:
        assert cached, "a source is a session or a digest"
        return cached
    from ..digest.digest import digest
    from ..steps.step_choice import checked

    opened = session()
    fresh = digest(opened, wanted.host, wanted.step_event, checked(wanted.steps))
    if not opened.unreadable:
        cache.put(wanted.stored, pack(fresh.to_json().encode("utf-8", "replace")), *wanted.question)
    return fresh


def digest_of_session(session: Session, host: str = "", step_event: str = "", steps: str = TYPICAL) -> Digest:
    """The digest of an open session: what its logdir's cache has, else worked out, and kept from now on."""
    from ..digest.digest import digest
    from ..steps.step_choice import checked

    if not session.neighbours:
        return digest(session, host, step_event, checked(steps))
    wanted = Source(session.name, session.stored, None, host, step_event, checked(steps))
    return digest_of(wanted, session.neighbours.result_cache, lambda: session)


def neighbour_digests(
    neighbours: Neighbours, sessions: Iterable[StoredSession], step_event: str, steps: str, most_bytes: int | None
) -> Iterator[tuple[str, Digest | Problem | None]]:
    """Each session's name and digest, or why it has none.

    Captures of ``most_bytes`` in all are read for those that are not kept; the digests of others are None.
    """
    left = most_bytes
    for stored in sessions:
        cancellation.check()
        wanted = Source(stored.name, stored, None, "", step_event, steps)
        digest: Digest | Problem | None = cached_digest(wanted, neighbours.result_cache)
        if digest is None and (left is None or stored.size <= left):
            left = None if left is None else left - stored.size
            try:
                digest = digest_of_session(neighbours.open(stored.name), "", step_event, steps)
            except ProblemError as error:
                digest = error.problem
        yield stored.name, digest


def load(wanted: Source, cache: ResultCache, spec: str = "") -> Digest:
    """`digest_of` by a session of its own, whose hosts an executor works on; nothing of it stays in memory."""
    with ExitStack() as stack:

        def opened() -> Session:
            from ...model.session import Session
            from ...runtime.executors import executor

            assert wanted.stored, "digests in files need no session"
            session = Session(wanted.stored, executor=stack.enter_context(closing(executor(spec))))
            stack.callback(session.close)
            return session

        return digest_of(wanted, cache, opened)
