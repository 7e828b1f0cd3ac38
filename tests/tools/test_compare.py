"""The tool Compare: another session of the same logdir, and answers that follow when its files change."""

import json
import shutil
from pathlib import Path
from typing import Any

import digests
import draw
import histories
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.compare.engine import compare
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.digest.record import NOTHING
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve.workspace import ToolQuestion, Workspace
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.result_cache import NAMED, unpack
from tb_profile_plugin.tools import compare as compare_tool

TRACES = Path(__file__).resolve().parent.parent / "traces"


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for name in ("jax_steps", "jax_async_marked"):
        shutil.copytree(TRACES / name, tmp_path / name)
    return tmp_path


def answer(space: Workspace, **options: str) -> Any:
    run = next(name for name in space.logdir.survey().by_name if name.startswith("jax_steps"))
    found = space.result(ToolQuestion(space.session(run), space.tool("compare"), "", options), NAMED)
    return json.loads(unpack(found))


def other(space: Workspace) -> str:
    return next(name for name in space.logdir.survey().by_name if name.startswith("jax_async"))


def test_two_sessions_of_a_logdir(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)), keep=False)
    assert "Choose a session" in answer(space)["headline"]["text"]
    found = answer(space, base=other(space))
    assert found["headline"]["text"].startswith("Faster by 99 %") and found["headline"]["level"] == "ok"
    parts = {column["id"]: column["values"] for column in found["tables"]["parts"]["columns"]}
    whole = found["facts"]["new_ps"]["value"] - found["facts"]["base_ps"]["value"]
    assert abs(sum(parts["delta_ps"]) - whole) <= len(parts["id"])
    steps = {column["id"]: column["values"] for column in found["tables"]["steps"]["columns"]}
    assert set(steps["side"]) == {"base", "new"} and None in steps["reason"]


def test_an_answer_follows_the_base_too(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)))
    before = answer(space, base=other(space))["facts"]["base_ps"]["value"]
    (file,) = (logdir / "jax_async_marked").rglob("*.xplane.pb")
    (fresh,) = (logdir / "jax_steps").rglob("*.xplane.pb")
    file.write_bytes(fresh.read_bytes())
    space.logdir = Logdir(str(logdir))
    found = answer(space, base=other(space))
    assert found["facts"]["base_ps"]["value"] == found["facts"]["new_ps"]["value"] != before


def test_what_cannot_be_compared_with(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)), keep=False)
    with pytest.raises(ProblemError):
        answer(space, base="nothing of that name")
    with pytest.raises(ProblemError, match="logdir of this session is unknown"):
        tb_profile_plugin.open(TRACES / "jax_steps").answer("compare", base="other")


def test_several_captures_a_side_by_patterns_of_names(tmp_path: Path) -> None:
    old = histories.write(tmp_path, [1.0, 1.001, 0.999, 1.0], [f"old-{i}" for i in range(4)])
    new = histories.write(tmp_path, [1.1, 1.101, 1.1, 1.099], [f"new-{i}" for i in range(4)])
    space = Workspace(Logdir(str(tmp_path)))

    def ask(**options: str) -> Any:
        return json.loads(
            unpack(space.result(ToolQuestion(space.session(new[0]), space.tool("compare"), "", options), NAMED))
        )

    one = ask(base=old[0])
    assert "one capture each" in one["headline"]["text"]
    found = ask(base=old[0], bases="old-*", news="new-*")
    assert found["facts"]["code"]["value"] == "slower" and found["facts"]["certainty"]["value"] == "shown"
    assert "4 captures" in found["headline"]["text"]
    # A capture more is another answer.
    histories.write(tmp_path, [1.002], ["old-9"])
    space = Workspace(Logdir(str(tmp_path)))
    assert "5 and 4 captures" in ask(base=old[0], bases="old-*", news="new-*")["headline"]["text"]
    with pytest.raises(ProblemError, match="is on both sides"):
        ask(base=old[0], bases="*", news="new-*")
    with pytest.raises(ProblemError, match="No session matches"):
        ask(base=old[0], bases="older-*")


def test_memory_of_both_sides(tmp_path: Path) -> None:
    for name, size in (("base", 64), ("new", 96)):
        run = tmp_path / "plugins" / "profile" / name
        run.mkdir(parents=True)
        text = draw.GPU.replace("bytes_allocated=64", f"bytes_allocated={size}")
        (run / "vm.xplane.pb").write_bytes(draw.space(text, steps=4).SerializeToString())
    space = Workspace(Logdir(str(tmp_path)))
    options = {"base": "base"}
    found = json.loads(
        unpack(space.result(ToolQuestion(space.session("new"), space.tool("compare"), "", options), NAMED))
    )
    memory = {column["id"]: column["values"] for column in found["tables"]["memory"]["columns"]}
    assert memory["allocator"] == ["bfc"] and memory["base_peak"][0] < memory["new_peak"][0]
    assert memory["delta_peak"][0] == memory["new_peak"][0] - memory["base_peak"][0]


def test_items_make_another_batch_comparable(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)), keep=False)
    found = answer(space, base=other(space), base_items="200", new_items="1")
    assert "per item" in found["headline"]["text"]
    alone = answer(space, base=other(space))
    assert found["facts"]["base_ps"]["value"] == pytest.approx(alone["facts"]["base_ps"]["value"] / 200, abs=1)
    with pytest.raises(ProblemError, match="not a positive whole number"):
        answer(space, base=other(space), new_items="0")


def test_a_capture_compares_itself_in_python(logdir: Path) -> None:
    capture = tb_profile_plugin.open(logdir / "jax_steps")
    found = capture.compare(logdir / "jax_async_marked")
    assert (found.verdict.code, found.data["verdict"]["code"]) == ("faster", "faster")
    assert str(found).startswith("Faster by 99 %") and "**Faster by 99 %" in found._repr_markdown_()
    several = capture.compare(str(logdir / "jax_async_marked"), also=[logdir / "jax_steps"], items=(1, 2))
    assert several.comparison.sides.new.names == ("run",), "one that is given twice counts once"
    assert several.comparison.step_difference.new == found.comparison.step_difference.new / 2
    with pytest.raises(ProblemError):
        capture.compare(logdir / "nothing")


def test_what_was_not_recorded_is_a_text_though_a_digest_comes_from_the_cache() -> None:
    ops = {"unrecorded/(nothing recorded)": [900] * 6}
    base, new = (side_of_digests([(name, digests.digest([1000 + by] * 6, ops))]) for name, by in (("a", 0), ("b", 1)))
    names = [compare_tool._op_row(row)[0] for row in compare(base, new).ops]
    assert [name is NOTHING for name in names if name == "(nothing recorded)"] == [True]
