"""Events by text: in their names, their full names and what their stats say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..columns import Plane, kinds
from ..columns.tables import Stats
from ..model.host import Host
from ..problems import Problem, ProblemError
from .tiles import timeline

_SEARCHED = 1000
"""Characters of a text that an expression is tried on."""
_LONGEST = 1000
"""Characters of an expression."""
_REPEATS = 4
"""Repetitions in it."""


@dataclass(frozen=True)
class Hits:
    """Events that match, by begin."""

    lane: Array
    """uint16[n]."""
    row: Array
    """uint16[n]."""
    event: Array
    """uint32[n]."""
    name: Array
    """uint32[n]."""
    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    names: Array
    """uint32[k]: names that match by themselves."""

    def __len__(self) -> int:
        return len(self.event)


def pattern(text: str, regex: bool) -> Callable[[str], bool]:
    """A test for a string, whatever the case: does it contain the text (or a match of the regular expression)?

    Raises `ProblemError` for an expression that is none, or that may take for ever.
    """
    if regex:
        if _may_explode(text):
            message = (
                "The expression repeats a group that repeats or chooses, or repeats too often: it may take for ever."
            )
            raise ProblemError(Problem("bad_expression", message, "Repeat single letters or sets, like [ab]*."))
        try:
            expression = re.compile(text, re.IGNORECASE)
        except re.error as error:
            problem = Problem(
                "bad_expression", f"{text!r} is no regular expression: {error}.", "Search for plain text."
            )
            raise ProblemError(problem) from error
        return lambda name: expression.search(name[:_SEARCHED]) is not None
    folded = text.casefold()
    return lambda name: folded in name.casefold()


def _may_explode(text: str) -> bool:
    """Whether a repeated group holds a repetition or a choice, or there are many; nothing can stop Python's search."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", text, flags=re.DOTALL)
    groups: list[bool] = []
    for at, letter in enumerate(plain):
        if letter == "(":
            groups.append(False)
        elif letter == ")" and groups:
            free = groups.pop()
            if free and plain[at + 1 : at + 2] in ("*", "+", "{"):
                return True
            if groups:
                groups[-1] |= free
        elif letter in "|*+{" or (letter == "?" and plain[at - 1 : at] != "("):
            groups[-1:] = [True] if groups else []
    return len(text) > _LONGEST or sum(map(plain.count, "*+{")) > _REPEATS


def search(host: Host, text: str, regex: bool = False, args: bool = True) -> Hits:
    """The events of a host whose name or (with ``args``) whose stats match."""
    wanted = pattern(text, regex)
    shown = timeline(host)
    names = shown.board.names.matching(wanted)
    extra = _by_args(host, text, wanted) if args else None
    # A capture that was cut early has no lanes.
    found = [tuple(np.empty(0, dtype) for dtype in (np.uint16, np.uint16, np.uint32, np.uint32, np.int64, np.int64))]
    for place, (lane, rows) in enumerate(zip(shown.lanes, shown.rows, strict=True)):
        mask = names[lane.name_of.astype(np.int64) + lane.name_base]
        if extra is not None and lane.first < len(extra):
            mask |= extra[lane.first : lane.first + len(lane)] if lane.some is None else extra[lane.some]
        at = np.flatnonzero(mask)
        name = lane.name_of[at].astype(np.uint32) + np.uint32(lane.name_base)
        event = lane.events(at).astype(np.uint32)
        found.append((np.full(len(at), place, np.uint16), rows.row[at], event, name, lane.begin[at], lane.end[at]))
    lanes, row, events, name, begin, end = (np.concatenate(column) for column in zip(*found, strict=True))
    by = np.argsort(begin, kind="stable")
    own = np.flatnonzero(names).astype(np.uint32)
    return Hits(lanes[by], row[by], events[by], name[by], begin[by], end[by], own)


def _by_args(host: Host, text: str, wanted: Callable[[str], bool]) -> Array:
    """bool[events]: whether some stat of the event, or of its name, matches; whole numbers match as a whole."""
    mask = np.zeros(len(host.trace), bool)
    number = int(text) if re.fullmatch(r"-?\d{1,18}", text.strip()) else None
    for first, plane in host.trace.parts:
        part = mask[first : first + len(plane.events)]
        of_name = np.zeros(len(plane.metadata), bool)
        for stats, answer in ((plane.events.stats, part), (plane.metadata.stats, of_name)):
            rows = _matching(plane, stats, wanted, number)
            answer[stats.owners(rows)] = True
        if of_name.any():
            part |= of_name[plane.events.name]
    return mask


def _matching(plane: Plane, stats: Stats, wanted: Callable[[str], bool], number: int | None) -> Array:
    found = []
    rows, codes, texts = stats.texts
    matching = np.array([wanted(text) for text in texts], bool)
    if matching.any():
        found.append(rows[matching[codes]])
    metadata = plane.stat_metadata
    references = [int(key) for key, text in zip(metadata.key, metadata.text.all, strict=True) if key and wanted(text)]
    if references:
        found.append(np.flatnonzero((stats.kind == kinds.REF) & np.isin(stats.value, references)))
    if number is not None:
        whole = (stats.kind == kinds.INT) | (stats.kind == kinds.UINT)
        found.append(np.flatnonzero(whole & (stats.value == number)))
    return np.concatenate(found) if found else np.empty(0, np.int64)
