"""What is done to one host of many: here, or by a worker in another process that gets its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import store
from ..formats import recognize
from ..formats.columns import XSpace
from ..runtime import memory
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.stream import Stream
from ..runtime.version import __version__
from .host import Host, HostSummary
from .per_host import Need


def summarise(file: store.StoredFile, needs: Sequence[Need], version: str) -> HostSummary:
    """What is needed of one host, worked out from its file by any process that can read it.

    Raises `ProblemError` for a file that cannot be read or is another one here, and where the process that asks has
    another `version` of this package.
    """
    if version != __version__:
        message = Message(
            "A worker has version {version} of tb-profile-plugin instead of {wanted}.",
            version=__version__,
            wanted=version,
        )
        raise problem_error("worker_failed", message, "Install the same version everywhere.", file.host, status=502)
    from ..store.remote import relocated

    file = relocated(file)
    host = Host(file.host, decode_file(file, is_known=True))
    work_out(host, needs)
    return host.summary()


def decode_file(
    file: store.StoredFile,
    is_known: bool,
    progress: Callable[[str, float], None] = lambda phase, fraction: None,
) -> XSpace:
    """The tables of a file.

    Raises `ProblemError` for a file that cannot be read, and for another one than was found where that ``is_known``.
    """
    with store.readable(file):
        for content in store.contents(file, lambda fraction: progress(Message("Fetching"), fraction)):
            if is_known:
                check_unchanged(file)
            space = decode_content(content, file.where, progress)
        return space


def decode_content(
    content: store.Buffer | Stream,
    where: str,
    progress: Callable[[str, float], None] = lambda phase, fraction: None,
) -> XSpace:
    """The tables of a file's bytes; of these only blocks with texts stay in memory."""
    space = recognize.decode(content, where, progress)
    if not isinstance(content, Stream):
        memory.release_blocks(content, space.spans_without_text(np.frombuffer(content, np.uint8), memory.BLOCK))
    return space


def work_out(host: Host, needs: Sequence[Need]) -> None:
    """Let a host know these needs; raises `ProblemError` where its file cannot be read."""
    _ = host.space
    for need in needs:
        need.work_out(host)


def check_unchanged(file: store.StoredFile) -> None:
    """Raise `ProblemError` where the file on disk is another one than was found, or none."""
    if file.url:
        return
    try:
        status = file.path.stat()
        is_same = (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns)
    except OSError:
        is_same = False
    if not is_same:
        message = Message("The capture was replaced or deleted.")
        raise problem_error("changed", message, "Reload the page.", file.where, status=409)
