"""Capture health: each finding where it belongs, none on a capture that has nothing wrong, and the verdict's doubt."""

from pathlib import Path
from typing import Any

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.health import capture_health
from tb_profile_plugin.runtime.problems import AVERAGE, DEVICE, Problem, ProblemError
from tb_profile_plugin.runtime.protos import message
from tb_profile_plugin.tools import all_tools

TRACES = Path(__file__).resolve().parent.parent / "traces"
STEPS = "/host:CPU\n  t | train[100,500]{_r=1, step_num=s} work[200,200]"


def findings(tmp_path: Path, **hosts: Any) -> dict[str, Any]:
    session = draw.session(tmp_path, **hosts)
    return {problem.code: problem for problem in capture_health.findings(session, session.select())}


@pytest.mark.parametrize("name", ["custom_loop", "keras_fit", "starved_input", "two_workers", "jax_steps"])
def test_good_captures_only_say_how_they_were_recorded(name: str) -> None:
    session = tb_profile_plugin.open(TRACES / name)
    found = capture_health.findings(session, session.select())
    assert {problem.severity for problem in found} == {"info"}
    assert len([problem for problem in found if problem.code == "recorded"]) == 1
    assert capture_health.doubt(found) == ""


def test_versions_and_the_tracer_that_slows() -> None:
    session = tb_profile_plugin.open(TRACES / "jax_steps")
    found = {problem.code: problem.message for problem in capture_health.findings(session, session.select())}
    assert "jax 0." in found["recorded"] and "python_tracer_level=1" in found["recorded"]
    assert "87" in found["overhead"]


def test_no_steps_one_step_cut_steps(tmp_path: Path) -> None:
    found = findings(tmp_path / "none", a=draw.space("/host:CPU\n  t | work[1,2]"))
    assert "StepTraceAnnotation" in found["no_steps"].remedy
    assert capture_health.doubt(list(found.values())) == ""
    assert "one_step" in findings(tmp_path / "one", a=draw.space(STEPS))
    assert findings(tmp_path / "many", a=draw.space(STEPS, steps=5)) == {}


def test_what_the_profiler_says_comes_with_its_remedy(tmp_path: Path) -> None:
    said = "error: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES\nwarning: 7 events were dropped"
    session = draw.session(tmp_path, a=draw.space(f"{STEPS}\n{said}", steps=5))
    error, warning = capture_health.findings(session, session.select())
    assert (error.severity, warning.severity) == ("error", "warning")
    assert "NVreg_RestrictProfilingToAdminUsers" in error.remedy
    answer = session.answer("overview_page")
    assert answer["headline"]["doubt"].startswith("Caution: CUPTI_ERROR")
    assert "1 more" in answer["headline"]["doubt"]
    assert [note["severity"] for note in answer["notes"]] == ["error", "warning"]


def test_damage_marks_the_verdict(tmp_path: Path) -> None:
    whole = draw.space(STEPS, steps=50).SerializeToString()
    session = draw.session(tmp_path, a=whole[:-20])
    for tool in ("overview_page", "input_pipeline_analyzer"):
        assert "damaged" in session.answer(tool)["headline"]["doubt"]


def test_hosts_that_are_missing(tmp_path: Path) -> None:
    session = draw.session(tmp_path, a=draw.space(STEPS, steps=5))
    folder = session.stored.folder
    assert isinstance(folder, Path)
    (folder / "b.xplane.pb.gz").write_bytes(b"no gzip")
    (folder / "c.trace.json.gz").touch()
    (folder / "a.trace.json.gz").touch()
    session = tb_profile_plugin.open(folder)
    found = [
        problem for problem in capture_health.findings(session, session.select()) if problem.code == "hosts_missing"
    ]
    assert ["b." in found[0].message, "c." in found[1].message] == [True, True]
    assert "Caution" in session.answer("overview_page")["headline"]["doubt"]


def test_clocks_apart(tmp_path: Path) -> None:
    steps = f"{STEPS} gloo:all_reduce[450,50]"
    late = steps.replace("train[100", "train[800").replace("work[200", "work[900").replace("[450", "[1150")
    found = findings(tmp_path / "late", a=draw.space(steps, 5), b=draw.space(steps, 5), c=draw.space(late, 5))
    assert "700 µs later on c than on a" in found["clocks_apart"].message
    assert found["clocks_apart"].where == "c"
    slightly = STEPS.replace("train[100", "train[150")
    assert findings(tmp_path / "near", a=draw.space(STEPS, 5), b=draw.space(slightly, 5)) == {}


def test_hosts_without_collectives_may_step_at_other_times(tmp_path: Path) -> None:
    late = STEPS.replace("train[100", "train[800").replace("work[200", "work[900")
    found = findings(tmp_path, a=draw.space(STEPS, 5), b=draw.space(late, 5))
    assert "no collective was captured" in found["clocks_free"].message
    assert (list(found), capture_health.doubt([*found.values()])) == (["clocks_free"], "")


def test_some_clocks_unknown(tmp_path: Path) -> None:
    dated = draw.space(STEPS, 5)
    for line in dated.planes[0].lines:
        line.timestamp_ns = 1_700_000_000_000_000_000
    assert "clocks_unknown" in findings(tmp_path, a=draw.space(STEPS, 5), b=dated)


def test_tracers_that_were_off(tmp_path: Path) -> None:
    drawn = draw.space(f"{STEPS}\nTask Environment", 5)
    options = message("tensorflow.ProfileOptions")(host_tracer_level=2, device_tracer_level=0)
    plane = drawn.planes[1]
    plane.stat_metadata[1].name = "profile_options"
    plane.stats.add(metadata_id=1, bytes_value=options.SerializeToString())
    found = findings(tmp_path, a=drawn)
    assert found["tracer_off"].message == "Devices recorded nothing: device_tracer_level was 0."


def test_a_trace_of_which_ops_are_missing_says_so(tmp_path: Path) -> None:
    def ops(apart: int) -> Any:
        drawn = " ".join(f"a{i}[{10 * i},5]{{External id={1 + apart * i}}}" for i in range(60))
        return draw.space(f"/host:CPU\n  t | {drawn}", steps=1)

    assert "sampled" not in findings(tmp_path / "whole", host=ops(1))
    assert "1 in 7 ops" in findings(tmp_path / "part", host=ops(7))["sampled"].message


def test_what_hosts_share_is_said_once(tmp_path: Path) -> None:
    hosts = {f"w{number}": draw.space("/host:CPU\n  t | work[1,2]") for number in range(6)}
    found = findings(tmp_path, **hosts)
    assert found["no_steps"].where == "w0, w1, w2 and 3 more"


def test_findings_say_what_they_affect(tmp_path: Path) -> None:
    found = findings(tmp_path / "none", a=draw.space("/host:CPU\n  t | work[1,2]"))
    assert AVERAGE in found["no_steps"].as_json()["affects"]
    off = draw.space(f"{STEPS}\nwarning: 7 events were dropped", steps=5)
    found = findings(tmp_path / "dropped", a=off)
    assert DEVICE in found["reported_by_profiler"].affects
    assert AVERAGE not in found["reported_by_profiler"].affects
    assert "affects" not in Problem("recorded", "Recorded with jax 0.").as_json()


def test_what_findings_affect_is_what_figures_depend_on() -> None:
    declared = [each for tool in all_tools().values() for each in tool.facts]
    declared += [column for tool in all_tools().values() for table in tool.tables for column in table.columns]
    depends = {name for each in declared for name in each.depends}
    affects = {name for names in capture_health.AFFECTS.values() for name in names}
    assert affects == depends


@pytest.mark.parametrize("name", list(all_tools()))
def test_what_is_to_blame_for_an_empty_capture_is_the_headline_of_every_tool(name: str, tmp_path: Path) -> None:
    # A plane that says to be longer than the file is.
    cut = draw.space("/host:CPU\n  python |").SerializeToString() + b"\x0a\xff\x7f\x12\x03abc"
    capture = draw.session(tmp_path, vm=cut)
    reason = all_tools()[name].unavailable(capture)
    assert reason is not None
    assert (reason.code, reason.severity) == ("damaged_capture", "error")
    if all_tools()[name].streamed:
        return
    try:
        answer = capture.answer(name)
    except ProblemError:
        return
    assert answer["headline"]["text"].startswith(reason.message)
    assert reason.remedy in answer["headline"]["text"]
    assert not any("Mark them" in note["remedy"] for note in answer["notes"])


def test_an_empty_capture_says_which_tracer_was_off(tmp_path: Path) -> None:
    empty = draw.session(tmp_path / "a", vm=draw.space("/host:CPU\n  python |"))
    reason = all_tools()["overview_page"].unavailable(empty)
    assert reason is not None and reason.code == "no_events"
    off = draw.session(tmp_path / "b", vm=draw.space("/host:CPU\n  python |\nerror: Failed to load libcupti"))
    reason = all_tools()["overview_page"].unavailable(off)
    assert reason is not None and "libcupti" in reason.message
