"""Where the CPU computes: what a program waits for there, as JAX 0.10 and TensorFlow 2.21 record it; times in µs."""

from typing import Any

import draw
import numpy as np
import pytest
from idle_draw import US

from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.activity.gaps import latency, moments_of_host
from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.steps.what_if import what_if
from tb_profile_plugin.model.host import HostWithSteps

OP = "hlo_op=op, hlo_module=jit_step, device_ordinal=0, run_id=4"


def drawn(text: str, **how: Any) -> HostWithSteps:
    """Lines that begin with a bar go on where the line before them ended."""
    return draw.host(text.replace("\n  | ", " ").replace("OP", OP), **how)


def parts(host: HostWithSteps, begin: int, end: int) -> dict[str, int]:
    """µs by state of the one device, or of what stands for it."""
    (found,) = moments_of_host(host)
    answer: dict[str, int] = {}
    for since, until, state in zip(found.begin, found.end, found.state, strict=True):
        us = (min(int(until), end * US) - max(int(since), begin * US)) // US
        if us > 0:
            name = State(int(state)).name.lower()
            answer[name] = answer.get(name, 0) + us
    return answer


def causes(found: Diagnosis) -> dict[str, int]:
    """µs of each cause in the typical step, ranked."""
    return {each.id: each.per_step_ps // US for each in found.causes}


LOOP = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} EagerExecute[20,960] EagerKernelExecute[30,940]
         | FunctionRun[32,8]{_pt=2, _p=10s+1}
  tf_Compute/1 | ExecutorState::Process[60,450]{_ct=2, _c=10s+1} ExecutorState::Process[510,440]{_ct=2, _c=10s+1}
"""


def test_small_ops_that_leave_no_events_are_the_executors_work_not_a_wait() -> None:
    """A loop of thousands of tiny ops within a function."""
    found = diagnose([drawn(LOOP, steps=6)])
    assert found.headline.sentence.code == "headline.dispatch"
    assert causes(found)["dispatch"] >= 890
    assert "sync" not in causes(found) or causes(found)["sync"] < 60


def test_a_program_that_an_executor_compiles_waits_for_that() -> None:
    """Keras' training loop with jit_compile, and batches of new lengths; a library's own thread compiles for nobody."""
    compiling = LOOP.replace(
        "[510,440]{_ct=2, _c=10s+1}", "[510,440]{_ct=2, _c=10s+1} CpuCompiler::RunBackend[520,400]"
    )
    assert causes(diagnose([drawn(compiling, steps=6)]))["compile"] == 400
    elsewhere = LOOP + "  other/2 | CpuCompiler::RunBackend[520,400]\n"
    assert "compile" not in causes(diagnose([drawn(elsewhere, steps=6)]))


def test_asking_another_worker_for_ops_and_waiting_for_them_is_no_compute() -> None:
    """A worker of parameter servers runs parts of a function on the others."""
    text = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} TensorHandle::UnknownDevice WaitReady[50,900]
  tf_enqueue_streaming_thread/1 | EagerService:Enqueue[60,880] EagerExecute[70,20] Tensor WaitReady[100,800]
  tf_Compute/2 | concat:ConcatV2[200,300]
"""
    found = causes(diagnose([drawn(text, steps=6)]))
    assert found["compute"] == 300 and found["sync"] >= 300


COPY = """
/host:CPU
  python | train[0,1000]{_r=1} DevicePut[10,20] PjitFunction(step)[40,60] CommonPjRtBuffer::Await[110,880]
  | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[50,40]{_pt=7, _p=1}
  tf_XLAPjRtCpuClient/5 | H2D Dispatch[30,400] dot.1[450,500]{_ct=7, _c=1, OP}
"""


def test_work_that_waits_for_a_copy_to_the_device_waits_for_that_since_before_its_launch() -> None:
    assert parts(drawn(COPY), 90, 450) == {"transfer": 340, "latency": 20}


def test_without_a_copy_that_each_step_waits_for_its_program_begins_at_once() -> None:
    """How long each program takes to begin tells nothing of how long one does that has its arguments."""
    each = COPY.replace("_r=1", "_r=1, step_num=s").replace("_p=1}", "_p=10s+1}")
    each = each.replace("dot.1[450,500]{_ct=7, _c=1, OP}", "dot.1[450,100]{_ct=7, _c=10s+1, OP} dot.2[560,390]{OP}")
    gains = what_if(drawn(each, steps=6))
    assert gains is not None
    saved_ps = gains.before.window_ps.sum() - gains.after["transfer"].window_ps.sum()
    assert saved_ps / len(gains.windows[::2]) == pytest.approx(340 * US, rel=0.05)


LONG_LAUNCH = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} PjitFunction(step)[10,400] CommonPjRtBuffer::Await[420,570]
  | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[20,380]{_pt=7, _p=10s+1}
  tf_XLAPjRtCpuClient/5 | dot.1[410,560]{_ct=7, _c=10s+1, OP}
"""


def test_a_launch_may_take_long_and_still_less_than_what_it_launches() -> None:
    found = next(cause for cause in diagnose([drawn(LONG_LAUNCH, steps=6)]).causes if cause.id == "launch")
    assert found.sentence.text.startswith("The host launches work, and nothing computes meanwhile.")


LATE = """
/host:CPU
  python | train[0,1000]{_r=1} PjitFunction(step)[10,60] $time sleep[300,600]
  | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[20,40]{_pt=7, _p=1}
  tf_XLAPjRtCpuClient/5 | ThreadpoolListener::StartRegion[60,150]{_ct=7, _c=1} dot.1[70,90]{OP}
  | ThreadpoolListener::Record[75,0]{_pt=15, _p=3} ThreadpoolListener::Record[76,0]{_pt=15, _p=4} end: dot.1[155,2]
  | ThreadpoolListener::StopRegion[210,0]
  tf_XLAEigen/6 | ThreadpoolListener::StartRegion[80,90]{_ct=15, _c=3} ThreadpoolListener::StopRegion[170,0]
  | ThreadpoolListener::StartRegion[700,5]{_ct=15, _c=4} ThreadpoolListener::StopRegion[705,0]
"""


def test_a_thread_that_comes_when_its_op_is_over_does_none_of_its_work() -> None:
    """A pool's thread that woke up late, of a machine that is busy, ended a sleep of the program too early."""
    (work,) = device_work(drawn(LATE))
    assert sorted(((work.end - work.begin) // US).tolist()) == [77, 90], "nor what stays when the op is over"


DIVIDED = """
/host:CPU
  python | train[0,1000]{_r=1} PjitFunction(step)[10,60] CommonPjRtBuffer::Await[80,900]
  | CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[20,40]{_pt=7, _p=1}
  tf_XLAPjRtCpuClient/5 | ThreadpoolListener::StartRegion[60,920]{_ct=7, _c=1} dot.1[70,20]{OP}
  | ThreadpoolListener::Record[75,0]{_pt=15, _p=3}
  tf_XLAEigen/6 | ThreadpoolListener::StartRegion[80,200]{_ct=15, _c=3} ThreadpoolListener::Record[150,0]{_pt=15, _p=4}
  | ThreadpoolListener::StopRegion[280,0] ThreadpoolListener::StartRegion[281,299]{_ct=15, _c=4}
  | ThreadpoolListener::Record[300,0]{_pt=15, _p=5} ThreadpoolListener::StopRegion[580,0]
  | ThreadpoolListener::StartRegion[581,379]{_ct=15, _c=5} end: dot.1[958,1] ThreadpoolListener::StopRegion[960,0]
"""


def test_a_pools_thread_that_divides_an_ops_work_further_does_that_ops_work() -> None:
    """A product of matrices hands out tiles of tiles, which the thread that made them takes itself."""
    (work,) = device_work(drawn(DIVIDED))
    assert (work.begin.min() // US, work.end.max() // US, len(work)) == (70, 959, 4)
    assert parts(drawn(DIVIDED), 80, 959) == {"compute": 877, "between": 2}


def test_a_pools_thread_may_take_longer_to_wake_than_a_device() -> None:
    text = "".join(
        f"PjitFunction(step)[{1000 * i},60] CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
        f"[{1000 * i + 10},40]{{_pt=7, _p={i + 1}}} "
        for i in range(8)
    )
    ops = " ".join(f"dot.1[{1000 * i + 250},500]{{_ct=7, _c={i + 1}, hlo_op=op}}" for i in range(8))
    host = draw.host(f"/host:CPU\n  python | $a.py:1 loop[0,8000] {text}\n  tf_XLAPjRtCpuClient/5 | {ops}")
    assert latency(device_work(host)[0]) == 400 * US
    assert parts(host, 1050, 1250) == {"latency": 200}


COMPILED_ANEW = """
/host:CPU
  python | PjitFunction(<lambda>)[0,700] backend_compile_and_load[10,400]
  | CommonPjRtLoadedExecutable::Execute (jit__lambda)[450,240]{run_id=40}
  | PjitFunction(<lambda>)[1000,700] backend_compile_and_load[1010,400]
  | CommonPjRtLoadedExecutable::Execute (jit__lambda)[1450,240]{run_id=20}
  tf_XLAPjRtCpuClient/5 | dot.1[500,200]{hlo_op=op, hlo_module=jit__lambda, run_id=40}
  | dot.1[1500,200]{hlo_op=op, hlo_module=jit__lambda, run_id=20}
  tf_XLAPjRtCpuClient/6 | dot.1[510,150]{hlo_op=op, hlo_module=jit__lambda, run_id=40}
  | dot.1[1510,150]{hlo_op=op, hlo_module=jit__lambda, run_id=20}
"""


def test_a_dispatch_to_several_devices_states_its_run() -> None:
    """Numbers of runs do not ascend: each newly compiled program counts from its own."""
    host = draw.host(COMPILED_ANEW)
    (work,) = device_work(host)
    assert [host.trace.begin[event] // US for event in work.launch] == [450, 450, 1450, 1450]
    assert parts(host, 700, 1500)["compile"] == 410


GENERATOR = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} TFE_Py_ExecuteCancelable[50,900] EagerExecute[60,800]
         | EagerKernelExecute[70,780] FunctionRun[72,8]{_pt=2, _p=10s+1}
  tf_Compute/1 | ExecutorState::Process[85,100]{_ct=2, _c=10s+1} a/MatMul:MatMul[90,90]
  tf_data_private_threadpool/7 | PyFunc:PyFunc[100,UNTIL]
"""


def pauses(op: int, count: int) -> list[str]:
    """Causes of steps of 10 ms in which so many ops of so many µs have pauses between them that take half of it."""
    every = 10_000 // count
    ops = " ".join(f"dot.{i}[{every * i + 20},{op}]{{_ct=7, _c=10s+1, OP}}" for i in range(count))
    step = (
        "/host:CPU\n  python | train[0,10000]{_r=1, step_num=s} CommonPjRtBuffer::Await[12,9980]"
        " PjitFunction(step)[2,9] CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[3,7]{_pt=7, _p=10s+1}"
        f"\n  tf_XLAPjRtCpuClient/5 | {ops}"
    )
    return [each.id for each in diagnose([drawn(step, steps=4, every=10_000)]).causes]


def test_pauses_between_long_ops_are_not_many_short_kernels() -> None:
    """On a machine that is busy with something else, threads of a program do not run."""
    assert "pauses" in pauses(1000, 5)
    assert "between" not in pauses(1000, 5)
    assert "between" in pauses(20, 250)


def test_a_generator_that_holds_pythons_interpreter_is_what_the_loop_waits_for() -> None:
    """A call into TensorFlow returns only when the generator of the next batch lets go: `from_generator`."""
    told = diagnose([drawn(GENERATOR.replace("UNTIL", "720"), steps=6)])
    assert 620 <= causes(told)["input"] <= 640
    assert told.headline.sentence.text.startswith("Waiting for input from Python takes")
    assert told.causes[0].remedy.text.startswith("Replace the Python generator")
    beside = diagnose([drawn(GENERATOR.replace("UNTIL", "200"), steps=6)])
    assert "input" not in causes(beside)


def test_pictures_for_a_summary_interrupt_the_loop() -> None:
    """TensorFlow encodes them by an op of its own, in the loop."""
    call = "EagerExecute[102,396]{eager_op=EncodePng, is_func=0} EagerLocalExecute: EncodePng[104,392]"
    step = f"MatMul:MatMul[2,90] TFE_Py_FastPathExecute_C[100,400] {call} EagerKernelExecute[110,380]"
    found = diagnose([draw.host(f"/host:CPU\n  python | train[0,500]{{_r=1, step_num=s}} {step}", steps=6, every=500)])
    assert found.headline.sentence.id == "headline.pause"
    assert causes(found)["pause"] == 392
    assert causes(found)["compute"] == 90


def test_a_loop_that_runs_op_by_op_has_steps_from_batch_to_batch() -> None:
    """Keras with ``run_eagerly=True``: no function is called in it."""
    turn = (
        "EagerLocalExecute: IteratorGetNext[10,20] EagerLocalExecute: MatMul[100,300] EagerLocalExecute: Mul[500,300]"
    )
    steps = draw.host(f"/host:CPU\n  python | {turn}", steps=5, every=1000).steps
    assert steps.source == "turns"
    # The last turn lasts until the last event.
    assert (steps.begin // US).tolist() == [10, 1010, 2010, 3010, 4010]
    assert ((steps.end - steps.begin) // US).tolist() == [1000, 1000, 1000, 1000, 790]
    assert len(draw.host(f"/host:CPU\n  python | {turn}", steps=2, every=1000).steps) == 0


def test_names_of_the_programs_own_tell_what_python_does() -> None:
    """But for one that only holds the step."""
    text = "epoch[0,1000] train[0,1000]{_r=1, step_num=s} load data[10,600] MatMul:MatMul[700,290]"
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=6, every=1000)])
    assert found.headline.sentence.code == "headline.python"
    assert "mostly load data." in found.headline.sentence.text
    assert "Mostly load data (600 µs per step)." in found.causes[0].sentence.text


def test_what_is_called_several_times_in_a_step_is_told_so() -> None:
    text = "train[0,1000]{_r=1, step_num=s} $a.py:1 wait[10,300] $a.py:1 wait[320,100] MatMul:MatMul[500,490]"
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=6, every=1000)])
    assert "wait (a.py:1) (400 µs per step, in 2 calls)" in found.causes[0].sentence.text


def test_places_that_call_python_are_one_thing_to_a_reader() -> None:
    """Each of them is an op of XLA with a number of its own."""
    ops = " ".join(f"pure_callback.{i}[{100 * i},80]{{OP}}" for i in range(1, 9)) + " dot.1[950,20]{OP}"
    host = drawn(f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}}\n  tf_XLAPjRtCpuClient/1 | {ops}", steps=6)
    names = {each.name for each in diagnose([host]).typical.names if each.state == "callback"}
    assert names == {"pure_callback"}


def test_a_callback_is_named_by_the_function_that_jax_calls() -> None:
    """Python's frames are recorded on one of the threads only; the same op calls the same function on others."""
    frames = "$callback.py:69 __call__[150,200] $tree_util.py:95 tree_unflatten[151,10] $prog.py:19 digamma[170,20]"
    host = drawn(
        f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} pure_callback.4[100,380]{{OP}} {frames}
  tf_XLAPjRtCpuClient/1 | pure_callback.4[500,400]{{OP}} dot.1[950,20]{{OP}}
""",
        steps=6,
    )
    names = {each.name for each in diagnose([host]).typical.names if each.state == "callback"}
    assert names == {"pure_callback, in digamma (prog.py:19)"}


def test_compiling_once_the_program_has_run_is_unusual() -> None:
    """Not warming up, which only the first steps do."""
    text = " ".join(
        f"train[{1000 * i},{900 if i in (0, 4, 9) else 100}]{{_r=1, step_num={i}}} MatMul:MatMul[{1000 * i + 1},90]"
        + (f" backend_compile[{1000 * i + 95},800]" if i in (0, 4, 9) else "")
        for i in range(14)
    )
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=1)])
    assert [(each.step_index, each.reason) for each in found.unusual] == [
        (0, "warm_up"),
        (4, "unusual"),
        (9, "unusual"),
    ]
    assert found.headline.sentence.id in ("headline.unusual_steps", "headline.between_steps")
    assert "backend_compile" in next(each.sentence.text for each in found.causes if each.id == "unusual_steps")


def test_few_long_gaps_between_steps_are_told() -> None:
    begins = np.cumsum([0, *(700 if i % 4 == 3 else 101 for i in range(15))]).tolist()
    text = " ".join(f"train[{at},100]{{_r=1, step_num={i}}} MatMul:MatMul[{at + 1},98]" for i, at in enumerate(begins))
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=1)])
    assert found.headline.sentence.id == "headline.between_steps"
    assert ", once in 4 steps." in found.headline.sentence.text
    assert " 99 % of it lies in 3 of 15 such gaps, every 4 steps." in found.causes[0].sentence.text


def test_where_time_between_steps_has_its_own_name_a_cause_only_wins_in_steps() -> None:
    text = "train[0,500]{_r=1, step_num=s} $a.py:1 prepare[10,100] MatMul:MatMul[120,370] $a.py:2 log[500,480]"
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=8, every=1000)], replays=True)
    gains = {each.id: each.gain_ps for each in found.causes}
    python = next(each for each in found.causes if each.id == "python")
    assert gains["between_steps"] and gains["between_steps"] >= 490 * US
    assert python.gain_ps is not None and python.gain_ps <= python.per_step_ps + US


def test_what_helps_follows_from_what_takes_the_time() -> None:
    small = diagnose([drawn(LOOP, steps=6)])
    assert "jit_compile=True" in small.causes[0].remedy.code
    text = " ".join(
        f"train[{1000 * i},{900 if i % 4 == 3 else 100}]{{_r=1, step_num={i}}} PjitFunction(f)[{1000 * i + 1},98] "
        + f"dot.1[{1000 * i + 2},90]{{{OP}}}"
        + (f" backend_compile[{1000 * i + 100},795]" if i % 4 == 3 else "")
        for i in range(16)
    )
    unusual = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=1)])
    (remedy,) = (each.remedy.text for each in unusual.causes if each.id == "unusual_steps")
    assert "Compile once" in remedy


def test_functions_that_follow_one_another_are_told_apart() -> None:
    """What is shorter than 10 µs goes by what is beside it."""
    frames = "$a.py:1 f[10,300] $a.py:2 g[310,250] $a.py:3 h[400,5] $a.py:4 k[560,4] MatMul:MatMul[600,390]"
    found = diagnose([draw.host(f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}} {frames}", steps=6)])
    assert "f (a.py:1) (300 µs per step), g (a.py:2) (254 µs per step)" in found.causes[0].sentence.text


AHEAD = """
/host:CPU
  python | PjitFunction(step)[10,20] CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[15,10]{_pt=7, _p=1}
  | PjitFunction(step)[40,20] CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice[45,10]{_pt=7, _p=2}
  tf_XLAPjRtCpuClient/5 | ThreadpoolListener::StartRegion[28,112]{_ct=7, _c=1} dot.1[30,100]{OP}
  | ThreadpoolListener::StopRegion[131,0] ThreadpoolListener::StartRegion[134,60]{_ct=7, _c=2} dot.1[138,50]{OP}
  | ThreadpoolListener::StopRegion[194,0]
"""


def test_a_program_that_was_launched_while_another_ran_is_not_launched_late() -> None:
    """The host runs ahead: what a pool's thread takes from one program to the next is a gap between them."""
    assert parts(drawn(AHEAD), 30, 188) == {"compute": 150, "between": 8}
    idle = AHEAD.replace("PjitFunction(step)[40,20]", "PjitFunction(step)[131,4]").replace("[45,10]", "[131,2]")
    assert parts(drawn(idle), 30, 188) == {"compute": 150, "unrecorded": 1, "launch": 2, "latency": 5}


@pytest.mark.parametrize(("every", "leads"), [(1, "between_steps"), (4, "pause")])
def test_what_lies_before_a_pause_is_its_own_only_where_few_steps_pause(every: int, leads: str) -> None:
    """A summary of 20 µs after 480 µs without a name: in each step that may be anything."""
    text, at = [], 0
    for step in range(16):
        text.append(f"train[{at},200]{{_r=1, step_num={step}}} x/MatMul:MatMul[{at + 1},198]")
        if step % every == every - 1:
            text.append(f"WriteSummary[{at + 680},20]")
        at += 710 if step % every == every - 1 else 201
    assert diagnose([draw.host(f"/host:CPU\n  python | {' '.join(text)}", 1)]).causes[0].id == leads


@pytest.mark.parametrize(("name", "said"), [("ExecutorState::Process", "(100 %)"), ("FunctionRun", "in 3 calls")])
def test_runs_of_the_executor_have_a_share_and_no_count(name: str, said: str) -> None:
    """The timeline has short runs as one: these three may have been hundreds."""
    runs = " ".join(f"{name}[{begin},300]" for begin in (10, 320, 630))
    host = draw.host(f"/host:CPU\n  python | train[0,1000]{{_r=1, step_num=s}} {runs} x/MatMul:MatMul[940,50]", 5)
    diagnosis = diagnose([host])
    sentence, headline = diagnosis.causes[0].sentence.text, diagnosis.headline.sentence.text
    assert name in sentence and said in sentence
    # What runs all that a program asks for says nothing of the program.
    assert ("mostly" in headline) == (name == "FunctionRun")
