"""The ladder that finds steps, rung by rung; what is a step's name and number; which steps are complete."""

import draw
import pytest
from figures import names, steps

from tb_profile_plugin.analysis.health import unmarked_input
from tb_profile_plugin.model.events import links
from tb_profile_plugin.model.steps import repeated_calls

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


def test_a_loop_of_one_turn_is_no_loop() -> None:
    assert found("ExecutorState::Process[30,15]{id=7, iter_num=1}", count=1) == ("none", [])
    assert found("ExecutorState::Process[30,15]{id=7, iter_num=0} ExecutorState::Process[50,15]{id=8, iter_num=3}")


def test_the_function_that_takes_most_time_is_the_training_function() -> None:
    host = draw.host(f"/host:CPU\n  t | EagerExecute: __inference_small_2[5,10] {CALL}", steps=3)
    assert steps(host)[0]["time"] == 800


def test_functions_of_tf_data_are_never_steps() -> None:
    assert found(DATA, count=3) == ("none", [])
    assert found(DATA, TRAIN, count=2) == ("markers", ["train 0", "train 1"])


def test_function_runs_of_the_training_thread() -> None:
    assert found(DATA, "FunctionRun[30,60]{_r=1, id=1}", count=2) == ("functions", ["0", "1"])


def test_runs_of_functions_that_tensorflow_marks_itself_are_no_marks_of_the_program() -> None:
    """A worker runs parts of a function for others, several in each step."""
    run = "KernelAndDeviceFunc::RunAsync[{},30]{{_r=1}}"
    runs = " ".join(run.format(begin) for begin in (30, 200, 400))
    assert found(runs, CALL, count=3) == ("functions", ["0", "1", "2"])
    assert found(runs, TRAIN, count=2) == ("markers", ["train 0", "train 1"])


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
    assert set(host.grouped_steps.group_of.tolist()) == {0, 1, 2}


def test_another_event_can_be_chosen() -> None:
    host = draw.host(f"/host:CPU\n  t | {TRAIN} mine[100,50]", steps=3)
    assert host.with_steps("mine").steps.name == ["mine 0", "mine 1", "mine 2"]
    assert [step["time"] for step in steps(host, event="mine")] == [50, 50, 50]
    assert not len(host.with_steps("absent").steps)


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
        assert len(drawn.with_steps(f"no such event {number}").steps) == 0
        unmarked_input.waits(drawn.with_steps(f"no such event {number}"))
    assert len(drawn.with_steps("a").steps) == 3
    assert len(drawn._lasting_memos["tb_profile_plugin.model.host.steps_of"].items()) <= 8
    assert len(drawn.steps) == marked


LOOP = " ".join(f"ExecutorState::Process[{20 * i + 30},{{length}}]{{{{id=1000s+7, iter_num={i}}}}}" for i in range(8))


def test_a_recurrent_layers_loop_is_no_training_loop() -> None:
    """Its iterations lie within calls of a function that repeat (F1)."""
    text = "/host:CPU\n  t | EagerExecute: __inference_train_1[0,250]{_pt=2, _p=s}\n  pool | " + LOOP.format(length=15)
    host = draw.host(text, steps=3)
    assert (host.steps.source, len(host.steps)) == ("functions", 3)


def test_loops_beside_one_another_are_no_training_loop() -> None:
    """Iterations of one number run in the layer and again in its gradient, so they overlap those of others (F1)."""
    gradient = " ".join(f"ExecutorState::Process[{20 * i + 230},15]{{id=7, iter_num={7 - i}}}" for i in range(8))
    host = draw.host(
        f"/host:CPU\n  t | train_function[0,500]{{tf_function_call=x}}\n  pool | {LOOP.format(length=15)} {gradient}"
    )
    assert (host.steps.source, len(host.steps)) == ("functions", 1)


def test_one_call_that_is_a_loop_is_a_training_loop() -> None:
    text = "/host:CPU\n  t | EagerExecute: __inference_train_1[0,250]\n  pool | " + LOOP.format(length=15)
    host = draw.host(text)
    assert (host.steps.source, len(host.steps)) == ("loops", 8)


def test_a_loop_that_is_a_small_part_is_no_training_loop() -> None:
    text = "/host:CPU\n  t | EagerExecute: __inference_train_1[0,900]\n  pool | " + LOOP.format(length=15)
    host = draw.host(text + " ExecutorState::Process[700,150]{id=8, iter_num=0}")
    assert (host.steps.source, len(host.steps)) == ("functions", 1)


def test_marks_of_pytorch_carry_their_number_in_the_name() -> None:
    marks = " ".join(f"ProfilerStep#{n}[{100 * n},90]" for n in (4, 5, 6))
    host = draw.host(f"/host:CPU\n  t | {marks}")
    assert (host.steps.source, names(host), host.steps.number.tolist()) == (
        "profiler",
        ["ProfilerStep#4", "ProfilerStep#5", "ProfilerStep#6"],
        [4, 5, 6],
    )


TURN = "enumerate(DataLoader)#Iter.__next__[{0},10] Optimizer.zero_grad#SGD[{1},2] aten::mm[{2},20]"


def test_turns_of_a_loop_of_pytorch_are_steps_where_nobody_marks_them() -> None:
    """From one batch to the next; the loader is asked once more at the end, which is no step."""
    turns = " ".join(TURN.format(at, at + 12, at + 15) for at in (0, 100, 200, 300))
    host = draw.host(f"/host:CPU\n  t | {turns} enumerate(DataLoader)#Iter.__next__[400,10]")
    assert (host.steps.source, names(host)) == ("turns", ["0", "1", "2", "3"])
    assert (host.steps.begin / 1e6).tolist() == [0, 100, 200, 300]
    assert (host.steps.end / 1e6).tolist() == [100, 200, 300, 400]


def test_without_a_loader_the_optimizer_tells_the_turns() -> None:
    turns = " ".join(f"Optimizer.zero_grad#SGD[{at},2] aten::mm[{at + 5},50]" for at in (0, 100, 200))
    host = draw.host(f"/host:CPU\n  t | {turns}")
    assert (host.steps.source, (host.steps.begin / 1e6).tolist()) == ("turns", [0, 100, 200])
    assert (host.steps.end / 1e6).tolist() == [100, 200, 255]


def test_what_a_program_does_twice_is_no_loop() -> None:
    host = draw.host("/host:CPU\n  t | Optimizer.step#SGD[0,5] Optimizer.step#SGD[100,5]")
    assert host.steps.source == "none"


DRIVER = """
/host:CPU
  python | PjitFunction(convert)[0,20] to:XLA[5,10] PjitFunction(step)[30,60] dot:XLA[40,30]
  Host Threads/7 | hipLaunch[8,3]{c=1} hipLaunch[45,3]{c=2}
/device:GPU:0
  Stream #1 | convert.kd[12,5]{c=1} gemm.kd[60,300]{c=2}
"""


def test_a_step_owns_what_was_launched_on_a_line_of_the_driver() -> None:
    """The calls of ROCm lie on lines of their own, within the events of the thread that made them (F2)."""
    host = draw.host(DRIVER, steps=3)
    assert host.steps.source == "functions"
    assert (host.steps.begin / 1e6).tolist() == [30, 1030, 2030]
    assert (host.steps.end / 1e6).tolist() == [360, 1360, 2360]


def test_calls_of_the_driver_belong_to_the_thread_that_encloses_them_closely() -> None:
    """Another thread's event lasts all the time, as a wait does."""
    text = DRIVER.replace("  Host Threads", "  main | wait[0,900]\n  Host Threads")
    trace = draw.host(text, steps=3).trace
    held = {trace.name(int(s)) for s, k in zip(trace.links.source, trace.links.kind, strict=True) if k == links.CALL}
    assert held == {"to:XLA", "dot:XLA"}


def test_a_python_frame_is_the_step_of_a_program_that_calls_ops_one_by_one() -> None:
    """No op's call owns most of the work; the frame that repeats does, the one around the loop does not (F2)."""
    text = """
/host:CPU
  python | $train.py:5 block[10,500] PjitFunction(matmul)[20,50] Launch[30,5]{c=1}
         | PjitFunction(add)[100,50] Launch[110,5]{c=2}
/device:GPU:0
  Stream #1 | gemm.kd[40,90]{c=1} add.kd[150,80]{c=2}
"""
    host = draw.host(text, steps=3)
    assert (host.steps.begin / 1e6).tolist() == [10, 1010, 2010]
    assert (host.steps.end / 1e6).tolist() == [510, 1510, 2510]


@pytest.mark.parametrize("marked", [True, False])
def test_steps_that_are_dispatched_ahead_last_as_long_as_their_work(marked: bool) -> None:
    """Marks 10 µs apart, runs of 100 µs one after another, each begun by the one before it (F13)."""
    mark, calls, runs = "train[{at},8]{{_r=1, step_num={n}}} " if marked else "", "", ""
    for n in range(5):
        at = 10 * n
        hand = f" ThreadpoolListener::Record[{at + 5},0]{{_pt=15, _p=1}}" if n == 0 else ""
        calls += mark.format(at=at, n=n) + f"PjitFunction(f)[{at + 1},6] XExecutable::ExecuteHelper[{at + 4},2]{hand} "
        begun, end = f"_ct=15, _c={n + 1}", 100 * n + 199
        runs += f"ThreadpoolListener::StartRegion[{100 * n + 100},0]{{{begun}}} dot.1[{100 * n + 101},98]"
        runs += f"{{hlo_op=dot.1, hlo_module=jit_f, run_id={n - 3}}} "
        runs += f"ThreadpoolListener::Record[{end},0]{{_pt=15, _p={n + 2}}} ThreadpoolListener::StopRegion[{end}.5,0] "
    host = draw.host(f"/host:CPU\n  python | {calls}\n  tf_XLAPjRtCpuClient/1 | {runs}")
    assert host.steps.source == ("markers" if marked else "functions")
    assert (host.steps.end / 1e6).tolist() == [199, 299, 399, 499, 599]
    assert (host.steps.begin / 1e6).round().tolist()[1:] == [199, 299, 399, 499]


def test_runs_begun_before_the_capture_belong_to_no_step() -> None:
    calls = " ".join(
        f"train[{100 * n},80]{{_r=1, step_num={n}}} PjitFunction(f)[{100 * n + 1},9] "
        f"XExecutable::ExecuteHelper[{100 * n + 2},5]"
        for n in range(2)
    )
    runs = " ".join(f"dot[{at},9]{{hlo_op=dot, hlo_module=jit_f, run_id={n}}}" for n, at in enumerate((1, 20, 120)))
    host = draw.host(f"/host:CPU\n  python | {calls}\n  tf_XLAPjRtCpuClient/1 | {runs}")
    place = host.trace.events_named("dot".__eq__)
    assert host.grouped_steps.group_of[place].tolist() == [-1, 0, 1]


def test_a_device_that_waits_between_its_modules_has_steps_from_start_to_start() -> None:
    """75 µs of work every 300: the wait is the step's; the last one, which lacks it, is not like the others (F8)."""
    device = "/device:TPU:0\n  XLA Modules | jit_f(1)[100,75]\n  XLA Ops | fusion[100,75]"
    host = draw.host(f"/host:CPU\n  t | other[0,5]\n{device}", steps=4, every=300)
    assert ((host.steps.end - host.steps.begin) / 1e6).tolist() == [300, 300, 300, 75]
    assert host.steps.complete.tolist() == [True, True, True, False]


def test_devices_that_do_not_work_together_have_steps_of_their_own() -> None:
    """One number, stored for two replicas of which one works long after the other (D2)."""
    host = draw.host(
        """
/host:CPU
  a | EagerKernelExecute[0,20]{group_id=0, step_name='7'} Launch[10,5]{group_id=0, c=1}
    | Launch[900,5]{group_id=0, c=2}
/device:GPU:4
  Stream #1 | sgemm[20,30]{group_id=0, c=1}
/device:GPU:6
  Stream #1 | sgemm[910,40]{group_id=0, c=2}
"""
    )
    assert (host.steps.begin / 1e6).tolist() == [0, 900]
    assert (host.steps.end / 1e6).tolist() == [50, 950]


def test_one_stored_group_that_covers_little_of_its_span_is_no_step() -> None:
    """It begins with a step and takes in what ran before the next epoch (D14)."""
    text = """
/host:CPU
  a | EagerKernelExecute[0,20]{group_id=0, step_name='7'} Launch[10,5]{group_id=0, c=1} Launch[900,5]{group_id=0, c=2}
/device:GPU:0
  Stream #1 | sgemm[20,30]{group_id=0, c=1} sgemm[910,2]{group_id=0, c=2}
"""
    assert draw.host(text).steps.source == "none"
    call = text.replace("EagerKernelExecute", "EagerExecute: __inference_f_1[0,21] EagerKernelExecute")
    host = draw.host(call)
    assert (host.steps.source, (host.steps.end / 1e6).tolist()) == ("functions", [50])


def test_an_execution_belongs_to_the_last_call_that_used_its_id() -> None:
    calls = "FunctionRun[0,20]{_r=1, _pt=1, _p=5, id=1} FunctionRun[500,20]{_r=1, _pt=1, _p=5, id=2}"
    runs = "ExecutorState::Process[30,50]{_ct=1, _c=5} ExecutorState::Process[530,70]{_ct=1, _c=5}"
    host = draw.host(f"/host:CPU\n  a | {calls}\n  b | {runs}")
    assert (host.steps.end / 1e6).tolist() == [80, 600]


def test_calls_that_follow_one_another_in_rounds_are_a_step_together() -> None:
    """No function owns half of the work: a step has all of them, from the first call of a round (F2)."""
    names = ("convert", "sin", "exp", "add")
    calls = " ".join(
        f"PjitFunction({name})[{20 * i},10] Launch[{20 * i + 2},5]{{c={i}}}" for i, name in enumerate(names)
    )
    kernels = " ".join(f"{name}.kd[{30 * i + 10},{10 * i + 2}]{{c={i}}}" for i, name in enumerate(names))
    text = f"/host:CPU\n  t | {calls}\n/device:GPU:0\n  Stream #1 | {kernels}"
    host = draw.host(text, steps=4)
    assert host.steps.source == "functions"
    assert (host.steps.begin / 1e6).tolist() == [0, 1000, 2000, 3000]
    assert (host.steps.end / 1e6).tolist() == [132, 1132, 2132, 3132]
    # Without that order the one that owns most is the best guess.
    one_more = text.replace("PjitFunction(convert)[0,10]", "PjitFunction(convert)[0,10] PjitFunction(odd)[500,9]")
    broken = draw.space(one_more, steps=4)
    line = broken.planes[0].lines[0]
    odd = [event for event in line.events if event.duration_ps == 9_000_000]
    line.events.remove(odd[0])
    assert (draw.decoded(broken).steps.begin / 1e6).tolist() == [60, 1060, 2060, 3060]


def test_an_event_without_a_name_cannot_be_chosen_as_a_step() -> None:
    drawn = draw.space("/host:CPU\n  python | nameless[0,900]{step_num=s} PjitFunction(f)[10,500]\n")
    for entry in drawn.planes[0].event_metadata.values():
        entry.name = entry.name.replace("nameless", "")
    assert "" not in [each.name for each in repeated_calls.candidates(draw.decoded(drawn).trace)]


def test_steps_of_a_device_inside_of_others_end_no_answer() -> None:
    drawn = "/device:GPU:0\n  Steps | 0[0,900] 1[100,50] 2[1000,900]\n  Stream #1 | k[10,5]"
    assert len(draw.host(drawn).grouped_steps) == 2
