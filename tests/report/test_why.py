"""The diagnosis as text, Markdown and nested JSON."""

import json
import re
import subprocess
import sys
from pathlib import Path

import draw
import pytest

from tb_profile_plugin.export.report import why
from tb_profile_plugin.tools.answers.reader import AnswerReader

TRACE = Path(__file__).resolve().parent.parent / "traces" / "starved_input"
WAITS = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,400] model/dense/MatMul:MatMul[450,500]
"""
HOSTILE = "$evil.py:1 <img src=x>|`a`\\*b*[x](javascript:0)"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tb_profile_plugin", "why", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_text_for_a_terminal() -> None:
    said = run(str(TRACE)).stdout
    assert said.startswith("Waiting for input takes 86 %")
    assert "Wall-time breakdown" in said and "1. Waiting for input: " in said and "   → " in said


def test_a_remedy_of_several_causes_is_said_once(tmp_path: Path) -> None:
    answer = draw.session(tmp_path, vm=draw.space(WAITS, 4)).answer("why")
    (remedies,) = (column["values"] for column in answer["tables"]["causes"]["columns"] if column["id"] == "remedy")
    remedies[:2] = ["Do this."] * 2
    said = [line.strip() for line in why.text(answer).splitlines() if line.startswith("   → ")]
    assert said[:2] == ["→ Do this.", "→ The same as for 1."]


def test_nested_json() -> None:
    found = json.loads(run(str(TRACE), "--format", "json").stdout)
    assert {"headline", "accounting", "steps", "devices", "causes"} <= set(found)
    assert set(found["headline"]) == {"code", "text", "level", "messages"}
    first = found["causes"][0]
    assert first["id"] == "input" and first["remedy"]["text"].startswith("Make the map's function cheaper")
    assert any(cause["remedy"]["code"].startswith("import tensorflow") for cause in found["causes"])
    assert {"id", "share", "per_step_ps", "gain_ps", "confidence", "then", "text", "evidence"} <= set(first)
    for device in found["devices"]:
        assert sum(cause["ps"] for cause in device["idle"]) == device["idle_ps"]


@pytest.mark.parametrize("steps", ["1-2", "all"])
def test_steps_can_be_chosen(steps: str) -> None:
    found = json.loads(run(str(TRACE), "--format", "json", "--steps", steps).stdout)
    assert found["steps"]["kept"] == {"1-2": 2, "all": 4}[steps]


NUMBERED = "/host:CPU\n  python | train[0,100]{_r=1, step_num=5+s} MatMul[10,60]"
"""Steps 5 to 10."""


def test_steps_are_chosen_by_the_numbers_that_pages_show(tmp_path: Path) -> None:
    draw.session(tmp_path, host=draw.space(NUMBERED, steps=6, every=100))
    said = run(str(tmp_path), "--steps", "6-8").stdout
    assert "3 of 6 steps were chosen (6-8)" in said
    assert "typical" not in said and "of the chosen steps" in said.splitlines()[0]
    ended = run(str(tmp_path), "--steps", "11-12")
    assert ended.returncode and "steps=11-12 matches no step" in ended.stderr and "from 5 to 10" in ended.stderr


def test_a_choice_that_is_none_is_refused() -> None:
    ended = run(str(TRACE), "--steps", "sometimes")
    assert ended.returncode == 2 and "is not a choice of steps" in ended.stderr


def test_markdown_holds_names_as_text(tmp_path: Path) -> None:
    text = "/host:CPU\n  python | train[0,100]{_r=1} $frame[2,60] x/MatMul:MatMul[62,30]"
    drawn = draw.space(text, steps=4, every=100)
    for entry in drawn.planes[0].event_metadata.values():
        entry.name = entry.name.replace("$frame", HOSTILE)
    answer = draw.session(tmp_path, host=drawn).answer("why")
    made = why.markdown(answer)
    assert not re.search(r"(?<!\\)(?:<img|\]\()", made)
    assert "\\<img src=x\\>" in made
    assert made.count("```") % 2 == 0


def test_without_steps_times_are_of_the_whole_capture(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, host=draw.space("/host:CPU\n  python | a/Sort:Sort[5,60] b/MatMul:MatMul[70,30]"))
    said = why.text(capture.answer("why"))
    assert "No steps were found" in said and "first step" not in said
    assert "1. Compute: 90.0 µs, 94.7 %" in said and " per step" not in said
    assert " per step" not in str(capture.summary())


def test_of_many_unusual_steps_the_text_says_how_many_it_lists(tmp_path: Path) -> None:
    text = "/host:CPU\n  python | train[0,100]{_r=1, step_num=s} x/MatMul:MatMul[2,90]"
    drawn = draw.space(text, steps=40, every=1_000)
    (line,) = drawn.planes[0].lines
    for step in range(6):
        for event in line.events[2 * step : 2 * step + 2]:
            event.duration_ps *= 9 - step
    said = why.text(draw.session(tmp_path, host=drawn).answer("why"))
    assert "Unusual steps, the first 5 of 6" in said
    assert "Time and share are means over all steps." in said


def test_steps_that_warm_up_are_said_to_where_they_are_slower(tmp_path: Path) -> None:
    """The fifth warms up by its place alone, since it is as fast as any."""
    factors = (1.29, 1.38, 1.42, 1.12, 0.88, 1, 0.96, 0.99, 0.89, 1.13, 1.1, 0.92, 1, 1.04, 1)
    text = "/host:CPU\n  python | train[0,100]{_r=1, step_num=s} x/MatMul:MatMul[2,90]"
    drawn = draw.space(text, len(factors), every=1_000)
    (line,) = drawn.planes[0].lines
    for step, times in enumerate(factors):
        for event in line.events[2 * step : 2 * step + 2]:
            event.duration_ps = round(times * event.duration_ps)
    said = why.text(draw.session(tmp_path, host=drawn).answer("why"))
    assert [line.split(":")[0].strip() for line in said.splitlines() if "than in the typical step" in line] == [
        f"train {step}, warming up" for step in range(4)
    ]


def test_the_profilers_own_time_is_no_part_of_the_shares(tmp_path: Path) -> None:
    steps = " ".join(
        f"train[{at},100]{{_r=1, step_num={at // 100}}} x/MatMul:MatMul[{at + 5},90]" for at in range(1000, 1500, 100)
    )
    text = f"/host:CPU\n  python | $profiler.py:9 start_trace[0,1000] {steps}"
    session = draw.session(tmp_path, host=draw.space(text))
    rows = AnswerReader(session.answer("why")).records("places")
    shares = {row["place"]: row["share"] for row in rows}
    assert shares["profiler"] is None and shares["steps"] == pytest.approx(1)
    captured_ms = AnswerReader(session.answer("overview_page")).fact_value("window_ms")
    assert captured_ms == pytest.approx(sum(row["time_ps"] for row in rows if row["place"] != "profiler") / 1e9)
