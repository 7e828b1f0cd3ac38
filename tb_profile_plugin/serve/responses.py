"""Responses of all kinds: JSON, problems, files to save, files of the built pages; with their security headers."""

from __future__ import annotations

import hashlib
import re
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from werkzeug.http import dump_options_header, quote_etag
from werkzeug.wrappers import Request, Response

from ..runtime.messages import Message, translated
from ..runtime.problems import Problem, problem_error
from ..runtime.regex import regex
from ..store.result_cache import pack, to_json, unpack
from ..tools.answers import csv

STATIC = Path(__file__).resolve().parent.parent / "static"
"""The built pages."""

_PAGE_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    ]
)
"""The policy of our pages: charts set styles on elements; everything else comes from our own files."""

_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that are no page, should a browser ever show one as such."""

_STATIC_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""The policy of pages without scripts that hold their styles."""

_STATIC_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
"""Fixed, because a machine's own table of types may call JavaScript plain text, which browsers refuse to run."""

_DOWNLOAD_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "dot": "text/vnd.graphviz; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}
_COMPRESSED_SUFFIXES = frozenset({".png", ".woff2"})
_HASHED_NAME = regex(r"-[A-Za-z0-9_-]{8}\.\w+$")
_stream_slots = threading.BoundedSemaphore(8)
"""For answers that are sent piece by piece: each holds a thread and its data until its reader has taken it."""
_PIECE_BYTES = 1 << 20
"""Size of such a piece at most, which a slow client takes in time."""
_SMALL_BYTES = 1024
"""Bytes below which compressing gains nothing."""


def data_json(request: Request, data: Any, status: int = 200) -> Response:
    """Plain data as JSON, which no cache may keep: captures change and may be confidential."""
    return _uncached(request, to_json(translated(data)), "application/json", status)


def packed_json(request: Request, packed: bytes) -> Response:
    """JSON that is compressed already."""
    return _no_store(_response(request, None, packed, "application/json"))


def binary(request: Request, body: bytes) -> Response:
    """Bytes for the pages' own use, which compressing would not shorten."""
    return _no_store(_response(request, body, None, "application/octet-stream"))


def streamed_json(request: Request, pieces: Iterator[str]) -> Response:
    """JSON too large to hold, sent as it is made; raises `ProblemError` as `binary_file` does."""
    takes_gzip = _takes_gzip(request)
    encoded = _gzip_pieces(pieces) if takes_gzip else (piece.encode() for piece in pieces)
    response = _streamed(request, encoded, "application/json")
    response.headers["Vary"] = "Accept-Encoding"
    if takes_gzip:
        response.headers["Content-Encoding"] = "gzip"
    return response


def streamed_file(request: Request, pieces: Iterator[str], name: str) -> Response:
    """Text as a file to save, sent as it is made; raises `ProblemError` as `binary_file` does."""
    encoded = (piece.encode("utf-8", "replace") for piece in pieces)
    return _as_attachment(_streamed(request, encoded, _DOWNLOAD_TYPES[name.rpartition(".")[2]]), name)


def _takes_gzip(request: Request) -> bool:
    return request.accept_encodings["gzip"] > 0


def _gzip_pieces(pieces: Iterator[str]) -> Iterator[bytes]:
    compressor = zlib.compressobj(1, wbits=31)
    for piece in pieces:
        yield compressor.compress(piece.encode())
    yield compressor.flush()


def binary_file(request: Request, body: bytes | memoryview, name: str) -> Response:
    """Bytes as a file to save, sent in pieces as they lie in memory.

    Raises `ProblemError` (503) where as many large answers as there may be are on their way.
    """
    response = _streamed(request, in_pieces(body), "application/octet-stream")
    response.content_length = len(body)
    return _as_attachment(response, name)


def in_pieces(body: bytes | memoryview) -> Iterator[bytes]:
    """The bytes in pieces of `_PIECE_BYTES`."""
    return (bytes(body[begin : begin + _PIECE_BYTES]) for begin in range(0, len(body), _PIECE_BYTES))


def _streamed(request: Request, pieces: Iterator[bytes], content_type: str) -> Response:
    if request.method == "HEAD":
        return _no_store(_with_security_headers(Response(content_type=content_type)))
    if not _stream_slots.acquire(blocking=False):
        message = Message("Too many large answers are being sent.")
        raise problem_error("busy", message, "Try again when they have arrived.", status=503)
    response = Response(pieces, content_type=content_type)
    # Also where a server forgets to close the response, when its pieces are garbage; never twice.
    response.call_on_close(weakref.finalize(pieces, _stream_slots.release))
    return _no_store(_with_security_headers(response))


def _as_attachment(response: Response, name: str) -> Response:
    safe_name = re.sub(r"[^\w.()+-]+", "_", name)
    response.headers["Content-Disposition"] = dump_options_header("attachment", {"filename": safe_name})
    return response


def text(request: Request, body: str) -> Response:
    """A line of text, as some of the older routes answer."""
    return _no_store(_response(request, body.encode(), None, "text/plain; charset=utf-8"))


def document(request: Request, body: bytes, name: str) -> Response:
    """A program's text or graph as a file to save, so that no browser shows it, whatever is in it."""
    content_type = _DOWNLOAD_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return _as_attachment(_uncached(request, body, content_type), name)


def page(request: Request, html: str) -> Response:
    """A page without scripts, made of data in the logdir."""
    response = _uncached(request, html.encode("utf-8", "replace"), _STATIC_TYPES[".html"])
    response.headers["Content-Security-Policy"] = _STATIC_PAGE_POLICY
    return response


def script(request: Request, body: bytes) -> Response:
    """A JavaScript module of a tool that another distribution brings."""
    return _no_store(_response(request, body, None, _STATIC_TYPES[".js"]))


def problem(request: Request, problem: Problem, status: int) -> Response:
    """A problem as JSON."""
    return data_json(request, problem.as_json(), status)


def csv_file(request: Request, rows: Iterable[Sequence[object]], name: str) -> Response:
    """Rows of a table, of which the first has its heads, to be saved."""
    body = "".join(csv.lines(rows)).encode("utf-8", "replace")
    return _as_attachment(_uncached(request, body, _DOWNLOAD_TYPES["csv"]), name)


def static_file(request: Request, name: str) -> Response:
    """A file of the built pages: browsers keep those with a hash in their name, and ask again for others.

    Raises `ProblemError` for a file that does not exist.
    """
    path = STATIC / name
    content_type = _STATIC_TYPES.get(path.suffix)
    is_inside = ".." not in path.parts and path.is_relative_to(STATIC) and "\0" not in name
    if not (is_inside and content_type and path.is_file()):
        if name == "index.html":
            raise problem_error("not_built", "The pages are not built.", "Run scripts/build once.", status=500)
        message = Message("The pages have no file {name}.", name=repr(name))
        raise problem_error("no_such_file", message, Message("Reload the page."), status=404)
    body, packed, tag = _static_body(path, path.stat().st_mtime_ns)
    response = _response(request, body, packed, content_type)
    caching = "public, max-age=31536000, immutable" if _HASHED_NAME.search(name) else "no-cache"
    response.headers["Cache-Control"] = caching
    response.headers["ETag"] = quote_etag(tag, weak=True)
    if content_type.startswith("text/html"):
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
    return response.make_conditional(request)


@lru_cache(maxsize=256)
def _static_body(path: Path, mtime_ns: int) -> tuple[bytes, bytes | None, str]:
    """(body, the body compressed where that is shorter, entity tag)."""
    body = path.read_bytes()
    is_compressible = len(body) > _SMALL_BYTES and path.suffix not in _COMPRESSED_SUFFIXES
    return body, pack(body) if is_compressible else None, hashlib.sha256(body).hexdigest()[:16]


def _uncached(request: Request, body: bytes, content_type: str, status: int = 200) -> Response:
    packed = pack(body) if len(body) > _SMALL_BYTES else None
    return _no_store(_response(request, body, packed, content_type, status))


def _no_store(response: Response) -> Response:
    """Forbid keeping the response, and showing it as a page."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Security-Policy"] = _DATA_POLICY
    return response


def _with_security_headers(response: Response) -> Response:
    """Have browsers take it for what its type says, and give it to pages of this server only."""
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _response(
    request: Request, body: bytes | None, packed: bytes | None, content_type: str, status: int = 200
) -> Response:
    """The body, or its compressed form where the client accepts that; one of them may be missing."""
    if packed is not None and _takes_gzip(request):
        response = Response(packed, status, content_type=content_type)
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = Response(unpack(packed or b"") if body is None else body, status, content_type=content_type)
    if packed is not None:
        response.headers["Vary"] = "Accept-Encoding"
    return _with_security_headers(response)
