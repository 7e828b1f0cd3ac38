"""Tables whose rows lie within each other: trees of calls with exact sums, as files, and against a baseline."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import draw
import drawn
import protobuf
import pytest
from torchtrace import frame, launch, mark, memory, on_device, op, text
from werkzeug.test import Client

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

TABLES = {"op_profile": ("tpu", "nodes"), "torch_ops": ("torch", "modules"), "memory_profile": ("torch", "held")}
PS_PER_US = 1_000_000


def step(kernel_us: int) -> str:
    """A step in two modules: the outer one launches one kernel itself, the inner one another."""
    return text(
        mark("ProfilerStep#1", 0, 300),
        frame("train.py(7): step", 0, 290),
        frame("nn.Module: Net_0", 2, 180),
        op("aten::relu", 3, 5),
        launch(2, 4, 1),
        on_device(2, 8, 12, "relu"),
        frame("nn.Module: Linear_0", 10, 140),
        op("aten::addmm", 14, 120),
        launch(1, 15, 4),
        memory(8 << 20, 20, 4096, 8 << 20),
        on_device(1, 30, kernel_us, "gemm"),
    )


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    draw.session(folder / "tpu", host=drawn.tpu())
    for name, kernel_us in (("torch", 200), ("before", 150)):
        (folder / name).mkdir()
        (folder / name / "worker.1.pt.trace.json").write_text(step(kernel_us), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(logdir: Path) -> Client:
    return Client(App(Logdir(str(logdir))))


def ask(client: Client, tool: str, **more: Any) -> Any:
    run, table = TABLES[tool]
    (name,) = (each for each in client.get("/runs").get_json() if each.split("/")[0] == run)
    return client.get("/calls", query_string={"run": name, "tag": tool, "table": table, **more})


def paths(tree: Any) -> dict[str, int]:
    """Total by path."""
    found: list[str] = []
    for name, parent in zip(tree["name"], tree["parent"], strict=True):
        found.append(f"{found[parent]};{tree['names'][name]}" if parent >= 0 else tree["names"][name])
    return dict(zip(found, tree["total"], strict=True))


@pytest.mark.parametrize("inverted", ["", "1"])
@pytest.mark.parametrize("tool", TABLES)
def test_every_node_is_the_sum_of_its_parts(client: Client, tool: str, inverted: str) -> None:
    for weight in ask(client, tool).get_json()["weights"]:
        tree = ask(client, tool, weight=weight["id"], inverted=inverted).get_json()
        sums = list(tree["own"])
        for parent, total in zip(tree["parent"], tree["total"], strict=True):
            if parent >= 0:
                sums[parent] += total
        assert sums == tree["total"] and min(tree["own"]) >= 0
        tops = [total for parent, total in zip(tree["parent"], tree["total"], strict=True) if parent < 0]
        assert sum(tops) == tree["total_weight"] > 0


def test_the_tree_has_what_the_table_says(client: Client) -> None:
    assert paths(ask(client, "torch_ops").get_json()) == {
        "Net_0": 212 * PS_PER_US,
        "Net_0;Linear_0": 200 * PS_PER_US,
    }
    up = paths(ask(client, "torch_ops", inverted=1).get_json())
    assert up["Linear_0;Net_0"] == up["Linear_0"] == 200 * PS_PER_US and up["Net_0"] == 12 * PS_PER_US
    held = paths(ask(client, "memory_profile").get_json())
    assert held["Net_0;Linear_0;aten::addmm;train.py:7 step"] == 8 << 20
    assert not any(name.endswith("Idle") for name in paths(ask(client, "op_profile").get_json()))


def stacks(kind: str, data: bytes) -> tuple[str, float]:
    """(unit, sum of the weights) of a file, read as its own tool does."""
    if kind == "collapsed":
        return "", sum(int(line.rpartition(" ")[2]) for line in data.decode().splitlines())
    if kind == "speedscope":
        profile = json.loads(data)["profiles"][0]
        assert profile["endValue"] == pytest.approx(sum(profile["weights"]))
        return profile["unit"], profile["endValue"]
    fields = list(protobuf.fields(gzip.decompress(data)))
    texts = [value.decode() for number, value in fields if number == 6]
    unit = dict(protobuf.fields([value for number, value in fields if number == 1][1]))[2]
    return texts[unit], float("nan")


@pytest.mark.parametrize("kind", ["collapsed", "speedscope", "pprof"])
@pytest.mark.parametrize("tool", TABLES)
def test_files_hold_the_whole_tree(client: Client, tool: str, kind: str) -> None:
    total = ask(client, tool).get_json()["total_weight"]
    file = ask(client, tool, format=kind)
    assert file.headers["Content-Disposition"].startswith("attachment")
    unit, weight = stacks(kind, file.data)
    is_memory = tool == "memory_profile"
    if kind != "collapsed":
        assert unit == ("bytes" if is_memory else "nanoseconds")
    if kind != "pprof":
        assert weight == pytest.approx(total if is_memory or kind == "collapsed" else total / 1000)


def test_a_baseline_stands_beside_each_node(client: Client) -> None:
    tree = ask(client, "torch_ops", base="before").get_json()
    assert tree["delta"] == [50 * PS_PER_US, 50 * PS_PER_US]
    assert tree["base_total"] == [162 * PS_PER_US, 150 * PS_PER_US]
    # What cannot be compared shows nothing.
    assert "delta" not in ask(client, "torch_ops", base="nowhere").get_json()


@pytest.mark.parametrize("wrong", [{"table": "operators"}, {"weight": "heat"}, {"format": "svg"}, {"tag": "why"}])
def test_what_is_no_tree_is_told(client: Client, wrong: dict[str, str]) -> None:
    assert ask(client, "torch_ops", **wrong).status_code in (400, 422)
