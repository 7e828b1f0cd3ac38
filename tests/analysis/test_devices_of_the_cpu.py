"""XLA's devices on the CPU, which are threads: what each does while another one waits for it in a collective."""

import draw
import hlodraw
import numpy as np
import pytest
import torchtrace
from idle_draw import US

from tb_profile_plugin.analysis.activity.devices.cpu_ops import last_begins
from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.activity.states import STATES
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.steps.typical_times import typical_times
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.model.host import Host, HostWithSteps


def on_two_devices(held: str) -> HostWithSteps:
    """Steps of 1 ms: the second device comes to the collective 400 µs after the first one, ``held`` up by an event."""
    return draw.host(
        f"""
/host:CPU
  python | train[0,990]{{_r=1, step_num=s}} PjitFunction(step)[2,20]
         | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[3,8]{{_pt=7, _p=10s+1}}
         | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[12,8]{{_pt=7, _p=10s+2}}
  tf_XLAPjRtCpuClient/5 | dot.1[30,100]{{_ct=7, _c=10s+1, hlo_op=dot.1}} all-reduce.2[130,500]{{hlo_op=all-reduce.2}}
         | dot.3[640,330]{{hlo_op=dot.3}}
  tf_XLAPjRtCpuClient/6 | dot.1[30,100]{{_ct=7, _c=10s+2, hlo_op=dot.1}} {held}
         | all-reduce.2[530,100]{{hlo_op=all-reduce.2}} dot.3[640,330]{{hlo_op=dot.3}}
""".replace("\n         | ", " "),
        6,
        1000,
    )


@pytest.mark.parametrize(
    ("held", "states"),
    [
        ("debug_callback.9[130,400]", {"callback": 400, "exposed_collective": 100}),
        ("conditional.8[130,400]{hlo_op=conditional.8} debug_callback.9[131,398]", {"callback": 398}),
        ("dot.7[130,400]{hlo_op=dot.7}", {"compute": 830, "exposed_collective": 100}),
    ],
)
def test_a_collective_begins_when_the_last_device_has_come_to_it(held: str, states: dict[str, int]) -> None:
    state_ps = typical_times([on_two_devices(held)], "typical", False).state_ps
    for state, us in states.items():
        assert state_ps[STATES.index(state)] / US == pytest.approx(us, abs=3), state


def test_a_loop_that_waits_in_a_collective_computes_nothing() -> None:
    """Both devices are in a loop of 900 µs, which holds two ops and a collective for 500 µs, 400 of them a wait."""
    turn = (
        "dot.1[60,200]{{hlo_op=dot.1}} all-reduce.2[{begin},{us}]{{hlo_op=all-reduce.2}} dot.3[800,100]{{hlo_op=dot.3}}"
    )
    host = draw.host(
        f"""
/host:CPU
  python | train[0,990]{{_r=1, step_num=s}} PjitFunction(step)[2,20]
  tf_XLAPjRtCpuClient/5 | while.9[50,900]{{hlo_op=while.9}} {turn.format(begin=270, us=500)}
  tf_XLAPjRtCpuClient/6 | while.9[50,900]{{hlo_op=while.9}} {turn.format(begin=670, us=100)}
""",
        6,
        1000,
    )
    state_ps = typical_times([host], "typical", False).state_ps
    assert state_ps[STATES.index("compute")] / US == pytest.approx(300, abs=3)
    assert state_ps[STATES.index("exposed_collective")] / US == pytest.approx(100, abs=3)


@pytest.mark.parametrize(
    ("caller", "late", "facts"),
    [
        ("PjitFunction(step)", 400, {"copies_arguments", "awaits_arguments"}),
        ("PjitFunction(step)", 100, {"copies_arguments"}),
        ("$train.py:7 feed", 400, set()),
    ],
)
def test_arguments_that_each_call_copies_to_the_mesh(caller: str, late: int, facts: set[str]) -> None:
    """The second device begins ``late``, and comes 400 µs later to the collective; a batch may be fed by device_put."""
    stats = "run_id=s, hlo_module=m, program_id=7"
    space = draw.space(
        f"""
/host:CPU
  python | train[0,990]{{_r=1, step_num=s}} {caller}[2,90] shard_args[10,80] $array.py:1153 shard_device_array[11,70]
         | PjitFunction(step)[100,20]
  tf_XLAPjRtCpuClient/5 | dot.1[130,100]{{hlo_op=dot.1, device_ordinal=0, {stats}}}
         | all-reduce.2[230,500]{{hlo_op=all-reduce.2, device_ordinal=0, {stats}}} Rendezvous[231,495]
  tf_XLAPjRtCpuClient/6 | dot.1[{130 + late},100]{{hlo_op=dot.1, device_ordinal=1, {stats}}}
         | all-reduce.2[630,100]{{hlo_op=all-reduce.2, device_ordinal=1, {stats}}}
""".replace("\n         | ", " "),
        6,
        1000,
    )
    hlodraw.planted(space, 7, hlodraw.proto())
    host = Host("h", xspace.decode(space.SerializeToString())).with_steps()
    assert program_facts(host) & {"copies_arguments", "awaits_arguments"} == facts
    advice = [cause.remedy.text for cause in diagnose([host]).causes if cause.id == "exposed_collective"]
    assert ("on the mesh" in advice[0]) == (late == 400 and bool(facts))


def test_a_callback_that_another_device_waits_for_leads() -> None:
    found = diagnose([on_two_devices("debug_callback.9[130,400]")])
    assert found.causes[0].id == "callback" and "debug_callback" in found.headline.sentence.text


def test_collectives_of_one_name_that_gloo_runs_at_once_are_several() -> None:
    """Each of its threads reduces a bucket of its own."""
    events = [torchtrace.mark("ProfilerStep#0", 0, 900)]
    for thread, begin in ((11, 100), (12, 300)):
        events.append(torchtrace.on_host("user_annotation", "gloo:all_reduce", begin, 500) | {"tid": thread})
    (work,) = device_work(torchtrace.host(*events, deviceProperties=[]))
    assert (work.end - work.begin).tolist() == [500_000_000] * 2


def test_collectives_of_several_devices_that_follow_one_another() -> None:
    """Four devices come to the first one at different times; the next of its name is another one."""
    name = np.array([5, 5, 5, 5, 5, 6], np.int32)
    begin, end = np.array([10, 20, 30, 40, 60, 15]), np.array([50, 51, 52, 53, 70, 25])
    assert last_begins(name, begin, end).tolist() == [40, 40, 40, 40, 60, 15]
