"""A trace that is read piece by piece is as one that lies in memory, wherever it is cut, and however damaged."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from typing import Any

import numpy as np
import pytest
from torchtrace import frame, launch, mark, memory, on_device, op, text

from tb_profile_plugin.formats.columns import kinds
from tb_profile_plugin.formats.kineto import record, window
from tb_profile_plugin.runtime import memory as memory_limit
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.runtime.stream import SeekableStream, Stream

DRAWN = text(
    mark("ProfilerStep#1", 0, 90),
    frame("net.py(3): forward", 11, 50),
    op("aten::mm", 12, 20, shape=[[2, 2], []]),
    launch(1, 14),
    on_device(1, 20, 9, 'gemm "quoted" \\', grid=[1, 2, 1]),
    memory(512, 15, 64, 512),
    distributedInfo={"rank": 1, "world_size": 2},
).encode()
SPLICES = b'" \\ { } [ ] , : - "ts":1-2, "traceEvents":[ {"a":{ null'.split(b" ")


def damaged(seed: int) -> bytes:
    chance, changed = random.Random(seed), bytearray(DRAWN)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed))
        changed[at : at + chance.choice((0, 1, 30))] = chance.choice(SPLICES)
    return bytes(changed)


class Pieces(io.BytesIO):
    """A stream of these bytes."""

    head = b""
    fraction = 0.5


class SeekablePieces(Pieces):
    """The same, of which parts can be read beside each other."""

    @property
    def size(self) -> int:
        return len(self.getvalue())

    def since(self, at: int) -> Pieces:
        rest = Pieces(self.getvalue()[at:])
        rest.head = rest.getvalue()[: 1 << 16]
        return rest


def read(content: Any) -> record.Record:
    return record.read(content, "", lambda phase, fraction: None)


def told(found: record.Record) -> dict[str, Any]:
    """What a record says, whatever numbers its texts have: a text cut at the end of a piece gets one of its own."""
    columns: dict[str, Any] = {
        name: getattr(found, name).tolist() for name in ("phase", "begin", "duration", "first_argument", "kind")
    }
    columns |= {
        name: [found.text_of(code) for code in getattr(found, name).tolist()]
        for name in ("category", "name", "pid", "tid", "key")
    }
    values = zip(found.value.tolist(), found.kind.tolist(), strict=True)
    columns["value"] = [found.text_of(value) if kind == kinds.TEXT else value for value, kind in values]
    problems = [(problem.code, str(problem.message)) for problem in found.problems]
    return columns | {"header": found.header, "problems": problems}


def trace(count: int) -> bytes:
    """Events of which some bring a name, an argument or a text that was not there before, all through the file."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "add" if i % 500 else f'new "{i}"',
            "pid": 1,
            "tid": i % 3,
            "ts": i,
            "dur": 0.5,
            "args": {"External id": i, "shape": [1, 2], ("late" if i > count // 2 else "soon"): f"text {i // 900}"},
        }
        for i in range(count)
    ]
    return json.dumps({"before": "text", "traceEvents": events, "behind": ["text" * 300]}).encode()


def assert_same(made: record.Record, expected: record.Record) -> None:
    columns = (
        "phase",
        "category",
        "name",
        "pid",
        "tid",
        "begin",
        "duration",
        "first_argument",
        "key",
        "kind",
        "value",
        "pool",
    )
    for name in columns:
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name), name)


@pytest.mark.parametrize("piece", [1 << 13, 5000])
def test_pieces_are_as_good_as_the_whole(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(Pieces(), Stream) and not isinstance(Pieces(), SeekableStream)
    assert isinstance(SeekablePieces(), SeekableStream)
    monkeypatch.setattr(window, "_PIECE_BYTES", piece)
    monkeypatch.setattr(window, "_CARRIED_BYTES", 400)
    data = trace(6000)
    expected, made = read(data), read(Pieces(data))
    assert made.header == {"before": "text", "behind": ["text" * 300]}
    assert_same(made, expected)


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Reads every trace from its middle on, too; events of each second half that was taken over."""
    monkeypatch.setattr(window, "_LONG_BYTES", 0)
    counts: list[int] = []
    join = record._TraceReader._append_second_half

    def counted(self: record._TraceReader, rest: record._TraceReader, end: Any) -> int:
        at = join(self, rest, end)
        counts.append(rest.event_count)
        return at

    monkeypatch.setattr(record._TraceReader, "_append_second_half", counted)
    return counts


@pytest.mark.parametrize("piece", [1 << 21, 1 << 13, 5000])
def test_two_halves_are_as_good_as_the_whole(piece: int, joins: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_PIECE_BYTES", piece)
    monkeypatch.setattr(window, "_CARRIED_BYTES", 400)
    data = trace(6000)
    listed = json.dumps(json.loads(data)["traceEvents"]).encode()
    for content in (data, listed):
        made = read(SeekablePieces(content))
        assert made.size == len(content)
        assert_same(made, read(content))
    assert made.header == {}
    assert len(joins) == 2
    assert all(2000 < count < 4000 for count in joins)


def test_what_seems_to_be_an_event_may_be_none(joins: list[int]) -> None:
    """Within another event's arguments, or behind the events."""
    inner = [{"name": i} for i in range(9000)]
    event = {"ph": "X", "cat": "cpu_op", "name": "add", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    one = {"traceEvents": [{**event, "args": {"list": inner}}, event]}
    behind = {"traceEvents": [event, event], "behind": inner, "more": 1}
    for drawn in (one, behind):
        data = json.dumps(drawn).encode()
        made = read(SeekablePieces(data))
        assert told(made) == told(read(data))
        assert len(made) == 2
    assert joins == []


def test_what_seemed_to_be_events_leaves_its_memory(joins: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    events = trace(6000).partition(b"[")[2].rpartition(b"], ")[0]
    data = b'{"traceEvents": [], "unread": [[' + events + b"]]}"
    monkeypatch.setenv("TB_PROFILE_MEMORY_LIMIT", str(len(data)))
    used: list[int] = []
    release = memory_limit.MemoryBudget.release

    def noted(self: memory_limit.MemoryBudget, size: int) -> None:
        used.append(self._used)
        release(self, size)
        used.append(self._used)

    monkeypatch.setattr(memory_limit.MemoryBudget, "release", noted)
    assert len(read(SeekablePieces(data))) == 0
    before, after = used
    assert after < before - 2000 * 64
    assert after == pytest.approx(len(data) // 2, abs=2000)
    assert joins == []


@pytest.mark.parametrize("piece", [1 << 21, 61])
def test_halves_of_what_is_damaged(piece: int, joins: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_PIECE_BYTES", piece)
    monkeypatch.setattr(window, "_CARRIED_BYTES", 40)
    for data in (DRAWN, DRAWN[:-30], *map(damaged, range(150))):
        assert told(read(SeekablePieces(data))) == told(read(data)), data
    assert len(joins) > 20


def test_both_halves_count_for_the_memory_limit(joins: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    data = trace(6000)
    monkeypatch.setenv("TB_PROFILE_MEMORY_LIMIT", str(len(data)))
    assert len(read(Pieces(data[: len(data) // 2]))) > 2000
    with pytest.raises(ProblemError, match="memory limit"):
        read(SeekablePieces(data))


@pytest.mark.parametrize("piece", [7, 61, 300])
def test_cut_anywhere(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_PIECE_BYTES", piece)
    monkeypatch.setattr(window, "_CARRIED_BYTES", 40)
    for data in (DRAWN, DRAWN[:-30], *map(damaged, range(60))):
        assert told(read(Pieces(data))) == told(read(data)), data


def test_a_long_trace_takes_little_memory() -> None:
    """Its columns, and two pieces of it."""
    events = b'{"ph": "X", "cat": "cpu_op", "name": "add", "pid": 1, "tid": 1, "ts": 1, "dur": 1}' + b" " * 10_000
    content = Pieces(b"[" + b",".join([events] * 4000) + b"]")
    tracemalloc.start()
    assert len(read(content)) == 4000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(content.getvalue()) / 2
