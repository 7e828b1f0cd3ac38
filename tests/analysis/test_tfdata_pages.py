"""What the pages of the input say of one pipeline: the same figures, each named for what it is."""

from pathlib import Path
from typing import Any

import draw
import pytest
from figures import column


def pages(folder: Path, text: str, steps: int = 1, every: float = 1000) -> dict[str, Any]:
    capture = draw.session(folder, vm=draw.space("/host:CPU\n" + text, steps, every))
    return {name: capture.answer(name) for name in ("input_pipeline_analyzer", "tf_data_bottleneck_analysis")}


def checks(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Level and evidence by question."""
    columns = (column(answer, "checks", name) for name in ("id", "level", "evidence"))
    return {id: (level, evidence) for id, level, evidence in zip(*columns, strict=True)}


def test_pages_tell_one_time_of_the_step_and_one_of_its_wait(tmp_path: Path) -> None:
    """From a step to the next, 1,250 µs of which 500 lie between their marks: there the loop waits, too."""
    answers = pages(
        tmp_path,
        """
  python | train[0,750]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,310]
         | Iterator::Root[12,300]{id=1} Iterator::Root::Map[13,290]{id=2, parent_id=1}
         | x/MatMul:MatMul[330,400] IteratorGetNext:IteratorGetNext[800,30]
         | Iterator::Root[805,20]{id=1} Iterator::Root::Map[806,10]{id=2, parent_id=1}
""",
        4,
        1250,
    )
    work, tf_data = answers["input_pipeline_analyzer"], answers["tf_data_bottleneck_analysis"]
    assert "the step-to-step time (0.34 of 1.25 ms)" in work["headline"]["text"]
    sentence = "From step to step, the loop waits 0.34 of 1.25 ms for input (27 %)."
    assert sentence in tf_data["headline"]["text"]
    assert sentence in checks(tf_data)["fast"][1]
    assert checks(tf_data)["steps"][1] == "0.34 of 1.25 ms from step to step; 340 µs at most."
    assert column(tf_data, "pipelines", "step_wait_us") == [pytest.approx(340)]


def test_a_short_time_between_steps_counts_on_both_pages(tmp_path: Path) -> None:
    """8 of 758 µs lie between the marks, too few for a word."""
    answers = pages(
        tmp_path,
        """
  python | train[0,750]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,310]
         | Iterator::Root[12,300]{id=1} Iterator::Root::Map[13,290]{id=2, parent_id=1} x/MatMul:MatMul[330,400]
""",
        40,
        758,
    )
    work, tf_data = answers["input_pipeline_analyzer"], answers["tf_data_bottleneck_analysis"]
    assert "the step (310 of 758 µs)" in work["headline"]["text"]
    assert "An average step waits 310 of 758 µs for input (41 %)." in tf_data["headline"]["text"]
    assert checks(tf_data)["steps"][1] == "310 of 758 µs of an average step; 310 µs at most."


@pytest.mark.parametrize(("compute", "level", "lead"), [(2000, "warn", "delays"), (500, "bad", "is the bottleneck")])
def test_the_level_follows_what_the_steps_wait(tmp_path: Path, compute: int, level: str, lead: str) -> None:
    """One map takes all of the wait, of which the last of three calls in each step takes most."""
    calls = "".join(
        f" IteratorGetNext:IteratorGetNext[{at},{wait}] Iterator::Root[{at + 1},{wait - 2}]{{id=1}}"
        f" Iterator::Root::Map[{at + 2},{wait - 4}]{{id=2, parent_id=1}}"
        for at, wait in ((10, 22), (40, 22), (70, 302))
    )
    text = f"""
  python | train[0,{compute + 400}]{{_r=1, step_num=s}} {calls} x/MatMul:MatMul[380,{compute}]
"""
    answers = pages(tmp_path, text, 4, compute + 401)
    work, tf_data = (answers[name]["headline"] for name in ("input_pipeline_analyzer", "tf_data_bottleneck_analysis"))
    assert work["level"] == tf_data["level"] == level
    assert tf_data["text"].startswith(f"tf.data {lead}")
    assert "The median call of Host:0 takes 20.0 µs, the mean 113 µs, the longest 300 µs." in tf_data["text"]
    found = checks(answers["tf_data_bottleneck_analysis"])
    assert [found[question][0] for question in ("transformation", "steps")] == [level, level]


READY = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,110]
         | Iterator::Root[12,100]{id=1} Iterator::Root::Prefetch[13,98]{id=2, parent_id=1}
         | PrefetchConsume[15,1]{element_id=7} x/MatMul:MatMul[130,800]
"""
MADE = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,110]
         | Iterator::Root[12,100]{id=1} Iterator::Root::Map[13,98]{id=2, parent_id=1} x/MatMul:MatMul[130,800]
"""


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        (READY, "Elements were ready, but the program's thread continued 384 µs late in 4 calls, of a wait of 400 µs."),
        (MADE, "Map accounts for 98 % of the wait for Host:0 (392 of 400 µs in 4 calls)."),
        (MADE, "From the second epoch on, this removes 392 of 400 µs of the wait in 4 calls."),
    ],
)
def test_sums_over_calls_say_so_beside_times_of_a_step(tmp_path: Path, text: str, evidence: str) -> None:
    tf_data = pages(tmp_path, text, 4, 1001)["tf_data_bottleneck_analysis"]
    assert "waits 0.11 of 1.00 ms" in tf_data["headline"]["text"]
    assert evidence in " ".join(column(tf_data, "advice", "evidence"))
    asked = checks(tf_data)["transformation"][1]
    assert text != MADE or asked == "Iterator::Root::Map: 392 of 400 µs of the wait in 4 calls (98 %)."
