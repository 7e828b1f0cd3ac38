"""A trace as it stands in its file: columns of events and of their arguments, and the members around them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from ...runtime import cancellation
from ...runtime.arrays import F64, I32, I64, U8, Array
from ...runtime.memo import lazy
from ...runtime.memory import Budget
from ...runtime.problems import Problem
from ..columns.kinds import DOUBLE, TEXT
from ..columns.text import Text
from . import tokens
from .texts import Texts

_EVENTS, _ARGUMENTS = 1 << 14, 1 << 18
"""Read at a time: so much stays in a processor's cache."""
_MEMBERS = 4096
"""Of the trace itself; profilers write some thirty."""
_HEADER = 64 << 20
"""Bytes of all members around the events that are read."""
_EVENT_BYTES, _ARGUMENT_BYTES, _TEXT_BYTES = 64, 24, 120
"""Memory that each takes until the columns are made."""
_PLAIN = frozenset(b"XiICMsf")
"""Phases that are read; others are of other programs."""
_NOISE = frozenset({b"Ev Idx", b"finished", b"Record function id"})
"""Arguments that number or mark events for the profiler's own use, on nearly each of them."""


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


def read(buffer: Any, where: str, progress: Callable[[str, float], None]) -> Record:
    """The record of a trace in JSON; see `kineto.decode` for what is raised."""
    data = np.frombuffer(buffer, np.uint8)
    return _Reader(data, where, progress).read()


class _Reader:
    """What is read so far."""

    def __init__(self, data: U8, where: str, progress: Callable[[str, float], None]):
        self.data, self.where, self.progress = data, where, progress
        self.budget = Budget(where)
        self.budget.take(len(data))
        self.texts = Texts(data)
        self.damage = np.zeros(4, np.int64)
        self.spans: list[tuple[int, int, int, int]] = []
        self.blocks: list[dict[str, Array]] = []
        self.is_wanted_key: dict[int, bool] = {}
        self.cut = False

    def read(self) -> Record:
        data = self.data
        at = int(tokens.space(data, np.int64(3 if bytes(data[:3]) == b"\xef\xbb\xbf" else 0)))
        if at < len(data) and data[at] == ord("["):
            self._events(at + 1)
        elif at < len(data) and data[at] == ord("{"):
            self._members(at + 1)
        return self._record()

    def _members(self, at: int) -> None:
        """The trace's own members, before and behind its events."""
        inside = True
        while inside and len(self.spans) < _MEMBERS:
            spans = np.zeros((256, 4), np.int64)
            number, at, inside = tokens.members(self.data, np.int64(at), spans)
            self.spans += [tuple(row) for row in spans[:number].tolist()]
            if inside:
                at = self._events(at)
            elif number == len(spans):
                inside = True
            else:
                self.cut |= at >= len(self.data)

    def _events(self, at: int) -> int:
        """The events from there on; returns where their list ends."""
        events = np.empty((tokens.FIELDS, _EVENTS), np.int64)
        arguments = np.empty((tokens.PARTS, _ARGUMENTS), np.int64)
        first, reals = np.empty(_EVENTS + 1, np.int64), np.empty(_ARGUMENTS)
        for _ in count():
            cancellation.check()
            number, at, why = tokens.scan(self.data, np.int64(at), events, first, arguments, reals, self.damage)
            self._keep(events[:, :number], first[: number + 1], arguments[:, : first[number]], reals)
            self.progress("Reading", at / max(len(self.data), 1))
            if why != tokens.NO_ROOM:
                self.cut |= why == tokens.END_OF_FILE
                break
        return int(at)

    def _keep(self, events: Array, first: Array, arguments: Array, reals: F64) -> None:
        """Compact columns of what was read last."""

        def codes(rows: Array, begin: int, end: int) -> Array:
            return self.texts.codes(np.ascontiguousarray(rows[begin]), np.ascontiguousarray(rows[end]))

        text_count = len(self.texts)
        phase = np.where(events[tokens.PH + tokens.ENDS] - events[tokens.PH] == 1, self.data[events[tokens.PH]], 0)
        wanted = np.isin(phase, list(_PLAIN))
        events = np.ascontiguousarray(events[:, wanted])
        sizes = np.diff(first)
        rows = np.ascontiguousarray(arguments[:, np.repeat(wanted, sizes)])
        reals = reals[: arguments.shape[1]][np.repeat(wanted, sizes)]
        owner = np.repeat(np.arange(len(events[0])), sizes[wanted])
        key = codes(rows, tokens.KEY, tokens.KEY_END)
        self._learn(key)
        is_wanted = ~np.isin(key, [code for code, is_wanted in self.is_wanted_key.items() if not is_wanted])
        rows, reals, owner, key = (
            np.ascontiguousarray(rows[:, is_wanted]),
            reals[is_wanted],
            owner[is_wanted],
            key[is_wanted],
        )
        # Copies: a row would keep all the others in memory.
        value, kind = rows[tokens.VALUE].copy(), rows[tokens.KIND].astype(np.uint8)
        written = kind == TEXT
        value[written] = self.texts.codes(value[written], rows[tokens.VALUE_END][written])
        value[kind == DOUBLE] = reals[kind == DOUBLE].view(np.int64)
        names = {
            name: codes(events, field, field + tokens.ENDS)
            for name, field in (
                ("category", tokens.CAT),
                ("name", tokens.NAME),
                ("pid", tokens.PID),
                ("tid", tokens.TID),
            )
        }
        times = {"begin": events[tokens.TS].copy(), "duration": events[tokens.DURATION].copy()}
        counts = np.bincount(owner, minlength=len(events[0])).astype(np.int64)
        more = {"phase": phase[wanted].astype(np.uint8), "counts": counts, "key": key, "kind": kind, "value": value}
        size = _EVENT_BYTES * len(counts) + _ARGUMENT_BYTES * len(key) + _TEXT_BYTES * (len(self.texts) - text_count)
        self.budget.take(size)
        self.blocks.append(names | times | more)

    def _learn(self, key: Array) -> None:
        """Which of the names of arguments are those that are left out."""
        for code in set(np.unique(key).tolist()) - self.is_wanted_key.keys():
            self.is_wanted_key[code] = self.texts.raw(code) not in _NOISE

    def _record(self) -> Record:
        columns = {}
        for name, dtype in _COLUMNS.items():
            columns[name] = np.concatenate([np.empty(0, dtype), *(block.pop(name) for block in self.blocks)])
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(columns.pop("counts"), dtype=np.int64)))
        pool, offset, text = self.texts.written()
        header, unread = self._header()
        return Record(
            **columns,
            first=first,
            pool=pool,
            pool_offset=offset,
            text=text,
            header=header,
            problems=tuple(self._problems(unread)),
        )

    def _header(self) -> tuple[dict[str, Any], list[str]]:
        """The members that can be read, and the names of those that cannot."""
        header: dict[str, Any] = {}
        unread = []
        left = _HEADER
        for begin, end, low, high in self.spans:
            name = self.data[begin:end].tobytes().decode("utf-8", "replace")
            left -= high - low
            try:
                if left < 0:
                    raise ValueError
                header[name] = json.loads(self.data[low:high].tobytes().decode("utf-8", "replace"), strict=False)
            except (ValueError, RecursionError):
                unread.append(name)
        return header, unread

    def _problems(self, unread: list[str]) -> list[Problem]:
        offset, damaged_count, numbers, crowded = self.damage.tolist()
        problems = []
        size = len(self.data)
        if self.cut:
            message = f"The trace is cut off after {size:,} bytes; later events are missing."
            remedy = "Copy the file again, after the program has ended; figures cover only what could be read."
            problems.append(Problem("damaged_capture", message, remedy, self.where))
        if damaged_count:
            more = f" and {damaged_count - 1:,} other places" * (damaged_count > 1)
            message = f"The trace is invalid JSON at byte {offset:,}{more}; the damaged parts were skipped."
            remedy = "Upgrade PyTorch, which then escapes quotes in names; figures cover only what could be read."
            problems.append(Problem("broken_json", message, remedy, self.where, "warning"))
        if numbers:
            message = f"{numbers:,} numbers of the trace are invalid, such as -1.-23, and were ignored."
            problems.append(Problem("broken_numbers", message, "", self.where, "warning"))
        if crowded:
            message = f"{crowded:,} events have more than {_ARGUMENTS:,} arguments; the rest was left out."
            problems.append(Problem("too_many_arguments", message, "", self.where, "warning"))
        if unread:
            message = f"What the trace says about {', '.join(unread[:5])} cannot be read."
            problems.append(Problem("broken_header", message, "", self.where, "info"))
        return problems


_COLUMNS: dict[str, Any] = {
    "phase": np.uint8,
    "category": np.int32,
    "name": np.int32,
    "pid": np.int32,
    "tid": np.int32,
    "begin": np.int64,
    "duration": np.int64,
    "counts": np.int64,
    "key": np.int32,
    "kind": np.uint8,
    "value": np.int64,
}
