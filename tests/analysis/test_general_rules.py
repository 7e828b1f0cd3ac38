"""Rules of the diagnosis that hold for any program: each on a drawn one with the fault, and on one without."""

from collections.abc import Sequence
from typing import Any

import draw
import pytest
import torchtrace
from idle_draw import US

from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.labels.dispatched_calls import one_by_one_share
from tb_profile_plugin.model.host import HostWithSteps


def first(found: Diagnosis, id: str) -> str:
    """The remedy of the first cause, which must be this one, as the headline must say."""
    assert (found.headline.sentence.id, found.causes[0].id) == (f"headline.{id}", id)
    return found.causes[0].remedy.text


def eager(gap: int, pause: int = 0, ops: int = 60) -> HostWithSteps:
    """A step of single ops of 5 µs, so many µs of Python that was not recorded between them; then a pause."""
    each = [
        f"EagerExecute[{at},5]{{eager_op=Mul, is_func=0}} EagerLocalExecute: Mul[{at},5]"
        for at in range(10, 10 + ops * (5 + gap), 5 + gap)
    ]
    every = 10 + ops * (5 + gap) + pause
    return draw.host(f"/host:CPU\n  python | train[0,{every}]{{_r=1, step_num=s}} {' '.join(each)}", 6, every)


def test_a_step_that_does_nothing_but_dispatch_is_eager_whatever_python_takes() -> None:
    """As Keras does with ``run_eagerly=True``: 85 µs of Python for each op, which no tracer recorded."""
    host = eager(gap=85)
    assert one_by_one_share(host) > 0.9
    assert "run_eagerly" in first(diagnose([host]), "eager")


def test_python_that_runs_once_beside_single_ops_is_not_theirs() -> None:
    host = eager(gap=5, pause=6000)
    assert one_by_one_share(host) < 0.2
    assert diagnose([host]).causes[0].id == "unrecorded"


@pytest.mark.parametrize(("ops", "told"), [(60, True), (20, False)])
def test_many_single_ops_of_tensorflow_are_to_be_one_graph_though_python_takes_longer(ops: int, told: bool) -> None:
    """As with a strategy of tf.distribute whose step is in no tf.function."""
    causes = diagnose([eager(gap=5, pause=2000, ops=ops)]).causes
    (dispatch,) = [cause for cause in causes if cause.id == "dispatch"]
    assert ("Wrap the step in tf.function" in dispatch.remedy.text) == told


def chain(op_us: float, slow_ms: int = 0, traced: bool = True) -> dict[str, float]:
    """Milliseconds by cause of `causes_of_chain`."""
    return {id: cause.per_step_ps / 1e9 for id, cause in causes_of_chain(op_us, slow_ms, traced).items()}


def causes_of_chain(op_us: float, slow_ms: int = 0, traced: bool = True) -> dict[str, Cause]:
    """Causes of `diagnosis_of_chain`, by id."""
    return {cause.id: cause for cause in diagnosis_of_chain(op_us, slow_ms, traced).causes}


def diagnosis_of_chain(op_us: float, slow_ms: int = 0, traced: bool = True) -> Diagnosis:
    """PyTorch on a CPU: a product of 1 ms, 300 ops with 10 µs before each, a slow function.

    The ops are an optimizer's.
    """
    events, every = [], 300 * (op_us + 10) + 1000 * slow_ms + 1010
    for number in range(6):
        ops = [torchtrace.op("aten::mul", 1010 + (op_us + 10) * index, op_us) for index in range(300)]
        slow = torchtrace.frame("train.py(30): shuffle", every - 1000 * slow_ms, 1000 * slow_ms - 1)
        updates = torchtrace.mark("Optimizer.step#Adam.step", 1005, 300 * (op_us + 10))
        own = (
            torchtrace.mark(f"ProfilerStep#{number}", 0, every - 0.5),
            torchtrace.op("aten::mm", 5, 1000),
            updates,
            *ops,
        )
        loop = torchtrace.frame("train.py(10): main", 0, every - 0.1)
        step = [*own, *([loop] if traced else []), *([slow] if traced and slow_ms else [])]
        events += [event | {"ts": event["ts"] + number * every} for event in step]
    return diagnose([torchtrace.host(*events, deviceProperties=[])])


@pytest.mark.parametrize("op_us", [5, 50])
def test_compute_of_a_cpu_is_as_long_in_its_cause_as_in_the_bar(op_us: float) -> None:
    found = diagnosis_of_chain(op_us)
    compute = next(cause for cause in found.causes if cause.id == "compute")
    assert compute.per_step_ps == found.typical.state_ps[State.COMPUTE]


def test_tiny_ops_of_a_cpu_are_part_of_what_dispatching_them_costs() -> None:
    tiny, long = chain(op_us=10), chain(op_us=100)
    assert (tiny["eager"], tiny["compute"]) == (pytest.approx(6, rel=0.01), pytest.approx(1, rel=0.01))
    assert long["compute"] == pytest.approx(31, rel=0.01)
    said = causes_of_chain(op_us=10)["eager"].sentence.text
    assert "The ops themselves take 3.00 ms of it." in said


def test_a_long_op_that_begins_late_in_its_call_is_no_tiny_one() -> None:
    """What lies before it is told by the op, too: it is met in two states of one step."""
    ops = [torchtrace.op("aten::mul", 3000 + 20 * index, 10) for index in range(100)]
    call = torchtrace.op("ConvolutionBackward0", 10, 2030), torchtrace.op("aten::convolution_backward", 30, 2000)
    step = torchtrace.mark("ProfilerStep#0", 0, 4990), *call, *ops
    events = [
        event | {"ts": event["ts"] + 5000 * number} | ({"name": f"ProfilerStep#{number}"} if event is step[0] else {})
        for number in range(6)
        for event in step
    ]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    work = next(cause for cause in found.causes if cause.id == "compute")
    assert work.per_step_ps >= 2000 * US


def test_a_long_function_beside_tiny_ops_is_python_of_its_own() -> None:
    times = chain(op_us=10, slow_ms=4)
    assert (times["python"], times["eager"]) == (pytest.approx(4, rel=0.01), pytest.approx(6, rel=0.01))
    assert "Python between them takes 3" in causes_of_chain(op_us=10, slow_ms=4)["eager"].sentence.text


def test_a_long_time_without_any_event_beside_tiny_ops_is_not_theirs() -> None:
    times = chain(op_us=10, slow_ms=4, traced=False)
    assert (times["unrecorded"], times["eager"]) == (pytest.approx(4, rel=0.01), pytest.approx(6, rel=0.01))


def test_calling_a_function_of_tensorflow_is_dispatch_where_python_is_recorded_too() -> None:
    calls = [
        f"small[{at},90]{{tf_function_call=notTraced-nonXla}} EagerLocalExecute: __inference_small_7[{at + 60},20] "
        f"FunctionRun[{at + 62},16] x/MatMul:MatMul[{at + 64},12]"
        for at in range(10, 1010, 100)
    ]
    step = f"train[0,1020]{{_r=1, step_num=s}} $train.py:3 main[1,1018] {' '.join(calls)}"
    found = diagnose([draw.host(f"/host:CPU\n  python | {step}", 6, 1020)])
    times = {cause.id: cause.per_step_ps for cause in found.causes}
    assert times["dispatch"] > 5 * times["python"]


def test_a_task_of_a_pool_that_stays_open_is_not_why_the_device_is_idle() -> None:
    """Where programs on several devices meet, XLA's pool closes a task only when the next one comes."""
    task = "ThreadpoolListener::StartRegion[2,0] f.1[5,590]{hlo_op=f.1} ThreadpoolListener::StopRegion[996,0]"
    drawn = f"""
/host:CPU
  python | train[0,998]{{_r=1, step_num=s}} $train.py:3 shuffle[600,395] PjitFunction(step)[1,3]
  tf_XLAPjRtCpuClient/1 | {task}
"""
    found = diagnose([draw.host(drawn, 6, 1000)])
    assert [cause.id for cause in found.causes][:1] == ["python"]
    assert "dispatch" not in {cause.id for cause in found.causes}


def fit(evaluates: bool) -> HostWithSteps:
    """Keras: epochs of four batches of 100 µs; with an evaluation of 6 calls after each, by the same function."""
    at, calls = 0, []
    for batch in range(16):
        calls += call(at, 1145, "BiasAddGrad:BiasAddGrad", batch)
        at += 110
        if evaluates and batch % 4 == 3:
            for turn in range(6):
                calls += call(at + 110 * turn, 1256, "MatMul:MatMul", 16 + 6 * batch + turn)
            at += 660
    return draw.host(f"/host:CPU\n  python | {' '.join(calls)}", 1)


def call(at: int, number: int, op: str, which: int) -> list[str]:
    name = f"EagerLocalExecute: __inference_multi_step_{number}[{at + 2},96]"
    outer = f"multi_step[{at},100]{{tf_function_call=notTraced-nonXla}}"
    return [outer, name, f"FunctionRun[{at + 4},92]", f"x/{op}[{at + 6},88]"]


def test_batches_that_keras_evaluates_are_no_steps_of_its_training() -> None:
    found = diagnose([fit(evaluates=True)])
    assert len(found.typical.steps) == 16
    assert "validation_freq" in first(found, "evaluation")
    assert "once in 4 steps" in found.headline.sentence.text
    clean = diagnose([fit(evaluates=False)])
    assert len(clean.typical.steps) == 16
    assert "evaluation" not in {each.id for each in clean.causes}


def test_a_function_that_no_step_calls_is_no_work_of_the_steps() -> None:
    """A loop of one's own: after each fourth step six of another function."""
    text, at = [], 0
    for step in range(16):
        text += call(at, 7, "MatMul:MatMul", step)
        at += 110
        for turn in range(6 if step % 4 == 3 else 0):
            text += [each.replace("multi_step", "test_step") for each in call(at + 110 * turn, 8, "MatMul:MatMul", 0)]
        at += 660 if step % 4 == 3 else 0
    marks = [f"train[{begin},104]{{_r=1, step_num={n}}}" for n, begin in enumerate(_begins(16, 4, 110, 660))]
    found = diagnose([draw.host(f"/host:CPU\n  python | {' '.join([*marks, *text])}", 1)])
    assert found.causes[0].id == "between_steps"
    assert abs(found.causes[0].per_step_ps - 3 * 660 * US / 15) < 10 * US


def _begins(count: int, every: int, step: int, pause: int) -> list[int]:
    return [step * n + pause * (n // every) for n in range(count)]


@pytest.mark.parametrize(("slow", "leads"), [((7,), False), ((7, 12), True)])
def test_one_step_that_is_unlike_the_others_leads_nothing(slow: tuple[int, ...], leads: bool) -> None:
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{3000 * i},{2900 if i in slow else 100}]{{_r=1, step_num={i}}} x/MatMul:MatMul[{3000 * i + 1},98]"
        + (f" $slow.py:3 save[{3000 * i + 100},2790]" if i in slow else f" nothing[{3000 * i + 100},2900]")
        for i in range(16)
    )
    ids = [cause.id for cause in diagnose([draw.host(text, 1)]).causes]
    assert "unusual_steps" in ids and (ids.index("unusual_steps") < ids.index("compute")) == leads


@pytest.mark.parametrize(("work", "told"), [("x/MatMul:MatMul", True), ("$slow.py:3 save", False)])
def test_more_work_every_few_steps_is_to_be_spread(work: str, told: bool) -> None:
    """As a long prompt that a server of a language model takes in at once, between two steps of decoding."""
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{3000 * i},{2900 if i % 6 == 2 else 100}]{{_r=1, step_num={i}}} x/MatMul:MatMul[{3000 * i + 1},98]"
        + (f" {work}[{3000 * i + 100},2790]" if i % 6 == 2 else f" nothing[{3000 * i + 100},2900]")
        for i in range(30)
    )
    (unusual,) = [cause for cause in diagnose([draw.host(text, 1)], replays=True).causes if cause.id == "unusual_steps"]
    assert ("smaller parts over more steps" in unusual.remedy.text) == told
    # Work that only moves to other steps saves nothing.
    assert (unusual.remedy.gain_ps(unusual.gain_ps) is None) == told


def test_pauses_are_told_by_how_often_they_come_and_only_by_what_was_recorded() -> None:
    """A picture is drawn, then encoded, after every fifth step."""
    text, at = [], 0
    for step in range(20):
        text.append(f"train[{at},100]{{_r=1, step_num={step}}} x/MatMul:MatMul[{at + 1},98]")
        at += 105
        if step % 5 == 4:
            text.append(f"EagerLocalExecute: EncodePng[{at + 300},30]")
            at += 400
    found = diagnose([draw.host(f"/host:CPU\n  python | {' '.join(text)}", 1)])
    assert "less often" in first(found, "pause")
    said = found.headline.sentence.text
    assert said.startswith("Pauses for summaries take") and said.endswith(", once in 5 steps.")
    assert not any(word in said for word in ("checkpoint", "evaluation", "printing", "callbacks"))
    assert "with what comes before it" in found.causes[0].sentence.text


def loader(every: int, slow: int, epochs: bool) -> Diagnosis:
    """Steps of 6 ms that wait 1 ms for their batch; each so many one, but for the first, waits longer; if an ``epoch``
    ends there, a call has no batch before that.
    """
    events, at = [], 0
    for step in range(24):
        wait = slow if step and step % every == 0 else 1000
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, wait + 5000))
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        last = wait // 4 if epochs and wait == slow else 0
        if last:
            events.append(torchtrace.on_host("user_annotation", name, at + 10, last - 20))
        events.append(torchtrace.on_host("user_annotation", name, at + 10 + last, wait - last))
        events.append(torchtrace.op("aten::mm", at + wait + 50, 4900))
        at += wait + 5000
    return diagnose([torchtrace.host(*events)])


def test_workers_that_start_anew_are_kept_and_slow_ones_are_not() -> None:
    assert "persistent_workers=True" in first(loader(4, 40_000, epochs=True), "unusual_steps")
    for found in (loader(8, 8000, epochs=True), loader(4, 40_000, epochs=False)):
        slower = next(each for each in found.causes if each.id == "unusual_steps")
        assert "persistent_workers" not in slower.remedy.text and "num_workers" in slower.remedy.text


def test_an_unusual_step_books_a_name_only_for_what_it_took_itself() -> None:
    """Of 800 µs more, 500 are in a function; of the rest nothing was recorded."""
    text = "/host:CPU\n  python | " + " ".join(
        f"train[{1000 * i},{900 if i % 10 == 9 else 100}]{{_r=1, step_num={i}}} x/MatMul:MatMul[{1000 * i + 1},98]"
        + (f" $slow.py:3 save[{1000 * i + 100},500]" if i % 10 == 9 else "")
        for i in range(30)
    )
    found = diagnose([draw.host(text, 1)])
    unusual = next(cause for cause in found.causes if cause.id == "unusual_steps")
    names = {name: ps for name, ps, _ in unusual.names}
    assert abs(names["save (slow.py:3)"] - 3 * 500 * US / 30) < US


def waiting(times: int) -> HostWithSteps:
    """Six steps of 1 ms, in each so many equal waits for a kernel of 5 µs, of 720 µs together."""
    found, number, each = [], 0, 720 // times
    for step in range(6):
        begin = 1000.0 * step
        found.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        for turn in range(times):
            at, number = begin + 20 + turn * (each + 10), number + 1
            found += [torchtrace.launch(number, at, 3), torchtrace.on_device(number, at + 4, 5)]
            found.append(torchtrace.on_host("cuda_runtime", "cudaStreamSynchronize", at + 5, each - 4))
    return torchtrace.host(*found)


@pytest.mark.parametrize(("times", "said"), [(12, "in 12 waits"), (1, "ms), mostly cudaStreamSynchronize")])
def test_waits_for_results_are_one_cause_and_counted(times: int, said: str) -> None:
    found = diagnose([waiting(times)])
    assert "Read results" in first(found, "sync")
    assert said in found.headline.sentence.text
    assert (f"{times} calls per step" in found.causes[0].sentence.text) == (times > 1)


@pytest.mark.parametrize(("types", "is_float64"), [(("double", "double", "float"), True), (("float", "double"), False)])
def test_ops_that_take_float64(types: Sequence[str], is_float64: bool) -> None:
    inputs: list[dict[str, Any]] = [{"Input type": [dtype, dtype], "Input Dims": [[8, 8], [8, 8]]} for dtype in types]
    ops = [torchtrace.op("aten::mm", 100 * index, 90, **args) for index, args in enumerate(inputs)]
    assert ("float64" in program_facts(torchtrace.host(*ops))) == is_float64


@pytest.mark.parametrize(
    ("types", "fact", "advice"),
    [
        (("c10::Half", "float"), "half_on_cpu", "no fast kernels for float16"),
        (("c10::BFloat16",) * 2, "bf16_on_cpu", "unless the CPU has instructions for bfloat16"),
        (("float", "float"), "", "largest"),
    ],
)
def test_a_cpu_has_no_fast_kernels_for_small_floats(types: tuple[str, str], fact: str, advice: str) -> None:
    inputs: dict[str, Any] = {"Input type": types, "Input Dims": [[8, 8], [8, 8]]}
    events = [torchtrace.op("aten::convolution", 100 * index, 90, **inputs) for index in range(4)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert program_facts(host) & {"half_on_cpu", "bf16_on_cpu"} == ({fact} if fact else set())
    text = diagnose([host]).causes[0].remedy.text
    assert advice in text if fact else text.startswith("Start with")
    assert not program_facts(torchtrace.host(*events)) & {"half_on_cpu", "bf16_on_cpu"}


@pytest.mark.parametrize(("dtype", "leads"), [("double", "compute"), ("float", "unrecorded")])
def test_half_of_wasteful_work_leads_a_smaller_loss(dtype: str, leads: str) -> None:
    events: list[dict[str, Any]] = []
    inputs: dict[str, Any] = {"Input type": [dtype, dtype], "Input Dims": [[8, 8], [8, 8]]}
    for step in range(6):
        begin = 1000.0 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        events.append(torchtrace.op("aten::mm", begin + 250, 9, **inputs))
        events += [torchtrace.launch(step, begin + 252, 5), torchtrace.on_device(step, begin + 260, 735)]
    assert diagnose([torchtrace.host(*events)]).causes[0].id == leads


def test_compiling_names_the_function() -> None:
    """Not what compiles it, which is the same for all functions."""
    drawn = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} PjitFunction(update)[50,900] backend_compile_and_load[60,850]
"""
    found = diagnose([draw.host(drawn, steps=5, every=1000)])
    text = found.headline.sentence.text
    assert found.causes[0].id == "compile"
    assert "mostly update, in backend_compile_and_load" in text


def test_functions_that_are_traced_between_steps_are_told_by_that() -> None:
    """A callback of Keras that makes a function anew in each step, and calls it."""
    text = []
    for step in range(8):
        at = 300 * step
        text.append(f"train[{at},104]{{_r=1, step_num={step}}}")
        text += call(at, 7, "MatMul:MatMul", step)
        text.append(f"<lambda>[{at + 105},150]{{tf_function_call=traced-nonXla}}")
        text += [f"tf.function-graph_building[{at + 107},120]", *_other_call(at + 228, step)]
    found = diagnose([draw.host(f"/host:CPU\n  python | {' '.join(text)}", 1)])
    assert found.causes[0].id == "retrace"
    assert found.causes[0].per_step_ps > 100 * US


def _other_call(at: int, number: int) -> list[str]:
    name = f"EagerLocalExecute: __inference_lambda_{number}[{at},20]"
    return [name, f"FunctionRun[{at + 1},18]", f"x/MatMul:MatMul[{at + 2},16]"]
