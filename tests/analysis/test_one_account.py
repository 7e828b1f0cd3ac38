"""One account of a step's time: every table that says where time goes groups the same states, to the picosecond."""

from pathlib import Path
from typing import Any

import draw
import numpy as np
import pytest
import torchtrace
from figures import column, facts, states

import tb_profile_plugin
from tb_profile_plugin.analysis.activity.states import CATEGORIES, CATEGORY_OF_STATE, STATES, State
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.health.capture_health import findings_of_host
from tb_profile_plugin.analysis.steps.typical_times import typical_times
from tb_profile_plugin.analysis.steps.what_if import SCENARIOS
from tb_profile_plugin.model.profiler_options import is_unrecorded, leaves_gpu_unused

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CAPTURES = [
    *sorted(path for path in (ROOT / "tests" / "traces").iterdir() if path.is_dir()),
    *sorted(path for path in SHARED.glob("profiles*/*") if path.is_dir()),
]


def test_every_state_is_in_one_category() -> None:
    assert sorted(CATEGORY_OF_STATE) == list(State)
    assert sum(len(category.states) for category in CATEGORIES) == len(State)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_pages_group_one_account(path: Path) -> None:
    capture = tb_profile_plugin.open(path)
    overview, why = (capture.answer(tool) for tool in ("overview_page", "why"))
    assert overview["headline"]["text"] == why["headline"]["text"]
    fine = dict(zip(column(why, "step", "id"), column(why, "step", "time_ps"), strict=True))
    parts = zip(column(overview, "parts", "part"), column(overview, "parts", "average_ms"), strict=True)
    for category, (id, average_ms) in zip(CATEGORIES, parts, strict=True):
        # Why rounds each state to a picosecond.
        whole = sum(fine.get(STATES[state], 0) for state in category.states)
        assert category.id == id and abs(average_ms * 1e9 - whole) <= len(category.states)
    assert facts(overview)["parts_ms"] * 1e9 == pytest.approx(sum(fine.values()), abs=len(State))
    in_step_ms, between_ms = (sum(column(overview, "parts", id)) for id in ("step_ms", "between_ms"))
    assert facts(overview)["parts_in_step_ms"] == pytest.approx(in_step_ms)
    assert in_step_ms + between_ms == pytest.approx(facts(overview)["parts_ms"])
    same_causes(why)
    gains_that_can_be(why)
    links_to_what_is_named(why)
    if len(capture.hosts) == 1:
        same_steps(overview)


def same_causes(why: dict[str, Any]) -> None:
    """Causes of the steps that count, once each, take no longer together than the period; these limit the step next.
    Compute is as long in its cause as in the bar, but for what is done between steps.
    """
    apart = ("unusual_steps", "warmup")
    times = zip(column(why, "causes", "id"), column(why, "causes", "per_step_ps"), strict=True)
    spent = sum(ps for id, ps in times if id not in apart)
    assert spent <= sum(column(why, "step", "time_ps")) + len(State)
    assert not {*column(why, "causes", "then")} & {*apart}
    causes, parts = (
        dict(zip(column(why, table, "id"), column(why, table, time), strict=True))
        for table, time in (("causes", "per_step_ps"), ("step", "step_ps"))
    )
    if "compute" in causes and not causes.keys() & {"between_steps", "evaluation"}:
        assert causes["compute"] >= parts["compute"] - 1


def gains_that_can_be(why: dict[str, Any]) -> None:
    """No gain is larger than the step, which is what it is said to be a part of; what removes more wins no less, and a
    cause without which a scenario does has no larger gain than that. Eager execution ends only where it is a cause.
    """
    saved = zip(*(column(why, "findings", name) for name in ("gain_ms", "of_ms")), strict=True)
    assert all(gain_ms is None or gain_ms <= of_ms * 1.0001 for gain_ms, of_ms in saved)
    gain = dict(zip(column(why, "scenarios", "id"), column(why, "scenarios", "gain_ps"), strict=True))
    assert "eager" not in gain or "eager" in column(why, "causes", "id")
    period = sum(column(why, "step", "time_ps"))
    for id, ps in gain.items():
        assert 0 <= ps <= period + len(State)
        more = [gain[other] for other in gain if set(SCENARIOS[id]) < set(SCENARIOS[other])]
        assert all(ps <= each + period / 1000 for each in more)
    for id, ps in zip(column(why, "causes", "id"), column(why, "causes", "gain_ps"), strict=True):
        assert id not in gain or (ps or 0) <= gain[id] + period / 1000


def links_to_what_is_named(why: dict[str, Any]) -> None:
    """Where a cause names events, its links lead to stretches of these; each name is told by its events."""
    evidence = list(zip(column(why, "evidence", "cause"), column(why, "evidence", "name"), strict=True))
    names: dict[str, set[str]] = {}
    for cause, name in zip(column(why, "names", "cause"), column(why, "names", "name"), strict=True):
        names.setdefault(cause, set()).add(name)
    for cause, known in names.items():
        linked = {name for of, name in evidence if of == cause}
        assert linked <= known or not linked & known


def same_steps(overview: dict[str, Any]) -> None:
    """Rows of the table of steps sum to the step, and their mean over the typical ones is the typical step."""
    names = [category.id for category in CATEGORIES]
    table = np.array([column(overview, "steps", f"{name}_ms") for name in names])
    duration = np.array(column(overview, "steps", "duration_ms"))
    if not duration.size:
        return
    np.testing.assert_allclose(table.sum(axis=0), duration, rtol=1e-12)
    kept = [i for i, reason in enumerate(column(overview, "steps", "left_out")) if reason is None]
    step_ms = np.array(column(overview, "parts", "step_ms"))
    np.testing.assert_allclose(table[:, kept].mean(axis=1), step_ms, rtol=1e-9, atol=1e-9)


def test_silence_is_python_only_where_its_tracer_ran() -> None:
    text = "/host:CPU\n  python | train[0,100]{_r=1} x/MatMul:MatMul[10,20] y/MatMul:MatMul[60,40]"
    assert states(draw.host(text)) == [{"COMPUTE": 60.0, "UNRECORDED": 40.0}]
    traced = states(draw.host(text.replace("x/MatMul", "$train.py:1 f[5,4] x/MatMul", 1)))
    assert traced == [{"COMPUTE": 60.0, "PYTHON": 40.0}]


WORK = "x/MatMul:MatMul"
GPU_NAMED = "\n/device:GPU:0 {device_type_string='Nvidia GPU (Turing)'}\n"
TRAINING = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} FunctionRun[0,990]{id=5, _pt=1, _p=7}
  tf_Compute/77 | ExecutorState::Process[100,800]{id=5, _ct=1, _c=7} model/conv/Conv2D:Conv2D[150,600]
"""


def test_a_program_on_the_cpu_leaves_the_gpu_unused() -> None:
    host = draw.host(TRAINING + GPU_NAMED)
    assert leaves_gpu_unused(host) and not is_unrecorded(host)
    found = diagnose([host])
    assert found.causes[0].id == "gpu_unused" and "GPU is unused" in found.headline.sentence.text
    assert states(host)[0]["COMPUTE"] == 600.0
    assert found.causes[0].remedy.text.startswith("Install TensorFlow with CUDA")


def test_a_build_whose_profiler_looks_for_cupti_has_cuda() -> None:
    space = draw.space(TRAINING + GPU_NAMED)
    space.errors.append("Failed to load libcupti (is it installed and accessible?)")
    host = draw.decoded(space)
    remedies = [problem.remedy for problem in findings_of_host(host) if problem.code == "gpu_unused"]
    remedies.append(diagnose([host]).causes[0].remedy.text)
    assert len(remedies) == 2 and all(str(text).startswith("Let TensorFlow load CUDA's libraries") for text in remedies)


@pytest.mark.parametrize(
    "sign", ["  tf_GPU_Event_Manager/5 | Poll[0,1]", "  other | MemoryAllocation[5,0]{allocator_name=GPU_0_bfc}"]
)
def test_a_gpu_that_was_not_recorded_may_have_worked(sign: str) -> None:
    host = draw.host(TRAINING + sign + GPU_NAMED)
    assert is_unrecorded(host) and not leaves_gpu_unused(host)
    found = diagnose([host])
    # The host worked, and the device was not recorded: both are said.
    text = "The GPU was not recorded; the host works 90 % of the step (0.90 of 1.00 ms), mostly launching ops."
    assert found.headline.sentence.text == text
    assert found.causes[0].id == "launch"
    # It is not known to be idle meanwhile.
    assert "what the GPU does meanwhile was not recorded" in found.causes[0].sentence.text
    row = states(host)[0]
    # With the hand-over, which is the call's own.
    assert row["DISPATCH"] + row["LAUNCH"] == 900.0 and "COMPUTE" not in row


def test_functions_of_the_input_are_not_the_steps() -> None:
    text = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} FunctionRun[0,990]{id=5, _pt=1, _p=7}
  tf_data/1 | ParallelMapProduce[0,900] InstantiatedCapturedFunction::RunAsync[10,800] FunctionRun[20,700]{_pt=2, _p=8}
  tf_Compute/77 | ExecutorState::Process[30,500]{_ct=2, _c=8} DecodeJpeg:DecodeJpeg[40,400]
    | ExecutorState::Process[800,100]{id=5, _ct=1, _c=7} m/MatMul:MatMul[820,60] DecodeJpeg:DecodeJpeg[910,50]
"""
    row = states(draw.host(text))[0]
    # Decoding is for batches ahead, also where what encloses it was cut: the step's own work is 100 µs long.
    assert row["COMPUTE"] == 60.0
    assert row.get("DISPATCH", 0.0) <= 100.0


def test_each_time_is_said_of_what_is_in_nearly_every_step() -> None:
    steps = " ".join(
        f"train[{1000 * s},1000]{{_r=1, step_num={s}}} {WORK}[{1000 * s},{100 if s == 3 else 1000}]" for s in range(6)
    )
    host = draw.host(f"/host:CPU\n  python | {steps} IteratorGetNext[3100,880]")
    cause = next(each for each in diagnose([host], "all").causes if each.id == "input")
    assert "each time" not in cause.sentence.text
    assert "IteratorGetNext (880 µs, in 17 % of the steps)" in cause.sentence.text


def test_no_change_of_the_host_saves_time_in_which_the_device_works() -> None:
    marked = torchtrace.mark("execute_context_0(0)_generation_32(32)", 0, 2400)
    launches = [torchtrace.launch(k + 1, 100 + 300 * k, 20) for k in range(5)]
    # The device begins long after it could, and then works without a pause.
    kernels = [torchtrace.on_device(k + 1, 8000 + 2000 * k, 2000) for k in range(5)]
    typical = typical_times([torchtrace.host(marked, *launches, *kernels)], "typical", True)
    assert typical.period_ps == 10_000_000_000
    assert typical.replayed is not None
    assert [replayed.gain_ps for replayed in typical.replayed.values()] == [0.0, 0.0]
