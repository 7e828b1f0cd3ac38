"""Calls of tf.data's iterators: who called whom, across threads, and what a damaged capture does to that."""

import numpy as np
import pytest
from draw import host

from tb_profile_plugin.analysis.tfdata.iterator_calls import TfData, tf_data
from tb_profile_plugin.model.events.event_table import MISSING
from tb_profile_plugin.model.iterators import IteratorCalls, calls, kind_of, stage_path


def found(text: str) -> IteratorCalls:
    answer = calls(host("/host:CPU\n" + text))
    assert answer is not None
    return answer


def pipelines(text: str) -> TfData:
    answer = tf_data(host("/host:CPU\n" + text))
    assert answer is not None
    return answer


PREFETCH = """
  python | Iterator::Root[100,100]{id=1} Iterator::Root::Prefetch[101,98]{id=2, parent_id=1}
         | PrefetchConsume[190,1]{element_id=7}
  tf_data_a | PrefetchProduce[50,140]{element_id=7}
            | Iterator::Root::Prefetch::Map[51,138]{id=3, parent_id=2}
            | Iterator::Root::Prefetch::Map::Range[52,30]{id=4, parent_id=3}
"""


def test_kinds_and_places() -> None:
    assert kind_of("ParallelInterleaveV4[3]") == "ParallelInterleave"
    assert stage_path("Iterator::Root::Interleave[3]::Range") == "Iterator::Root::Interleave[]::Range"
    assert stage_path("Iterator::Root::Zip[1]::Range") == "Iterator::Root::Zip[1]::Range"


def test_an_element_leads_to_the_call_that_took_it() -> None:
    answer = found(PREFETCH)
    assert answer.parent.tolist() == [-1, 0, 1, 2]
    assert answer.linked.tolist() == [False, False, True, False]
    assert answer.depth.tolist() == [0, 1, 2, 3]
    assert answer.top.tolist() == [0, 0, 0, 0]
    assert answer.ready[1] == 190_000_000
    assert answer.ready[0] == MISSING


def test_each_moment_is_blamed_on_one_call() -> None:
    (pipeline,) = pipelines(PREFETCH).pipelines
    by_label = {stage.label: stage for stage in pipeline.stages}
    assert {label: stage.critical_ps // 10**6 for label, stage in by_label.items()} == {
        "Root": 2,
        "Prefetch": 10,
        "Map": 88,
        "Range": 0,
    }
    assert by_label["Map"].self_ps == 108_000_000
    assert by_label["Prefetch"].wait_ps == 89_000_000
    assert pipeline.stages[pipeline.bottleneck].label == "Map"


@pytest.mark.parametrize("function_us", [60, 160])
def test_an_input_that_never_rests_is_to_blame_while_a_function_runs(function_us: int) -> None:
    """Each element takes its input some time, and then a function, while the input makes the next one."""

    def critical_us(input_us: int) -> dict[str, int]:
        text = f"\n  python | Iterator::Root[{function_us},400]{{id=1}}"
        for at in range(4):
            begin = function_us + 100 * at
            text += f" Iterator::Root::ParallelMapV2[{begin + 1},98]{{id=2, parent_id=1}}"
            text += f" ParallelMapConsume[{begin + 98},1]{{element_id={at}}}"
        for at in range(6):
            text += f"\n  tf_a | ParallelMapProduce[{100 * at},{input_us}]{{element_id={at}}}"
            text += f" Iterator::Root::ParallelMapV2::Range[{100 * at},{input_us}]{{id=3, parent_id=2}}"
        stages = pipelines(text).pipelines[0].stages
        assert sum(stage.critical_ps for stage in stages) == 400_000_000
        return {stage.label: stage.critical_ps // 10**6 for stage in stages}

    never_rests, rests = critical_us(100), critical_us(20)
    assert never_rests["Range"] > 380
    assert rests["ParallelMapV2"] > 300


def test_children_that_overlap_are_subtracted_once() -> None:
    data = pipelines("""
  python | Iterator::Root[0,100]{id=1} ParallelMapConsume[90,1]{element_id=7}
  a | ParallelMapProduce[10,50]{element_id=7} Iterator::Root::X[10,50]{id=2, parent_id=1}
  b | ParallelMapProduce[30,50]{element_id=7} Iterator::Root::X[30,50]{id=2, parent_id=1}
""")
    assert data.times.self_ps.tolist() == [30_000_000, 50_000_000, 50_000_000]
    assert data.times.critical_ps.tolist() == [30_000_000, 50_000_000, 20_000_000]


def test_work_that_began_before_the_capture_goes_to_the_call_that_waited() -> None:
    answer = found("""
  python | Iterator::Root[0,100]{id=1} Iterator::Root::Prefetch[1,98]{id=2, parent_id=1}
         | PrefetchConsume[90,1]{element_id=7}
  tf_data_a | Iterator::Root::Prefetch::Batch::Map[0,60]{id=4, parent_id=3}
""")
    assert answer.parent.tolist() == [-1, 0, 1]
    assert answer.adopted.tolist() == [False, False, True]
    assert answer.damage == {"no_parent": 1}


def test_iterators_in_a_circle_are_cut_open() -> None:
    answer = found("""
  python | Iterator::Root[0,100]{id=1}
  a | Iterator::Root::A[0,10]{id=2, parent_id=3} Iterator::Root::B[20,10]{id=3, parent_id=2}
""")
    assert answer.damage["cycle"] == 1
    assert answer.damage["no_pipeline"] == 2


def test_calls_in_a_circle_are_cut_open() -> None:
    data = pipelines("""
  python | Iterator::Root[0,5]{id=1}
  a | PrefetchProduce[0,50]{element_id=1} Iterator::Root::A[0,50]{id=2, parent_id=3} PrefetchConsume[40,1]{element_id=2}
  b | PrefetchProduce[0,50]{element_id=2} Iterator::Root::B[0,50]{id=3, parent_id=2} PrefetchConsume[40,1]{element_id=1}
""")
    assert data.calls.damage["cycle"] == 2
    assert int((data.calls.parent < 0).sum()) == 2


def test_an_id_for_two_iterators_is_told() -> None:
    answer = found("""
  python | Iterator::Root[0,100]{id=1} Iterator::Root::A[0,10]{id=2, parent_id=1}
         | Iterator::Root::B[20,10]{id=2, parent_id=1}
""")
    assert answer.damage == {"reused_id": 1}


def test_a_hundred_deep() -> None:
    names = ["Iterator::Root"]
    for level in range(100):
        names.append(f"{names[-1]}::T{level}")
    drawn = " ".join(
        f"{name}[{level},{1000 - 2 * level}]{{id={level + 1}, parent_id={level}}}" for level, name in enumerate(names)
    )
    (pipeline,) = pipelines(f"  python | {drawn}").pipelines
    assert len(pipeline.stages) == 101
    assert sum(stage.critical_ps for stage in pipeline.stages) == 1_000_000_000


def test_no_iterators_no_pipelines() -> None:
    assert calls(host("/host:CPU\n  python | train[0,10]{_r=1} Iterator::Root[1,2]")) is None
    assert calls(host("/device:GPU:0\n  Stream #1 | k[0,1]")) is None


def test_the_first_call_that_can_have_used_an_element_gets_it() -> None:
    answer = found("""
  python | Iterator::Root[0,10]{id=1} PrefetchConsume[8,1]{element_id=0}
         | Iterator::Root[20,10]{id=1} PrefetchConsume[28,1]{element_id=0}
  a | PrefetchProduce[15,10]{element_id=0} Iterator::Root::A[15,10]{id=2, parent_id=1}
""")
    assert answer.parent.tolist() == [-1, -1, 1]
    assert np.array_equal(answer.is_root, [True, True, False])


def test_a_pipeline_that_is_made_anew_is_one() -> None:
    """The second epoch's iterators lie where the first one's did, but for the outermost."""
    text = """
  python | Iterator::Root[0,10]{id=1} Iterator::Root::Batch[1,8]{id=2, parent_id=1}
         | Iterator::Root[20,10]{id=3} Iterator::Root::Batch[21,8]{id=2, parent_id=3}
         | Iterator::Root[40,10]{id=4} Iterator::Root::Batch[41,8]{id=OTHER, parent_id=4}
"""
    epochs, *others = pipelines(text.replace("OTHER", "2")).pipelines
    assert (len(epochs.requests), [stage.calls for stage in epochs.stages], others) == (3, [3, 3], [])
    assert [len(each.requests) for each in pipelines(text.replace("OTHER", "9")).pipelines] == [2, 1]


def test_a_call_that_skips_elements_has_its_element_with_the_last_one() -> None:
    """As below a shard: the elements that others keep are consumed, too."""
    answer = found("""
  python | Iterator::Root[0,100]{id=1} ParallelMapConsume[5,1]{element_id=1} ParallelMapConsume[90,1]{element_id=2}
""")
    assert answer.ready.tolist() == [answer.begin[0] + 90_000_000]
