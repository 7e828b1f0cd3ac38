"""The ladder that finds steps, rung by rung; what is a step's name and number; which steps are complete."""

import draw
import pytest
from figures import names, steps

from tb_profile_plugin.analysis import between

TRAIN = "train[0,900]{_r=1, step_num=s}"
BATCH = "Profiled batch[0,900]{step_num=5+s}"
CALL = "EagerExecute: __inference_train_1[20,800]"
DATA = "FunctionRun[0,20]{_r=1, id=9} InstantiatedCapturedFunction::Run[1,5]{id=9}"


def found(*lines: str, device: str = "", count: int = 4) -> tuple[str, list[str]]:
    """Rule and names of the steps on a host with these lines, one to a thread."""
    text = "/host:CPU\n" + "\n".join(f"  thread{i} | {line}" for i, line in enumerate(lines))
    host = draw.host(f"{text}\n{device}", steps=count)
    return host.steps.source, names(host)


def test_markers_come_first() -> None:
    assert found(TRAIN + " " + CALL, BATCH, count=2) == ("markers", ["train 0", "train 1"])


def test_then_events_with_a_number() -> None:
    assert found(BATCH + " " + CALL, count=2) == ("numbers", ["Profiled batch 5", "Profiled batch 6"])


def test_a_number_inside_another_is_not_a_step() -> None:
    assert found(BATCH + " inner[10,20]{step_num=s}", count=2) == ("numbers", ["Profiled batch 5", "Profiled batch 6"])


def test_then_calls_of_the_training_function() -> None:
    source, labels = found("other[0,5] " + CALL, count=3)
    assert (source, labels) == ("functions", ["0", "1", "2"])


def test_the_function_that_takes_most_time_is_the_training_function() -> None:
    host = draw.host(f"/host:CPU\n  t | EagerExecute: __inference_small_2[5,10] {CALL}", steps=3)
    assert steps(host)[0]["time"] == 800


def test_functions_of_tf_data_are_never_steps() -> None:
    assert found(DATA, count=3) == ("none", [])
    assert found(DATA, TRAIN, count=2) == ("markers", ["train 0", "train 1"])


def test_function_runs_of_the_training_thread() -> None:
    assert found(DATA, "FunctionRun[30,60]{_r=1, id=1}", count=2) == ("functions", ["0", "1"])


def test_then_what_the_device_marks() -> None:
    device = "/device:GPU:0\n  Stream #1 | sgemm[100,50]\n  Steps | 0[100,50]"
    source, labels = found("other[0,5]", device=device, count=3)
    assert (source, labels) == ("device", ["0", "1", "2"])


def test_then_the_program_that_the_device_runs_most() -> None:
    device = "/device:TPU:0\n  XLA Modules | jit_f(1)[100,500] jit_g(2)[610,10]\n  XLA Ops | fusion[100,500]"
    source, labels = found("other[0,5]", device=device, count=3)
    assert (source, labels) == ("device", ["0", "1", "2"])


def test_then_none() -> None:
    assert found("other[0,5]", count=3) == ("none", [])
    assert found("other[0,5]", count=0) == ("none", [])


STORED = """
/host:CPU
  python | EagerKernelExecute[0,500]{group_id=s, step_name='7'} Launch[10,5]{group_id=s, c=0}
/device:GPU:0
  Stream #13 | sgemm[600,100]{group_id=s, c=0}
  Steps | 7[600,100]{group_id=s, step_name='7'}
"""


def test_groups_stored_in_the_capture() -> None:
    host = draw.host(STORED, steps=3)
    assert host.steps.source == "stored"
    assert len(host.steps) == 3
    assert steps(host)[0]["device_compute_32"] == 100


@pytest.mark.parametrize(("first", "apart"), [(0, 1), (2**31 - 9, 3), (7, 500_000_000)])
def test_numbers_of_stored_steps_may_be_any(first: int, apart: int) -> None:
    """What is kept by group is as long as there are groups, however large their numbers are."""
    host = draw.host(STORED.replace("group_id=s", f"group_id={apart}s+{first}"), steps=3)
    assert steps(host) == steps(draw.host(STORED, steps=3))
    assert host.steps.group.tolist() == [0, 1, 2]
    assert set(host.steps_in_full().of_event.tolist()) == {0, 1, 2}


def test_another_event_can_be_chosen() -> None:
    host = draw.host(f"/host:CPU\n  t | {TRAIN} mine[100,50]", steps=3)
    assert host.steps_named("mine").name == ["mine 0", "mine 1", "mine 2"]
    assert [step["time"] for step in steps(host, event="mine")] == [50, 50, 50]
    assert not len(host.steps_named("absent"))


def test_a_marker_inside_a_marker_is_no_step() -> None:
    host = draw.host("/host:CPU\n  t | train[0,900]{_r=1, step_num=s} train[10,50]{_r=1, step_num=99}", steps=2)
    assert names(host) == ["train 0", "train 1"]


def test_a_step_reaches_to_the_end_of_its_device_work_and_no_further_than_the_next() -> None:
    host = draw.host(
        """
/host:CPU
  t | train[0,100]{_r=1, step_num=s} Launch[10,5]{c=0}
/device:GPU:0
  Stream #1 | sgemm[50,1500]{c=0}
""",
        steps=3,
    )
    assert [step["time"] for step in steps(host)] == [1000, 1000, 1550]


def test_names_follow_the_programs_own_counting() -> None:
    text = "train[0,900]{_r=1, step_num=s, iter_num=40+s, graph_type=&g}"
    assert found(text, count=2) == ("markers", ["g 40", "g 41"])
    assert found("train[0,900]{_r=1}", count=2) == ("markers", ["train 0", "train 1"])


def test_a_step_cut_by_the_captures_edge_is_marked() -> None:
    drawn = draw.space(
        """
/host:CPU
  t | FunctionRun[0,500]{_r=1, id=5} a:A[1,5] b:B[10,5] c:C[20,5] d:D[30,5] e:E[40,5] f:F[50,5]
""",
        steps=4,
    )
    line = drawn.planes[0].lines[0]
    del line.events[-5:]
    host = draw.decoded(drawn)
    assert host.steps.source == "functions"
    assert host.steps.complete.tolist() == [True, True, True, False]


def test_a_device_without_lines_is_no_device() -> None:
    # Observed on the established plugin: no steps at all (S2).
    text = f"/host:CPU\n  t | {TRAIN} work:Work[10,300]\n/device:GPU:0 {{device_vendor=Nvidia, compute_cap_major=8}}"
    host = draw.host(text + "\nerror: Failed to load libcupti.so", steps=2)
    assert (len(host.gpus), host.devices) == (1, [])
    assert steps(host)[0] == {"name": "train 0", "time": 900, "host_compute": 300, "other": 600}
    (problem,) = host.problems
    assert "LD_LIBRARY_PATH" in problem.remedy


@pytest.mark.parametrize("kind", ["", "u"])
def test_launches_are_found_by_either_kind_of_number(kind: str) -> None:
    host = draw.host(
        f"""
/host:CPU
  t | {TRAIN} Launch[10,5]{{correlation_id=77{kind}}}
/device:GPU:0
  Stream #1 | sgemm[950,100]{{correlation_id=77}}
"""
    )
    assert steps(host)[0]["time"] == 1050


def test_what_was_chosen_long_ago_is_forgotten() -> None:
    drawn = draw.host("/host:CPU\n  t | a[0,1] b[2,1]", steps=3)
    marked = len(drawn.steps)
    for number in range(200):
        assert len(drawn.steps_named(f"no such event {number}")) == 0
        between.waits(drawn, f"no such event {number}")
    assert len(drawn.steps_named("a")) == 3
    assert len(drawn._kept["tb_profile_plugin.model.host.Host.steps_named"].items()) <= 8
    assert len(drawn.steps) == marked
