"""What a tf.data pipeline costs the steps, what it has already, and that all pages tell the same of it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import draw
import pytest
from figures import column, facts

import tb_profile_plugin
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.tfdata import structure
from tb_profile_plugin.analysis.tfdata.functions import transformation_ps
from tb_profile_plugin.analysis.tfdata.input_wait_cost import input_cost
from tb_profile_plugin.analysis.tfdata.iterator_calls import pipelines
from tb_profile_plugin.analysis.tfdata.pipeline import Pipeline
from tb_profile_plugin.analysis.tfdata.pipeline_diagnosis import PipelineDiagnosis, diagnoses

TRACES = Path(__file__).resolve().parent.parent / "traces"


def drawn(text: str, steps: int = 1, every: float = 1000) -> PipelineDiagnosis:
    return diagnoses(draw.host("/host:CPU\n" + text, steps, every))[0]


def ends_in_prefetch(pipeline: Pipeline) -> bool:
    """Whether the last transformation is a Prefetch."""
    last = structure.last_transformation(pipeline)
    return last >= 0 and last == structure.prefetch_stage(pipeline)


def pages(folder: Path, text: str, steps: int = 1, every: float = 1000) -> dict[str, Any]:
    capture = draw.session(folder, vm=draw.space("/host:CPU\n" + text, steps, every))
    names = ("overview_page", "input_pipeline_analyzer", "tf_data_bottleneck_analysis")
    return {name: capture.answer(name) for name in names}


def checks(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    found = (column(answer, "checks", name) for name in ("id", "level", "evidence"))
    return {id: (level, evidence) for id, level, evidence in zip(*found, strict=True)}


TAKEN = """
  python | train[0,40000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,70]
         | Iterator::Model[12,57]{id=1} Iterator::Model::MaxIntraOpParallelism[13,55]{id=2, parent_id=1}
         | Iterator::Model::MaxIntraOpParallelism::FiniteTake[14,53]{id=3, parent_id=2}
         | Iterator::Model::MaxIntraOpParallelism::FiniteTake::Prefetch[15,50]{id=4, parent_id=3}
         | PrefetchConsume[20,1]{element_id=7}
         | model/MatMul:MatMul[100,39000]
"""


def test_a_pipeline_cut_short_by_take_ends_in_prefetch(tmp_path: Path) -> None:
    (pipeline,) = pipelines(draw.host("/host:CPU\n" + TAKEN))
    assert ends_in_prefetch(pipeline)
    assert not structure.lacks_prefetch(pipeline)
    level, evidence = checks(pages(tmp_path, TAKEN, 3, 50_000)["tf_data_bottleneck_analysis"])["prefetch"]
    assert level == "ok"
    assert "ends with Prefetch" in evidence


def test_a_slow_call_that_costs_the_step_nothing_is_no_finding(tmp_path: Path) -> None:
    answer = pages(tmp_path, TAKEN, 3, 50_000)["tf_data_bottleneck_analysis"]
    assert answer["headline"]["level"] == "ok"
    assert "takes 57.0 µs" in answer["headline"]["text"]
    assert "From step to step, the loop waits 70.0 µs of 50.0 ms" in answer["headline"]["text"]
    assert column(answer, "advice", "title") == []
    assert facts(answer)["slow"] is True
    assert facts(answer)["costly"] is False
    assert column(answer, "pipelines", "delays_steps") == [False]
    assert checks(answer)["fast"][0] == checks(answer)["transformation"][0] == "ok"


BEHIND = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{id=1} Iterator::Root::Shuffle[13,798]{id=2, parent_id=1}
         | Iterator::Root::Shuffle::Prefetch[OWN,PART]{id=3, parent_id=2} PrefetchConsume[OWN,1]{element_id=7}
"""


HELD = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{id=1} Iterator::Root::Prefetch[13,795]{id=2, parent_id=1}
         | PrefetchConsume[20,1]{element_id=7}
"""


def test_a_thread_that_is_held_up_is_no_slow_pipeline(tmp_path: Path) -> None:
    answer = pages(tmp_path, HELD, 3, 2000)["tf_data_bottleneck_analysis"]
    assert answer["headline"]["text"].startswith("Elements were ready, but the program's thread was delayed")
    assert "tf.data" not in answer["headline"]["text"]
    assert checks(answer)["fast"][0] == "warn"
    assert column(answer, "advice", "finding") == ["contention"]
    assert column(answer, "pipelines", "delays_steps") == [False]


def test_a_longer_capture_saves_nothing(tmp_path: Path) -> None:
    """The program waits for an element, and nothing was recorded of the threads that made it."""
    unseen = HELD.replace("PrefetchConsume[20,1]", "PrefetchConsume[805,1]")
    answer = pages(tmp_path, unseen, 3, 2000)["tf_data_bottleneck_analysis"]
    assert column(answer, "advice", "finding") == ["unrecorded"]
    assert column(answer, "advice", "gain_ms") == [None]


@pytest.mark.parametrize(("own", "lacks"), [(20, False), (600, True)])
def test_what_stands_behind_a_prefetch_needs_another_only_if_it_costs(own: int, lacks: bool) -> None:
    (pipeline,) = pipelines(draw.host("/host:CPU\n" + BEHIND.replace("OWN", str(own)).replace("PART", str(805 - own))))
    assert not ends_in_prefetch(pipeline)
    assert structure.lacks_prefetch(pipeline) is lacks


SYNCHRONOUS = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{id=1} Iterator::Root::Batch[13,798]{id=2, parent_id=1}
         | Iterator::Root::Batch::Map[14,790]{id=3, parent_id=2}
"""


def test_all_pages_tell_that_nothing_prefetches(tmp_path: Path) -> None:
    found = pages(tmp_path, SYNCHRONOUS, 4, 2000)
    assert "prefetch()" in " ".join(column(found["overview_page"], "hints", "title"))
    tf_data = found["tf_data_bottleneck_analysis"]
    assert set(column(tf_data, "advice", "finding")) == {"slow_map", "missing_prefetch", "cache"}
    work = found["input_pipeline_analyzer"]
    advised = dict(zip(column(work, "input_work", "work"), column(work, "input_work", "advice"), strict=True))
    assert advised["preprocessing"] == column(tf_data, "advice", "title")[0]


def test_why_names_the_stage_and_the_remedy_of_the_page(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, vm=draw.space("/host:CPU\n" + SYNCHRONOUS, 4, 1000))
    why, work, tf_data = (
        capture.answer(name) for name in ("why", "input_pipeline_analyzer", "tf_data_bottleneck_analysis")
    )
    assert why["headline"]["text"] == work["headline"]["text"]
    assert why["headline"]["text"].endswith("; the slowest stage is Map.")
    assert column(why, "causes", "id")[0] == "input"
    assert column(why, "causes", "remedy")[0] == column(tf_data, "advice", "title")[0]
    assert column(tf_data, "pipelines", "delays_steps") == [True]


def test_pipelines_that_are_alike_are_to_blame_together() -> None:
    """Each epoch makes its own, whose iterators lie elsewhere."""
    host = draw.host("/host:CPU\n" + SYNCHRONOUS.replace("id=", "id=10s+"), 4, 1000)
    assert len(diagnoses(host)) == 4
    assert diagnose([host]).headline.sentence.text.endswith("; the slowest stage is Map.")


@pytest.mark.parametrize(
    ("text", "ending"), [(HELD, "though elements were ready."), (BEHIND, "; the slowest stage is Shuffle.")]
)
def test_a_wait_for_ready_elements_has_no_slow_stage(tmp_path: Path, text: str, ending: str) -> None:
    drawn = text.replace("OWN", "600").replace("PART", "205")
    assert pages(tmp_path, drawn, 3, 1000)["overview_page"]["headline"]["text"].endswith(ending)


def filling_shuffle(reads: int) -> str:
    below = " ".join(f"Iterator::Root::Batch::Shuffle::Map[{20 + 5 * i},4]{{id=4, parent_id=3}}" for i in range(reads))
    return f"""
  python | train[0,1000]{{_r=1, step_num=0}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1}} Iterator::Root::Batch[13,798]{{id=2, parent_id=1}}
         | Iterator::Root::Batch::Shuffle[14,790]{{id=3, parent_id=2, buffer_size=150}} {below}
         | train[2000,1000]{{_r=1, step_num=1}} IteratorGetNext:IteratorGetNext[2010,60]
         | Iterator::Root[2012,55]{{id=1}} Iterator::Root::Batch[2013,50]{{id=2, parent_id=1}}
         | Iterator::Root::Batch::Shuffle[2014,40]{{id=3, parent_id=2, buffer_size=150}}
         | Iterator::Root::Batch::Shuffle::Map[2015,4]{{id=4, parent_id=3}}
"""


def test_a_shuffle_that_fills_its_buffer_is_warm_up(tmp_path: Path) -> None:
    found = drawn(filling_shuffle(150))
    assert found.pipeline.starting.tolist() == [True, False]
    assert found.pipeline.typical_ps == 55e6
    first = found.findings[0]
    assert (first.id, found.pipeline.stages[first.stage].label) == ("filling_shuffle", "Shuffle")
    assert "1 of 2 calls" in first.evidence
    assert "151 elements" in first.evidence
    answer = pages(tmp_path, filling_shuffle(150))["tf_data_bottleneck_analysis"]
    assert "warm-up" in answer["headline"]["text"]
    assert column(answer, "pipelines", "filling_calls") == [1]


def test_a_shuffle_that_is_filled_again_is_no_warm_up() -> None:
    """An iterator of its own for each step, as of ``next(iter(dataset))``."""
    every_step, _ = filling_shuffle(150).replace("step_num=0", "step_num=s").split("         | train", 1)
    first = drawn(every_step, steps=4, every=1000).findings[0]
    assert first.id == "refilled_shuffle"
    assert "keep one iterator for all epochs" in first.title
    assert "dataset.shuffle(1000)\ndataset = dataset.map(" in first.code
    assert "4 of 4 calls" in first.evidence


def test_a_shuffle_that_passes_elements_on_is_none() -> None:
    found = drawn(filling_shuffle(2))
    assert not found.pipeline.starting.any()
    assert not any(each.id.startswith("filling") for each in found.findings)


def cached(repeat: str) -> str:
    cache = "Iterator::Root::Prefetch::MemoryCache"
    return f"""
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1}} Iterator::Root::Prefetch[13,798]{{id=2, parent_id=1}}
         | PrefetchConsume[805,1]{{element_id=7}}
  tf_a   | PrefetchProduce[14,790]{{element_id=7}} {cache}[15,788]{{id=3, parent_id=2}}
         | {cache}::MemoryCacheImpl[16,786]{{id=4, parent_id=3}}
         | {cache}::MemoryCacheImpl{repeat}::ParallelMapV2[17,780]{{id=5, parent_id=4}}
         | ParallelMapConsume[780,1]{{element_id=3}}
"""


def test_a_cache_in_its_first_epoch_is_said_and_not_asked_for() -> None:
    first, *rest = drawn(cached("")).findings
    assert first.id == "filling_cache"
    assert "later epoch" in first.title
    assert not any("cache" in each.title or "cache" in each.code for each in rest)


def test_a_cache_behind_a_repeat_is_never_full() -> None:
    text = cached("::ForeverRepeat").replace("ParallelMapV2[17", "X[17")
    repeat = "Iterator::Root::Prefetch::MemoryCache::MemoryCacheImpl::ForeverRepeat"
    text = text.replace("::X[17", "[17") + f"         | {repeat}::Map[20,700]{{id=6, parent_id=5}}\n"
    found = drawn(text)
    assert not found.pipeline.starting.any()
    assert found.findings[0].id == "late_cache"


DEVICE = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNextAsOptional:IteratorGetNextAsOptional[10,810]
         | Iterator::Prefetch[12,800]{id=1} PrefetchConsume[805,1]{element_id=7}
  tf_a   | PrefetchProduce[14,790]{element_id=7} Iterator::Prefetch::Generator[15,788]{id=2, parent_id=1}
"""


def test_a_generator_of_a_device_is_the_strategys(tmp_path: Path) -> None:
    answer = pages(tmp_path, DEVICE, 3, 2000)["tf_data_bottleneck_analysis"]
    told = " ".join([answer["headline"]["text"], *column(answer, "checks", "evidence")])
    assert "Python" not in told
    assert "host pipeline made no call" in answer["headline"]["text"]
    found = checks(answer)
    assert found["transformation"][0] == found["prefetch"][0] == "unknown"
    assert "distribution strategy" in found["prefetch"][1]
    assert column(answer, "advice", "title") == []


def test_what_a_strategy_asks_ahead_lacks_no_prefetch() -> None:
    host = draw.host("/host:CPU\n" + SYNCHRONOUS.replace("python", "tf_data_multi_device_iterator_resource/7"))
    (pipeline,) = pipelines(host)
    assert pipeline.is_served
    assert not structure.lacks_prefetch(pipeline)


def waits(*steps: tuple[int, int]) -> str:
    """Steps of a duration, each with so long a wait, µs."""
    rows, begin = [], 0
    for number, (time, wait) in enumerate(steps):
        rows.append(
            f"  python | train[{begin},{time}]{{_r=1, step_num={number}}} "
            f"IteratorGetNext:IteratorGetNext[{begin + 1},{wait}] Iterator::Root[{begin + 2},{wait - 2}]{{id=1}} "
            f"Iterator::Root::Map[{begin + 3},{wait - 4}]{{id=2, parent_id=1}} "
            f"x/MatMul:MatMul[{begin + wait + 2},{time - wait - 3}]"
        )
        begin += time + 10
    return "\n".join(rows)


def test_the_gain_is_measured_by_steps_that_did_not_wait(tmp_path: Path) -> None:
    host = draw.host("/host:CPU\n" + waits((1500, 700), (1500, 700), (1400, 10), (1400, 10)))
    cost = input_cost(host)
    assert cost.compared
    assert cost.gain_ps == pytest.approx(50e6)
    assert cost.waited_ps == pytest.approx(355e6)
    as_long = waits((1400, 700), (1400, 700), (1400, 10), (1400, 10))
    assert input_cost(draw.host("/host:CPU\n" + as_long)).gain_ps == 0
    found = pages(tmp_path, as_long)
    assert found["input_pipeline_analyzer"]["headline"]["code"] == "input.idle"
    answers = {id: level for id, (level, _) in checks(found["tf_data_bottleneck_analysis"]).items()}
    assert answers["fast"] == answers["steps"] == "ok"
    assert "last no longer" in column(found["tf_data_bottleneck_analysis"], "checks", "answer")[0]
    # The Overview promises nothing either.
    diagnosis = diagnose([draw.host("/host:CPU\n" + as_long)], replays=True)
    (waiting,) = [cause for cause in diagnosis.causes if cause.id == "input"]
    assert waiting.gain_ps == 0 and "last as long" in waiting.sentence.text and diagnosis.causes[0] is not waiting
    assert "teps without input wait lasted as long" in found["tf_data_bottleneck_analysis"]["headline"]["text"]


def test_short_calls_that_cost_are_not_said_to_cost_nothing(tmp_path: Path) -> None:
    short = waits(*[(400, 40)] * 4)
    cost = input_cost(draw.host("/host:CPU\n" + short))
    assert cost.costly
    assert not cost.costs_nothing
    assert "last no longer" not in column(pages(tmp_path, short)["tf_data_bottleneck_analysis"], "checks", "answer")[0]


def test_steps_that_differ_too_much_prove_nothing() -> None:
    """Those that wait last as long as the others in the median, by chance: they take 1 to 3 ms, whatever they wait."""
    times = ((1000, 700), (2000, 700), (3000, 700), (1100, 10), (2000, 10), (2900, 10))
    cost = input_cost(draw.host("/host:CPU\n" + waits(*times)))
    assert not cost.compared and cost.gain_ps == cost.waited_ps


def test_without_such_steps_the_wait_itself_bounds_the_gain() -> None:
    cost = input_cost(draw.host("/host:CPU\n" + waits((1500, 700), (1600, 800))))
    assert not cost.compared
    assert cost.gain_ps == cost.waited_ps == pytest.approx(750e6)


FUNCTIONS = """
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{id=1} Iterator::Root::Prefetch[13,790]{id=2, parent_id=1}
         | PrefetchConsume[790,1]{element_id=7}
  tf_a   | PrefetchProduce[14,700]{element_id=7} Iterator::Root::Prefetch::Map[15,600]{id=3, parent_id=2}
         | InstantiatedCapturedFunction::Run[20,500]{id=99}
  tf_b   | ExecutorState::Process[30,400]{id=99} resize/Resize:Resize[31,390]
"""


def test_waiting_is_not_preprocessing_and_functions_are(tmp_path: Path) -> None:
    # The map's 100 µs of its own, the 10 µs of Root, and 400 µs on the executor's thread; not Prefetch's 790.
    assert transformation_ps(draw.host("/host:CPU\n" + FUNCTIONS)) == 510e6
    answer = pages(tmp_path, FUNCTIONS, 2, 2000)["input_pipeline_analyzer"]
    work = dict(zip(column(answer, "input_work", "work"), column(answer, "input_work", "time_ms"), strict=True))
    assert work["preprocessing"] == pytest.approx(2 * 0.51)
    ops = dict(zip(column(answer, "input_ops", "name"), column(answer, "input_ops", "category"), strict=True))
    assert ops["Iterator::Root::Prefetch"] == "Wait for threads"


WITHOUT = ("tfdata", "jax_", "eager_loop", "keras_lstm")
CAPTURES = [
    *sorted(TRACES.glob("tfdata/*.pb")),
    *(path for path in sorted(TRACES.iterdir()) if path.is_dir() and not path.name.startswith(WITHOUT)),
]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
def test_pages_never_contradict_each_other(path: Path) -> None:
    capture = tb_profile_plugin.open(path)
    input_headline = capture.answer("input_pipeline_analyzer")["headline"]
    tf_data_headline = capture.answer("tf_data_bottleneck_analysis")["headline"]
    on_input, on_tf_data = input_headline["code"], tf_data_headline["text"]
    if on_tf_data.startswith("Elements were ready"):
        assert tf_data_headline["level"] == input_headline["level"]
    if on_tf_data.startswith(("tf.data is the bottleneck", "tf.data delays the steps", "Elements were ready")):
        assert on_input.startswith("headline.input")
    elif "keeps up" in on_tf_data:
        assert on_input in ("input.none", "input.little", "input.idle")
    ends = [structure.lacks_prefetch(each) for host in capture.select() for each in pipelines(host)]
    told = "missing_prefetch" in column(capture.answer("overview_page"), "hints", "id")
    assert any(ends) or not told


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
def test_advice_asks_for_nothing_that_is_there(path: Path) -> None:
    for host in tb_profile_plugin.open(path).select():
        for found in diagnoses(host):
            kinds = {stage.kind for stage in found.pipeline.stages}
            told = {each.id: each.title + each.code for each in found.findings}
            if ends_in_prefetch(found.pipeline):
                assert "missing_prefetch" not in told
            for code, text in told.items():
                assert "cache" not in text or not kinds & {"MemoryCache", "FileCache"} or code.endswith("_cache")
                if found.pipeline.stages[max(found.pipeline.bottleneck, 0)].kind == "ParallelMap":
                    assert "in parallel, and" not in text


def test_prefetching_saves_no_more_than_overlaps() -> None:
    """Input that takes most of the step stays, however far ahead it is made, even by cores that had time for it."""
    capture = tb_profile_plugin.open(TRACES / "starved_input")
    (found,) = diagnoses(capture.select()[0])
    assert found.are_cores_busy
    told = {finding.id: finding.gain_ps for finding in replace(found, are_cores_busy=False).findings}
    why = capture.answer("why")
    shares = dict(zip(column(why, "step", "id"), column(why, "step", "share"), strict=True))
    assert shares["input"] > 0.8
    assert 0 < (told["missing_prefetch"] or 0) <= (1 - shares["input"]) * why["facts"]["period_ps"]["value"]


@pytest.mark.parametrize(("epochs", "id"), [(2, "filling_shuffle"), (3, "refilled_shuffle")])
def test_pipelines_alike_of_which_each_fills_a_shuffle_are_one_that_is_made_again(epochs: int, id: str) -> None:
    """Iterators without an id in common, for each epoch; two may be those of training and of evaluation."""
    first_step = filling_shuffle(150).split("         | train", 1)[0]
    text = "/host:CPU\n" + "".join(
        re.sub(
            r"\[(\d+),|\b(id|parent_id)=(\d+)",
            lambda part, epoch=epoch: (  # type: ignore[misc]
                f"[{int(part[1]) + 1000 * epoch}," if part[1] else f"{part[2]}={10 * epoch + int(part[3])}"
            ),
            first_step.replace("step_num=0", f"step_num={epoch}").replace("python", "" if epoch else "python"),
        )
        for epoch in range(epochs)
    )
    found = diagnoses(draw.host(text))
    assert [each.findings[0].id for each in found] == [id] * epochs
    assert ("3 pipelines with these stages" in found[0].findings[0].evidence) == (epochs == 3)
