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
from ..steps.choice_names import TYPICAL

if TYPE_CHECKING:
    from ...model.session import Neighbours, Session

_DIGEST_BEGIN = b'{\n"causes":'
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


def named_source(text: str, step_event: str = "", steps: str = TYPICAL) -> Source:
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
        if content.startswith(_DIGEST_BEGIN):
            return Source(file.stem, None, Digest.from_json(content, path))
    if file.suffix in PAGE_SUFFIXES and file.is_file():
        from ..digest import embedded

        return Source(file.stem, None, embedded.read(file))
    stored, *older = sessions_at(path)
    return Source(stored.name, stored, None, **options, older=len(older))


def cached_digest(source: Source, cache: ResultCache) -> Digest | None:
    """The digest if nothing has to be decoded for it."""
    if source.digest or not source.stored:
        return source.digest
    packed = cache.get(source.stored, *source.question)
    return Digest.from_json(unpack(packed)) if packed else None


def digest_of(source: Source, cache: ResultCache, open_session: Callable[[], Session]) -> Digest:
    """The digest, worked out if it has to be, and kept from now on."""
    cached = cached_digest(source, cache)
    if cached:
        return cached
    assert source.stored, "a source is a session or a digest"
    from ..digest.digest import digest
    from ..steps.choice_names import checked_choice

    session = open_session()
    new_digest = digest(session, source.host, source.step_event, checked_choice(source.steps))
    if not session.unreadable:
        cache.put(source.stored, pack(new_digest.to_json().encode("utf-8", "replace")), *source.question)
    return new_digest


def digest_of_session(session: Session, host: str = "", step_event: str = "", steps: str = TYPICAL) -> Digest:
    """The digest of an open session: what its logdir's cache has, else worked out, and kept from now on."""
    from ..digest.digest import digest
    from ..steps.choice_names import checked_choice

    if not session.neighbours:
        return digest(session, host, step_event, checked_choice(steps))
    source = Source(session.name, session.stored, None, host, step_event, checked_choice(steps))
    return digest_of(source, session.neighbours.result_cache, lambda: session)


def neighbour_digests(
    neighbours: Neighbours, sessions: Iterable[StoredSession], step_event: str, steps: str, most_bytes: int | None
) -> Iterator[tuple[str, Digest | Problem | None]]:
    """Each session's name and digest, or why it has none.

    Captures of ``most_bytes`` in all are read for those that are not kept; the digests of others are None.
    """
    bytes_left = most_bytes
    for stored in sessions:
        cancellation.check()
        source = Source(stored.name, stored, None, "", step_event, steps)
        answer: Digest | Problem | None = cached_digest(source, neighbours.result_cache)
        if answer is None and (bytes_left is None or stored.size <= bytes_left):
            bytes_left = None if bytes_left is None else bytes_left - stored.size
            try:
                answer = digest_of_session(neighbours.open(stored.name), "", step_event, steps)
            except ProblemError as error:
                answer = error.problem
        yield stored.name, answer


def load(source: Source, cache: ResultCache, executor_spec: str = "") -> Digest:
    """`digest_of` by a session of its own, whose hosts an executor works on; nothing of it stays in memory."""
    with ExitStack() as stack:

        def open_session() -> Session:
            from ...model.session import Session
            from ...runtime.executors import executor

            assert source.stored, "digests in files need no session"
            session = Session(source.stored, executor=stack.enter_context(closing(executor(executor_spec))))
            stack.callback(session.close)
            return session

        return digest_of(source, cache, open_session)
