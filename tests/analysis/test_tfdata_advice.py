"""What TensorFlow's guide offers for a slow input pipeline is offered where it can help, with what it can win."""

from dataclasses import replace
from pathlib import Path

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.finding import Finding
from tb_profile_plugin.analysis.tfdata import questions
from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import PipelineDiagnosis, diagnoses
from tb_profile_plugin.analysis.tfdata.pool_threads import PoolThreads, are_cores_busy

TRACES = Path(__file__).resolve().parent.parent / "traces" / "tfdata"


def drawn(text: str) -> PipelineDiagnosis:
    return diagnoses(draw.host("/host:CPU\n" + text, 3, 2000))[0]


def captured(name: str) -> PipelineDiagnosis:
    return diagnoses(tb_profile_plugin.open(TRACES / f"{name}.xplane.pb").select()[0])[0]


def by_code(found: PipelineDiagnosis) -> dict[str, Finding]:
    return {each.id: each for each in found.findings}


def stages(*names: str, calls: int = 1, python: bool = False, size: int = 0, tensors: int = 0) -> str:
    """A step that waits 800 of its 1,000 µs for a pipeline, of whose innermost stage there are so many calls; each
    returns so many tensors.
    """
    text, long, begin, time = "", "Iterator::Root", 12, 800
    for number, name in enumerate(names, 2):
        long, begin, time = f"{long}::{name}", begin + 1, time - 4
        ids = f"id={number}, parent_id={number - 1}" + (f", batch_size={size}" if name == "Batch" and size else "")
        last = number == len(names) + 1
        ids += f", types={' '.join(['float'] * tensors)}" if last and tensors else ""
        each = time // (calls if last else 1)
        for at in range(begin, begin + each * (calls if last else 1), each):
            text += f" {long}[{at},{each}]{{{ids}}}"
            text += f" InstantiatedCapturedFunction::Run[{at + 1},{each - 2}]{{id=99}}" if python and last else ""
    ran = "  tf_b   | ExecutorState::Process[30,100]{id=99} x/EagerPyFunc:EagerPyFunc[31,90]" if python else ""
    return f"""
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1, cpu_budget=4}} {text}
         | x/MatMul:MatMul[830,100]
{ran}
"""


@pytest.mark.parametrize("name", ["py_function", "generator"])
def test_python_is_offered_a_cache_and_parallel_calls(name: str) -> None:
    found = captured(name)
    assert [each.id for each in found.findings] == [name, "cache", "parallel_python"]
    first, cache, parallel = found.findings
    assert cache.gain_ps and first.gain_ps and parallel.gain_ps
    assert cache.gain_ps >= first.gain_ps
    # Of two cores, and behind a Prefetch, so that no more of it is done ahead than now.
    assert parallel.gain_ps == pytest.approx(first.gain_ps / 2)
    assert "if the Python code releases the GIL" in parallel.title
    assert "one thread at a time" not in first.title


def test_a_parallel_map_wins_what_the_cores_allow() -> None:
    found = captured("slow_map")
    slow, cache = found.findings
    assert slow.id == "slow_map"
    blamed = found.pipeline.stages[slow.stage].blame_ps / found.pipeline.total_ps
    assert slow.gain_ps == pytest.approx(found.cost.gain_ps * blamed / 2)
    assert cache.level == "info"


def test_python_under_an_interleave_asks_for_a_parallel_one() -> None:
    found = by_code(drawn(stages("Interleave", "Map", calls=4, python=True)))
    assert "the interleave's inputs" in found["parallel_python"].title
    assert "num_parallel_calls" in found["parallel_python"].code
    parallel = by_code(drawn(stages("ParallelInterleave", "Map", calls=4, python=True)))
    assert "parallel_python" not in parallel


@pytest.mark.parametrize("between", [(), ("Shuffle", "ParallelMap")])
def test_rows_of_a_generator_are_to_be_yielded_in_batches(between: tuple[str, ...]) -> None:
    found = drawn(stages("Prefetch", "Batch", *between, "FlatMap", "Generator", calls=16, python=True))
    first = found.findings[0]
    assert (first.id, first.gain_ps) == ("row_generator", pytest.approx(0.97 * found.waited_ps, rel=0.02))
    assert first.title.startswith("Let the generator yield whole batches, without batch() after it")
    assert "yield list(" in first.code


@pytest.mark.parametrize(
    ("names", "calls", "is_of_keras"),
    [
        (("Prefetch", "Batch", "FlatMap", "Generator"), 2, False),
        (("Prefetch", "Batch", "Filter", "FlatMap", "Generator"), 16, False),
        (("Prefetch", "Map", "FlatMap", "Generator"), 16, False),
        (("Prefetch", "FlatMap", "Generator"), 16, True),
    ],
    ids=["few, which take long", "some are thrown away", "no batch", "batches, as Keras makes them"],
)
def test_other_generators_are_replaced_by_maps_or_files(names: tuple[str, ...], calls: int, is_of_keras: bool) -> None:
    first = drawn(stages(*names, calls=calls, python=True)).findings[0]
    assert (first.id, "PyDataset" in first.title) == ("generator", is_of_keras)
    assert first.title.startswith("Move the generator's work into map()")
    assert "on whole batches" in first.code


@pytest.mark.parametrize(
    ("names", "calls", "tensors", "gain"),
    [
        (("Prefetch", "Batch", "ShuffleAndRepeat", "TensorSlice"), 16, 40, 39 / 40),
        (("Batch", "TensorSlice"), 16, 40, 39 / 40),
        (("Batch", "Shuffle", "TensorSlice"), 16, 4, None),
        (("Batch", "Shuffle", "TensorSlice"), 4, 400, None),
        (("Batch", "Shuffle", "MemoryCache", "TensorSlice"), 16, 40, None),
        (("Shuffle", "TensorSlice"), 16, 40, None),
    ],
    ids=["shuffled", "in order", "large tensors", "few rows", "cached", "batches"],
)
def test_batches_of_row_numbers(names: tuple[str, ...], calls: int, tensors: int, gain: float | None) -> None:
    found = drawn(stages(*names, calls=calls, tensors=tensors))
    rows = by_code(found).get("single_rows")
    assert (rows is None) == (gain is None)
    if rows:
        assert rows.title.startswith("Batch row numbers instead of rows")
        assert rows.gain_ps == pytest.approx(0.98 * (gain or 0) * found.waited_ps, rel=0.02)
        assert "tf.data.Dataset.range" in rows.code


def nested_windows(source: str, row_us: int) -> str:
    """A step that waits 800 of its 1,000 µs for a window of 40 rows, each of which takes so long."""
    flat_map, row = "Iterator::Root::FlatMap", f"{row_us}]{{id=7, parent_id=6}}"
    rows = " ".join(f"{flat_map}[3]::BatchV2::Window[{40 + at * row_us},{row}" for at in range(40))
    return f"""
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1}} {flat_map}[13,798]{{id=2, parent_id=1}}
         | {flat_map}::Window[14,20]{{id=3, parent_id=2, window_size=40}}
         | {flat_map}::Window::{source}[15,2]{{id=4, parent_id=3}}
         | {flat_map}[3]::BatchV2[38,{40 * row_us + 4}]{{id=6, parent_id=2}} {rows}
         | x/MatMul:MatMul[830,100]
"""


@pytest.mark.parametrize(
    ("source", "row_us", "told"),
    [("TensorSlice", 1, True), ("TFRecord", 1, False), ("TensorSlice", 5, False)],
    ids=["rows in memory", "files", "large rows"],
)
def test_windows_are_gathered_in_batches(source: str, row_us: int, told: bool) -> None:
    found = drawn(nested_windows(source, row_us))
    windows = by_code(found).get("nested_windows")
    assert (windows is not None) == told
    if windows:
        assert windows.title.startswith("Batch the row numbers at which windows begin")
        assert windows.gain_ps == pytest.approx(found.waited_ps, rel=0.03)
        assert "first_rows" in windows.code


def test_small_functions_are_offered_whole_batches() -> None:
    found = drawn(stages("Batch", "Map", calls=8, size=8))
    gain_ps = by_code(found)["batch_first"].gain_ps
    assert gain_ps == pytest.approx(0.98 * 7 / 8 * found.waited_ps, rel=0.02)
    assert "batch_first" not in by_code(drawn(stages("Batch", "Map", calls=2, size=8)))
    assert "batch_first" not in by_code(drawn(stages("Map", "Batch", calls=8, size=8)))


def test_a_map_that_is_fused_with_its_batch_is_offered_whole_batches() -> None:
    text = stages("MapAndBatch").replace("parent_id=1}", "parent_id=1, batch_size=SIZE}")
    evidence = by_code(drawn(text.replace("SIZE", "64")))["batch_first"].evidence
    assert "64" in evidence
    # Of a call that does much, larger calls gain nothing.
    assert "batch_first" not in by_code(drawn(text.replace("SIZE", "2")))


@pytest.mark.parametrize(
    ("ran", "is_bare"), [(700, True), (1900, False), (0, False)], ids=["44 µs", "119 µs", "not recorded"]
)
def test_functions_are_judged_by_the_time_of_the_threads_that_run_them(ran: int, is_bare: bool) -> None:
    """Sixteen calls for a batch take the step's wait, in parallel; threads ran them for so long together."""
    text = stages("MapAndBatch", calls=1).replace("parent_id=1}", "parent_id=1, batch_size=16}")
    called = "  tf_b   | InstantiatedCapturedFunction::RunAsync[20,5]{id=99}"
    functions = f"{called} ExecutorState::Process[30,{ran}]{{id=99}}" if ran else called
    found = by_code(drawn(f"{text}{functions}"))
    assert (found["batch_first"].level, "slow_parallel_map" in found) == (("bad", False) if is_bare else ("info", True))


@pytest.mark.parametrize(("epochs", "random", "is_bad"), [(3, False, True), (2, False, False), (3, True, False)])
def test_a_cache_is_no_guess_where_epochs_repeat_within_the_capture(epochs: int, random: bool, is_bad: bool) -> None:
    """Of three epochs the one in the middle was read as a whole: what it makes is finite."""
    calls, each = 12, 60
    text = ""
    for call in range(calls):
        epoch = call * epochs // calls
        at = 20 + each * call
        long = f"Iterator::Root::ForeverRepeat[{epoch}]::Map"
        text += f" {long}[{at},{each}]{{id={10 + epoch}, parent_id=2}}"
        text += f" InstantiatedCapturedFunction::Run[{at + 1},{each - 2}]{{id=99}}"
    op = "random_uniform/RandomUniform:RandomUniform" if random else "x/Mul:Mul"
    found = drawn(f"""
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1, cpu_budget=4}}
         | Iterator::Root::ForeverRepeat[14,796]{{id=2, parent_id=1}} {text}
         | x/MatMul:MatMul[830,100]
  tf_b   | {op}[30,9]
""")
    assert (by_code(found)["cache"].level == "bad") == is_bad


def test_a_cache_stands_before_shuffling_and_repeating() -> None:
    title = by_code(drawn(stages("Batch", "Shuffle", "ForeverRepeat", "Map")))["cache"].title
    said = (
        "Cache the output of Map, before shuffle() and repeat(), if it is finite, fits into memory and is not random."
    )
    assert title == said
    # What is batched anew each time is no element to keep.
    assert "cache" not in by_code(drawn(stages("Shuffle", "Batch")))["slow_batch"].title
    assert "cache" not in by_code(captured("slow_batch"))
    assert "cache" not in by_code(drawn(stages("Range")))


CACHED = ("Prefetch", "BatchV2", "Shuffle", "Map", "ForeverRepeat", "MemoryCache")


@pytest.mark.parametrize("slow", CACHED)
def test_only_a_transformation_that_takes_time_is_worth_a_cache_after_it(slow: str) -> None:
    """What asks that stage waits for it, and what it asks has its elements at once."""
    text, long, time = "", "Iterator::Root", 790
    for number, name in enumerate(CACHED):
        long, time = f"{long}::{name}", time - 4
        text += f" {long}[{13 + number},{time}]{{id={2 + number}, parent_id={1 + number}}}"
        time = 40 if name == slow else time
    found = by_code(
        drawn(f"""
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1}} {text} x/MatMul:MatMul[830,100]
""")
    )
    assert ("early_cache" in found) == (slow == "Map")
    if slow == "Map":
        assert found["early_cache"].evidence == "Map runs after the cache, so every epoch repeats its work."


AHEAD = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{id=1} Iterator::Root::Prefetch[13,790]{id=2, parent_id=1}
         | PrefetchConsume[14,1]{element_id=7} x/MatMul:MatMul[900,100]
  tf_a   | PrefetchProduce[100,700]{element_id=8} Iterator::Root::Prefetch::Map[110,600]{id=3, parent_id=2}
         | InstantiatedCapturedFunction::Run[120,500]{id=99}
  tf_b   | ExecutorState::Process[130,400]{id=99} x/KIND:KIND[131,390]
"""


def test_python_that_works_ahead_holds_the_program_up() -> None:
    found = by_code(drawn(AHEAD.replace("KIND", "EagerPyFunc")))["contention"]
    assert "the pipeline's Python held the GIL" in found.evidence
    assert found.title.startswith("Replace Python code in the pipeline")
    assert found.gain_ps is None
    assert "Python" not in by_code(drawn(AHEAD.replace("KIND", "Resize")))["contention"].evidence


def test_rows_of_a_generator_that_works_ahead_hold_the_program_up() -> None:
    rows, before = "", "Iterator::Root::Prefetch::Batch"
    for begin in range(120, 680, 70):
        rows += f" {before}::Generator[{begin},60]{{id=4, parent_id=3}}"
        rows += f" InstantiatedCapturedFunction::Run[{begin + 1},58]{{id=99}}"
    text = AHEAD.replace("::Map", "::Batch").replace("KIND", "EagerPyFunc")
    text = text.replace(" InstantiatedCapturedFunction::Run[120,500]{id=99}", rows)
    assert by_code(drawn(text))["contention"].title.startswith("Let the generator yield whole batches")


def waiting(python: bool) -> PipelineDiagnosis:
    """Six steps, all as long, of which every second one waits."""
    rows = ""
    for step in range(6):
        at, wait = 1000 * step, 700 if step % 2 else 20
        rows += f"""
  python | train[{at},990]{{_r=1, step_num={step}}} IteratorGetNext:IteratorGetNext[{at + 10},{wait}]
         | Iterator::Root[{at + 11},{wait - 2}]{{id=1}}
         | Iterator::Root::Prefetch[{at + 12},{wait - 4}]{{id=2, parent_id=1}}
         | PrefetchConsume[{at + wait + 6},1]{{element_id={step}}} x/MatMul:MatMul[{at + wait + 12},{970 - wait}]
  tf_a   | PrefetchProduce[{at + 12},{wait - 7}]{{element_id={step}}}
         | Iterator::Root::Prefetch::Map[{at + 12},{wait - 8}]{{id=3, parent_id=2}}
         | InstantiatedCapturedFunction::Run[{at + 13},{wait - 10}]{{id={step}}}"""
        if python:
            run = f"ExecutorState::Process[{at + 14},{wait - 12}]{{id={step}}}"
            rows += f"\n  tf_b   | {run} x/EagerPyFunc:EagerPyFunc[{at + 15},{wait - 14}]"
    return diagnoses(draw.host(f"/host:CPU{rows}"))[0]


def test_steps_that_did_not_wait_prove_nothing_beside_python() -> None:
    assert waiting(python=False).cost.compared
    assert not waiting(python=False).slow
    assert not waiting(python=True).cost.compared
    assert waiting(python=True).slow


@pytest.mark.parametrize(("names", "prefetches"), [(("Prefetch", "Map"), True), (("Batch", "Map"), False)])
def test_what_prefetches_already_is_not_to_prefetch(names: tuple[str, ...], prefetches: bool) -> None:
    facts = program_facts(draw.host("/host:CPU\n" + stages(*names), 3, 2000))
    assert ("prefetches" in facts) == prefetches
    advice = remedy("tensorflow", "input", facts=facts).text
    assert (advice == "") == prefetches


def test_without_steps_to_mark_them_is_what_to_do() -> None:
    host = draw.host("/host:CPU\n" + stages("Map").replace("train[0,1000]{_r=1, step_num=s}", ""))
    threads = PoolThreads(1, 0.5, 4)
    *_, check = questions.checklist(questions.entries([host]), diagnoses(host), threads)
    assert (check.id, check.level, check.evidence, check.todo) == ("steps", "unknown", "", "Mark steps in the program.")


@pytest.mark.parametrize("are_cores_busy", [False, True])
def test_busy_cores_have_no_time_to_prefetch(are_cores_busy: bool) -> None:
    """As where a map that runs on all of them takes longer than the program's own work."""
    (found,) = diagnoses(draw.host("/host:CPU\n" + stages("Map"), 3, 2000))
    told = replace(found, are_cores_busy=are_cores_busy).findings
    prefetch = next(finding for finding in told if finding.id == "missing_prefetch")
    assert (prefetch.level, bool(prefetch.gain_ps)) == (("info", False) if are_cores_busy else ("bad", True))
    assert ("The cores are busy already." in prefetch.evidence) == are_cores_busy
    assert are_cores_busy == (told[0].id != "missing_prefetch")


@pytest.mark.parametrize(("threads", "are_busy"), [(6, True), (3, False)])
def test_cores_are_busy_where_as_many_threads_are(threads: int, are_busy: bool) -> None:
    """Of four cores; each thread works for most of the time."""
    executors = "\n".join(
        f"  tf_{thread} | ExecutorState::Process[15,790]{{id={thread + 50}}}" for thread in range(threads)
    )
    assert are_cores_busy(draw.host(f"/host:CPU\n{stages('Map')}{executors}", 3, 1000)) == are_busy
