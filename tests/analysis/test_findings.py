"""What is worth doing: of causes, rules and tf.data's pipelines in one order, each thing once; times in µs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torchtrace
from idle_draw import START, US, captured, events, kernels

from tb_profile_plugin.analysis.activity.states import STATES, State
from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.findings import _without_repetition, findings
from tb_profile_plugin.analysis.diagnosis.gains import gain, saves_little_alone
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import Remedy
from tb_profile_plugin.analysis.diagnosis.time_loss import TimeLoss
from tb_profile_plugin.analysis.finding import Finding
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.analysis.steps.typical_times import Replayed
from tb_profile_plugin.model.host import HostWithSteps

SGEMM = "volta_sgemm_128x64_nn"


def computing(host_time: int, kernel_time: int, steps: int = 6) -> HostWithSteps:
    """In each step of 100 the host launches a kernel in float32 and goes on; the step lasts as long as the slower."""
    launches, run = kernels(
        *(((100 * i + 5, 100 * i + 5 + kernel_time), (100 * i, 100 * i + 2)) for i in range(steps)), name=SGEMM
    )
    python = events("$train.py:1 prepare", *((100 * i + 3, 100 * i + host_time) for i in range(steps)))
    waits = events("cuStreamSynchronize", *((100 * i + host_time, 100 * i + 99) for i in range(steps)))
    marks = " ".join(f"train[{START + 100 * i},100]{{_r=1}}" for i in range(steps))
    return captured(("python", f"{marks} {launches} {python} {waits}"), devices=[[run]])


def cause(id: str, takes: float, gain: float | None, remedy: Remedy) -> Cause:
    (some, *_) = diagnose([computing(98, 40)]).causes
    gain_ps = None if gain is None else round(gain * US)
    return some._replace(id=id, per_step_ps=round(takes * US), share=takes / 100, gain_ps=gain_ps, remedy=remedy)


def ranked(*causes: Cause) -> list[Finding]:
    """Of these causes of a step of 100."""
    host = computing(98, 40)
    found = diagnose([host], replays=True)._replace(causes=list(causes))
    return findings(found, [host], OpTable())


def test_what_leads_is_first_and_the_rest_stands_by_what_it_saves() -> None:
    found = ranked(
        cause("eager", 50, 40, Remedy("Compile it.", "x = 1")),
        cause("python", 10, 8, Remedy("Do less.")),
        cause("exposed_copy", 20, 20, Remedy("Copy less.")),
        cause("latency", 2, 2, Remedy("Run ahead.")),
        cause("sync", 30, 0, Remedy("Wait less.")),
        cause("warmup", 30, 30, Remedy("Ignore it.")),
    )
    assert [(finding.id, (finding.gain_ps or 0) / US) for finding in found] == [
        ("eager", 40),
        ("exposed_copy", 20),
        ("python", 8),
    ]
    assert (found[0].code, found[0].level, found[0].takes_ps) == ("x = 1", "bad", 50 * US)


def test_one_remedy_is_said_once_for_all_that_it_saves() -> None:
    again = Remedy("Run several steps per call.")
    found = ranked(cause("eager", 50, 40, again), cause("python", 10, 8, again), cause("sync", 9, 9, Remedy("Wait.")))
    assert [(finding.id, (finding.gain_ps or 0) / US) for finding in found] == [("eager", 48), ("sync", 9)]


def test_what_a_remedy_saves_of_unusual_steps_too_is_of_the_mean_step() -> None:
    """A step of 100 waits for 60; once in a while it waits longer, so that the mean step takes 110."""
    more = Remedy("Start more workers.")
    unusual = cause("unusual_steps", 10, 10, more)._replace(base_ps=110 * US)
    (found,) = ranked(cause("input", 60, 60, more), unusual)
    assert (found.gain_ps, found.base_ps) == (70 * US, 110 * US)


def test_what_one_of_two_causes_saves_does_not_bound_their_remedy() -> None:
    grows = Remedy("Keep no graph.")
    (found,) = ranked(cause("compute", 80, None, grows), cause("eager", 15, 10, grows))
    assert (found.id, found.gain_ps) == ("compute", None)


def advice(id: str, title: str, gain: float | None, takes: float = 0.0) -> Finding:
    return Finding(id, title, "", None if gain is None else gain * US, takes_ps=takes * US)


def test_a_rule_tells_what_a_remedy_saves_where_its_causes_do_not() -> None:
    """Beside a rule that says the same as a cause's code, one that saves too little, and two that say one thing."""
    of_causes = [advice("compute", "Use floats.", None, 50), advice("input", "Prefetch (prefetch()).", 20)]
    of_rules = [
        advice("precision", "Use floats.", 30),
        advice("slow_input", "Call prefetch(2).", 25),
        advice("copies", "Copy less.", 2),
        advice("sync", "Wait less.", None, 12),
        advice("waits", "Wait less.", 8),
    ]
    ranked_once = _without_repetition(of_causes, of_rules, 100.0 * US)
    assert [(finding.id, (finding.gain_ps or 0) / US) for finding in ranked_once] == [
        ("compute", 30),
        ("input", 20),
        ("sync", 8),
    ]


def test_what_only_records_more_saves_nothing_and_a_remedy_no_more_than_it_can() -> None:
    record = cause("unrecorded", 50, 40, Remedy("Record Python.", saves=False))
    part = cause("input", 40, 30, Remedy("Prefetch.", most_ps=10.0 * US))
    assert [finding.gain_ps for finding in ranked(record, part)] == [None, 10 * US]
    assert [finding.gain_ps for finding in ranked(record, part._replace(gain_ps=5 * US))] == [None, 5 * US]


@pytest.mark.parametrize(("host_time", "kernel_time", "gain"), [(20, 94, 47), (98, 40, None), (60, 94, 39)])
def test_lower_precision_saves_what_the_replay_says(host_time: int, kernel_time: int, gain: float | None) -> None:
    """Nothing where the host takes the whole step; where the device does, half its time or until the host limits."""
    host = computing(host_time, kernel_time)
    found = findings(diagnose([host], replays=True), [host], OpTable())
    gains = [(finding.gain_ps or 0) / US for finding in found if "16-bit" in finding.title]
    assert gains == ([] if gain is None else [pytest.approx(gain, abs=1)])


def test_what_a_change_saves_is_not_told_where_the_device_was_not_recorded() -> None:
    """The host is busy all the time; the GPU behind it may be, too."""
    python = events("$train.py:1 prepare", *((100 * i + 3, 100 * i + 98) for i in range(6)))
    marks = " ".join(f"train[{START + 100 * i},100]{{_r=1}}" for i in range(6))
    host = captured(("python", f"{marks} {python}"), devices=[[]])
    first, second = findings(diagnose([host], replays=True), [host], OpTable())
    assert (first.id, first.gain_ps, first.takes_ps) == ("python", None, 100 * US)
    assert second.id == "not_recorded" and second.title.startswith("Record the device")


def test_a_device_is_to_be_recorded_once() -> None:
    """Against framework overhead that may be hidden behind an unrecorded device nothing else is advised."""
    runs = events("ExecutorState::Process", *((100 * i + 3, 100 * i + 98) for i in range(6)))
    marks = " ".join(f"train[{START + 100 * i},100]{{_r=1}}" for i in range(6))
    host = captured(("tf_Compute/1", f"{marks} {runs}"), devices=[[]])
    titles = [finding.title for finding in findings(diagnose([host]), [host], OpTable())]
    assert titles[0].startswith("Record the device") and len(titles) == len(set(titles))


def test_results_are_read_less_often_where_the_host_could_run_ahead() -> None:
    """The device works 60 of 100 while the host waits; the host prepares 39 only then."""
    begun = [START + 100 * i for i in range(6)]
    steps = " ".join(
        f"train[{at},100]{{_r=1}} $train.py:1 prepare[{at},37] PjitFunction(step)[{at + 37},2] "
        f"$array.py:9 __float__[{at + 39},60] BlockHostUntilReady[{at + 40},59]"
        for at in begun
    )
    launches, run = kernels(
        *(((100 * i + 39, 100 * i + 98), (100 * i + 38, 100 * i + 39)) for i in range(6)), name=SGEMM
    )
    host = captured(("python", f"{steps} {launches}"), devices=[[run]])
    found = findings(diagnose([host], replays=True), [host], OpTable())
    ahead = next(finding for finding in found if finding.id == "sync")
    assert ahead.gain_ps == pytest.approx(39 * US, rel=0.1)


@pytest.mark.parametrize("one_of", [1, 8])
def test_what_passes_between_ops_of_a_sample_is_unknown_and_saves_nothing_known(one_of: int) -> None:
    """Marks of the program hold most of each step, and an op now and then."""
    steps = [torchtrace.mark(f"ProfilerStep#{i}", 1000 * i, 1000) for i in range(4)]
    steps += [torchtrace.mark("## backward ##", 1000 * i + 10, 900) for i in range(4)]
    for i in range(80):
        steps.append(torchtrace.op("aten::add", 50 * i + 20, 3, **{"External id": one_of * (i + 1)}))
        steps.append(torchtrace.launch(i + 1, 50 * i + 21))
        steps.append(torchtrace.on_device(i + 1, 50 * i + 24, 3))
    found = diagnose([torchtrace.host(*steps)], replays=True)
    assert found.causes[0].id == ("unexplained" if one_of > 1 else "dispatch")
    assert ({"dispatch", "unrecorded"} <= {cause.id for cause in found.causes}) == (one_of == 1)
    assert any(cause.gain_ps is not None for cause in found.causes) == (one_of == 1)
    assert bool(found.scenario_gains) == (one_of == 1)
    of_host = found.typical.share(State.DISPATCH, State.PYTHON, State.UNRECORDED)
    assert of_host == 0 if one_of > 1 else of_host > 0.5
    assert ("1 in 8 ops was recorded" in found.headline.sentence.text) == (one_of > 1)


@pytest.mark.parametrize(
    ("id", "gain", "together", "is_little"),
    [
        *(("dispatch", 1, 90, True), ("dispatch", 20, 90, False), ("dispatch", 1, 60, False)),
        ("exposed_copy", 1, 90, False),
    ],
)
def test_a_way_of_being_late_that_saves_little_without_the_others(
    id: str, gain: int, together: int, is_little: bool
) -> None:
    """Of 80 that the host is late, 50 are told of one cause."""
    state_ps = np.zeros(len(STATES))
    state_ps[[State.DISPATCH, State.UNRECORDED]] = 50, 30
    typical: Any = SimpleNamespace(replayed={"host": SimpleNamespace(gain_ps=together)}, state_ps=state_ps)
    assert saves_little_alone(gain, TimeLoss(id, 50), typical) == is_little


@pytest.mark.parametrize(("dtype", "ids"), [("double", ["compute", "float64"]), ("float", ["compute"])])
def test_each_habit_that_makes_compute_is_told(dtype: str, ids: list[str]) -> None:
    """The remedy of a cause is for one of them."""
    inputs: dict[str, Any] = {"Input type": [dtype, dtype], "Input Dims": [[8, 8], [8, 8]]}
    events = []
    for step in range(4):
        events.append(torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999))
        events.append(torchtrace.op("aten::cat", 1000 * step + 5, 600, **inputs))
        events.append(torchtrace.op("aten::mm", 1000 * step + 610, 380, **inputs))
    host = torchtrace.host(*events, deviceProperties=[])
    found = findings(diagnose([host]), [host], OpTable())
    assert [finding.id for finding in found] == ids
    assert "allocated once" in found[0].title
    assert all("float32" in finding.title for finding in found[1:])


@pytest.mark.parametrize(
    ("steady", "kept", "says"),
    [(1.0, 0.3, 50), (1.0, 0.45, 50), (1.0, 0.6, 300), (0.1, 0.0, 300)],
    ids=["what remains", "a little more", "waits unseen", "no steps"],
)
def test_a_replay_that_does_not_know_what_threads_wait_for_limits_nothing(
    steady: float, kept: float, says: int
) -> None:
    """Of a CPU whose steps of 1 ms lose 700 µs to the host, 300 of them to dispatching, of which it saves 50; shares of
    the step that a replay lasts, and that it keeps without the host's part.
    """
    states = {State.DISPATCH: 300, State.UNRECORDED: 400, State.COMPUTE: 300}
    step_ps = np.array([states.get(state, 0) * US for state in State], np.float64)
    replayed = {id: Replayed(ps * US, ps * US, 1.0) for id, ps in (("dispatch", 50), ("host", 1000 * (steady - kept)))}
    host = torchtrace.host(torchtrace.op("aten::mm", 0, 10), deviceProperties=[])
    typical = diagnose([host]).typical._replace(
        step_ps=step_ps, between_ps=np.zeros(len(State)), replayed=replayed, steady_ps=1000 * US * steady
    )
    loss = TimeLoss("dispatch", 300 * US, states=("dispatch",), shares_cores=True)
    assert gain(loss, typical) == says * US
