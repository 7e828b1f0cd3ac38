"""Trees of calls as other tools read them: collapsed stacks, speedscope's JSON, pprof's protocol buffers.

Field numbers are those of pprof's profile.proto, fields those of speedscope's file-format-schema.json.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..analysis.call_tree import CallTree
from ..formats.protobuf import message, number, numbers, text
from ..runtime.records import NamedTuple
from ..runtime.regex import regex

_FRAME = regex(r"(?P<file>[^ ]+):(?P<line>\d+) (?P<function>.+)")
_PS_PER_NS = 1000


class WeightedTree(NamedTuple):
    """A tree of calls, and what its weights are."""

    tree: CallTree
    title: str
    """What was profiled."""
    weight: str
    """E.g. ``Time``."""
    unit: str
    """``ps`` or ``bytes``."""


class _Frame(NamedTuple):
    function: str
    file: str
    line: int


def collapsed(weighted: WeightedTree) -> bytes:
    """A line per stack: its names from the outermost, separated by semicolons, and its own weight, exactly."""
    names = [" ".join(name.replace(";", ":").split()) or "?" for name in weighted.tree.names]
    lines = (f"{';'.join(names[name] for name in stack)} {weight}\n" for stack, weight, _ in _stacks(weighted.tree))
    return "".join(lines).encode("utf-8", "replace")


def speedscope(weighted: WeightedTree) -> bytes:
    """A file for https://www.speedscope.app with one profile; times are ns with fractions."""
    in_ns = weighted.unit == "ps"
    samples, weights = [], []
    for stack, weight, _ in _stacks(weighted.tree):
        samples.append(stack)
        weights.append(weight / _PS_PER_NS if in_ns else weight)
    total = int(weighted.tree.own.sum())
    profile = {
        "type": "sampled",
        "name": f"{weighted.title}, {weighted.weight}",
        "unit": "nanoseconds" if in_ns else "bytes",
        "startValue": 0,
        "endValue": total / _PS_PER_NS if in_ns else total,
        "samples": samples,
        "weights": weights,
    }
    frames: list[dict[str, Any]] = []
    for name in weighted.tree.names:
        function, file, line = _frame(name)
        frames.append({"name": function, "file": file, "line": line} if file else {"name": function})
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [profile],
        "name": weighted.title,
        "exporter": "tb-profile",
        "activeProfileIndex": 0,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def pprof(weighted: WeightedTree) -> bytes:
    """A compressed profile with two values per stack: how many calls, and the weight; times are rounded to ns."""
    in_ns = weighted.unit == "ps"
    index_by_text = {"": 0}

    def index_of(value: str) -> int:
        return index_by_text.setdefault(value, len(index_by_text))

    pieces = [
        message(1, number(1, index_of("calls")) + number(2, index_of("count"))),
        message(1, number(1, index_of(weighted.weight)) + number(2, index_of("nanoseconds" if in_ns else "bytes"))),
    ]
    for stack, weight, calls in _stacks(weighted.tree):
        value = round(weight / _PS_PER_NS) if in_ns else weight
        pieces.append(message(2, numbers(1, [name + 1 for name in reversed(stack)]) + numbers(2, [calls, value])))
    for identity, name in enumerate(weighted.tree.names, 1):
        function, file, line = _frame(name)
        pieces.append(message(4, number(1, identity) + message(4, number(1, identity) + number(2, line))))
        fields = number(2, index_of(function)) + number(3, index_of(name)) + number(4, index_of(file)) + number(5, line)
        pieces.append(message(5, number(1, identity) + fields))
    comment, default_type = number(13, index_of(weighted.title)), number(14, index_of(weighted.weight))
    pieces += [*(text(6, value) for value in index_by_text), comment, default_type]
    return gzip.compress(b"".join(pieces), mtime=0)


def _stacks(tree: CallTree) -> Iterator[tuple[list[int], int, int]]:
    """(indices of names from the outermost, its own weight, calls) of each node whose own weight is not 0."""
    parent, name = tree.parent.tolist(), tree.name.tolist()
    for node in np.flatnonzero(tree.own).tolist():
        stack, ancestor = [], node
        while ancestor >= 0:
            stack.append(name[ancestor])
            ancestor = parent[ancestor]
        yield stack[::-1], int(tree.own[node]), int(tree.calls[node])


def _frame(name: str) -> _Frame:
    match = _FRAME.fullmatch(name)
    return _Frame(match["function"], match["file"], int(match["line"])) if match else _Frame(name, "", 0)


class TreeFormat(NamedTuple):
    """A kind of file."""

    write: Callable[[WeightedTree], bytes]
    """The file's content."""
    suffix: str
    """End of the file's name."""


FORMATS = {
    "collapsed": TreeFormat(collapsed, ".collapsed.txt"),
    "speedscope": TreeFormat(speedscope, ".speedscope.json"),
    "pprof": TreeFormat(pprof, ".pb.gz"),
}
