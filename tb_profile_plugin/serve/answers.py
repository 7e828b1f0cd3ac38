"""Responses: JSON, problems, tables as CSV, files of the pages."""

from __future__ import annotations

import hashlib
import re
import threading
import weakref
import zlib
from collections.abc import Iterator
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

_POLICY = "; ".join(
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
"""Styles are set on elements by the charts; everything else comes from our own files."""

_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""Of answers that are no page, should a browser ever be led to show one as such."""

_STATIC_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""Of pages that run nothing and bring their styles along."""

_TYPES = {
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

_FILES = {
    "csv": "text/csv; charset=utf-8",
    "dot": "text/vnd.graphviz; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}
_PACKED = frozenset({".png", ".woff2"})
_HASHED = regex(r"-[A-Za-z0-9_-]{8}\.\w+$")
_STREAMS = threading.BoundedSemaphore(8)
"""Answers that are sent piece by piece: each holds a thread, and what it is made of, until its reader has it."""
_PIECE = 1 << 20
_SMALL = 1024
"""Bytes below which compressing gains nothing."""


def data_json(request: Request, data: Any, status: int = 200) -> Response:
    """Plain data as JSON that is not kept anywhere: captures change and may be confidential."""
    body = to_json(translated(data))
    return _unkept(request, body, pack(body) if len(body) > _SMALL else None, "application/json", status)


def packed_json(request: Request, packed: bytes) -> Response:
    """JSON that lies compressed already."""
    return _unkept(request, None, packed, "application/json", 200)


def binary(request: Request, body: bytes) -> Response:
    """Bytes for the pages' own use, as short as they are worth."""
    return _unkept(request, body, None, "application/octet-stream", 200)


def streamed_json(request: Request, pieces: Iterator[str]) -> Response:
    """JSON too large to hold, sent as it is made; raises `ProblemError` as `binary_file` does."""
    encoded = _compressed(pieces) if _takes_gzip(request) else (piece.encode() for piece in pieces)
    response = _streamed(request, encoded, "application/json")
    response.headers["Vary"] = "Accept-Encoding"
    if _takes_gzip(request):
        response.headers["Content-Encoding"] = "gzip"
    return _private(_guarded(response))


def streamed_file(request: Request, pieces: Iterator[str], name: str) -> Response:
    """Text as a file to save, sent as it is made; raises `ProblemError` as `binary_file` does."""
    encoded = (piece.encode("utf-8", "replace") for piece in pieces)
    response = _streamed(request, encoded, _FILES[name.rpartition(".")[2]])
    return _attached(_private(_guarded(response)), name)


def _takes_gzip(request: Request) -> bool:
    return request.accept_encodings["gzip"] > 0


def _compressed(pieces: Iterator[str]) -> Iterator[bytes]:
    packer = zlib.compressobj(1, wbits=31)
    for piece in pieces:
        yield packer.compress(piece.encode())
    yield packer.flush()


def binary_file(request: Request, body: bytes | memoryview, name: str) -> Response:
    """Bytes as a file to save, sent in pieces as they lie in memory.

    Raises `ProblemError` (503) where as many large answers as there may be are on their way.
    """
    response = _streamed(request, in_pieces(body), "application/octet-stream")
    response.content_length = len(body)
    return _attached(_private(_guarded(response)), name)


def in_pieces(body: bytes | memoryview) -> Iterator[bytes]:
    """The bytes, none longer than what a slow client takes in time."""
    return (bytes(body[begin : begin + _PIECE]) for begin in range(0, len(body), _PIECE))


def _streamed(request: Request, pieces: Iterator[bytes], kind: str) -> Response:
    if request.method == "HEAD":
        return Response(content_type=kind)
    if not _STREAMS.acquire(blocking=False):
        message = Message("Too many large answers are being sent.")
        raise problem_error("busy", message, "Try again when they have arrived.", status=503)
    response = Response(pieces, content_type=kind)
    # Where a server forgets to close it, it is let go all the same; never twice.
    response.call_on_close(weakref.finalize(pieces, _STREAMS.release))
    return response


def _attached(response: Response, name: str) -> Response:
    safe = re.sub(r"[^\w.()+-]+", "_", name)
    response.headers["Content-Disposition"] = dump_options_header("attachment", {"filename": safe})
    return response


def text(request: Request, body: str) -> Response:
    """A line of text, as some of the older routes answer."""
    return _unkept(request, body.encode(), None, "text/plain; charset=utf-8", 200)


def document(request: Request, body: bytes, name: str) -> Response:
    """A program's text or graph as a file to save: no browser shows it, whatever is in it."""
    kind = _FILES.get(name.rpartition(".")[2], "application/octet-stream")
    return _attached(_unkept(request, body, pack(body) if len(body) > _SMALL else None, kind, 200), name)


def page(request: Request, html: str) -> Response:
    """A page that runs nothing, made of what the logdir holds."""
    body = html.encode("utf-8", "replace")
    response = _unkept(request, body, pack(body), _TYPES[".html"], 200)
    response.headers["Content-Security-Policy"] = _STATIC_PAGE_POLICY
    return response


def script(request: Request, body: bytes) -> Response:
    """A JavaScript module of a tool that another distribution brings."""
    return _unkept(request, body, None, _TYPES[".js"], 200)


def problem(request: Request, problem: Problem, status: int) -> Response:
    """A problem as JSON."""
    return data_json(request, problem.as_json(), status)


def csv_file(request: Request, answer: Any, name: str) -> Response:
    """The first table among a tool's answer, as a file to save; raises `ProblemError` (422) where there is none."""
    tables = answer if isinstance(answer, list) else [answer]
    table = next((part for part in tables if isinstance(part, dict) and part.get("cols")), None)
    if table is None:
        raise problem_error(
            "no_table", "This tool's answer has no table.", "Use the data route for its JSON.", status=422
        )
    rows = [[column["label"] for column in table["cols"]]]
    rows += [[cell["v"] for cell in row["c"]] for row in table["rows"]]
    body = "".join(csv.lines(rows)).encode("utf-8", "replace")
    return _attached(_unkept(request, body, pack(body), _FILES["csv"], 200), name)


def static_file(request: Request, name: str) -> Response:
    """A file of the built pages: hashed ones are kept for ever, others are asked for again.

    Raises `ProblemError` for a file that does not exist.
    """
    path = STATIC / name
    kind = _TYPES.get(path.suffix)
    inside = ".." not in path.parts and path.is_relative_to(STATIC) and "\0" not in name
    if not (inside and kind and path.is_file()):
        if name == "index.html":
            raise problem_error("not_built", "The pages are not built.", "Run scripts/build once.", status=500)
        raise problem_error(
            "no_such_file",
            Message("The pages have no file {name}.", name=repr(name)),
            Message("Reload the page."),
            status=404,
        )
    body, packed, tag = _load(path, path.stat().st_mtime_ns)
    response = _respond(request, body, packed, kind, 200)
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if _HASHED.search(name) else "no-cache"
    response.headers["ETag"] = quote_etag(tag, weak=True)
    if kind.startswith("text/html"):
        response.headers["Content-Security-Policy"] = _POLICY
    return response.make_conditional(request)


@lru_cache(maxsize=256)
def _load(path: Path, mtime_ns: int) -> tuple[bytes, bytes | None, str]:
    body = path.read_bytes()
    worth_it = len(body) > _SMALL and path.suffix not in _PACKED
    return body, pack(body) if worth_it else None, hashlib.sha256(body).hexdigest()[:16]


def _unkept(request: Request, body: bytes | None, packed: bytes | None, kind: str, status: int) -> Response:
    return _private(_respond(request, body, packed, kind, status))


def _private(response: Response) -> Response:
    """Of a capture: kept nowhere, and no page."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Security-Policy"] = _DATA_POLICY
    return response


def _guarded(response: Response) -> Response:
    """Taken for what its type says, and by pages of this server only."""
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _respond(request: Request, body: bytes | None, packed: bytes | None, kind: str, status: int) -> Response:
    """The body as the client takes it: compressed only where it said that it can read that."""
    if packed is not None and _takes_gzip(request):
        response = Response(packed, status, content_type=kind)
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = Response(unpack(packed or b"") if body is None else body, status, content_type=kind)
    if packed is not None:
        response.headers["Vary"] = "Accept-Encoding"
    return _guarded(response)
