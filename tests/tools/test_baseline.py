"""A session beside a baseline: the same rows found, differences that sum, and sentences where none can be."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import draw
import pytest

from tb_profile_plugin.compat import answer as old_answer
from tb_profile_plugin.serve.workspace import ToolQuestion, Workspace
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.result_cache import NAMED, unpack
from tb_profile_plugin.tools import all_tools
from tb_profile_plugin.tools.answers.tool import BASELINE

TRACES = Path(__file__).resolve().parent.parent / "traces"
KEYED = [tool.name for tool in all_tools().values() if BASELINE in tool.params]
STEP = """
/host:CPU
  python | train[0,{long}]{{_r=1, step_num=7+s}}
         | Launch[10,5]{{c=1}} Launch[20,5]{{c=2}}
/device:GPU:0
  Stream #13(Compute) | {kernels}
"""


def write(logdir: Path, name: str, text: str, steps: int = 6) -> None:
    run = logdir / "plugins" / "profile" / name
    run.mkdir(parents=True)
    (run / "vm.xplane.pb").write_bytes(draw.space(text, steps=steps).SerializeToString())


def kernels(**lengths: int) -> str:
    """A step with kernels of ops of these names, one after another."""
    at, drawn = 30, []
    for place, (name, long) in enumerate(lengths.items()):
        drawn.append(
            f"k_{name}[{at},{long}]{{c={place % 2 + 1}, tf_op='{name}:MatMul', kernel_details='regs:8 grid:1,1,1'}}"
        )
        at += long + 5
    return STEP.format(long=900, kernels=" ".join(drawn))


def ask(space: Workspace, run: str, tool: str, **options: str) -> Any:
    found = space.result(ToolQuestion(space.session(run), space.tool(tool), "", options), NAMED)
    return json.loads(unpack(found))


def table(answer: Any, id: str) -> dict[str, list[Any]]:
    return {column["id"]: column["values"] for column in answer["tables"][id]["columns"]}


def notes(answer: Any) -> dict[str, str]:
    return {note["code"]: note["message"] for note in answer["notes"]}


def rows(answer: Any, id: str, *columns: str) -> list[tuple[Any, ...]]:
    values = table(answer, id)
    return list(zip(*(values[column] for column in columns), strict=True))


@pytest.fixture
def drawn(tmp_path: Path) -> Workspace:
    write(tmp_path, "base", kernels(a=100, b=50, old=20))
    write(tmp_path, "new", kernels(a=130, b=50, fresh=10), steps=8)
    return Workspace(Logdir(str(tmp_path)), keep=False)


def test_each_side_says_what_it_says_alone_and_differences_are_per_step(drawn: Workspace) -> None:
    alone = dict(rows(ask(drawn, "base", "framework_op_stats"), "ops", "name", "self_us"))
    held = ask(drawn, "new", "framework_op_stats", base="base")
    found = {
        name: (match, own, base, delta)
        for place, name, match, own, base, delta in rows(
            held, "ops", "place", "name", "match", "self_us", "base_self_us", "delta_self_us"
        )
        if place == "Device" and name != "IDLE"
    }
    assert found == {
        "a": (None, 8 * 130, 6 * 100, 30.0),
        "b": (None, 8 * 50, 6 * 50, 0.0),
        "fresh": ("new", 8 * 10, None, 10.0),
        "old": ("gone", None, 6 * 20, -20.0),
    }
    assert all(base == alone[name] for name, (_, _, base, _) in found.items() if base is not None)
    told = next(each for each in held["tables"]["ops"]["columns"] if each["id"] == "delta_self_us")
    assert told["signed"] and "8 steps here, 6 in the baseline" in told["doc"]
    assert notes(held) == notes(ask(drawn, "new", "framework_op_stats"))


@pytest.mark.parametrize("tool", KEYED)
def test_differences_sum_to_that_of_the_sums(tool: str) -> None:
    space = Workspace(Logdir(str(TRACES)), keep=False)
    run, base = "jax_steps/run", "jax_async_marked/run"
    if any(space.unavailable(space.session(name), space.tool(tool)) for name in (run, base)):
        return
    held = ask(space, run, tool, base=base)
    for declared in space.tool(tool).tables:
        keyed = declared.keyed
        if not keyed or keyed.only_largest or keyed.step:
            continue
        values, alone = table(held, declared.id), table(ask(space, base, tool), declared.id)
        assert all(len(column) == len(values["match"]) for column in values.values())
        for id in (*keyed.sums, *keyed.means):
            ours, theirs = (sum(filter(None, column[id])) for column in (values, alone))
            assert sum(filter(None, values[f"base_{id}"])) == pytest.approx(theirs)
            steps = (10, 12) if id in keyed.sums else (1, 1)
            assert sum(filter(None, values[f"delta_{id}"])) == pytest.approx(ours / steps[0] - theirs / steps[1])


def test_a_kernel_that_took_the_place_of_another(drawn: Workspace) -> None:
    held = rows(ask(drawn, "new", "kernel_stats", base="base"), "kernels", "kernel", "match", "delta_total_us")
    assert set(held) == {("k_a", None, 30), ("k_b", None, 0), ("k_fresh", "new", 10), ("k_old", "gone", -20)}
    ids = [column["id"] for column in ask(drawn, "new", "kernel_stats", base="base")["tables"]["kernels"]["columns"]]
    assert ids[:4] == ["short", "match", "total_us", "base_total_us"]
    assert ("k_old", "gone") in rows(ask(drawn, "new", "kernel_stats", base="base"), "kernels", "short", "match")
    other = kernels(a=100).replace("k_a[30", "k_c[30")
    write(Path(drawn.logdir.spec), "other", other)
    space = Workspace(Logdir(drawn.logdir.spec), keep=False)
    held = rows(ask(space, "new", "kernel_stats", base="other"), "kernels", "kernel", "match", "delta_total_us")
    assert ("k_a", "same origin", 30) in held


def test_a_tree_keeps_its_shape(drawn: Workspace) -> None:
    space = Workspace(Logdir(str(TRACES)), keep=False)
    held = table(ask(space, "jax_steps/run", "op_profile", base="jax_async_marked/run"), "nodes")
    assert held["id"] == list(range(len(held["id"]))) and "gone" in held["match"]
    depth: Mapping[Any, int] = dict(zip(held["id"], held["depth"], strict=True)) | {None: -1}
    assert all(depth[id] == depth[parent] + 1 for id, parent in zip(held["id"], held["parent"], strict=True))
    # The program is the same though its number is another one.
    assert held["name"][0] == "jit_step(12)" and held["match"][0] is None


def test_numbers_of_instructions_do_not_matter(tmp_path: Path) -> None:
    for name in ("base", "new"):
        shutil.copytree(TRACES / "jax_steps", tmp_path / name)
    space = Workspace(Logdir(str(tmp_path)), keep=False)
    for tool in ("hlo_stats", "op_profile", "framework_op_stats", "why", "overview_page", "input_pipeline_analyzer"):
        held = ask(space, "new/run", tool, base="base/run")
        for id, each in held["tables"].items():
            if "match" not in (values := table(held, id)):
                continue
            assert each["rows"] == held["tables"][id]["rows"]
            assert not any(value for name in values if name.startswith("delta_") for value in values[name])
            assert not {"new", "gone"} & {*values["match"]}


def test_what_is_no_baseline_is_said_and_the_figures_stay(drawn: Workspace, tmp_path: Path) -> None:
    alone = ask(drawn, "new", "framework_op_stats")
    broken = tmp_path / "plugins" / "profile" / "broken"
    broken.mkdir()
    (broken / "vm.xplane.pb").write_bytes(b"\x0a\xff\xff\xff\x7f not a capture")
    shutil.copytree(TRACES / "torch_training", tmp_path / "torch")
    space = Workspace(Logdir(str(tmp_path)), keep=False)
    said = {"new": "is this session", "<b>gone</b>": "no session named", "broken": "Nothing is comparable"}
    for base, words in said.items():
        held = ask(space, "new", "framework_op_stats", base=base)
        assert words in notes(held)["no_baseline"] and held["tables"] == alone["tables"]
    (torch,) = (name for name in space.logdir.survey().by_name if name.startswith("torch"))
    held = ask(space, "new", "framework_op_stats", base=torch)
    (code, message) = next(each for each in notes(held).items() if each[0].startswith("baseline_"))
    assert message.startswith("Not comparable with the baseline. ") and code == "baseline_step_rule"
    values = table(held, "ops")
    assert not any(each is not None for each in values["delta_self_us"]) and {"new", "gone"} <= {*values["match"]}
    held = ask(space, "new", "kernel_stats", base=torch)
    assert "names no GPU" in notes(held)["no_baseline"]


def test_an_answer_follows_its_baseline(tmp_path: Path) -> None:
    write(tmp_path, "base", kernels(a=100))
    write(tmp_path, "new", kernels(a=130))

    def delta() -> float:
        space = Workspace(Logdir(str(tmp_path)))
        held = ask(space, "new", "framework_op_stats", base="base")
        return float(dict(rows(held, "ops", "name", "delta_self_us"))["a"])

    assert delta() == 30
    shutil.rmtree(tmp_path / "plugins" / "profile" / "base")
    assert "no_baseline" in notes(ask(Workspace(Logdir(str(tmp_path))), "new", "framework_op_stats", base="base"))
    write(tmp_path, "base", kernels(a=110))
    assert delta() == 20


def test_the_older_shapes_know_no_baseline(drawn: Workspace) -> None:
    session, tool = drawn.session("new"), drawn.tool("framework_op_stats")
    assert old_answer(tool, session, "", base="base") == old_answer(tool, session, "")


def steps(name: str, *lengths: int, first: int = 7) -> str:
    """A program of marked steps of these lengths, from a number on."""
    drawn, at = [], 0
    for place, long in enumerate(lengths):
        drawn.append(f"{name}[{at},{long}]{{_r=1, step_num={first + place}}}")
        at += long + 5
    return f"/host:CPU\n  python | {' '.join(drawn)}"


def held(tmp_path: Path, tool: str, id: str, *columns: str) -> list[tuple[Any, ...]]:
    space = Workspace(Logdir(str(tmp_path)), keep=False)
    return rows(ask(space, "new", tool, base="base"), id, *columns)


def test_a_step_is_held_against_the_same_step_of_the_baseline(tmp_path: Path) -> None:
    write(tmp_path, "base", steps("train", 100, 200, 300, 100), 1)
    write(tmp_path, "new", steps("train", 150, 200, 310, first=8), 1)
    columns = ("name", "match", "duration_ms", "base_duration_ms", "delta_duration_ms")
    assert held(tmp_path, "overview_page", "steps", *columns) == [
        ("train 8", None, 0.15, 0.2, pytest.approx(-0.05)),
        ("train 9", None, 0.2, 0.3, pytest.approx(-0.1)),
        ("train 10", None, 0.31, 0.1, pytest.approx(0.21)),
    ]


def test_steps_that_the_baseline_has_not_are_held_against_its_average(tmp_path: Path) -> None:
    write(tmp_path, "base", steps("train", 100, 200, 300), 1)
    write(tmp_path, "new", steps("train", 150, 200, 310, first=90), 1)
    columns = ("match", "base_duration_ms", "delta_duration_ms")
    found = held(tmp_path, "overview_page", "steps", *columns)
    assert found == [("average of 3 steps", pytest.approx(0.2), pytest.approx(delta)) for delta in (-0.05, 0, 0.11)]
    space = Workspace(Logdir(str(tmp_path)), keep=False)
    facts = ask(space, "new", "overview_page", base="base")["facts"]
    assert facts["delta_parts_ms"]["value"] == pytest.approx(sum(delta for _, _, delta in found) / 3)
    assert facts["delta_parts_ms"]["signed"] and facts["base_parts_ms"]["value"] == pytest.approx(0.205)
    assert "base_parts_ms" not in ask(space, "new", "overview_page")["facts"]


def several(logdir: Path, name: str, **workers: str) -> None:
    run = logdir / "plugins" / "profile" / name
    run.mkdir(parents=True)
    for worker, text in workers.items():
        (run / f"{worker}.xplane.pb").write_bytes(draw.space(text).SerializeToString())


def test_workers_are_held_against_those_of_their_name_or_place(tmp_path: Path) -> None:
    fast, slow = steps("train", 100, 100), steps("train", 180, 180)
    several(tmp_path, "base", a1=fast, a2=slow)
    several(tmp_path, "new", b1=slow, b2=slow)
    columns = ("worker", "step", "match", "base_total_ms", "delta_total_ms")
    assert held(tmp_path, "pod_viewer", "workers", *columns) == [
        ("b1", 7, "on a1", 0.1, pytest.approx(0.08)),
        ("b2", 7, "on a2", 0.18, 0),
        ("b1", 8, "on a1", 0.1, pytest.approx(0.08)),
        ("b2", 8, "on a2", 0.18, 0),
    ]
    several(tmp_path, "more", a2=slow, c1=fast, c2=fast)
    space = Workspace(Logdir(str(tmp_path)), keep=False)
    found = rows(ask(space, "more", "pod_viewer", base="base"), "workers", *columns)
    assert {row[0]: row[3] for row in found} == {"a2": 0.18, "c1": None, "c2": None}


def test_steps_of_other_things_have_no_differences(tmp_path: Path) -> None:
    write(tmp_path, "base", steps("eval", 100, 200, 300), 1)
    write(tmp_path, "new", steps("train", 150, 200, 310), 1)
    assert {delta for (delta,) in held(tmp_path, "overview_page", "steps", "delta_duration_ms")} == {None}
    assert {delta for (delta,) in held(tmp_path, "pod_viewer", "workers", "delta_total_ms")} == {None}
