"""Dumps of PyTorch's flight recorder: the last collectives of one rank, as a pickle or JSON, which nothing runs.

Fields as in torch/csrc/distributed/c10d/FlightRecorderDetail.hpp, versions 1.0 to 2.10.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from . import plain_pickle

MOST_BYTES = 64 << 20
"""Bytes of one dump at most; a recorder of 2,000 entries with stacks writes about one of them."""

_MOST_ITEMS = 20_000_000
"""Items of stacks, shapes and types of all entries at most."""

_MOST_DIMENSIONS = 64
"""Dimensions of a tensor at most; further ones are left out."""

SCHEDULED, STARTED, COMPLETED, ENDED = "scheduled", "started", "completed", "ended"
"""States of an operation: queued by the host, begun by the device, done; and done or given up, which gloo does not
tell apart.
"""
SEND, RECEIVE, COALESCED = "send", "recv", "coalesced"
"""Kinds of operations that are no collectives: of two ranks each, and the end of several that run as one."""

_TOP_FIELDS = (b"record_id", b"pg_status", b"pg_config")
_NAMED_RANK = regex(r"rank[_-]?(\d{1,9})(?!\d)")
_LAST_NUMBER = regex(r"(\d{1,9})\D*\Z")
_SUFFIX = regex(r"\.(?:json|pkl|pickle|pt|bin|dump)$")
_PEERS = regex(r"(\d{1,9})(->|<-)(\d{1,9})")
_MOST_DIGITS = 19
"""Numbers of so many digits and more are no ranks, and no counts."""
_RANKS = regex(r"\s*\[[\d,\s]*\]\s*")


class PythonFrame(NamedTuple):
    """One call of a Python stack."""

    function: str
    file: str
    line: int


class Call(NamedTuple):
    """What a rank asks of a collective."""

    kind: str
    """Without the library's name: ``all_reduce``."""
    source: int = -1
    """For `SEND` and `RECEIVE`, ranks within the group; else -1."""
    target: int = -1
    input_sizes: tuple[tuple[int, ...], ...] = ()
    """Shapes of tensors."""
    output_sizes: tuple[tuple[int, ...], ...] = ()
    input_dtypes: tuple[str, ...] = ()
    """As PyTorch names them: ``Float``."""
    output_dtypes: tuple[str, ...] = ()


class Operation(NamedTuple):
    """One entry of the recorder."""

    record_id: int
    """Number of the entry among all of the rank, from 0 on; the recorder overwrites the oldest entries."""
    group: str
    """Name of the process group."""
    sequence: int
    """Number of the collective in its group, or among its sends and receives; what runs as one has one number."""
    is_p2p: bool
    """Whether it is between two ranks: then ``sequence`` counts sends and receives."""
    call: Call
    state: str
    """`SCHEDULED`, `STARTED`, `COMPLETED` or `ENDED`."""
    frames: tuple[PythonFrame, ...]
    """Innermost first; empty where none were recorded."""


class RecordedGroup(NamedTuple):
    """A process group as one rank knows it."""

    name: str
    description: str
    """Empty where there is none."""
    ranks: tuple[int, ...]
    """In the order of the group; empty where the dump does not tell."""


class Dump(NamedTuple):
    """The dump of one rank."""

    rank: int
    where: str
    """Path of the file."""
    groups: Mapping[str, RecordedGroup]
    """By name."""
    operations: Sequence[Operation]
    """In the order in which they were recorded."""
    unread_entries: int
    """Entries that could not be understood."""
    world: str = ""
    """Name of the group that the process made first, that of all ranks; empty where no entry is of it."""
    last_queued: int = -1
    """Number of the last collective that the host queued in that group; -1 where the dump does not tell."""

    @property
    def is_complete(self) -> bool:
        """Whether the dump holds all operations of the rank: none was overwritten, or left out since it was done."""
        return self.operations[0].record_id == 0 if self.operations else self.last_queued < 1

    @property
    def has_stacks(self) -> bool:
        """Whether any entry has the calls that led to it."""
        return any(operation.frames for operation in self.operations)


def rank_of(name: str) -> int | None:
    """The rank that a file name tells: ``comm_lib_trace_rank_3``, ``nccl_trace_rank_3.json``, ``dump3.pkl``."""
    stem = _SUFFIX.sub("", name)
    match = _NAMED_RANK.search(stem) or _LAST_NUMBER.search(stem)
    return int(match[1]) if match else None


def may_be_dump(head: bytes) -> bool:
    """Whether a file that begins so may be a dump; a trace of the profiler may begin with ``pg_config``, too."""
    return any(field in head for field in _TOP_FIELDS) and (
        head.startswith(plain_pickle.MAGIC) or head.lstrip()[:1] == b"{"
    )


def decode(data: bytes, rank: int, where: str) -> Dump:
    """The dump of a rank from a file's bytes; raises `ProblemError` (422) for what is none or is damaged."""
    try:
        dump = plain_pickle.loads(data) if data.startswith(plain_pickle.MAGIC) else json.loads(data)
    except plain_pickle.RefusedPickle as error:
        message = Message("This pickle is refused: {error}.", error=error.args[0])
        remedy = Message("Do not open it with Python's pickle; it may be malicious.")
        raise _unreadable(message, remedy, where) from error
    except plain_pickle.BadPickle as error:
        message = Message("This pickle cannot be read: {error}.", error=error.args[0])
        raise _unreadable(message, _COPY_AGAIN, where) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(Message("This JSON is damaged or incomplete."), _COPY_AGAIN, where) from error
    if not isinstance(dump, dict) or not ({"entries", "pg_config"} & dump.keys()):
        raise _unreadable(Message("This is not a dump of PyTorch's flight recorder."), _RECORD_AGAIN, where)
    return _read_dump(dump, rank, where)


_COPY_AGAIN = Message("Copy the dump again, after the rank has finished writing.")
_RECORD_AGAIN = Message("Set TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and run again.")


def _unreadable(message: str, remedy: str, where: str) -> ProblemError:
    return problem_error("no_dump", message, remedy, where, status=422)


def _read_dump(dump: Mapping[Any, Any], rank: int, where: str) -> Dump:
    entries = _list(dump.get("entries"))
    reader = _EntryReader(where)
    operations = [operation for entry in entries if (operation := reader.operation(entry))]
    operations.sort(key=lambda operation: operation.record_id)
    groups = {name: RecordedGroup(name, text, ()) for name, text in reader.descriptions.items()}
    pg_config = dump.get("pg_config")
    for key, group_facts in pg_config.items() if isinstance(pg_config, dict) else ():
        ranks = _group_ranks(group_facts.get("ranks")) if isinstance(group_facts, dict) else ()
        if ranks:
            name = _group_name(key)
            groups[name] = RecordedGroup(name, _group_description(group_facts.get("desc")), ranks)
    return Dump(
        rank=rank,
        where=where,
        groups=groups,
        operations=operations,
        unread_entries=len(entries) - len(operations),
        world=reader.world,
        last_queued=_last_queued(dump.get("pg_status")),
    )


class _EntryReader:
    """Entries as operations; equal calls and stacks are kept once."""

    def __init__(self, where: str) -> None:
        self.descriptions: dict[str, str] = {}
        """Of the groups of all entries that were read, by name."""
        self.world = ""
        """As `Dump` has it."""
        self._interned: dict[Any, Any] = {}
        self._where = where
        self._items = 0

    def _counted_list(self, value: object) -> Sequence[Any]:
        """`_list`, counted: a small pickle may hold one long list many times."""
        items = _list(value)
        self._items += len(items)
        if self._items > _MOST_ITEMS:
            message = Message("This dump holds more than {most} items.", most=_MOST_ITEMS)
            raise _unreadable(message, _RECORD_AGAIN, self._where)
        return items

    def operation(self, entry: object) -> Operation | None:
        """The operation of an entry; None for what is none."""
        if not isinstance(entry, dict):
            return None
        group, sequence = _list(entry.get("process_group")), entry.get("collective_seq_id", entry.get("seq_id"))
        record, state = entry.get("record_id"), entry.get("state")
        library, _, name = _text(entry.get("profiling_name")).rpartition(":")
        call = self._call(name, entry)
        if call is None or not group or state not in (SCHEDULED, STARTED, COMPLETED):
            return None
        is_p2p = bool(entry.get("is_p2p", call.kind in (SEND, RECEIVE)))
        if is_p2p:
            sequence = entry.get("p2p_seq_id", sequence)
        if not _is_nonnegative_int64(record) or not _is_nonnegative_int64(sequence):
            return None
        # Gloo records neither begin nor end, only that nobody waits any longer.
        if library == "gloo" and state == SCHEDULED and entry.get("retired"):
            state = ENDED
        self.descriptions[_group_name(group[0])] = _group_description(group[1] if len(group) > 1 else "")
        if entry.get("pg_id") == 0:
            self.world = _group_name(group[0])
        frames = self._intern(tuple(map(_python_frame, self._counted_list(entry.get("frames")))))
        return Operation(
            record_id=record,
            group=_group_name(group[0]),
            sequence=sequence,
            is_p2p=is_p2p,
            call=self._intern(call),
            state=state,
            frames=frames,
        )

    def _intern(self, value: Any) -> Any:
        return self._interned.setdefault(value, value)

    def _call(self, name: str, entry: Mapping[Any, Any]) -> Call | None:
        kind, _, peers = name.partition(" ")
        source = target = -1
        if kind in (SEND, RECEIVE):
            match = _PEERS.fullmatch(peers)
            if not match:
                return None
            left_rank, right_rank = int(match[1]), int(match[3])
            source, target = (left_rank, right_rank) if match[2] == "->" else (right_rank, left_rank)
        sizes = self._sizes(entry.get("input_sizes")), self._sizes(entry.get("output_sizes"))
        dtypes = self._texts(entry.get("input_dtypes")), self._texts(entry.get("output_dtypes"))
        return Call(kind, source, target, *sizes, *dtypes) if kind else None

    def _texts(self, value: object) -> tuple[str, ...]:
        return tuple(map(_text, self._counted_list(value)))

    def _sizes(self, value: object) -> tuple[tuple[int, ...], ...]:
        shapes = (self._counted_list(shape)[:_MOST_DIMENSIONS] for shape in self._counted_list(value))
        return tuple(tuple(filter(_is_nonnegative_int64, shape)) for shape in shapes)


def _python_frame(frame: object) -> PythonFrame:
    if not isinstance(frame, dict):
        return PythonFrame("", "", 0)
    name, file, line = frame.get("name"), frame.get("filename"), frame.get("line")
    return PythonFrame(_text(name), _text(file), line if _is_nonnegative_int64(line) else 0)


def _last_queued(status: object) -> int:
    """`Dump.last_queued` by the status of the first group; JSON has texts."""
    first_group = (status.get("0") or status.get(0)) if isinstance(status, dict) else None
    number = first_group.get("last_enqueued_collective") if isinstance(first_group, dict) else None
    if isinstance(number, str) and number.isdecimal() and len(number) < _MOST_DIGITS:
        number = int(number)
    return number if _is_nonnegative_int64(number) else -1


def _group_description(text: object) -> str:
    return "" if text == "undefined" else _text(text)


def _group_ranks(text: object) -> tuple[int, ...]:
    """Ranks of a group, which dumps hold as text: ``[0, 1, 2]``."""
    if isinstance(text, str) and _RANKS.fullmatch(text):
        texts = map(str.strip, text.strip(" []\n\t").split(","))
        return tuple(int(digits) for digits in texts if digits.isdecimal() and len(digits) < _MOST_DIGITS)
    return tuple(rank for rank in _list(text) if _is_nonnegative_int64(rank))


def _group_name(value: object) -> str:
    """A group's name, which may be a number."""
    return str(value) if _is_nonnegative_int64(value) else _text(value)


def _list(value: object) -> Sequence[Any]:
    """The value if it is a list or a tuple, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def _text(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def _is_nonnegative_int64(value: object) -> TypeGuard[int]:
    """Whether the value is an integer, and no bool, in that range."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
