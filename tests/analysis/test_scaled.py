"""What a step would take if one op took another time; times in µs."""

import draw
import pytest
from idle_draw import START, US, captured, events, kernels

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.scaled import scaled
from tb_profile_plugin.analysis.labels.event_names import display_name
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.runtime.problems import ProblemError


def training(steps: int = 4) -> HostWithSteps:
    """In each step of 100 two kernels follow one another, 60 and 30, and the host waits for both.

    Without the first one the second begins 2 later than that did, since it is launched later.
    """
    first, one = kernels(*(((100 * i + 5, 100 * i + 65), (100 * i, 100 * i + 2)) for i in range(steps)))
    then, two = kernels(
        *(((100 * i + 65, 100 * i + 95), (100 * i + 2, 100 * i + 4)) for i in range(steps)), name="add", first=50
    )
    waits = events("cuStreamSynchronize", *((100 * i + 4, 100 * i + 96) for i in range(steps)))
    marks = " ".join(f"train[{START + 100 * i},98]{{_r=1}}" for i in range(steps))
    return captured(("python", f"{marks} {first} {then} {waits}"), devices=[[one + two.partition("|")[2]]])


@pytest.mark.parametrize(
    ("op", "factor", "gain"), [("gemm", 0.5, 30), ("gemm", 0, 58), ("add", 0.5, 15), ("add", 1, 0), ("gemm", 2, -60)]
)
def test_ops_on_the_critical_path_win_what_they_take_less(op: str, factor: float, gain: float) -> None:
    found = scaled([training()], op, factor)
    assert found.op_ps / US == (60 if op == "gemm" else 30)
    assert found.period_ps / US == pytest.approx(100, abs=1)
    assert found.gain_ps / US == pytest.approx(gain, abs=0.5)


def on_the_cpu(steps: int = 4) -> HostWithSteps:
    """In each step of 100 an op of 65 lies within another one of 75, and one of 15 follows; all on one thread."""
    names = (("aten::conv2d", 5, 75), ("aten::mkldnn_convolution", 10, 65), ("aten::relu", 81, 15))
    ops = " ".join(f"{name}[{START + 100 * i + begin},{length}]" for i in range(steps) for name, begin, length in names)
    marks = " ".join(f"ProfilerStep#{i}[{START + 100 * i},98]{{_r=1, step_num={i}}}" for i in range(steps))
    return captured(("python", f"{marks} {ops}"), devices=[])


@pytest.mark.parametrize(
    ("op", "gain"), [("aten::conv2d", 37.5), ("aten::mkldnn_convolution", 32.5), ("aten::relu", 7.5)]
)
def test_an_op_that_the_host_computes_takes_less_of_its_thread_and_of_the_op_around_it(op: str, gain: float) -> None:
    found = scaled([on_the_cpu()], op, 0.5)
    assert found.op_ps / US == 2 * gain
    assert found.gain_ps / US == pytest.approx(gain, abs=0.5)


SHARED = """
/host:CPU
  python | train[0,100]{_r=1, step_num=s}
  tf_XLAPjRtCpuClient/5 | dot.1[10,50]{hlo_op=dot.1, hlo_module=jit_step}
  | ThreadpoolListener::Record[15,0]{_pt=15, _p=1+s}
  tf_XLAEigen/6 | ThreadpoolListener::StartRegion[40,50]{_ct=15, _c=1+s} ThreadpoolListener::StopRegion[90,0]
"""


def test_an_op_of_several_threads_takes_as_long_as_any_of_them_does_it() -> None:
    found = scaled([draw.host(SHARED, 6, 100)], "dot.1", 0.5)
    assert found.op_ps / US == 80
    assert found.gain_ps <= 40 * US


WAITS = """
/host:CPU
  python | train[0,996]{_r=1, step_num=s} $loop.py:3 step[1,990] PjitFunction(f)[2,20] FRAME[25,960]
  | PjRtCpuClient::Execute[5,10] ThreadpoolListener::Record[6,0]{_pt=15, _p=1000+s}
  tf_XLAPjRtCpuClient/5 | ThreadpoolListener::StartRegion[30,950]{_ct=15, _c=1000+s}
  | lu.26[40,700]{hlo_op=lu.26, hlo_module=jit_f, run_id=s} mul.2[740,230]{hlo_op=mul.2, hlo_module=jit_f, run_id=s}
"""


@pytest.mark.parametrize(("frame", "gain"), [("$numpy asarray", 350), ("$loop.py:9 log", 350), ("$time sleep", 0)])
def test_a_loop_that_waits_for_ops_on_other_threads_ends_sooner_with_them(frame: str, gain: float) -> None:
    """As in ``numpy.asarray`` of an array of JAX, which leaves no event of its own."""
    found = scaled([draw.host(WAITS.replace("FRAME", frame), 6, 1000)], "lu.26", 0.5)
    assert found.op_ps / US == 700
    assert found.gain_ps / US == pytest.approx(gain, abs=5)


def test_no_gain_is_more_than_what_the_op_takes_less(monkeypatch: pytest.MonkeyPatch) -> None:
    # As after an unusual step that takes less: the one that follows it begins earlier.
    monkeypatch.setattr("tb_profile_plugin.analysis.diagnosis.scaled.gain_of_events", lambda *_: 80.0 * US)
    assert scaled([training()], "gemm", 0.5).gain_ps / US == 30


def test_it_is_said_in_a_sentence() -> None:
    found = scaled([training()], "gemm", 0.5)
    assert found.as_json()["text"] == found.sentence.text
    assert found.sentence.text.startswith("gemm at 0.5 times its 60.0 µs: the step takes at least 70.0 µs")
    assert found.sentence.text.endswith("(30 % less).")
    assert "still takes" in scaled([training()], "gemm", 1).sentence.text
    assert scaled([training()], "gemm", 2).sentence.text.endswith("more).")


@pytest.mark.parametrize(
    ("op", "factor", "code"),
    [
        ("nothing", 0.5, "no_such_op"),
        ("gemm", 11, "bad_option"),
        ("gemm", -1, "bad_option"),
        ("gemm", float("nan"), "bad_option"),
    ],
)
def test_what_cannot_be_asked(op: str, factor: float, code: str) -> None:
    with pytest.raises(ProblemError) as refused:
        scaled([training()], op, factor)
    assert refused.value.problem.code == code


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("$<built-in function sleep>", "sleep"),
        (
            "$<built-in method run_backward of torch._C._EngineBase object at 0x7f46f034c810>",
            "run_backward (torch._C._EngineBase)",
        ),
        ("$<built-in method numpy of Tensor object at 0x7f46f034c810>", "numpy (Tensor)"),
        ("$train.py:7 <lambda>", "<lambda> (train.py:7)"),
    ],
)
def test_functions_in_c_are_named_without_addresses(name: str, said: str) -> None:
    assert display_name(name) == said


def test_the_step_is_as_long_as_recorded_though_a_replay_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays repeat their windows until they last as long each time, which unusual steps make longer."""
    monkeypatch.setattr("tb_profile_plugin.analysis.diagnosis.scaled.gain_of_events", lambda *_: -0.01 * US)
    found = scaled([training()], "gemm", 0.5)
    assert (found.gain_ps, found.sentence.id) == (0, "scaled.same")
    assert found.period_ps == diagnose([training()]).typical.period_ps
