"""Events by text: in their names, their full names and what their stats say."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable

import numpy as np

from ..formats.columns import Plane, kinds
from ..formats.columns.tables import Stats
from ..model.host import Host
from ..runtime import cancellation
from ..runtime.arrays import Array
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.records import record
from .tiles import timeline

_SEARCHED_CHARACTERS = 1000
"""Characters of a text that an expression is tried on."""
_MOST_CHARACTERS = 1000
"""Characters of an expression."""
_PROGRAM_BYTES = 1 << 20
"""The most that a compiled expression may take, which also bounds its time per byte of text."""
_TIME_LIMIT_S = 30.0
"""A search for an expression ends after so long; ordinary ones take a second in the largest captures."""
_CHECK_EVERY = 16
"""After so many texts the clock is read, and whether anybody waits."""


@record
class Hits:
    """Events that match, by begin, or the longest first."""

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
    on_device: Array
    """bool[n]."""
    names: Array
    """uint32[k]: names that match by themselves."""

    def __len__(self) -> int:
        return len(self.event)


class Pattern:
    """A test for strings, whatever the case: do they contain the text (or a match of the regular expression)?

    Expressions are RE2's: their time grows with the text alone, and they do without the interpreter's lock. Now and
    then a test is a checkpoint, and raises `ProblemError` once the search for an expression has taken too long.
    """

    def __init__(self, text: str, regex: bool = False):
        """Raises `ProblemError` for an expression that is none, or that is too large."""
        self.number = int(text) if re.fullmatch(r"-?\d{1,18}", text.strip()) else None
        """The whole number that the text is."""
        self._deadline = time.monotonic() + _TIME_LIMIT_S if regex else math.inf
        self._count = itertools.count()
        folded_text = text.casefold()
        self._matches = _expression_test(text) if regex else lambda name: folded_text in name.casefold()

    def __call__(self, name: str) -> bool:
        """Whether a string matches."""
        if not next(self._count) % _CHECK_EVERY:
            cancellation.check()
            if time.monotonic() > self._deadline:
                raise _expression_error(
                    Message("The search took more than {seconds} s.", seconds=f"{_TIME_LIMIT_S:.0f}"),
                    Message("Use fewer repetitions in the expression."),
                )
        return self._matches(name)


def _expression_test(text: str) -> Callable[[str], bool]:
    """A test for texts that match a regular expression."""
    import re2

    if len(text) > _MOST_CHARACTERS:
        message = Message(
            "The expression has {count} characters; {longest} is the limit.", count=len(text), longest=_MOST_CHARACTERS
        )
        raise _expression_error(message, Message("Use a shorter expression."))
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _PROGRAM_BYTES
    # re2 keeps the last 128 expressions, whoever asked for them.
    re2.purge()
    try:
        search = re2.compile(text.encode("utf-8", "replace"), options).search
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        remedy = Message("Use RE2 syntax, without look-around and back-references, or search for plain text.")
        raise _expression_error(
            Message("{text} is not a regular expression: {reason}.", text=repr(text), reason=reason), remedy
        ) from error
    return lambda name: search(name[:_SEARCHED_CHARACTERS].encode("utf-8", "replace")) is not None


def _expression_error(message: str, remedy: str) -> ProblemError:
    return problem_error("bad_expression", message, remedy)


def search(host: Host, pattern: Pattern, args: bool = True, longest: bool = False) -> Hits:
    """The events of a host whose name or (with ``args``) whose stats match; see `hit_order` for ``longest``."""
    host_timeline = timeline(host)
    names = host_timeline.lane_set.names.matching(pattern)
    has_stat = _has_matching_stat(host, pattern) if args else None
    # A capture that was cut early has no lanes.
    lane_hits = [
        tuple(np.empty(0, dtype) for dtype in (np.uint16, np.uint16, np.uint32, np.uint32, np.int64, np.int64))
    ]
    for lane_index, (lane, rows) in enumerate(zip(host_timeline.lanes, host_timeline.rows, strict=True)):
        mask = names[lane.name_of.astype(np.int64) + lane.name_base]
        if has_stat is not None and lane.first < len(has_stat):
            numbers = slice(lane.first, lane.first + len(lane)) if lane.numbers is None else lane.numbers
            mask |= has_stat[numbers]
        hits = np.flatnonzero(mask)
        name = lane.name_of[hits].astype(np.uint32) + np.uint32(lane.name_base)
        event = lane.events(hits).astype(np.uint32)
        lane_hits.append(
            (np.full(len(hits), lane_index, np.uint16), rows.row[hits], event, name, lane.begin[hits], lane.end[hits])
        )
    lanes, row, events, name, begin, end = (np.concatenate(column) for column in zip(*lane_hits, strict=True))
    section_is_device = [section.kind == "device" for section in host_timeline.sections for _ in section.lanes]
    on_device = np.array(section_is_device, bool)[lanes]
    order = hit_order(begin, end, on_device, longest)
    matching_names = np.flatnonzero(names).astype(np.uint32)
    return Hits(
        lanes[order], row[order], events[order], name[order], begin[order], end[order], on_device[order], matching_names
    )


def hit_order(begin: Array, end: Array, on_device: Array, longest: bool) -> Array:
    """int64[n]: hits by begin; with ``longest`` those of devices before those of hosts, each the longest first."""
    if not longest:
        return np.argsort(begin, kind="stable")
    return np.lexsort((begin, begin - end, ~on_device))


def _has_matching_stat(host: Host, pattern: Pattern) -> Array:
    """bool[events]: whether some stat of the event, or of its name, matches; whole numbers match as a whole."""
    matches = np.zeros(len(host.trace), bool)
    for first, plane in host.trace.parts:
        event_matches = matches[first : first + len(plane.events)]
        name_matches = np.zeros(len(plane.metadata), bool)
        for stats, owner_matches in ((plane.events.stats, event_matches), (plane.metadata.stats, name_matches)):
            owner_matches[stats.owners(_matching_rows(plane, stats, pattern))] = True
        if name_matches.any():
            event_matches |= name_matches[plane.events.name]
    return matches


def _matching_rows(plane: Plane, stats: Stats, pattern: Pattern) -> Array:
    """int64[k]: rows of the stats whose value matches."""
    rows_of_matches = []
    rows, codes, texts = stats.texts
    is_match = np.array([pattern(text) for text in texts], bool)
    if is_match.any():
        rows_of_matches.append(rows[is_match[codes]])
    metadata = plane.stat_metadata
    references = [int(key) for key, text in zip(metadata.key, metadata.text.all, strict=True) if key and pattern(text)]
    if references:
        rows_of_matches.append(np.flatnonzero((stats.kind == kinds.REF) & np.isin(stats.value, references)))
    if pattern.number is not None:
        is_integer = (stats.kind == kinds.INT) | (stats.kind == kinds.UINT)
        rows_of_matches.append(np.flatnonzero(is_integer & (stats.value == pattern.number)))
    return np.concatenate(rows_of_matches) if rows_of_matches else np.empty(0, np.int64)
