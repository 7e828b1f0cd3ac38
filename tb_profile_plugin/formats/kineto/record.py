"""A trace as it stands in its file: columns of events and of their arguments, and the members around them."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...runtime import cancellation, memory
from ...runtime.arrays import I32, I64, U8, Array, Bool, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.messages import Message, listed
from ...runtime.problems import Problem
from ..columns.gather import gather
from ..columns.kinds import TEXT
from ..columns.text import Text
from . import events, tokens
from .events import Arguments, Events
from .texts import Texts
from .window import Window, second_half

_EVENTS, _ARGUMENTS = 1 << 14, 1 << 16
"""For which there is room at first."""
_MEMBERS = 4096
"""Of the trace itself; profilers write some thirty."""
_HEADER = 64 << 20
"""Bytes of all members around the events that are read."""
_EVENT_BYTES, _ARGUMENT_BYTES, _TEXT_BYTES = 64, 24, 120
"""Memory that each takes until the columns are made; a text also twice its bytes."""


@dataclass(frozen=True)
class Record:
    """The events in the order of the file. Texts are numbers in ``pool_offset`` and `text`; 0 is the empty one."""

    phase: U8
    """uint8[n]: the letter of ``ph``."""
    category: I32
    name: I32
    pid: I32
    tid: I32
    begin: I64
    """int64[n] ns as the file has them; `tokens.NO_TIME` where there is none."""
    duration: I64
    """int64[n] ns, likewise."""
    first: I64
    """int64[n + 1]: arguments ``first[i]:first[i + 1]`` are those of event i."""
    key: I32
    """int32[m]: name of the argument."""
    kind: U8
    """uint8[m]: as in `formats.columns.kinds`; `TEXT` also for lists and objects."""
    value: I64
    """int64[m]: the number's bits, or the text's number."""
    pool: U8
    pool_offset: I64
    text: Text
    size: int
    """Bytes that it was read from."""
    header: dict[str, Any] = field(default_factory=dict)
    """The members around the events, as far as they can be read."""
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.phase)

    def word(self, code: int) -> str:
        """The text of a number."""
        if code not in self._words:
            begin, end = int(self.text.begin[code]), int(self.text.end[code])
            self._words[code] = self.pool[begin:end].tobytes().decode("utf-8", "replace")
        return self._words[code]

    @lazy
    def _words(self) -> dict[int, str]:
        return {}


def distinct(codes: I32) -> I64:
    """int64[k]: numbers of texts, each once, in ascending order."""
    return np.flatnonzero(_marked(np.ascontiguousarray(codes), np.int64(codes.max(initial=-1)) + 1))


@jit
def _marked(codes: I32, size: Int) -> Bool:
    marked = np.zeros(size, np.bool_)
    for code in codes:
        marked[code] = True
    return marked


def read(content: Any, where: str, progress: Callable[[str, float], None]) -> Record:
    """The record of a trace in JSON, a buffer or a `Stream`; see `kineto.decode` for what is raised."""
    budget, half = memory.Budget(where), second_half(content)
    with Window(content, stop=half[0] if half else None) as window:
        reader = _Reader(window, where, budget, progress)
        if not half:
            return reader.read()
        with Window(half[1], half[0]) as behind, ThreadPoolExecutor(1, "tb-profile-scan") as thread:
            rest = _Reader(behind, where, budget, lambda phase, fraction: None)
            reader.rest = _Rest(rest, thread.submit(rest.read_events))
            try:
                return reader.read()
            finally:
                rest.is_wanted = False


class _Rest(NamedTuple):
    """The events of a long file's second half, which another thread reads meanwhile."""

    reader: _Reader
    end: Future[int]
    """Where in the bytes that it has at hand then their list ends."""


class _Reader:
    """What is read so far."""

    def __init__(self, window: Window, where: str, budget: memory.Budget, progress: Callable[[str, float], None]):
        self.window, self.where, self.budget, self.progress = window, where, budget, progress
        self.budget.take(len(window.data))
        self.rest: _Rest | None = None
        self.is_wanted = True
        self.texts = Texts()
        self.counts = np.zeros(4, np.int64)
        self.members: list[tuple[str, bytes | None]] = []
        self.header_room = _HEADER
        self.events: Events = (
            np.empty(_EVENTS, np.uint8),
            np.empty((events.FIELDS, _EVENTS), np.int32),
            np.empty((2, _EVENTS), np.int64),
            np.zeros(_EVENTS + 1, np.int64),
        )
        self.arguments: Arguments = (
            np.empty(_ARGUMENTS, np.int32),
            np.empty(_ARGUMENTS, np.uint8),
            np.empty(_ARGUMENTS, np.int64),
        )
        self.number = 0
        """Of events so far."""
        self.cut = False

    def read(self) -> Record:
        data = self.window.data
        at = int(tokens.first_byte(data, np.int64(3 if bytes(data[:3]) == b"\xef\xbb\xbf" else 0)))
        if at < len(data) and data[at] == ord("["):
            self._events(at + 1)
        elif at < len(data) and data[at] == ord("{"):
            self._members(at + 1)
        return self._record()

    def read_events(self) -> int:
        """The events of a list, as long as they are wanted; returns where it ends."""
        with cancellation.wanted_while(lambda: self.is_wanted):
            return self._events(0)

    def _members(self, at: int) -> None:
        """The trace's own members, before and behind its events."""
        why = tokens.NO_ROOM
        while why != tokens.END_OF_LIST and why != tokens.END_OF_FILE and len(self.members) < _MEMBERS:
            spans = np.zeros((256, 4), np.int64)
            number, at, why = tokens.members(self.window.data, np.int64(at), self.window.is_last, spans)
            self._keep_members(spans[:number])
            if why == tokens.AT_EVENTS:
                at = self._events(at)
            elif why == tokens.NO_BYTES:
                at = self._advance(at)
        self.cut |= why == tokens.END_OF_FILE

    def _keep_members(self, spans: I64Matrix) -> None:
        for begin, end, low, high in spans.tolist():
            name = self.window.data[begin:end].tobytes().decode("utf-8", "replace")
            self.header_room -= high - low
            self.members.append((name, self.window.data[low:high].tobytes() if self.header_room >= 0 else None))

    def _advance(self, at: int) -> int:
        """Have further bytes at hand; returns where ``at`` is then."""
        before = len(self.window.data)
        if self.window.is_at_stop:
            # No event begins there.
            self._leave_rest()
            self.window.go_on()
        self.window.advance(at)
        self._take(max(len(self.window.data) - before, 0))
        self.progress(Message("Reading"), min(1.0, self.window.fraction * (2 if self.rest else 1)))
        return 0

    def _events(self, at: int) -> int:
        """The events from there on; returns where their list ends."""
        why = tokens.NO_ROOM
        while why == tokens.NO_ROOM or why == tokens.NO_BYTES:
            cancellation.check()
            is_complete, before = not self.counts[events.DAMAGES], self._memory()
            # What stood before may be gone, and is not looked at again.
            last = events.nothing_before()
            self.number, at, why = events.scan(
                self.window.data,
                np.int64(at),
                self.window.is_last,
                self.texts.table,
                self.events,
                np.int64(self.number),
                self.arguments,
                last,
                self.counts,
            )
            if is_complete and self.counts[events.DAMAGES]:
                self.counts[events.FIRST_DAMAGE] += self.window.begin
            self._take(self._memory() - before)
            if why == tokens.NO_ROOM:
                self._grow()
            elif self.rest and self.window.is_at_stop and at == len(self.window.data):
                return self._join(*self.rest)
            elif why == tokens.NO_BYTES:
                at = self._advance(at)
        self.cut |= why == tokens.END_OF_FILE
        return int(at)

    def _join(self, rest: _Reader, end: Future[int]) -> int:
        """Take over the events that begin where these end; returns where their list ends."""
        at = end.result()
        self.rest, self.window, self.cut = None, rest.window, rest.cut
        numbers, used = self.texts.numbers(rest.texts), int(self.events[3][self.number])
        (phase, texts, times, first), (key, kind, value) = rest._columns()
        _renumber(kind, value, numbers)
        count = self.number
        phases, texts_before, times_before, firsts = self.events
        self.events = (
            _appended(phases, count, phase),
            _appended(texts_before, count, np.stack([gather(numbers, column) for column in texts])),
            _appended(times_before, count, times),
            _appended(firsts, count + 1, first[1:] + used),
        )
        keys, kinds, values = self.arguments
        self.arguments = (
            _appended(keys, used, gather(numbers, key)),
            _appended(kinds, used, kind),
            _appended(values, used, value),
        )
        self.number += rest.number
        if not self.counts[events.DAMAGES]:
            self.counts[events.FIRST_DAMAGE] = rest.counts[events.FIRST_DAMAGE]
        self.counts[events.DAMAGES :] += rest.counts[events.DAMAGES :]
        return at

    def _leave_rest(self) -> None:
        """Do without the second half, which takes no memory any more."""
        if self.rest:
            (rest, end), self.rest = self.rest, None
            rest.is_wanted = False
            wait([end])
            self.budget.release(rest._memory() + len(rest.window.data))

    def _take(self, size: int) -> None:
        """Note so many bytes more; a second half that leaves no room for them is left, and read by this thread."""
        if not self.budget.allows(size):
            self._leave_rest()
        self.budget.take(size)

    def _columns(self) -> tuple[Events, Arguments]:
        """What is read so far, without the room for more."""
        phase, texts, times, first = self.events
        key, kind, value = self.arguments
        count, used = self.number, int(first[self.number])
        of_events = phase[:count], texts[:, :count], times[:, :count], first[: count + 1]
        return of_events, (key[:used], kind[:used], value[:used])

    def _memory(self) -> int:
        """Bytes of what is read so far."""
        used = int(self.events[3][self.number])
        texts = _TEXT_BYTES * len(self.texts) + 2 * self.texts.size
        return _EVENT_BYTES * self.number + _ARGUMENT_BYTES * used + texts

    def _grow(self) -> None:
        """Make room for what has none: twice as much, or what a file needs that goes on like this."""
        phase, texts, times, first = self.events
        if self.texts.is_full:
            self.texts.grow()
        elif self.number == len(phase):
            size = self._needed(len(phase))
            self.events = _grown(phase, size), _grown(texts, size), _grown(times, size), _grown(first, size + 1)
        else:
            key, kind, value = self.arguments
            size = self._needed(len(key))
            self.arguments = _grown(key, size), _grown(kind, size), _grown(value, size)

    def _needed(self, number: int) -> int:
        fraction = self.window.fraction
        return max(2 * number, int(1.2 * number / fraction) if fraction else 0)

    def _record(self) -> Record:
        (phase, (category, name, pid, tid), (begin, duration), first), arguments = self._columns()
        header, unread = self._header()
        return Record(
            *(phase, category, name, pid, tid, begin, duration, first),
            *arguments,
            *self.texts.written(),
            self.window.end,
            header,
            tuple(self._problems(unread)),
        )

    def _header(self) -> tuple[dict[str, Any], list[str]]:
        """The members that can be read, and the names of those that cannot."""
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
        offset, damaged_count, numbers, crowded = self.counts.tolist()
        problems = []
        size = self.window.end
        if self.cut:
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
        if numbers:
            message = Message(
                "{count} numbers of the trace are invalid, such as -1.-23, and were ignored.", count=numbers
            )
            problems.append(Problem("broken_numbers", message, "", self.where, "warning"))
        if crowded:
            message = Message(
                "{count} events have more than {most} arguments; the rest was left out.",
                count=crowded,
                most=events.MOST_ARGUMENTS,
            )
            problems.append(Problem("too_many_arguments", message, "", self.where, "warning"))
        if unread:
            message = Message("What the trace says about {names} cannot be read.", names=listed(unread[:5]))
            problems.append(Problem("broken_header", message, "", self.where, "info"))
        return problems


@jit
def _renumber(kind: U8, value: I64, numbers: I32) -> None:
    """Texts that are values get other numbers."""
    for i in range(len(kind)):
        if kind[i] == TEXT:
            value[i] = numbers[value[i]]


def _appended(column: Array, count: int, more: Array) -> Array:
    """A column, or rows of some, whose first so many are followed by others, in room of their own if need be."""
    size = count + more.shape[-1]
    if size > column.shape[-1]:
        column = _grown(column, size)
    column[..., count:size] = more
    return column


def _grown(column: Array, size: int) -> Array:
    """A column, or rows of some, with room for so many; what is new is whatever it was."""
    grown = np.empty((*column.shape[:-1], size), column.dtype)
    grown[..., : column.shape[-1]] = column
    return grown
