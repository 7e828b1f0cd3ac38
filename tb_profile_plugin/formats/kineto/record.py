"""A trace as it stands in its file: columns of events and of their arguments, and the members around them."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import field
from typing import Any

import numpy as np

from ...runtime import cancellation, memory
from ...runtime.arrays import I32, I64, U8, Array, Bool, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.messages import Message, listed
from ...runtime.problems import Problem
from ...runtime.records import NamedTuple, record
from ..columns.gather import gather
from ..columns.kinds import TEXT
from ..columns.text import Text
from . import events, tokens
from .event_columns import DAMAGES, FIELDS, FIRST_DAMAGE, ArgumentColumns, EventColumns
from .texts import Texts
from .window import Window, second_half

_EVENT_ROOM, _ARGUMENT_ROOM = 1 << 14, 1 << 16
"""Events and arguments for which there is room at first."""
_MOST_MEMBERS = 4096
"""The trace's own members that are read; profilers write some thirty."""
_HEADER_BYTES = 64 << 20
"""Bytes of members around the events that are read, in all."""
_EVENT_BYTES, _ARGUMENT_BYTES, _TEXT_BYTES = 64, 24, 120
"""Bytes of memory that each takes until the columns are made; a text also takes twice its own bytes."""


@record
class Record:
    """The events in the order of the file. Texts are numbers in ``pool_offset`` and `text`; 0 is the empty one."""

    phase: U8
    """uint8[n]: the letter of ``ph``."""
    category: I32
    """int32[n]: number of a text, as are the next three."""
    name: I32
    pid: I32
    tid: I32
    begin: I64
    """int64[n] ns as the file has them; `tokens.NO_TIME` where there is none."""
    duration: I64
    """int64[n] ns; `tokens.NO_TIME` where there is none."""
    first_argument: I64
    """int64[n + 1]: arguments ``first_argument[i]:first_argument[i + 1]`` are those of event i."""
    key: I32
    """int32[m]: name of the argument, the number of a text."""
    kind: U8
    """uint8[m]: as in `formats.columns.kinds`; `TEXT` also for lists and objects."""
    value: I64
    """int64[m]: the number's bits, or the text's number."""
    pool: U8
    """uint8: the bytes of all texts, each behind its length."""
    pool_offset: I64
    """int64[texts]: where the length of each text stands in the pool."""
    text: Text
    size: int
    """Bytes of the file, uncompressed."""
    header: dict[str, Any] = field(default_factory=dict)
    """The members around the events, as far as they can be read."""
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.phase)

    def text_of(self, code: int) -> str:
        """The text of a number."""
        if code not in self._text_by_code:
            begin, end = int(self.text.begin[code]), int(self.text.end[code])
            self._text_by_code[code] = self.pool[begin:end].tobytes().decode("utf-8", "replace")
        return self._text_by_code[code]

    @lazy
    def _text_by_code(self) -> dict[int, str]:
        return {}


def distinct_codes(codes: I32) -> I64:
    """int64[k]: numbers of texts, each once, in ascending order."""
    return np.flatnonzero(_is_used(np.ascontiguousarray(codes), np.int64(codes.max(initial=-1)) + 1))


@jit
def _is_used(codes: I32, size: Int) -> Bool:
    """bool[size]: which numbers from 0 to size - 1 are among the codes."""
    is_used = np.zeros(size, np.bool_)
    for code in codes:
        is_used[code] = True
    return is_used


def read(content: Any, where: str, progress: Callable[[str, float], None]) -> Record:
    """The record of a trace in JSON, a buffer or a `Stream`; see `kineto.decode` for what is raised."""
    budget, second = memory.MemoryBudget(where), second_half(content)
    with Window(content, stop=second[0] if second else None) as window:
        reader = _TraceReader(window, where, budget, progress)
        if not second:
            return reader.read()
        with Window(second[1], second[0]) as second_window, ThreadPoolExecutor(1, "tb-profile-scan") as thread:
            second_reader = _TraceReader(second_window, where, budget, lambda phase, fraction: None)
            reader.second_half = _SecondHalf(second_reader, thread.submit(second_reader.read_events))
            try:
                return reader.read()
            finally:
                second_reader.is_wanted = False


class _SecondHalf(NamedTuple):
    """The events of a long file's second half, which another thread reads meanwhile."""

    reader: _TraceReader
    end: Future[int]
    """Where in the bytes that it has at hand then their list ends."""


class _TraceReader:
    """What has been read so far of a trace, or of one half of it; `read` gives the record."""

    def __init__(self, window: Window, where: str, budget: memory.MemoryBudget, progress: Callable[[str, float], None]):
        self.window, self.where, self.budget, self.progress = window, where, budget, progress
        self.budget.take(len(window.data))
        self.second_half: _SecondHalf | None = None
        self.is_wanted = True
        self.texts = Texts()
        self.counts = np.zeros(4, np.int64)
        """int64[4]: see `event_columns.FIRST_DAMAGE`."""
        self.members: list[tuple[str, bytes | None]] = []
        self.header_room = _HEADER_BYTES
        self.events = EventColumns(
            np.empty(_EVENT_ROOM, np.uint8),
            np.empty((FIELDS, _EVENT_ROOM), np.int32),
            np.empty((2, _EVENT_ROOM), np.int64),
            np.zeros(_EVENT_ROOM + 1, np.int64),
        )
        self.arguments = ArgumentColumns(
            np.empty(_ARGUMENT_ROOM, np.int32),
            np.empty(_ARGUMENT_ROOM, np.uint8),
            np.empty(_ARGUMENT_ROOM, np.int64),
        )
        self.event_count = 0
        self.is_truncated = False
        """Whether the file ends within the trace."""

    def read(self) -> Record:
        """The record of a trace in the bytes of the window, which begin with its list or object."""
        data = self.window.data
        at = int(tokens.first_nonspace(data, np.int64(3 if bytes(data[:3]) == b"\xef\xbb\xbf" else 0)))
        if at < len(data) and data[at] == ord("["):
            self._read_events(at + 1)
        elif at < len(data) and data[at] == ord("{"):
            self._read_members(at + 1)
        return self._record()

    def read_events(self) -> int:
        """The events of a list, as long as they are wanted; returns where it ends."""
        with cancellation.wanted_while(lambda: self.is_wanted):
            return self._read_events(0)

    def _read_members(self, at: int) -> None:
        """The trace's own members, before and behind its events."""
        reason = tokens.NO_ROOM
        while reason != tokens.END_OF_LIST and reason != tokens.END_OF_FILE and len(self.members) < _MOST_MEMBERS:
            spans = np.zeros((256, 4), np.int64)
            number, at, reason = tokens.scan_members(self.window.data, np.int64(at), self.window.is_last, spans)
            self._keep_members(spans[:number])
            if reason == tokens.AT_EVENTS:
                at = self._read_events(at)
            elif reason == tokens.NO_BYTES:
                at = self._advance(at)
        self.is_truncated |= reason == tokens.END_OF_FILE

    def _keep_members(self, spans: I64Matrix) -> None:
        for begin, end, low, high in spans.tolist():
            name = self.window.data[begin:end].tobytes().decode("utf-8", "replace")
            self.header_room -= high - low
            self.members.append((name, self.window.data[low:high].tobytes() if self.header_room >= 0 else None))

    def _advance(self, at: int) -> int:
        """Replace the bytes at hand by those from ``at`` on; returns the position of ``at`` among them."""
        size_before = len(self.window.data)
        if self.window.is_at_stop:
            # No event begins there.
            self._drop_second_half()
            self.window.read_past_stop()
        self.window.advance(at)
        self._take_memory(max(len(self.window.data) - size_before, 0))
        self.progress(Message("Reading"), min(1.0, self.window.fraction * (2 if self.second_half else 1)))
        return 0

    def _read_events(self, at: int) -> int:
        """Read the events from position ``at`` on; returns where their list ends."""
        reason = tokens.NO_ROOM
        while reason == tokens.NO_ROOM or reason == tokens.NO_BYTES:
            cancellation.check()
            is_complete, before = not self.counts[DAMAGES], self._memory_size()
            # What stood before may be gone, and is not looked at again.
            previous = events.no_previous()
            tables = events.ScanTables(self.texts.table, self.events, self.arguments, previous, self.counts)
            self.event_count, at, reason = events.scan(
                self.window.data, np.int64(at), self.window.is_last, np.int64(self.event_count), tables
            )
            if is_complete and self.counts[DAMAGES]:
                self.counts[FIRST_DAMAGE] += self.window.begin
            self._take_memory(self._memory_size() - before)
            if reason == tokens.NO_ROOM:
                self._grow()
            elif self.second_half and self.window.is_at_stop and at == len(self.window.data):
                return self._append_second_half(*self.second_half)
            elif reason == tokens.NO_BYTES:
                at = self._advance(at)
        self.is_truncated |= reason == tokens.END_OF_FILE
        return int(at)

    def _append_second_half(self, reader: _TraceReader, end: Future[int]) -> int:
        """Take over the events that begin where these end; returns where their list ends."""
        at = end.result()
        self.second_half, self.window, self.is_truncated = None, reader.window, reader.is_truncated
        numbers, argument_count = self.texts.add_all(reader.texts), int(self.events.first_argument[self.event_count])
        (phase, texts, times, first), (key, kind, value) = reader._filled_columns()
        _renumber(kind, value, numbers)
        count = self.event_count
        phases, texts_before, times_before, firsts = self.events
        self.events = EventColumns(
            _appended(phases, count, phase),
            _appended(texts_before, count, np.stack([gather(numbers, column) for column in texts])),
            _appended(times_before, count, times),
            _appended(firsts, count + 1, first[1:] + argument_count),
        )
        keys, kinds, values = self.arguments
        self.arguments = ArgumentColumns(
            _appended(keys, argument_count, gather(numbers, key)),
            _appended(kinds, argument_count, kind),
            _appended(values, argument_count, value),
        )
        self.event_count += reader.event_count
        if not self.counts[DAMAGES]:
            self.counts[FIRST_DAMAGE] = reader.counts[FIRST_DAMAGE]
        self.counts[DAMAGES:] += reader.counts[DAMAGES:]
        return at

    def _drop_second_half(self) -> None:
        """Do without the second half, which takes no memory any more."""
        if self.second_half:
            (reader, end), self.second_half = self.second_half, None
            reader.is_wanted = False
            wait([end])
            self.budget.release(reader._memory_size() + len(reader.window.data))

    def _take_memory(self, size: int) -> None:
        """Take so many bytes of the budget. A second half that leaves no room for them is dropped; this thread reads
        it.
        """
        if not self.budget.allows(size):
            self._drop_second_half()
        self.budget.take(size)

    def _filled_columns(self) -> tuple[EventColumns, ArgumentColumns]:
        """What is read so far, without the room for more."""
        phase, texts, times, first = self.events
        key, kind, value = self.arguments
        count, argument_count = self.event_count, int(first[self.event_count])
        event_columns = EventColumns(phase[:count], texts[:, :count], times[:, :count], first[: count + 1])
        argument_columns = ArgumentColumns(key[:argument_count], kind[:argument_count], value[:argument_count])
        return event_columns, argument_columns

    def _memory_size(self) -> int:
        """Bytes of what is read so far."""
        argument_count = int(self.events.first_argument[self.event_count])
        texts = _TEXT_BYTES * len(self.texts) + 2 * self.texts.size
        return _EVENT_BYTES * self.event_count + _ARGUMENT_BYTES * argument_count + texts

    def _grow(self) -> None:
        """Make room for what has none: twice as much, or what a file needs that goes on like this."""
        phase, texts, times, first = self.events
        if self.texts.is_full:
            self.texts.grow()
        elif self.event_count == len(phase):
            size = self._room_needed(len(phase))
            self.events = EventColumns(
                _grown(phase, size), _grown(texts, size), _grown(times, size), _grown(first, size + 1)
            )
        else:
            key, kind, value = self.arguments
            size = self._room_needed(len(key))
            self.arguments = ArgumentColumns(_grown(key, size), _grown(kind, size), _grown(value, size))

    def _room_needed(self, number: int) -> int:
        fraction = self.window.fraction
        return max(2 * number, int(1.2 * number / fraction) if fraction else 0)

    def _record(self) -> Record:
        (phase, (category, name, pid, tid), (begin, duration), first), arguments = self._filled_columns()
        header, unread = self._header()
        return Record(
            *(phase, category, name, pid, tid, begin, duration, first),
            *arguments,
            *self.texts.to_pool(),
            self.window.end,
            header,
            tuple(self._problems(unread)),
        )

    def _header(self) -> tuple[dict[str, Any], list[str]]:
        """(the members that can be read, names of those that cannot)."""
        header: dict[str, Any] = {}
        unread = []
        for name, value in self.members:
            text = value.decode("utf-8", "replace") if value is not None else ""
            try:
                header[name] = json.loads(text, strict=False)
            except (ValueError, RecursionError):
                unread.append(name)
        return header, unread

    def _problems(self, unread: list[str]) -> list[Problem]:
        offset, damaged_count, bad_numbers, overfull_events = self.counts.tolist()
        problems = []
        size = self.window.end
        if self.is_truncated:
            message = Message("The trace is cut off after {size} bytes; later events are missing.", size=size)
            remedy = Message("Copy the file again, after the program has ended; figures cover only what could be read.")
            problems.append(Problem("damaged_capture", message, remedy, self.where))
        if damaged_count:
            message = (
                Message(
                    "The trace is invalid JSON at byte {offset} and {count} other places; the damaged parts were "
                    "skipped.",
                    offset=offset,
                    count=damaged_count - 1,
                )
                if damaged_count > 1
                else Message(
                    "The trace is invalid JSON at byte {offset}; the damaged parts were skipped.", offset=offset
                )
            )
            remedy = Message(
                "Upgrade PyTorch, which then escapes quotes in names; figures cover only what could be read."
            )
            problems.append(Problem("broken_json", message, remedy, self.where, "warning"))
        if bad_numbers:
            message = Message(
                "{count} numbers of the trace are invalid, such as -1.-23, and were ignored.", count=bad_numbers
            )
            problems.append(Problem("broken_numbers", message, "", self.where, "warning"))
        if overfull_events:
            message = Message(
                "{count} events have more than {most} arguments; the rest was left out.",
                count=overfull_events,
                most=events.MOST_ARGUMENTS,
            )
            problems.append(Problem("too_many_arguments", message, "", self.where, "warning"))
        if unread:
            message = Message("What the trace says about {names} cannot be read.", names=listed(unread[:5]))
            problems.append(Problem("broken_header", message, "", self.where, "info"))
        return problems


@jit
def _renumber(kind: U8, value: I64, numbers: I32) -> None:
    """Give the texts among the values (int64[m], of these kinds) their new numbers, in place."""
    for i in range(len(kind)):
        if kind[i] == TEXT:
            value[i] = numbers[value[i]]


def _appended(column: Array, count: int, added: Array) -> Array:
    """A column, or rows of several, whose first ``count`` are followed by what is added; copied where it lacks room."""
    size = count + added.shape[-1]
    if size > column.shape[-1]:
        column = _grown(column, size)
    column[..., count:size] = added
    return column


def _grown(column: Array, size: int) -> Array:
    """A copy of a column, or of rows of several, with room for ``size``; new room is not initialized."""
    grown = np.empty((*column.shape[:-1], size), column.dtype)
    grown[..., : column.shape[-1]] = column
    return grown
