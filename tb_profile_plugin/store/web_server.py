"""Files of web servers, which list them on pages: found within limits, since pages may lead in circles."""

from __future__ import annotations

import functools
from contextlib import nullcontext, suppress
from typing import Any

from ..runtime import cancellation
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error

_DEEPEST, _MOST_FOLDERS, _MOST_ENTRIES, _MOST_PAGE_BYTES = 24, 10_000, 500_000, 16 << 20
"""Depth of folders, folders, files, bytes of a page."""


def is_web(url: str) -> bool:
    """Whether it is the address of a web server."""
    return url.partition("://")[0].lower() in ("http", "https")


def files_below_page(files: Any, base: str) -> dict[str, dict[str, Any]]:
    """fsspec's facts of each file below a web server's page, by address, no deeper than `_DEEPEST`.

    Raises `ProblemError` where there are more files or folders than captures ever are.
    """
    files_by_address: dict[str, dict[str, Any]] = {}
    pages, folders = [base], {base.rstrip("/")}
    for _ in range(_DEEPEST):
        next_pages: list[str] = []
        for page in pages:
            cancellation.check()
            # As elsewhere, what cannot be listed is passed over, but for the folder that was named.
            with nullcontext() if page == base else suppress(OSError):
                for entry in files.ls(page, detail=True):
                    name = entry["name"].rstrip("/")
                    if entry["type"] != "directory":
                        files_by_address[entry["name"]] = entry
                    elif name not in folders:
                        folders.add(name)
                        next_pages.append(entry["name"])
            if len(folders) > _MOST_FOLDERS or len(files_by_address) > _MOST_ENTRIES:
                raise _endless_error(
                    base,
                    Message("more than {folders} folders or {files} files", folders=_MOST_FOLDERS, files=_MOST_ENTRIES),
                )
        pages = next_pages
    return files_by_address


@functools.cache
def bounded_response() -> type:
    """The class of a web server's answer that raises for a page longer than a list of files may be.

    Files are read by other methods than `text`.
    """
    from aiohttp import ClientResponse

    class Bounded(ClientResponse):
        async def text(self, encoding: str | None = None, errors: str = "strict") -> str:
            pieces, size = [], 0
            async for piece in self.content.iter_any():
                pieces.append(piece)
                size += len(piece)
                if size > _MOST_PAGE_BYTES:
                    self.close()
                    raise _endless_error(
                        str(self.url), Message("files on a page of more than {size} MiB", size=_MOST_PAGE_BYTES >> 20)
                    )
            self._body = b"".join(pieces)
            return await super().text(encoding, errors)

    return Bounded


def serves_parts(files: Any, path: str) -> bool:
    """Whether a part of a file can be asked for: web servers may ignore that, all other interfaces promise it."""
    if "http" not in files.protocol:
        return True
    from fsspec.asyn import sync

    async def ask() -> bool:
        session = await files.set_session()
        headers = {**files.kwargs.get("headers", {}), "Range": "bytes=0-0"}
        async with session.get(files.encode_url(path), **{**files.kwargs, "headers": headers}) as response:
            return bool(response.status == 206)

    return bool(sync(files.loop, ask))


def _endless_error(url: str, what: str) -> ProblemError:
    message = Message("The web server lists {what}.", what=what)
    return problem_error("endless", message, "Name a folder closer to the captures.", url, status=502)
