"""What a notebook and completion show of a capture, its comparisons and answers."""

import re
from pathlib import Path

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.api import Capture

TRACES = Path(__file__).resolve().parent.parent / "traces"


@pytest.fixture(scope="module")
def capture() -> Capture:
    return tb_profile_plugin.open(TRACES / "starved_input")


def test_a_capture_shows_itself(capture: Capture) -> None:
    assert re.fullmatch(r"<Capture '\w+': 1 host, 0\.\d MB>", repr(capture))
    assert "Waiting for input takes 86 %" in capture._repr_html_() and "<Capture" not in capture._repr_html_()


def test_names_in_it_are_text(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    made = draw.session(tmp_path, **{hostile: draw.space(draw.GPU, steps=4)})
    made.name = hostile
    assert "<img" not in made._repr_html_() and "&lt;img" in made._repr_html_()


def test_an_unreadable_capture_says_why(tmp_path: Path) -> None:
    made = draw.session(tmp_path, host=b"")
    assert "MB" in repr(made) and made._repr_html_()


def test_answers_are_short_and_print_as_text(capture: Capture) -> None:
    why, compared = capture.why(), capture.compare(TRACES / "starved_input")
    assert repr(why).startswith("Waiting for input") and len(repr(why)) < 500
    assert str(why).startswith(repr(why)) and why._repr_markdown_().startswith("**Waiting for input")
    assert why.data["headline"]["text"] == repr(why)
    assert repr(compared) == compared.verdict.text and len(repr(capture.summary())) < 500
    assert capture.why(steps="all").data["steps"]["chosen"] != ""


def test_a_table_of_an_answer_is_a_frame(capture: Capture) -> None:
    answer = capture.answer("framework_op_stats")
    for name, told in answer["tables"].items():
        frame = capture.table("framework_op_stats", name)
        assert list(frame.rows()) == list(zip(*(each["values"] for each in told["columns"]), strict=True)), name
        assert len(frame.to_pandas()) == told["rows"]
    assert capture.table("framework_op_stats").table.id == next(iter(answer["tables"]))
    with pytest.raises(tb_profile_plugin.runtime.problems.ProblemError, match="no table 'none'"):
        capture.table("why", "none")


def test_all_sessions_of_a_logdir(tmp_path: Path) -> None:
    for name in ("a", "b"):
        draw.session(tmp_path / name, host=draw.space(draw.GPU, steps=4))
    found = tb_profile_plugin.sessions(tmp_path)
    assert sorted(each.name for each in found) == ["a/run", "b/run"] and all(each.steps() for each in found)


def test_pages_stand_in_a_frame_of_their_own(capture: Capture) -> None:
    element = capture.show(300)._repr_html_()
    assert element.startswith('<iframe sandbox="allow-scripts allow-downloads" srcdoc="') and "300px" in element
    assert "allow-same-origin" not in element[:200] and element.count("<") == 2


def test_completion_offers_what_is_meant_for_users(capture: Capture) -> None:
    assert all(hasattr(Capture, name) or hasattr(capture, name) for name in dir(capture))
    assert not {"select", "each", "beside", "neighbours", "fits", "stored"} & set(dir(capture))
    assert dir(tb_profile_plugin) == ["__version__", "open", "sessions"]
