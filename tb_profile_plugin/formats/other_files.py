"""Files that are no captures, told by how they begin, and what to do instead: one table for all who open files."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import PurePath

from ..runtime.messages import Message, message, sentences
from ..runtime.problems import Problem
from ..runtime.records import NamedTuple
from ..runtime.regex import regex

EXPORTED = b'"exported-by":"tb-profile"'
"""What our own exports in Chrome's format say of themselves."""


class FileKind(NamedTuple):
    """Files of one kind."""

    description: str
    """As in "This is …, no capture."."""
    remedy: str
    matches: Callable[[bytes], bool]
    """By the first bytes, inflated."""


_PROFILE = Message("Profile with torch.profiler, or with tb-profile capture.")
_PLANE_FIELDS = {1: 0, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}
"""Fields of an XPlane, with which an XSpace begins, and how each is written."""
_VARINT, _BYTES = 0, 2
_LEAST_TEXT_BYTES = 16
"""Fewer bytes are not called text."""
_TEXT_BYTES = 4096
"""Bytes by which something is called text."""


def problem_of(
    head: bytes, where: str = "", has_xspace_name: bool = True, is_json_trace: bool = False
) -> Problem | None:
    """What a file is that is no capture, by its first bytes; None for what may be one, damaged or not.

    ``has_xspace_name`` tells that it is named as an XSpace, so that what reads like another message of protobuf is
    rather a damaged one; ``is_json_trace`` that a format of JSON takes it for its own.
    """
    kinds = (*_MARKED_KINDS, *(() if has_xspace_name else _PROTOBUF_KINDS), *(() if is_json_trace else _TEXT_KINDS))
    suffix = PurePath(where).suffix.lower()
    kind = _KIND_BY_SUFFIX.get(suffix) or next((kind for kind in kinds if kind.matches(head)), None)
    if kind is None:
        return None
    text = Message("This is {what}, not a capture.", what=message(kind.description))
    return Problem("no_capture", text, kind.remedy, where)


def unknown(where: str) -> Problem:
    """What to say of a file that nobody recognises."""
    remedy = Message("Name a logdir, a run folder, or a *.xplane.pb or *.pt.trace.json file.")
    return Problem("no_capture", "This is not a capture that tb-profile can read.", remedy, where)


def _begins_with(*prefixes: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(prefixes)


def _matches(pattern: str) -> Callable[[bytes], bool]:
    compiled = regex(pattern.encode())
    return lambda head: compiled.match(head) is not None


def _is_own_export(head: bytes) -> bool:
    """Marked, or with processes that are named by host and plane, as older exports have them."""
    return head.startswith(b'{"displayTimeUnit"') and (
        EXPORTED in head[:200] or _HOST_AND_PLANE.search(head) is not None
    )


_HOST_AND_PLANE = regex(rb'"process_name","args":\{"name":"[^"/]{1,200} /(?:host|device):')


def _is_text(head: bytes) -> bool:
    """Whether it is printable as far as it goes."""
    if len(head) < _LEAST_TEXT_BYTES:
        return False
    try:
        # What is cut within a letter ends before it.
        text = codecs.getincrementaldecoder("utf-8")().decode(head[:_TEXT_BYTES])
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character in "\t\r\n\f" for character in text)


def _is_json(head: bytes) -> bool:
    begin = head.lstrip()
    return begin[:1] in (b"{", b"[") and not _TRACE_MEMBER.search(head) and _is_text(head)


_TRACE_MEMBER = regex(rb'"(?:traceEvents|schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds|ph)"\s*:')


def _first_field(head: bytes) -> bytes:
    """What the first field of a message holds; empty if that is not field 1 with a length."""
    if head[:1] != b"\x0a":
        return b""
    length, at = _varint(head, 1)
    return head[at : at + length]


def _fields(data: bytes) -> Iterator[tuple[int, int]]:
    """(number, how it is written) of a message's fields, as far as they can be read."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind not in (_VARINT, _BYTES) or not tag >> 3:
            return
        yield tag >> 3, kind
        value, at = _varint(data, at)
        at += value if kind == _BYTES else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            break
    return value, at


def _is_pprof(head: bytes) -> bool:
    """It begins with the type and unit of its samples, two numbers of the table of texts."""
    return list(_fields(_first_field(head))) == [(1, _VARINT), (2, _VARINT)]


def _is_program(head: bytes) -> bool:
    """A program of XLA begins with its name, alone or within the message that holds it."""
    first = _first_field(head)
    inner = _first_field(first) or first
    return len(inner) > 1 and inner.isascii() and inner.decode().isprintable()


def _is_perfetto(head: bytes) -> bool:
    """Its packets have fields that planes lack."""
    fields = list(_fields(_first_field(head)))
    return (
        bool(fields)
        and all(_PLANE_FIELDS.get(number) != kind for number, kind in fields if number > max(_PLANE_FIELDS))
        and any(number > max(_PLANE_FIELDS) for number, _ in fields)
    )


_MARKED_KINDS = (
    FileKind(
        "a copy of a capture that tb-profile exported",
        "Open the capture itself; the copy lacks devices, programs and steps.",
        _is_own_export,
    ),
    FileKind(
        "an SQLite database, such as nsys export and rocprofv3 write",
        sentences("Open it in their own viewers.", _PROFILE),
        _begins_with(b"SQLite format 3\0"),
    ),
    FileKind("a report of Nsight Compute", sentences("Open it in Nsight Compute.", _PROFILE), _begins_with(b"NVR\0")),
    FileKind(
        "JSON of rocprofv3",
        "Record with torch.profiler or JAX's profiler, or let rocprofv3 write pftrace for ui.perfetto.dev.",
        _matches(r'\A\s*\{\s*"rocprofiler-sdk-tool"'),
    ),
    FileKind(
        "a pickle, such as a memory snapshot of PyTorch",
        "Open snapshots at docs.pytorch.org/memory_viz, or profile with profile_memory=True.",
        lambda head: head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"),
    ),
    FileKind(
        "a memory timeline of PyTorch",
        "Open the trace of the same profiler: prof.export_chrome_trace(path), recorded with profile_memory=True.",
        _matches(r"\A\s*\[\s*\[\s*-?\d+\s*,\s*-?\d+\s*,"),
    ),
    FileKind(
        "an execution trace of PyTorch (Chakra), which holds no times",
        "Open the trace of the profiler: prof.export_chrome_trace(path).",
        _matches(r'\A\s*\{\s*"schema"\s*:\s*"[^"]{0,40}chakra'),
    ),
    FileKind(
        "a digest of tb-profile", "Use it with tb-profile compare or tb-profile check.", _begins_with(b'{\n"causes":')
    ),
    FileKind(
        "a program of XLA as text",
        "Open a capture, which contains the programs that ran.",
        _begins_with(b"HloModule ", b"hlo_module {"),
    ),
    FileKind("a zip archive", "Unpack it, and open the capture in it.", _begins_with(b"PK\x03\x04", b"PK\x05\x06")),
    FileKind("a tar archive", "Unpack it, and open the capture in it.", lambda head: head[257:262] == b"ustar"),
    FileKind(
        "compressed, but not with gzip",
        "Unpack it first.",
        _begins_with(b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh", b"\x04\x22\x4d\x18"),
    ),
    FileKind(
        "a pointer of Git LFS", "Fetch the file with git lfs pull.", _begins_with(b"version https://git-lfs.github.com")
    ),
    FileKind(
        "a web page",
        "Download the file itself.",
        _matches(r"(?i)\A\s*<(?:!doctype html|html|head|\?xml)"),
    ),
    FileKind(
        "a program or library", sentences("Run it.", _PROFILE), _begins_with(b"\x7fELF", b"MZ\x90", b"\xcf\xfa\xed\xfe")
    ),
    FileKind(
        "a picture or document",
        sentences("Open the capture that it shows.", _PROFILE),
        _begins_with(b"\x89PNG", b"\xff\xd8\xff", b"%PDF"),
    ),
    FileKind(
        "data of a model or an array, without times",
        _PROFILE,
        _begins_with(b"\x89HDF\r\n", b"\x93NUMPY", b"PAR1"),
    ),
)
"""By marks that nothing else begins with, or nearly so."""

_TEXT_KINDS = (
    FileKind("JSON without events of a trace", sentences("Name a trace in Chrome's format.", _PROFILE), _is_json),
    FileKind(
        "text", sentences("Name a capture.", _PROFILE), lambda head: not _TRACE_MEMBER.search(head) and _is_text(head)
    ),
)
"""What any reader of texts may take for its own."""

_PROTOBUF_KINDS = (
    FileKind("a profile of pprof", "Open it with pprof: go tool pprof -http=: FILE.", _is_pprof),
    FileKind("a program of XLA", "Open a capture, which contains the programs that ran.", _is_program),
    FileKind(
        "a trace of Perfetto",
        "Open it at ui.perfetto.dev, or turn it into JSON: traceconv json FILE trace.json.",
        _is_perfetto,
    ),
)
"""Messages of protobuf, which have no mark of their own."""

_REPORT = FileKind("a report of Nsight Systems", sentences("Open it in Nsight Systems.", _PROFILE), lambda head: False)
_KIND_BY_SUFFIX = {".nsys-rep": _REPORT, ".qdrep": _REPORT, ".qdstrm": _REPORT}
"""What is told by its name alone."""
