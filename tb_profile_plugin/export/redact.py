"""Captures to show to others: without names of hosts and users, without source code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..columns.tables import Plane
from ..problems import Problem, ProblemError
from ..protos import message

_HOME = r"(?:/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+|/afs/[\w.]+/user/(?:\w/)*)([\w.@-]{1,64})"
_USER, _RAW_USER = re.compile(_HOME), re.compile(_HOME.encode())
_DIGITS = r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"
_ADDRESS, _RAW_ADDRESS = re.compile(_DIGITS), re.compile(_DIGITS.encode())
_SOURCE = re.compile(r"source|stack_(?:trace|frame)|hlo_text|command_line|working_dir", re.IGNORECASE)
"""Names of stats that hold source code, or where it lies."""
_KEPT_PLANES = re.compile(r"/host:(?:CPU|CUPTI|metadata|python-tracer|TFStreamz)|/device:|Task Environment")
_COMMON = frozenset({"host", "localhost", "vm", "user", "root", "node", "worker"})
"""Too ordinary to be taken out of texts, and nobody's."""
_NOBODY = "user"


def redacted(data: Any, host: str, alias: str) -> bytes:
    """The XSpace in ``data`` as the capture of a host called ``alias`` by a user called ``user``.

    Names of hosts (``host``, and what the capture calls its own), of users as paths tell them, and IP addresses are
    replaced wherever they stand; stats of source code, and all that are bytes (XLA programs), are left out. Raises
    `ProblemError` (422) for a damaged capture, of which nobody can say what it holds.
    """
    space = message("tensorflow.profiler.XSpace")()
    try:
        space.ParseFromString(bytes(data))
    except DecodeError as error:
        problem = Problem("damaged_capture", "A damaged capture cannot be redacted.", "Capture again.", host)
        raise ProblemError(problem, 422) from error
    users = set(users_in(data))
    space.DiscardUnknownFields()
    for plane in space.planes:
        _drop_source(plane)
    hosts = {name for whole in (host, *space.hostnames) for name in (whole, *re.split(r"[.:_]", whole)[:1])}
    clean = _cleaner(hosts, users, alias)
    _rewrite(space, clean)
    space.hostnames[:] = [alias] * len(space.hostnames)
    written: bytes = space.SerializeToString()
    return written


def users_in(data: Any) -> list[str]:
    """Names of users, as paths anywhere in a capture's bytes tell them, sorted."""
    return sorted({user.decode() for user in _RAW_USER.findall(data)})


def addresses_in(data: Any) -> list[str]:
    """IP addresses anywhere in a capture's bytes, sorted."""
    return sorted({address.decode() for address in _RAW_ADDRESS.findall(data)})


def source_stats(plane: Plane) -> int:
    """How many stats of a plane hold source code, or where it lies."""
    unwanted = [row for row, name in enumerate(plane.stat_metadata.text.all) if _SOURCE.search(name)]
    owners = (plane.stats, plane.metadata.stats, plane.events.stats)
    return sum(int(np.isin(stats.name, unwanted).sum()) for stats in owners)


def _cleaner(hosts: Iterable[str], users: Iterable[str], alias: str) -> Callable[[str], str]:
    wanted = dict.fromkeys(hosts, alias) | dict.fromkeys(users, _NOBODY)
    wanted = {name: other for name, other in wanted.items() if len(name) > 2 and name.lower() not in _COMMON}
    names = "|".join(re.escape(name) for name in sorted(wanted, key=len, reverse=True))
    token = re.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])") if names else None

    def clean(text: str) -> str:
        text = _USER.sub(lambda found: found[0][: -len(found[1])] + _NOBODY, text)
        text = token.sub(lambda found: wanted[found[0]], text) if token else text
        return _ADDRESS.sub("0.0.0.0", text)

    return clean


def _drop_source(plane: Any) -> None:
    unwanted = {key for key, entry in plane.stat_metadata.items() if _SOURCE.search(entry.name)}
    for stats in _stats(plane):
        keep = [s for s in stats if s.metadata_id not in unwanted and s.WhichOneof("value") != "bytes_value"]
        if len(keep) < len(stats):
            kept = [type(stat).FromString(stat.SerializeToString()) for stat in keep]
            del stats[:]
            stats.extend(kept)
    for metadata in plane.event_metadata.values():
        # Bytes that only the program which wrote them can read.
        metadata.metadata = b""


def _stats(plane: Any) -> Iterator[Any]:
    yield plane.stats
    for metadata in plane.event_metadata.values():
        yield metadata.stats
    for line in plane.lines:
        for event in line.events:
            yield event.stats


def _rewrite(space: Any, clean: Callable[[str], str]) -> None:
    for said in (space.errors, space.warnings):
        said[:] = [clean(text) for text in said]
    for plane in space.planes:
        if not _KEPT_PLANES.match(plane.name):
            plane.name = clean(plane.name)
        for entry in plane.stat_metadata.values():
            entry.name = clean(entry.name)
        for named in (*plane.lines, *plane.event_metadata.values()):
            named.name, named.display_name = clean(named.name), clean(named.display_name)
        for stats in _stats(plane):
            for stat in stats:
                if stat.str_value:
                    stat.str_value = clean(stat.str_value)
