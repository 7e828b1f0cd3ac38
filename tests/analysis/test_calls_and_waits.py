"""Which function of the program dispatches ops one by one, and which waits a timeout ended. Times in µs."""

import draw
import pytest
import torchtrace
from idle_draw import US

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.time_loss import TimeLoss
from tb_profile_plugin.analysis.labels.dispatched_calls import calling_function, whole_step_functions
from tb_profile_plugin.analysis.labels.python_waits import timed_out_waits
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.analysis.steps.typical_times import NamedTime
from tb_profile_plugin.model.host import HostWithSteps

EVERY = 10_000


def loop(*events: str) -> Diagnosis:
    """Of six steps of 10 ms, each a call of ``step`` in which these events are."""
    return diagnose([draw.host(drawn(*events), 6, EVERY)])


def drawn(*events: str) -> str:
    """A step of 10 ms as `draw.host` takes it."""
    head = f"train[0,{EVERY}]{{_r=1, step_num=s}} $train.py:5 step[1,{EVERY - 10}]"
    return f"/host:CPU\n  python | {head} {' '.join(events)}"


def calls(begin: int, count: int, name: str = "PjitFunction(add)") -> list[str]:
    """So many calls of 90 µs that follow one another."""
    return [f"{name}[{begin + 96 * number},90]" for number in range(count)]


def cause(found: Diagnosis, id: str) -> Cause:
    return next(cause for cause in found.causes if cause.id == id)


def test_the_function_that_dispatches_most_ops_is_to_be_compiled() -> None:
    """An optimizer that JAX runs op by op, in a helper of JAX; the gradient's own program is called before."""
    update = ["$train.py:20 update[310,9660]", "$tree_util.py:300 tree_map[315,9640]", *calls(320, 100)]
    found = loop("PjitFunction(loss)[10,290]", *update)
    assert found.headline.sentence.text.endswith("update (train.py:20) dispatches 100 of 101 ops.")
    eager = cause(found, "eager")
    assert eager.sentence.text.startswith("update (train.py:20) dispatches 100 of 101 ops one by one in each step")
    assert eager.remedy.text == "Put update (train.py:20) under one jax.jit, so that its ops become one program."


@pytest.mark.parametrize(("function", "lasts"), [("clip", 8_000), ("forward", 8_000), ("clip", 9_900)])
def test_a_function_that_calls_many_ops_of_pytorch_is_named(function: str, lasts: int) -> None:
    """Its modules' own functions are not, since PyTorch compiles whole models; nor is what the step is."""
    events = []
    for step in range(6):
        at = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        events += [torchtrace.frame(f"train.py(20): {function}", at + 10, lasts)]
        events += [torchtrace.op("aten::norm", at + 20 + 78 * number, 10) for number in range(100)]
    host = torchtrace.host(*events, deviceProperties=[])
    is_named = (function, lasts) == ("clip", 8_000)
    assert calling_function(host).name == ("clip (train.py:20)" if is_named else "")
    remedy = cause(diagnose([host]), "eager").remedy.text
    assert remedy.startswith("Do the work of clip (train.py:20) in fewer ops") == is_named


@pytest.mark.parametrize(
    ("loops", "times", "named"),
    [(["suppress"], 20, "suppress"), (["suppress", "match"], 10, "overlap"), (["suppress"], 5, "overlap")],
    ids=["a loop", "two loops", "few calls"],
)
def test_a_function_that_a_loop_calls_again_and_again_is_named_after_the_loop(
    loops: list[str], times: int, named: str
) -> None:
    """As where boxes are compared with the others one by one: its loop is what to write otherwise."""
    events, lines = [], {"suppress": 13, "match": 30, "overlap": 7}
    for step in range(6):
        at = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        for number, function in enumerate(loops):
            begin = at + 10 + 4_000 * number
            events += [torchtrace.frame(f"train.py({lines[function]}): {function}", begin, 180 * times + 20)]
            for turn in range(times):
                within = begin + 10 + 180 * turn
                events += [torchtrace.frame("train.py(7): overlap", within, 170)]
                events += [torchtrace.op("aten::max", within + 5 + 30 * place, 10) for place in range(5)]
    host = torchtrace.host(*events, deviceProperties=[])
    found = calling_function(host)
    assert found.name == f"{named} (train.py:{lines[named]})"
    assert found.calls_per_step == 5 * times * len(loops)
    assert found.times_per_step == (len(loops) * times if named == "overlap" else 1)


@pytest.mark.parametrize(
    ("times", "advice"), [(16, "Call act (train.py:22) less often, for whole batches"), (8, "Do the work of act")]
)
def test_a_function_that_a_step_calls_many_times_is_to_be_called_for_batches(times: int, advice: str) -> None:
    """As where a policy acts for one environment after the other."""
    events = []
    for step in range(6):
        at = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        for turn in range(times):
            within = at + 10 + 8_000 // times * turn
            events += [torchtrace.frame("train.py(22): act", within, 8_000 // times - 10)]
            count = 200 // times
            events += [torchtrace.op("aten::add", within + 5 + 38 * place, 10) for place in range(count)]
    remedy = cause(diagnose([torchtrace.host(*events, deviceProperties=[])]), "eager").remedy
    assert remedy.text.startswith(advice)
    assert (f"each step calls it {times} times" in remedy.text) == (times == 16)


@pytest.mark.parametrize(("name", "text"), [("update", ""), ("clip", " Mostly update (8.00 ms per step).")])
def test_the_function_that_a_sentence_begins_with_is_not_said_again(name: str, text: str) -> None:
    loss = TimeLoss("eager", 10e9, [NamedTime("dispatch", "update", 8e9, 1.0, 0.0, 0.0)], arguments={"name": name})
    assert loss.names_sentence(True).text == text


@pytest.mark.parametrize(
    ("reads", "others", "around", "is_loop"),
    [
        (120, 100, "metric", True),
        (120, 500, "metric", False),
        (20, 20, "metric", False),
        (120, 100, "Optimizer.step#AdamW.step", False),
    ],
    ids=["many", "few", "seldom", "numbers of an optimizer's steps"],
)
def test_values_that_are_read_one_by_one(reads: int, others: int, around: str, is_loop: bool) -> None:
    """As where a metric looks at each frame of a batch."""
    events = []
    for step in range(5):
        at = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1), torchtrace.mark(around, at + 4, EVERY - 20)]
        names = ["aten::item"] * reads + ["aten::mul"] * others
        each = 9_900 // len(names)
        events += [torchtrace.op(name, at + 5 + each * place, 10) for place, name in enumerate(names)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("reads_one_by_one" in program_facts(host)) == is_loop
    texts = [cause.remedy.text for cause in diagnose([host]).causes if cause.id == "eager"]
    assert any("tolist()" in text for text in texts) == is_loop


def test_the_function_that_holds_the_loop_is_not_to_be_done_in_fewer_ops() -> None:
    events = [torchtrace.frame("train.py(43): train", 1, 6 * EVERY + 100)]
    for step in range(6):
        at = EVERY * step + 50
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        events += [torchtrace.op("aten::norm", at + 20 + 400 * number, 10) for number in range(8)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert "train (train.py:43)" in whole_step_functions(host)
    assert "fewer ops" not in " ".join(cause.remedy.text for cause in diagnose([host]).causes)


def test_ops_that_several_functions_dispatch_are_those_of_the_function_around_them() -> None:
    first, second, third = (
        [f"$train.py:{line} {name}[{begin},3290]", *calls(begin + 10, 34)]
        for line, name, begin in ((20, "forward", 10), (30, "backward", 3310), (40, "update", 6610))
    )
    assert "step (train.py:5) dispatches 102 of 102 ops" in loop(*first, *second, *third).headline.sentence.text


def test_without_frames_nobody_is_said_to_dispatch() -> None:
    text = f"/host:CPU\n  python | train[0,{EVERY}]{{_r=1, step_num=s}} {' '.join(calls(10, 100))}"
    host = draw.host(text, 6, EVERY)
    assert calling_function(host).name == ""
    found = diagnose([host])
    assert found.headline.sentence.text.endswith("100 ops are dispatched one by one.")


def wait(begin: int, length: int, ran_out: bool) -> list[str]:
    """``queue.get`` with a timeout, as JAX's and TensorFlow's tracers record it."""
    parts = [f"$queue.py:154 get[{begin},{length}]", f"$threading.py:295 wait[{begin + 1},{length - 2}]"]
    parts.append(f"$<unknown> acquire[{begin + 2},{length - 10}]")
    return [*parts, *([f"$<unknown> remove[{begin + length - 6},1]"] if ran_out else [])]


@pytest.mark.parametrize(
    ("waits", "ended"),
    [
        ([(100, 6000, True)], 6000),
        ([(100, 6000, False)], 0),
        ([(100, 1000, False), (1110, 5000, True)], 5000),
        ([(100, 3000, True), (3150, 3000, False)], 0),
    ],
    ids=["ran out", "answered", "a batch that does not fill", "asks again"],
)
def test_waits_that_a_timeout_ends_have_a_remedy_of_their_own(waits: list[tuple[int, int, bool]], ended: int) -> None:
    inside = [event for one in waits for event in wait(*one)]
    text = drawn("$train.py:20 collect[90,6300]", *inside, "PjitFunction(model)[7500,2000]")
    host = draw.host(text, 6, EVERY)
    begin, end = timed_out_waits(host)
    assert abs((end - begin).sum() / 10**6 / 6 - ended) < 10
    waiting = cause(diagnose([host]), "thread_wait")
    assert "collect (train.py:20)" in waiting.sentence.text
    assert ("until a timeout" in waiting.sentence.text) == (ended > 0)
    assert ("shorter timeout" in waiting.remedy.text) == (ended > 0)


@pytest.mark.parametrize("ran_out", [True, False])
def test_input_that_waits_until_timeouts_needs_shorter_ones_and_no_workers(ran_out: bool) -> None:
    """As where a server gathers requests up to a number that never comes."""
    text = drawn("$serve.py:20 next_batch[90,6300]", *wait(100, 6200, ran_out), "PjitFunction(model)[7500,2000]")
    found = diagnose([draw.host(text, 6, EVERY)])
    waiting = cause(found, "input")
    assert ("until a timeout ends the wait" in waiting.sentence.text) == ran_out
    assert ("shorter timeout" in waiting.remedy.text) == ran_out
    assert found.headline.sentence.text.startswith("Waits for input until timeouts take") == ran_out


def test_ops_that_a_function_dispatches_between_steps_are_to_be_compiled() -> None:
    """As where a server reads the answers of a jitted model one by one."""
    reads = [f"PjitFunction(argmax)[{2010 + 130 * number},20]" for number in range(60)]
    answers = ["$serve.py:30 answers[2000,7900]", *reads]
    model = "PjitFunction(model)[1,1900] x/dot:dot[10,1800]"
    hosts = [
        draw.host(f"/host:CPU\n  python | train[0,1950]{{_r=1, step_num=s}} {model} {' '.join(answers)}", 6, EVERY)
    ]
    between = cause(diagnose(hosts), "between_steps")
    assert between.remedy.text == "Put answers (serve.py:30) under one jax.jit, so that its ops become one program."


@pytest.mark.parametrize(
    ("mark", "advice"), [("", "under jax.jit"), ("train[0,1950]{_r=1, step_num=s} ", "less often")]
)
def test_python_between_calls_that_count_as_steps_is_the_loops(mark: str, advice: str) -> None:
    """Beside marks of the program it is what these leave out, such as writing to a log."""
    op = "x/dot:dot[10,1800]{hlo_op=dot.1, hlo_module=jit_model, program_id=1}"
    text = f"/host:CPU\n  python | {mark}PjitFunction(model)[1,1900] {op} $serve.py:30 sample[2000,7900]"
    between = cause(diagnose([draw.host(text, 6, EVERY)]), "between_steps")
    assert "sample (serve.py:30)" in between.sentence.text and advice in between.remedy.text


def test_fewer_calls_of_a_function_save_no_more_than_its_time() -> None:
    """It dispatches 80 of 120 ops, in 4 ms of the 9.9 that all of them take."""
    events = []
    for step in range(6):
        at = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        events += [torchtrace.frame("train.py(20): clip", at + 10, 4_000)]
        events += [torchtrace.op("aten::norm", at + 20 + 49 * number, 10) for number in range(80)]
        events += [torchtrace.op("aten::mul", at + 4_050 + 147 * number, 10) for number in range(40)]
    host = torchtrace.host(*events, deviceProperties=[])
    eager = cause(diagnose([host], replays=True), "eager")
    assert eager.sentence.text.startswith("clip (train.py:20) dispatches 80 of 120 ops")
    assert (eager.gain_ps or 0) > 8_000 * US
    assert eager.remedy.gain_ps(eager.gain_ps) == pytest.approx(4_000 * US, rel=0.01)


def _eager(op: str, begin: int, length: int, name: str = "") -> str:
    """A call of an op or a function of TensorFlow with what is around and within it, in µs."""
    calls = ("TFE_Py_FastPathExecute_C", "EagerExecute", f"EagerLocalExecute: {name or op}", "EagerKernelExecute")
    return " ".join(f"{call}[{begin + depth},{length - 2 * depth}]" for depth, call in enumerate(calls))


def test_what_tensorflow_calls_names_all_that_it_does_for_the_call() -> None:
    step = f"train[0,100]{{_r=1, step_num=s}} learn[0,60] {_eager('', 2, 56, '__inference_learn_7')}"
    diagnosis = diagnose([draw.host(f"/host:CPU\n  python | {step} {_eager('Unique', 62, 36)}", steps=5)])
    calls_of_names = [(name, count) for cause in diagnosis.causes for name, _, count in cause.names]
    assert calls_of_names == [("learn", 1), ("Unique", 1)]


@pytest.mark.parametrize(("length", "filled_in", "told"), [(40, 5, True), (6, 5, False), (48, 1, False)])
def test_lookup_tables_that_each_step_fills(length: int, filled_in: int, told: bool) -> None:
    """``tf.lookup.StaticHashTable`` in a request's handler."""
    steps = [f"train[{100 * step},50]{{_r=1, step_num={step}}}" for step in range(5)]
    fills = [_eager("LookupTableImportV2", 100 * step + 51, length) for step in range(filled_in)]
    host = draw.host(f"/host:CPU\n  python | {' '.join(steps)} {' '.join(fills)}")
    assert ("makes_tables" in program_facts(host)) == told


@pytest.mark.parametrize(("starts_in", "told"), [(6, True), (1, False)])
def test_worker_processes_that_each_step_starts(starts_in: int, told: bool) -> None:
    """As ``next(iter(loader))`` does; what makes and ends the loader's iterator is waiting for input, too."""
    loader, events = "torch/utils/data/dataloader.py", []
    for step in range(6):
        begin = 1000 * step
        events += [
            torchtrace.mark(f"ProfilerStep#{step}", begin, 990),
            torchtrace.mark("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", begin + 310, 200),
            torchtrace.op("aten::mm", begin + 800, 180),
        ]
        if step < starts_in:
            events += [
                torchtrace.frame(f"{loader}(492): __iter__", begin + 5, 300),
                torchtrace.frame("multiprocessing/popen_fork.py(62): _launch", begin + 10, 250),
                torchtrace.frame(f"{loader}(1703): __del__", begin + 520, 250),
                torchtrace.frame("multiprocessing/connection.py(933): wait", begin + 530, 230),
            ]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("starts_workers" in program_facts(host)) == told
    assert "worker_processes" in program_facts(host)
    assert not told or cause(diagnose([host]), "input").per_step_ps == 750 * US


@pytest.mark.parametrize(
    ("file", "workers", "named", "advice"),
    [
        ("dataloader.py:783 _next_data", False, "__getitem__ (data.py:7)", "take whole batches at once"),
        ("dataloader.py:1434 _next_data", True, "_try_get_data", "Start more DataLoader workers"),
        ("dataloader.py:12 batches", False, "batches (dataloader.py:12)", "in a background thread"),
    ],
)
def test_jax_waits_for_a_dataloader_of_pytorch(file: str, workers: bool, named: str, advice: str) -> None:
    """Python runs one thread at a time, so that a thread would not make it faster; the program may have such a file."""
    rows = " ".join(f"$data.py:7 __getitem__[{30 + 10 * row},9]" for row in range(60))
    within = "$dataloader.py:1297 _try_get_data[22,660]" if workers else f"$fetch.py:49 fetch[20,670] {rows}"
    step = f"train[0,990]{{_r=1, step_num=s}} ${file}[10,690] {within} PjitFunction(update)[705,20]"
    found = diagnose(
        [draw.host(f"/host:CPU\n  python | {step}\n  tf_XLATfrtCpuClient/1 | dot.1[730,200]{{hlo_op=dot.1}}", 6)]
    )
    waits = cause(found, "input")
    assert waits.names[0][0].startswith(named) and advice in waits.remedy.text


@pytest.mark.parametrize(("count", "each", "told"), [(40, 100, True), (4, 1000, False), (40, 10, False)])
def test_rows_that_are_asked_for_one_by_one(count: int, each: int, told: bool) -> None:
    """``execute()`` of SQLite in a loop over candidates."""
    queries = [
        f"$<built-in method execute of sqlite3.Connection object at 0x7f>[{20 + 200 * number},{each}]"
        for number in range(count)
    ]
    host = draw.host(drawn(*queries), 6, EVERY)
    assert ("queries_rows" in program_facts(host)) == told
    assert any("in one query" in one.remedy.text for one in diagnose([host]).causes) == told


@pytest.mark.parametrize(
    ("folder", "count", "waits", "told"),
    [("", 80, 60, True), ("multiprocessing/", 80, 60, True), ("", 20, 60, False), ("", 4, 1900, False)],
)
def test_small_work_that_other_processes_are_asked_for(folder: str, count: int, waits: float, told: bool) -> None:
    """As a vectorised environment does, with a process for each; pickling is Python's, and the read is a wait."""
    events, file = [], f"{folder}connection.py"
    for step in range(6):
        begin = EVERY * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", begin, EVERY - 10), torchtrace.op("aten::mm", begin, 900)]
        events.append(torchtrace.frame("rollout.py(57): step", begin + 1000, 8900))
        for number in range(count):
            at = begin + 1010 + (waits + 45) * number
            events += [
                torchtrace.frame(f"{file}(202): send", at, 40),
                torchtrace.frame("<built-in function write>", at + 20, 18),
                torchtrace.frame(f"{file}(246): recv", at + 41, waits),
                torchtrace.frame(f"{file}(390): _recv", at + 42, waits - 2),
                torchtrace.frame("<built-in function read>", at + 43, waits - 4),
            ]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    waiting = cause(found, "thread_wait")
    assert count * (waits - 4) * US <= waiting.per_step_ps <= count * (waits + 10) * US
    assert "step (rollout.py:57)" in waiting.sentence.text
    assert ("fewer, larger messages" in waiting.remedy.text + cause(found, "python").remedy.text) == told


def silent_steps(*silences: tuple[int, str]) -> HostWithSteps:
    """Steps of 10 ms: for so many µs nothing is recorded, then an op of 100 µs follows; a product takes the rest."""
    events = []
    for step in range(6):
        at = EVERY * step
        end = at + EVERY - 1
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, EVERY - 1)]
        for silence, op in silences:
            at += silence
            events += [torchtrace.op(op, at, 100)]
            at += 100
        events += [torchtrace.op("aten::mm", at, end - at - 1)]
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("silences", "name"),
    [
        ([(5000, "aten::lift_fresh")], "aten::lift_fresh"),
        ([(4000, "aten::lift_fresh"), (2000, "aten::add")], "aten::lift_fresh"),
        ([(2000, "aten::lift_fresh"), (2000, "aten::add"), (2000, "aten::mul")], ""),
        ([(900, "aten::lift_fresh")] * 5, ""),
        ([(5000, "$torch/autograd/profiler.py:935 __exit__")], ""),
    ],
    ids=["one", "most", "several", "short", "the profiler's own"],
)
def test_what_comes_after_a_silence_is_told(silences: list[tuple[int, str]], name: str) -> None:
    """Nobody recorded what passes there, but what it is for may be guessed."""
    host = silent_steps(*silences)
    assert host_account(host).after_silence.name == name
    told = f"Nothing computes; the reason was not recorded. Most of it comes before {name}."
    assert (cause(diagnose([host]), "unrecorded").sentence.text == told) == bool(name)
