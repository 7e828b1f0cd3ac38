"""The formats of captures: what a file's name tells, what its content tells, and who reads it.

A format is a folder beside `xspace/` whose ``__init__`` says what `Format` asks for; its `decode` fills the columns.
The list here is all that others know of formats. Nothing large is imported before a capture is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from ..runtime.problems import ProblemError
from ..runtime.records import NamedTuple
from ..runtime.stream import Stream
from . import kineto, xspace

if TYPE_CHECKING:
    from .columns import XSpace

Progress = Callable[[str, float], None]

HEAD = 1 << 16
"""So many bytes of a file's begin tell its format."""
Head = Callable[[str], bytes]
"""The first `HEAD` bytes of the file of that name, inflated; empty where they are not at hand."""


class Format(Protocol):
    """What a format's package says of itself."""

    STREAMED: bool
    """Whether `decode` takes a `Stream`, too."""

    def host_of(self, name: str) -> str | None:
        """The host that a file name tells; None for a name that no file of this format has."""

    def is_certain(self, name: str) -> bool:
        """Whether a file of that name, which tells a host, is surely of this format, without a look into it."""

    def is_by_product(self, name: str) -> bool:
        """Whether profilers also write files of that name beside captures of another format, and out of them."""

    def sessions(self, names: Iterable[str], is_run: bool, head: Head) -> Iterable[tuple[str, tuple[str, ...]]]:
        """The files of one folder by session, which may share names; the empty name stands for the folder itself.

        ``is_run`` tells that the folder is, or is taken for, where one capture of all hosts lies; ``head`` is asked for
        the begin of a file whose name leaves it open.
        """

    def reads(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes (inflated, at most `HEAD`) is of this format."""

    def decode(self, content: Any, where: str = "", progress: Progress = ...) -> XSpace:
        """As `decode` below, of a file of this format."""


FORMATS: tuple[Format, ...] = (kineto, xspace)
"""What tells most by its begin comes first; so does who has a name that several may have."""


def host_of(name: str) -> str | None:
    """The host that a file name tells in the first format that has such names."""
    return next((host for file_format in FORMATS if (host := file_format.host_of(name)) is not None), None)


class _Candidate(NamedTuple):
    """A file that may be a capture, by what `Format` tells of its name."""

    name: str
    format: Format
    host: str | None
    is_certain: bool
    is_by_product: bool


def captures(
    names: Iterable[str],
    is_capture: Callable[[str], bool] = lambda name: False,
    is_empty: Callable[[str], bool] = lambda name: False,
) -> list[str]:
    """Captures among one folder's file names, sorted; ``is_capture`` is asked where the name leaves it open.

    A capture that ``is_empty`` leaves its place to what was made of it, if that lies beside it.
    """
    files = [
        _Candidate(
            name, file_format, file_format.host_of(name), file_format.is_certain(name), file_format.is_by_product(name)
        )
        for name in sorted(names)
        if (file_format := _format_of(name))
    ]
    hosts = {file.host for file in files if file.is_by_product and file.is_certain}
    files = [file for file in files if file.is_by_product or file.host not in hosts or not is_empty(file.name)]
    certain_formats = [file.format for file in files if file.is_certain and not file.is_by_product]
    return [
        file.name
        for file in files
        if (not file.is_by_product or all(certain_format is file.format for certain_format in certain_formats))
        and (file.is_certain or is_capture(file.name))
    ]


def captures_of(name: str) -> tuple[str, ...]:
    """What the capture may be called that a file of that name was made of; nothing for what is made of none."""
    file_format = _format_of(name)
    host = file_format.host_of(name) if file_format and file_format.is_by_product(name) else None
    return () if host is None else tuple(f"{host}{ending}" for ending in (".xplane.pb", ".xplane.pb.gz"))


def sessions(
    names: Iterable[str], is_run: bool, head: Head = lambda name: b""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sessions that the captures of one folder make up: names below the folder's own, and files."""
    all_names = list(names)
    for file_format in FORMATS:
        names_of_format = [name for name in all_names if _format_of(name) is file_format]
        yield from file_format.sessions(names_of_format, is_run, head)


def recognised(head: bytes) -> Format | None:
    """The format of a file that begins so."""
    return next((file_format for file_format in FORMATS if file_format.reads(head)), None)


def is_streamed(head: bytes) -> bool:
    """Whether what begins so need not be held in memory to be decoded."""
    file_format = recognised(head)
    return bool(file_format and file_format.STREAMED)


def is_xspace(content: Any) -> bool:
    """Whether a capture is an XSpace, or anything that nobody recognises: what is given away and redacted as such."""
    return (recognised(bytes(memoryview(content)[:HEAD])) or xspace) is xspace


def decode(content: Any, where: str = "", progress: Progress = lambda phase, fraction: None) -> XSpace:
    """The columns of a capture, by the format of its content; as an XSpace where no format recognises it.

    The content is a buffer, or a `Stream` where `is_streamed` says so.

    Never raises for damaged input: what could be read comes back, with `XSpace.problems` telling what is missing.
    Raises `ProblemError` (422) for what is no capture at all, see `other_files`, and for what is larger than the memory
    limit, before it takes it; ends where nobody waits. ``progress`` is called with a phase and a fraction 0–1.
    """
    # Not needed to find captures.
    from . import other_files

    head = content.head if isinstance(content, Stream) else bytes(memoryview(content)[:HEAD])
    name = PurePath(where).name
    file_format = recognised(head)
    has_capture_name = not name or host_of(name) is not None
    has_xspace_name = not name or xspace.host_of(name) is not None
    problem = other_files.problem_of(head, where, has_xspace_name, is_json_trace=file_format not in (None, xspace))
    if problem or not (file_format or has_capture_name):
        raise ProblemError(problem or other_files.unknown(where), 422)
    return (file_format or xspace).decode(content, where, progress)


def _format_of(name: str) -> Format | None:
    return next((file_format for file_format in FORMATS if file_format.host_of(name) is not None), None)
