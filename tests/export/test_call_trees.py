"""Trees of calls as files: what the tools that read them require, and every weight in them."""

import gzip
import json
from pathlib import Path
from typing import Any

import draw
import drawn
import numpy as np
import protobuf
import pytest

from tb_profile_plugin.analysis.call_tree import CallTree
from tb_profile_plugin.cli import main
from tb_profile_plugin.export.call_trees import FORMATS, WeightedTree, collapsed, pprof, speedscope

US = 1_000_000


def weighed(unit: str = "ps") -> WeightedTree:
    parent, name = np.array([-1, 0, 1, 1, 0]), np.array([0, 1, 2, 3, 2])
    own = np.array([0, 3 * US, 2 * US, 5 * US + 1, 7 * US])
    total = np.array([17 * US + 1, 10 * US + 1, 2 * US, 5 * US + 1, 7 * US])
    names = ["python 1", "train.py:12 step", "aten::mm;x\ny", "a b"]
    return WeightedTree(CallTree(parent, name, own, total, np.array([1, 2, 3, 4, 5]), names), "run", "Time", unit)


def test_collapsed_stacks_say_every_weight() -> None:
    assert collapsed(weighed()).decode().splitlines() == [
        "python 1;train.py:12 step 3000000",
        "python 1;train.py:12 step;aten::mm:x y 2000000",
        "python 1;train.py:12 step;a b 5000001",
        "python 1;aten::mm:x y 7000000",
    ]


@pytest.mark.parametrize(("unit", "named", "per"), [("ps", "nanoseconds", 1000), ("bytes", "bytes", 1)])
def test_speedscope_has_a_sample_for_each_weight(unit: str, named: str, per: int) -> None:
    file = json.loads(speedscope(weighed(unit)))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames, (profile,) = file["shared"]["frames"], file["profiles"]
    assert frames[1] == {"name": "step", "file": "train.py", "line": 12}
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", named, 0)
    assert len(profile["samples"]) == len(profile["weights"]) == 4
    assert all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample)
    assert sum(profile["weights"]) == profile["endValue"] == (17 * US + 1) / per


def fields(message: bytes, number: int) -> list[Any]:
    return [value for found, value in protobuf.fields(message) if found == number]


def varints(packed: bytes) -> list[int]:
    found, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def test_pprof_refers_to_what_is_there_and_has_every_weight() -> None:
    file = gzip.decompress(pprof(weighed()))
    texts = [value.decode() for value in fields(file, 6)]
    assert texts[0] == ""
    kinds = [(texts[fields(kind, 1)[0]], texts[fields(kind, 2)[0]]) for kind in fields(file, 1)]
    assert kinds == [("calls", "count"), ("Time", "nanoseconds")]
    functions = {fields(each, 1)[0]: texts[fields(each, 2)[0]] for each in fields(file, 5)}
    locations = {fields(each, 1)[0]: fields(fields(each, 4)[0], 1)[0] for each in fields(file, 4)}
    stacks = {}
    for sample in fields(file, 2):
        path = [functions[locations[place]] for place in varints(fields(sample, 1)[0])]
        stacks["<".join(path)] = varints(fields(sample, 2)[0])
    assert stacks == {
        "step<python 1": [2, 3000],
        "aten::mm;x\ny<step<python 1": [3, 2000],
        "a b<step<python 1": [4, 5000],
        "aten::mm;x\ny<python 1": [5, 7000],
    }


def ps_in(kind: str, data: bytes) -> list[float]:
    """The weights in a file."""
    if kind == "collapsed":
        return [int(line.rpartition(" ")[2]) for line in data.decode().splitlines()]
    if kind == "speedscope":
        return [1000 * weight for weight in json.loads(data)["profiles"][0]["weights"]]
    return [1000 * varints(fields(sample, 2)[0])[1] for sample in fields(gzip.decompress(data), 2)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("redact", [False, True])
def test_the_command_line_writes_the_calls_of_all_threads(tmp_path: Path, kind: str, redact: bool) -> None:
    draw.session(tmp_path, host=drawn.nvidia())
    out = tmp_path / "out"
    arguments = ["export", str(tmp_path), "--format", kind, "--weight", "device", "--out", str(out)]
    assert main.main([*arguments, *(["--redact"] if redact else [])]) == 0
    assert sum(ps_in(kind, out.read_bytes())) == 560 * US * drawn.STEPS


def test_a_weight_that_nothing_has_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw.session(tmp_path, host=draw.space("/host:CPU\n  python | a[0,10]"))
    assert main.main(["export", str(tmp_path), "--format", "collapsed", "--weight", "device"]) == 1
    assert "Device time launched was not recorded" in capsys.readouterr().err


@pytest.mark.parametrize("kind", FORMATS)
def test_an_empty_tree_is_a_file(kind: str) -> None:
    none = np.empty(0, np.int64)
    assert (
        FORMATS[kind].write(WeightedTree(CallTree(none, none, none, none, none, []), "run", "Time", "ps")) is not None
    )
