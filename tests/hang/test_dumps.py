"""Dumps are read without running anything; what is damaged, hostile or huge is told, and takes no memory."""

import json
import os
import pickle
import random
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hangs import Job

from tb_profile_plugin.cli import main
from tb_profile_plugin.formats import flight_recorder, plain_pickle
from tb_profile_plugin.runtime.problems import ProblemError

VALUE: dict[str, Any] = {
    "a": [1, -2, 255, 256, 65536, 2**40, -(2**40), 0.5, True, False, None],
    "b": ("", "é", "x" * 300, (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ()),
    "c": {"d": {1: [[], {}]}},
}


class Hostile:
    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


class Plain:
    pass


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_as_python_reads_them(protocol: int) -> None:
    shared = ["again"]
    value = {**VALUE, "e": [shared] * 300, "f": [str(number) for number in range(300)]}
    if protocol > 2:
        # Before there were bytes, pickles called a function that makes them.
        value["g"] = [b"raw", b"x" * 300]
    assert plain_pickle.loads(pickle.dumps(value, protocol)) == value


def test_real_dumps_are_read_as_python_reads_them() -> None:
    content = Job(4).run(200).dump(2)
    assert plain_pickle.loads(pickle.dumps(content, 2)) == content


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_of_a_hostile_pickle_runs(protocol: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = tmp_path / "ran"
    job = Job(2).run(2)
    dumps = job.write(tmp_path / "dumps")
    (dumps / "nccl_trace_rank_1").write_bytes(pickle.dumps(job.dump(1) | {"x": Hostile(mark)}, protocol))
    assert main.main(["hang", str(dumps)]) == 4
    assert not mark.exists()
    said = capsys.readouterr()
    assert "This pickle is refused: it would run code or load objects" in said.err
    assert "not every rank left a dump that can be read" in said.out


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
        b"\x80\x02(X\x04\x00\x00\x00trueios\nsystem\n.",
        b"\x80\x02\x82\x01.",
        b"\x80\x02X\x01\x00\x00\x00aQ.",
        pickle.dumps(Plain(), 2),
        pickle.dumps({1, 2}, 4),
        pickle.dumps(bytearray(b"a"), 5),
    ],
    ids=["protocol0", "global", "stack_global", "inst", "extension", "persistent", "object", "set", "bytearray"],
)
def test_whatever_is_more_than_plain_is_refused(data: bytes) -> None:
    with pytest.raises(plain_pickle.BadPickle):
        plain_pickle.loads(data)


def test_what_a_pickle_only_claims_takes_no_memory() -> None:
    """Lengths beyond its end, and a far number in its memo, for which Python's own reader takes what they say."""
    bombs = [
        b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"a.",
        b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"a.",
        b"\x80\x02]r\xff\xff\xff\x7f.",
        b"\x80\x02]" + b"0" * 1000 + b".",
    ]
    tracemalloc.start()
    for bomb in bombs:
        with suppress(plain_pickle.BadPickle):
            plain_pickle.loads(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_too_many_containers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_pickle, "_MOST_CONTAINERS", 1000)
    with pytest.raises(plain_pickle.BadPickle, match="more than 1,000 containers"):
        plain_pickle.loads(b"\x80\x02]" + b"]" * 2000 + b".")


def test_one_list_in_many_entries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small pickle may say the same long stack for each entry."""
    monkeypatch.setattr(flight_recorder, "_MOST_ITEMS", 10_000)
    content = Job(1).run(100).dump(0)
    frames = content["entries"][0]["frames"] * 100
    for each in content["entries"]:
        each["frames"] = frames
    data = pickle.dumps(content, 2)
    assert len(data) < 100_000
    with pytest.raises(ProblemError, match="more than 10,000 items"):
        flight_recorder.decode(data, 0, "a")


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_damaged_bytes_are_read_or_told(form: str) -> None:
    content = Job(2).run(3).dump(0)
    data = pickle.dumps(content, 2) if form == "pickle" else json.dumps(content).encode()
    chance = random.Random(7)
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        for piece in (bytes(damaged), bytes(damaged[: chance.randrange(len(damaged))])):
            try:
                dump = flight_recorder.decode(piece, 0, "a")
            except ProblemError as error:
                assert error.problem.remedy
                continue
            assert len(dump.operations) + dump.unread_entries <= 6


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"process_group": [], "collective_seq_id": 1},
        {"collective_seq_id": "1"},
        {"profiling_name": 5},
        {"profiling_name": "nccl:send"},
        {"state": "lost"},
        {"record_id": -1},
        {"collective_seq_id": True},
        {"process_group": None},
    ],
)
def test_entries_that_are_none_are_counted(entry: Any) -> None:
    content = Job(1).run(1).dump(0)
    good = content["entries"][0]
    content["entries"].append(good | entry if entry else entry)
    dump = flight_recorder.decode(json.dumps(content).encode(), 0, "a")
    assert (len(dump.operations), dump.unread_entries) == (2, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "This dump is empty."),
        (pickle.dumps(Job(2).run(2).dump(1), 2)[:-40], "This pickle cannot be read: it is"),
        (b"{", "This JSON is damaged or incomplete"),
        (b"[" * 100_000, "This JSON is damaged or incomplete"),
        (b"[]", "This is not a dump of PyTorch's flight recorder."),
    ],
    ids=["empty", "cut", "cut_json", "deep_json", "list"],
)
def test_a_rank_whose_dump_is_damaged_is_told(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Job(3).run(2).write(tmp_path)
    (folder / "nccl_trace_rank_1").write_bytes(content)
    assert main.main(["hang", str(folder)]) == 4
    told = capsys.readouterr()
    assert said in told.err and "nccl_trace_rank_1" in told.err
    assert "Rank 1 left no dump that can be read." in told.out


def test_a_huge_dump_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Job(2).run(2).write(tmp_path)
    with (folder / "nccl_trace_rank_1").open("r+b") as file:
        file.truncate(flight_recorder.MOST_BYTES + 1)
    assert main.main(["hang", str(folder)]) == 4
    assert "This dump is larger than 64.0 MiB." in capsys.readouterr().err


@pytest.mark.parametrize("made", [False, True])
def test_without_dumps_it_is_said_how_to_get_them(
    made: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    if made:
        folder.mkdir()
        (folder / "rank0.json").write_text('{"traceEvents": [], "pg_config": []}')
        (folder / "notes1.txt").write_text("record_id")
    assert main.main(["hang", str(folder)]) == 1
    assert ("TORCH_FR_BUFFER_SIZE=2000" if made else "This folder does not exist.") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_12", 12),
        ("comm_lib_trace_rank_0", 0),
        ("nccl_trace_rank_3.json", 3),
        ("trace-rank7.pkl", 7),
        ("nccl_trace_rank_5_20260101", 5),
        ("dump31", 31),
        ("notes", None),
    ],
)
def test_names_tell_ranks(name: str, rank: int | None) -> None:
    assert flight_recorder.rank_of(name) == rank


def test_of_a_rank_the_dump_with_stacks_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(2).run(1).call("all_reduce", ranks=[0], state="started")
    job.write(tmp_path / "a", name="rank_{}.json")
    job.write(tmp_path / "b")
    job.write(tmp_path / "c", name="rank_{}.json")
    main.main(["hang", str(tmp_path), "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert [Path(each["file"]).parent.name for each in answer["ranks"]] == ["b", "b"]
    assert answer["causes"][0]["stacks"][0]["frames"][1] == {"function": "step", "file": "train.py", "line": 11}
