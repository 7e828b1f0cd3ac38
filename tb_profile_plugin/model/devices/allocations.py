"""Allocations and deallocations as the memory allocators of TensorFlow, JAX and TPUs report them to the profiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats.columns import Plane, kinds, vocabulary
from ...formats.columns.codes import combine
from ...formats.columns.lookup import StatArrays
from ...formats.columns.tables import StatColumn
from ...runtime.arrays import I64, Array, Bool, I64Matrix, distinct
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.records import record
from ..host import Host
from ..per_host import per_host

_ALLOCATES_BY_NAME = {"MemoryAllocation": 1, "MemoryDeallocation": 0}
"""1 for allocations, 0 for deallocations, by the name of their events."""

_MEMORY_STATS = ("index_on_host", "device_ordinal", "allocator_name")
_NUMBER_STATS = (
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    vocabulary.DATA_TYPE,
    "group_id",
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_TEXT_STATS = {"tf_op": _REPLACEMENT, "region_type": _REPLACEMENT, "shape": "["}
"""Stats that are texts, with the first letter to assume where that is lost."""
_STATS = (*_TEXT_STATS, "memory", "fragmentation", *_NUMBER_STATS)
_ROW_STATS, _FIRST_NUMBER = 5, len(_TEXT_STATS)
"""Stats whose rows are read, the first five; and the first one of those whose integers are, all but the texts."""
_MAY_BE_ABSENT = (vocabulary.DATA_TYPE, "group_id")
"""Numbers that are -1 where they are not stated."""

_DTYPES = (
    "INVALID float double int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 bfloat16 qint16 "
    "quint16 uint16 complex128 half resource variant uint32 uint64 float8_e5m2 float8_e4m3fn float8_e4m3fnuz "
    "float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2"
).split()
"""TensorFlow's DataType by number; 100 more is a reference to it."""


@record
class Allocations:
    """The events of one memory of one host, by time. Bytes and times are int64, texts are codes into `texts`."""

    memory: str
    """Name of the allocator, e.g. ``GPU_0_bfc``, or number of the device."""
    event: Array
    """int64[n]: row among the events of the host's plane."""
    time: Array
    """int64[n], ps since the host's first line begins."""
    allocates: Array
    """bool[n]: False for a deallocation."""
    stack: Array
    """int64[n] bytes reserved for the stack, after the event."""
    heap: Array
    """int64[n] bytes allocated, after the event."""
    free: Array
    """int64[n] bytes that the allocator has left, after the event."""
    fragmentation: Array
    """float64[n], 0 to 1."""
    peak_in_use: Array
    """int64[n]: the allocator's own maximum since the program began."""
    requested: Array
    """int64[n]: bytes that were asked for."""
    size: Array
    """int64[n]: bytes that were really taken."""
    address: Array
    """int64[n]."""
    op: Array
    """int64[n]: code of the op's name."""
    region: Array
    """int64[n]: code of the region's type."""
    shape: Array
    """int64[n]: code of the tensor's shape."""
    dtype: Array
    """int64[n]: TensorFlow's DataType, -1 where there is none."""
    group: Array
    """int64[n]: the profiler's group (step) as stored in the capture or as found; -1 outside of all."""
    until: Array
    """int64[n]: for an allocation the event that ends it, n if none does; for a deallocation -1."""
    source: Array
    """int64[n]: the allocation that a deallocation ends, -1 if that is not recorded; an allocation's own row."""
    texts: dict[str, list[str]]
    """Texts by code of ``op``, ``region`` and ``shape``; code -1 is the empty one."""

    def __len__(self) -> int:
        return len(self.event)

    @lazy
    def in_use(self) -> Array:
        """int64[n]: stack and heap."""
        return self.stack + self.heap

    @lazy
    def peak(self) -> int:
        """The event at which most is in use; of several the one that stands last in the file, as TensorFlow has it.

        0 if there is no event at all.
        """
        return int(np.lexsort((self.event, self.in_use))[-1]) if len(self) else 0

    def text(self, column: str, event: int) -> str:
        """``op``, ``region`` or ``shape`` of an event; a deallocation has those of its allocation."""
        row = int(self.source[event])
        code = int(getattr(self, column)[event if row < 0 else row])
        return self.texts[column][code] if code >= 0 else ""

    def dtype_name(self, event: int) -> str:
        """TensorFlow's name of the tensor's type; empty where there is none."""
        row = int(self.source[event])
        return dtype_name(int(self.dtype[event if row < 0 else row]))

    def alive(self, moment: int) -> Array:
        """int64[k]: allocations of the capture that hold memory right after an event."""
        return np.flatnonzero((self.until > moment)[: moment + 1])


def dtype_name(number: int) -> str:
    """E.g. ``float`` for 1, ``half_ref`` for 119; empty for -1."""
    kind, suffix = (number - 100, "_ref") if number > 100 else (number, "")
    return _DTYPES[kind] + suffix if 0 <= kind < len(_DTYPES) else ""


@per_host(keep=True)
def has_allocations(host: Host) -> bool:
    """Whether the host reports any allocation; cheap."""
    plane = host.cpu
    if plane is None:
        return False
    return len(plane.rows_named(lambda name: name in _ALLOCATES_BY_NAME)) > 0


@per_host
def time_zero_ps(host: Host) -> int:
    """What the times count from, ps: where the first line of the host's plane begins."""
    plane = host.cpu
    lines = plane.lines.begin[np.diff(plane.lines.first_event) > 0] if plane else np.empty(0, np.int64)
    return int(lines.min()) if len(lines) else 0


@per_host
def allocations(host: Host) -> dict[str, Allocations]:
    """All memories of the host that report allocations, by name."""
    plane = host.cpu
    if plane is None or not has_allocations(host):
        return {}
    kinds = np.array([_ALLOCATES_BY_NAME.get(name, -1) for name in plane.names], np.int8)
    events = plane.events.rows_of_names(np.flatnonzero(kinds >= 0).tolist())
    events = events[np.argsort(plane.events.begin[events], kind="stable")]
    column = np.full(len(plane.stat_metadata.text.all), -1, np.int64)
    for row, name in enumerate(plane.stat_metadata.text.all):
        column_name = "memory" if name in _MEMORY_STATS else name
        column[row] = _STATS.index(column_name) if column_name in _STATS and row else -1
    rows = np.full((_ROW_STATS, len(events)), -1, np.int64)
    numbers = np.zeros((len(_STATS) - _FIRST_NUMBER, len(events)), np.int64)
    row_of = dict(zip(_STATS[:_ROW_STATS], rows, strict=True))
    values: dict[str, Any] = dict(zip(_STATS[_FIRST_NUMBER:], numbers, strict=True))
    for name in _MAY_BE_ABSENT:
        values[name][:] = -1
    _fill_stats(events, plane.events.stats.arrays, column, rows, numbers)
    values |= {name: _mended_texts(plane, row_of[name], first) for name, first in _TEXT_STATS.items()}
    values["fragmentation"] = _floats(plane, row_of["fragmentation"], values["fragmentation"])
    if (values["group_id"] == -1).all():
        values["group_id"] = (
            host.with_steps().grouped_steps.group_of[host.trace.slice_of(plane)][events].astype(np.int64)
        )
    codes, memories = _memories(plane, row_of["memory"], values["memory"])
    parts = {name: np.flatnonzero(codes == code) for code, name in enumerate(memories)}
    allocates, time = kinds[plane.events.name[events]] == 1, plane.events.begin[events] - time_zero_ps(host)
    return {
        name: _allocations_of_memory(name, parts[name], events, time, allocates, values) for name in sorted(memories)
    }


def _allocations_of_memory(
    name: str, rows: Array, events: Array, time: Array, allocates: Array, values: dict[str, Any]
) -> Allocations:
    """The memory of this name, whose events are these rows of the columns."""
    number = {column: values[column][rows] for column in _NUMBER_STATS}
    text = {column: values[column] for column in _TEXT_STATS}
    until, source = np.full(len(rows), -1, np.int64), np.full(len(rows), -1, np.int64)
    _pair_deallocations(combine(number["addr"])[1], allocates[rows], until, source)
    return Allocations(
        memory=name,
        event=events[rows],
        time=time[rows],
        allocates=allocates[rows],
        stack=number["bytes_reserved"],
        heap=number["bytes_allocated"],
        free=number["bytes_available"],
        fragmentation=values["fragmentation"][rows],
        peak_in_use=number["peak_bytes_in_use"],
        requested=number["requested_bytes"],
        size=number["allocation_bytes"],
        address=number["addr"],
        op=text["tf_op"][0][rows],
        region=text["region_type"][0][rows],
        shape=text["shape"][0][rows],
        dtype=number[vocabulary.DATA_TYPE],
        group=number["group_id"],
        until=until,
        source=source,
        texts={"op": text["tf_op"][1], "region": text["region_type"][1], "shape": text["shape"][1]},
    )


@jit
def _fill_stats(events: I64, stats: StatArrays, column: I64, rows: I64Matrix, numbers: I64Matrix) -> None:
    """Fill ``rows[c, i]``, the row of stat c of the i-th event, and ``numbers``, its value if that is an integer.

    Columns as `_STATS` orders them. The last stat of a column wins.
    """
    first, name, kind, value = stats
    for i in range(len(events)):
        for row in range(first[events[i]], first[events[i] + 1]):
            index = column[name[row]]
            if 0 <= index < _ROW_STATS:
                rows[index, i] = row
            if index >= _FIRST_NUMBER:
                is_integer = kind[row] == kinds.INT or kind[row] == kinds.UINT
                numbers[index - _FIRST_NUMBER, i] = value[row] if is_integer else 0


@jit
def _pair_deallocations(address: I64, allocates: Bool, until: I64, source: I64) -> None:
    """Fill ``until`` and ``source`` of `Allocations`: the next event at the same address ends an allocation."""
    latest = np.full(len(address), -1, np.int64)
    for i in range(len(address)):
        previous = latest[address[i]]
        if previous >= 0:
            until[previous] = i
        if allocates[i]:
            latest[address[i]], until[i], source[i] = i, len(address), i
        else:
            latest[address[i]], source[i] = -1, previous


def _floats(plane: Plane, row: Array, number: Array) -> Array:
    stats, answer = plane.events.stats, number.astype(np.float64)
    double = np.flatnonzero(row >= 0)
    double = double[stats.kind[row[double]] == kinds.DOUBLE]
    value = stats.value[row[double]].view(np.float64)
    answer[double] = np.where(np.isfinite(value), value, number[double])
    return answer


def _mended_texts(plane: Plane, row: Array, first: str) -> tuple[Array, list[str]]:
    """Codes (-1 where there is no text) and the texts, mended with the letter that they usually start with."""
    owner = np.flatnonzero(row >= 0)
    codes_of_owners, texts = StatColumn(plane, plane.events.stats, row[owner], owner).codes
    codes = np.full(len(row), -1, np.int64)
    codes[owner] = codes_of_owners
    return codes, [_uncut_shape(_mended(text, first)) for text in texts]


def _memories(plane: Plane, row: Array, number: Array) -> tuple[Array, list[str]]:
    """Code of each event's memory, and the memories' names; numbers of devices in decimal."""
    numbered = row >= 0
    kind = plane.events.stats.kind[row[numbered]]
    numbered[numbered] = (kind == kinds.INT) | (kind == kinds.UINT)
    codes, names = _mended_texts(plane, np.where(numbered, -1, row), _REPLACEMENT)
    names.append("")
    codes = np.where(codes < 0, len(names) - 1, codes)
    numbers, index_of = np.unique(number[numbered], return_inverse=True)
    codes[numbered] = index_of.reshape(-1) + len(names)
    names += [str(value) for value in numbers.tolist()]
    names_in_use = dict.fromkeys(names[code] for code in distinct(codes).tolist())
    index = {name: i for i, name in enumerate(names_in_use)}
    return np.array([index.get(name, -1) for name in names], np.int64)[codes], list(names_in_use)


def _mended(text: str, first: str) -> str:
    """TensorFlow on Windows writes NUL over a text's first letter: allocators' names and shapes tell which it was."""
    if not text.startswith("\0"):
        return text
    if text.startswith("\0PU_"):
        return "G" + text[1:]
    if text.startswith("\0pu_host"):
        return "g" + text[1:]
    return first + text[1:]


def _uncut_shape(text: str) -> str:
    """TensorFlow before 2.5 cuts shapes at their first comma: their rank is not known."""
    return f"{text},…]" if text.startswith("[") and not text.endswith("]") else text
