"""The tf.data tool: planted trouble is named, graphs are the programs, and figures are the existing tool's."""

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tb_profile_plugin
from tb_profile_plugin.formats.columns import kinds
from tb_profile_plugin.model import iterators
from tb_profile_plugin.runtime.problems import ProblemError

TOOL = "tf_data_bottleneck_analysis"
TRACES = Path(__file__).resolve().parent.parent / "traces" / "tfdata"
SHARED = Path(__file__).resolve().parents[3] / "shared"
ORACLE = SHARED / "oracle" / "oracle"


def answer(path: Path, **options: str) -> Any:
    return tb_profile_plugin.open(path).xprof(TOOL, **options)


def rows(table: Any) -> list[dict[str, Any]]:
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, [cell["v"] for cell in row["c"]], strict=True)) for row in table["rows"]]


PLANTED = {
    "slow_map": ("slow_map", "Map"),
    "slow_source": ("slow_source", "TFRecord"),
    "slow_batch": ("slow_batch", "BatchV2"),
    "slow_filter": ("slow_filter", "Filter"),
    "generator": ("generator", "Generator"),
    "sequential_interleave": ("sequential_interleave", "TFRecord"),
    "missing_prefetch": ("missing_prefetch", "BatchV2"),
    "py_function": ("py_function", "Map"),
    "late_cache": ("late_cache", "MemoryCache"),
    "small_shuffle": ("small_shuffle", "Shuffle"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_trouble_comes_first(name: str) -> None:
    found = answer(TRACES / f"{name}.xplane.pb")
    code, label = PLANTED[name]
    first = rows(found[6])[0]
    assert first["finding"] == code
    assert first["code"]
    stage = next(row for row in rows(found[3]) if row["stage"] == first["stage"])
    assert stage["label"] == label


def test_a_shuffle_that_hardly_shuffles_is_named() -> None:
    found = rows(answer(TRACES / "small_shuffle.xplane.pb")[6])
    (shuffle,) = [row for row in found if row["finding"] == "small_shuffle"]
    assert "2 elements, fewer than a batch of 8" in shuffle["evidence"]


def test_nothing_but_the_machine_holds_up_a_good_pipeline() -> None:
    assert {row["finding"] for row in rows(answer(TRACES / "healthy.xplane.pb")[6])} <= {"contention"}


GRAPHS = {
    "zipped": "BatchV2 > Zip > (Range, Map > Range)",
    "concatenated": "BatchV2 > Concatenate > (Range, Map > Range)",
    "chosen": "BatchV2 > DirectedInterleave > (ForeverRepeat > Range, Range, Map > Range)",
    "flat_map": "BatchV2 > FlatMap > (Range, Map > Range)",
    "nested_interleave": "Prefetch > BatchV2 > ParallelInterleaveV4 > Interleave > (Range, Range)",
    "late_cache": "Prefetch > BatchV2 > MemoryCache > MemoryCacheImpl > ForeverRepeat > Map > Range",
    "generator": "Prefetch > BatchV2 > Map > FlatMap > Generator",
}


def drawn(stages: list[dict[str, Any]], at: int) -> str:
    below = sorted((drawn(stages, row["stage"]) for row in stages if row["parent"] == at), key=lambda text: text)
    label = next(row["label"] for row in stages if row["stage"] == at)
    if not below:
        return str(label)
    return f"{label} > {below[0] if len(below) == 1 else '(' + ', '.join(below) + ')'}"


def callees_first(text: str) -> str:
    inside = re.search(r"\((.*)\)", text)
    return text[: inside.start()] + "(" + ", ".join(sorted(inside[1].split(", "))) + ")" if inside else text


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_is_the_program(name: str) -> None:
    stages = rows(answer(TRACES / f"{name}.xplane.pb")[3])
    assert drawn(stages, 0) == "Root > " + callees_first(GRAPHS[name])


def test_two_iterators_are_two_pipelines() -> None:
    found = answer(TRACES / "two_iterators.xplane.pb")
    assert {row["input_pipeline"] for row in rows(found[1])} == {"Host:0", "Host:1"}
    graphs = []
    for pipeline in ("Host:0", "Host:1"):
        stages = [row for row in rows(found[3]) if row["input_pipeline"] == pipeline]
        graphs.append(drawn(stages, 0))
    assert sorted(graphs) == ["Root > BatchV2 > Shuffle > Range", "Root > Prefetch > BatchV2 > Map > Range"]


def test_a_strategy_has_pipelines_of_devices() -> None:
    found = answer(TRACES / "distributed.xplane.pb")
    assert {row["input_pipeline"] for row in rows(found[1])} == {"Host:0", "Device:0", "Device:1"}
    assert {row["input_pipeline"] for row in rows(found[2])} == {"Host:0"}
    device = [row for row in rows(found[3]) if row["input_pipeline"] == "Device:1"]
    assert drawn(device, 0) == "Root > Prefetch > Generator"


ALL = sorted(TRACES.glob("*.xplane.pb"))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name.split(".")[0])
def test_blame_sums_to_what_was_waited(path: Path) -> None:
    found = answer(path)
    for pipeline in rows(found[1]):
        key = pipeline["host"], pipeline["input_pipeline"]
        blame = [row["critical_us"] for row in rows(found[3]) if (row["host"], row["input_pipeline"]) == key]
        assert sum(blame) == pytest.approx(pipeline["total"])
        counted = [row["num_calls"] for row in rows(found[4]) if (row["host"], row["input_pipeline"]) == key]
        assert sum(counted) == pipeline["num_calls"]
        slowest = [row for row in rows(found[0]) if row["rank"] == 0 and (row["host"], row["input_pipeline"]) == key]
        assert sum(row["critical_us"] for row in slowest) == pytest.approx(pipeline["max"])


def test_the_checklist_answers_all_questions() -> None:
    checks = {row["id"]: row for row in rows(answer(TRACES / "slow_map.xplane.pb")[5])}
    assert list(checks) == ["fast", "prefetch", "cpu", "transformation", "steps"]
    assert checks["fast"]["level"] == "bad"
    assert "6 calls" in checks["fast"]["evidence"]
    assert checks["transformation"]["answer"] == "Map."
    assert checks["steps"]["level"] == "bad"
    without = {row["id"]: row for row in rows(answer(TRACES / "missing_prefetch.xplane.pb")[5])}
    assert without["prefetch"]["level"] == "bad"


def test_a_number_of_calls_must_be_one() -> None:
    with pytest.raises(ProblemError):
        answer(ALL[0], calls="many")
    ranks = {row["rank"] for row in rows(answer(ALL[0], calls="2")[0])}
    assert ranks == {0, 1}


def misread(path: Path) -> set[str]:
    """Ids that are stored unsigned (2^63 and more), which the existing tool takes for 0, and so for one iterator."""
    (host,) = tb_profile_plugin.open(path).select()
    if not host.cpu:
        return set()
    column = host.cpu.stat("id")
    numbers = column.numbers[column.stats.kind[column.row] == kinds.UINT]
    return set(map(str, numbers[numbers < 0].tolist()))


def of_the_existing_tool(paths: list[Path]) -> dict[str, Any]:
    """Its answers by path, all from one process; None where it gives nothing."""
    python = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "profile-oracles/old/bin/python"
    if not python.exists():
        # It installs what it asks.
        subprocess.run([ORACLE, "old", TOOL, paths[0]], capture_output=True, check=False)
    program = Path(__file__).with_name("ask_existing.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
    run = subprocess.run([python, program, TOOL, *paths], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr[-2000:]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.skipif(not ORACLE.exists(), reason="the existing plugin is not at hand")
def test_figures_of_the_existing_tool(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    # What they cannot see, calls that began before the capture, is left out here as well.
    monkeypatch.setattr(iterators, "adopt_orphans", lambda parent, *_: np.zeros(len(parent), bool))
    answers = of_the_existing_tool([*sorted(SHARED.glob("profiles/*/*.xplane.pb")), *ALL])
    assert all(answers[str(path)] for path in ALL)
    for path, theirs in answers.items():
        with subtests.test(path=path):
            if theirs:
                try:
                    ours = answer(Path(path), calls="100000")
                except ProblemError:
                    assert not rows(theirs[0])
                else:
                    compare(theirs, ours, misread(Path(path)))


def compare(theirs: Any, ours: Any, zero: set[str]) -> None:
    figures = ("min", "mean", "max", "num_calls", "num_slow_calls")
    mine = {tuple(int(row[figure] + 1e-6) for figure in figures): row for row in rows(ours[1])}
    names = {}
    for row in rows(theirs[1]):
        match = mine[tuple(row[figure] for figure in figures)]
        names[row["input_pipeline"]] = match["input_pipeline"]
        if "Device" not in match["input_pipeline"]:
            assert row["input_pipeline"].split(":")[0] == "Host"
    assert len(names) == len(mine)
    compare_calls(theirs[0], ours[0], names, zero)
    slow = [row for row in rows(ours[1]) if row["input_pipeline"].startswith("Host") and row["num_slow_calls"]]
    if all(ours_name.startswith("Host") == name.startswith("Host") for name, ours_name in names.items()):
        assert theirs[2]["p"]["is_input_bound"] == str(bool(slow)).lower()


def compare_calls(theirs: Any, ours: Any, names: dict[str, str], zero: set[str]) -> None:
    merged: dict[Any, list[float]] = defaultdict(lambda: [0, 0, 0, float("inf")])
    kinds: dict[Any, int] = defaultdict(int)
    for row in rows(ours):
        key = row["input_pipeline"], row["rank"], "0" if row["name"] in zero else row["name"]
        figures = merged[key]
        figures[0] += row["total_us"]
        figures[1] += row["self_us"]
        figures[2] += row["num_calls"]
        figures[3] = min(figures[3], row["start_us"])
        kinds[key] = max(kinds[key], row["type"])
    labels = [cell["c"][3]["f"] for cell in theirs["rows"]]
    for row, label in zip(rows(theirs), labels, strict=True):
        text = re.sub("<[^>]*>", " ", label)
        total, own, count = (
            int(re.findall(pattern, text)[0])
            for pattern in (r"Total Duration: (-?\d+)", r"Self Duration: (-?\d+)", r"Calls: (\d+)")
        )
        figures = merged.pop((names[row["input_pipeline"]], row["rank"], row["name"]))
        assert total == pytest.approx(figures[0], abs=1.001)
        assert own == pytest.approx(figures[1], abs=1.001) or own < figures[1]
        assert count == figures[2]
    assert not merged


def test_a_thread_that_waits_for_the_executor_is_not_busy() -> None:
    cpu = rows(answer(TRACES / "slow_map.xplane.pb")[5])[2]
    busy = re.search(r"([\d.]+) of \d+ TensorFlow threads were busy", cpu["evidence"])
    assert busy
    # One map at a time, whose ops run on up to two threads; the thread of the map waits meanwhile.
    assert 0.5 < float(busy[1]) < 1.6
    assert cpu["level"] == "ok"
