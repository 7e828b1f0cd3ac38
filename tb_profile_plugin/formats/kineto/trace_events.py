"""What a trace's events are: their roles, and their times on one clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from ...runtime.arrays import I64, U8, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ...runtime.records import mutable_record
from ..columns import kinds, vocabulary
from ..columns.codes import combine
from ..columns.gather import gather
from ..columns.line_order import line_order
from . import categories
from .drafts import Draft
from .nesting import first_argument_rows, integer_arguments
from .record import Record, distinct_codes
from .tokens import NO_TIME

_HOUR_NS = 3600 * 10**9
_FAR_NS = 10**15
"""11 days: the longest that a trace is believed to last."""
_EPOCH_NS = 10**18
"""Times from September 2001 on are times of day."""
_CATEGORY_OF_ROLE = {categories.ANNOTATION: vocabulary.TORCH_RANGE, categories.MEMORY: vocabulary.TORCH_INSTANT}
"""By role the category that files until torch 1.11 do not state."""
_COMPLETE = ord("X")
_INSTANTS = frozenset(b"iI")
NOTHING = -1
"""Role of rows that are no events: flows, facts, counters, marks of the recording."""


@mutable_record
class TraceEvents:
    """The events of a trace, by their rows in the record."""

    record: Record
    role: Array
    """int8[n]: as in `categories`, or `NOTHING`."""
    begin: I64
    """int64[n] ps since ``origin_ns``."""
    end: I64
    """int64[n] ps."""
    origin_ns: int
    """The first event's time; ns since 1970, 0 where times are no times of day."""
    problems: list[Problem] = field(default_factory=list)

    def text_of(self, code: int) -> str:
        """The text of this number in the record."""
        return self.record.text_of(int(code))

    def with_role(self, *roles: int) -> Array:
        """int64[k]: rows of the events of these roles."""
        return np.flatnonzero(has_role(self.role, *roles))

    @lazy
    def _keys(self) -> dict[str, int]:
        used = distinct_codes(self.record.key).tolist()
        return {self.text_of(code): code for code in used}

    def has_argument(self, *names: str) -> bool:
        """Whether any event has such an argument."""
        return any(name in self._keys for name in names)

    def arguments(self, rows: Array, *names: str) -> Array:
        """int64[k]: of each event the row of its argument of one of these names in the record, or -1."""
        return first_argument_rows(self.record.first_argument, self.record.key, rows, self._codes(names))

    def integers(self, rows: Array, *names: str, default: int = -1) -> Array:
        """int64[k]: of each event its argument of one of these names, an integer, else ``default``."""
        record = self.record
        arguments = record.first_argument, record.key, record.kind, record.value
        return integer_arguments(arguments, rows, self._codes(names), np.int64(default))

    def _codes(self, names: Sequence[str]) -> I64:
        return np.array([self._keys[name] for name in names if name in self._keys], np.int64)

    def metadata_names(self, event_name: str) -> dict[tuple[int, int], str]:
        """Names by process and thread (0 for processes), as ``process_name`` or ``thread_name`` gives them."""
        record = self.record
        rows = np.flatnonzero(record.phase == ord("M"))
        names = record.name[rows]
        has_name_code = np.zeros(int(names.max(initial=-1)) + 1, bool)
        has_name_code[[code for code in distinct_codes(names).tolist() if self.text_of(code) == event_name]] = True
        rows = rows[has_name_code[names]]
        at = self.arguments(rows, "name")
        has_name = at >= 0
        has_name[has_name] = record.kind[at[has_name]] == kinds.TEXT
        tid = record.tid[rows[has_name]] if event_name == "thread_name" else np.zeros(int(has_name.sum()), np.int64)
        columns = (record.pid[rows[has_name]], tid, record.value[at[has_name]])
        return {(pid, tid): self.text_of(text) for pid, tid, text in zip(*(c.tolist() for c in columns), strict=True)}

    def draft(
        self,
        plane: str,
        lines: list[tuple[int, str]],
        rows: Array,
        line: Array,
        renamed: Callable[[str, int], tuple[str, str]] = lambda name, variant: (name, ""),
        variant: Array | None = None,
    ) -> Draft:
        """These events (int64[n]) as a plane; ``line`` (int64[n]) is the index of each one's line in ``lines``.

        ``renamed`` gives (name, display name or empty) of an event by its name and its variant. ``variant`` (int64[n])
        tells events of one name apart that are to have several names; None for their roles.
        """
        order = line_order(line, self.begin[rows], self.end[rows] - self.begin[rows])
        rows, line = rows[order], line[order].astype(np.int32)
        variant = self.role[rows].astype(np.int64) if variant is None else variant[order]
        example, name_index = combine(self.record.name[rows], self.record.category[rows], variant)
        names = [("", "", "")]
        for at in example.tolist():
            row = int(rows[at])
            category = self.text_of(self.record.category[row])
            category = _CATEGORY_OF_ROLE.get(int(self.role[row]), category)
            names.append((*renamed(self.text_of(self.record.name[row]), int(variant[at])), category))
        return Draft(
            name=plane,
            lines=lines,
            event=rows,
            line=line,
            begin=self.begin[rows],
            end=self.end[rows],
            name_index=(name_index + 1).astype(np.int32),
            names=names,
        )


def has_role(role: Array, *roles: int) -> Array:
    """bool[n]: where an int8[n] of roles is one of these."""
    is_wanted = np.zeros(256, bool)
    is_wanted[np.array(roles, np.int8).view(np.uint8)] = True
    return gather(is_wanted, role.view(np.uint8))


def trace_events(record: Record, where: str) -> TraceEvents:
    """The roles and times of a record's events."""
    role = _roles(record)
    begin = record.begin
    is_untimed = (role != NOTHING) & (begin == NO_TIME)
    untimed_count = int(is_untimed.sum())
    role[is_untimed] = NOTHING
    duration = _durations(record.phase, record.duration)
    problems = []
    if untimed_count:
        message = Message("{count} events have no start and are left out.", count=untimed_count)
        problems.append(Problem("impossible_times", message, "", where, "warning"))
    is_far_off = _is_far_off(role, begin, duration)
    if is_far_off.any():
        message = Message(
            "{count} events are more than an hour outside of the recording and are left out.",
            count=int(is_far_off.sum()),
        )
        remedy = Message("Ignore them: a profiler's first timestamps can be wrong.")
        problems.append(Problem("impossible_times", message, remedy, where, "warning"))
        role[is_far_off] = NOTHING
    role[role == categories.WINDOW] = NOTHING
    is_event = role != NOTHING
    low = int(begin[is_event].min()) if is_event.any() else 0
    begin, end = _picoseconds(is_event, begin, duration, np.int64(low))
    base = record.header.get("baseTimeNanoseconds")
    origin = low + (base if isinstance(base, int) else 0)
    return TraceEvents(record, role, begin, end, origin if origin > _EPOCH_NS else 0, problems)


@jit
def _durations(phase: U8, duration: I64) -> I64:
    """int64[n] ns: of spans what they state, if it is positive, else 0."""
    answer = np.empty(len(phase), np.int64)
    for i in range(len(phase)):
        answer[i] = max(duration[i], 0) if phase[i] == _COMPLETE else 0
    return answer


@jit
def _picoseconds(is_event: Bool, begin: I64, duration: I64, low: Int) -> tuple[I64, I64]:
    """int64[n] ps since ``low`` twice, 0 where the row is no event: where events, given in ns, begin and end."""
    begin_ps, end_ps = np.empty(len(begin), np.int64), np.empty(len(begin), np.int64)
    for i in range(len(begin)):
        begin_ps[i] = 1000 * (begin[i] - low) if is_event[i] else 0
        end_ps[i] = begin_ps[i] + 1000 * min(duration[i], _FAR_NS) if is_event[i] else 0
    return begin_ps, end_ps


def _roles(record: Record) -> Array:
    """int8[n]; what has neither a duration nor is an instant is `NOTHING`."""
    example, pair = combine(record.category, record.name)
    pairs = [
        (record.text_of(int(record.category[at])), record.text_of(int(record.name[at]))) for at in example.tolist()
    ]
    roles = [categories.role_of(category, name) for category, name in pairs]
    is_mark = [name in categories.ABOUT_RECORDING for _, name in pairs]
    spans, instants = record.phase == _COMPLETE, np.isin(record.phase, list(_INSTANTS))
    role = np.where(spans | instants, np.array(roles, np.int8)[pair], NOTHING).astype(np.int8)
    role[instants & np.array(is_mark, bool)[pair]] = NOTHING
    role[instants & ~has_role(role, categories.MEMORY, categories.OTHER)] = NOTHING
    return role


def _is_far_off(role: Array, begin: I64, duration: I64) -> Array:
    """bool[n]: events far outside of what was recorded."""
    is_event: Array = role != NOTHING
    if not is_event.any():
        return is_event
    is_trusted = role == categories.WINDOW
    if not is_trusted.any():
        is_trusted = has_role(role, categories.OP, categories.ANNOTATION, categories.RUNTIME)
    middle = int(np.median(begin[is_event]))
    low, high = middle - _FAR_NS, middle + _FAR_NS
    if is_trusted.any():
        first, last = int(begin[is_trusted].min()), int((begin + duration)[is_trusted].max())
        if last - first + 2 * _HOUR_NS <= 3 * _FAR_NS:
            low, high = first - _HOUR_NS, last + _HOUR_NS
    return is_event & ((begin < low) | (begin > high))
