"""Answers that were worked out before, in the user's cache directory; whoever finds one need not decode anything."""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache as run_once
from pathlib import Path
from typing import Any

from ..runtime import extensions
from ..runtime.messages import ENGLISH, language
from ..runtime.version import __version__
from . import cache
from .files import ALL_HOSTS, StoredSession
from .safe_read import GZIP_WBITS

NAMED, LEGACY = "named", "legacy"
"""Shapes of a tool's answer: its own, and that of the existing plugin."""

_COMPRESSION_LEVEL = 5
_DIGEST_BYTES = 32
"""Bytes of a hash before an entry's body, which tells whether that was damaged."""


def to_json(data: Any) -> bytes:
    """Plain data as compact JSON; raises ValueError for NaN and infinities, which browsers cannot read."""
    import json

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def pack(body: bytes) -> bytes:
    """The body compressed, the same for the same content."""
    compressor = zlib.compressobj(_COMPRESSION_LEVEL, wbits=GZIP_WBITS)
    return compressor.compress(body) + compressor.flush()


def unpack(packed: bytes) -> bytes:
    """The body again."""
    return zlib.decompress(packed, GZIP_WBITS)


def question_key(tool: str, host: str, options: Mapping[str, str], shape: str) -> tuple[object, ...]:
    """What a tool's answer in some shape is kept under, besides the session."""
    in_language = () if shape == LEGACY else language_key()
    return (shape, tool.rstrip("@^"), "" if host == ALL_HOSTS else host, tuple(sorted(options.items())), *in_language)


def language_key() -> tuple[str, ...]:
    """Added to the question of an answer that has sentences: the language, or nothing for English."""
    return () if language() == ENGLISH else (language(),)


class ResultCache:
    """Bytes by session and question; an entry serves as long as neither the session's files nor our code change.

    Whatever goes wrong with the cache, an entry that was damaged included, only means that nothing is found.
    """

    def __init__(self, enabled: bool = True):
        """Nothing is kept or found where it is not enabled, or where the cache may take no bytes."""
        self.enabled = enabled and cache.limit() > 0

    def names(self) -> frozenset[str]:
        """Names of all that is kept."""
        return cache.names() if self.enabled else frozenset()

    def modified_ns(self) -> int:
        """When something was last kept or deleted, in ns since the epoch; 0 for never."""
        return cache.modified_ns() if self.enabled else 0

    def entry_path(self, stored: StoredSession, *question: object) -> Path:
        """Where the answer to a question about a session is kept, if it is."""
        files = [(file.host, file.where, file.size, file.mtime_ns, file.version) for file in stored.files]
        return cache.entry_path("results", (_code_digest(), stored.name, files, question))

    def get(self, stored: StoredSession, *question: object) -> bytes | None:
        """What was kept for a question about a session."""
        if not self.enabled:
            return None
        path = self.entry_path(stored, *question)
        try:
            with cache.entry(path) as file:
                content = file.read()
        except OSError:
            return None
        return bytes(body) if (body := _undamaged_body(path, memoryview(content))) is not None else None

    def map(self, stored: StoredSession, *question: object) -> memoryview | None:
        """As `get`, for what is too large to copy: mapped, and good for as long as it is held, deleted or not."""
        if not self.enabled:
            return None
        path = self.entry_path(stored, *question)
        try:
            with cache.entry(path) as file:
                # Kernels are compiled for arrays that can be written to.
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError):
            return None
        return _undamaged_body(path, memoryview(content))

    def put(self, stored: StoredSession, body: bytes, *question: object) -> None:
        """Keep the answer to a question about a session."""
        self.write(stored, [body], *question)

    def write(self, stored: StoredSession, pieces: Iterable[bytes | memoryview], *question: object) -> None:
        """As `put`, for what is too large to be put together in memory."""
        if not self.enabled:
            return
        digest = cache.hasher(size=_DIGEST_BYTES)
        with suppress(OSError), cache.draft(self.entry_path(stored, *question)) as draft, open(draft, "wb") as file:
            file.write(bytes(_DIGEST_BYTES))
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            file.seek(0)
            file.write(digest.digest())


def _undamaged_body(path: Path, content: memoryview) -> memoryview | None:
    """The body of an entry; None of one that was damaged."""
    body = content[_DIGEST_BYTES:]
    if cache.hasher(body, _DIGEST_BYTES).digest() != content[:_DIGEST_BYTES]:
        return None
    cache.mark_used(path)
    return body


@run_once
def _code_digest() -> str:
    """Differs for any other code: by its version, and by the files themselves, for those who change them."""
    files = extensions.source_files(str(Path(__file__).parent.parent))
    return cache.digest_of((__version__, *sorted(files, key=repr), *extensions.code_facts()))
