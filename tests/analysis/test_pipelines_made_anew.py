"""Pipelines of tf.data that a program makes in each step, or for each request: one loss, with one remedy."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose


@pytest.mark.parametrize(("make", "told"), [(500, True), (50, False)])
def test_a_pipeline_that_each_step_makes_anew_is_to_be_made_once(make: int, told: bool) -> None:
    """As Keras' ``predict()`` does: its stages are not to blame for that."""
    drawn = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} MakeIterator::PrefetchDataset[10,{make}]
         | IteratorGetNext:IteratorGetNext[{20 + make},{750 - make}] Iterator::Root[{22 + make},{740 - make}]{{id=1}}
         | Iterator::Root::Batch[{24 + make},{736 - make}]{{id=2, parent_id=1}} x/MatMul:MatMul[800,150]
"""
    found = diagnose([draw.host(drawn, 6, 1000)])
    assert found.causes[0].id == "input"
    assert found.causes[0].remedy.text.startswith("Make the input once") == told
    assert ("the slowest stage" in found.headline.sentence.text) != told


def test_making_an_iterator_has_one_name() -> None:
    """None of its stages lasts as long as all of it."""
    drawn = """
/host:CPU
  python | train[0,500]{_r=1, step_num=s} x/MatMul:MatMul[10,480] TFE_Py_FastPathExecute_C[550,400]
         | EagerExecute[560,380] EagerLocalExecute: MakeIterator[570,360] EagerKernelExecute[572,350]
         | KernelAndDeviceFunc::Run[574,340] MakeIterator::RootDataset[640,270] MakeIterator::MapDataset[645,260]
"""
    cause = diagnose([draw.host(drawn.replace("\n         |", ""), 6, 1000)]).causes[0]
    assert [(name, round(count)) for name, _, count in cause.names][:1] == [("MakeIterator", 1)]


def test_a_pipeline_that_is_made_anew_is_one_loss_with_the_graphs_of_its_functions() -> None:
    """As a service makes ``from_tensor_slices(...).map(...)`` for each request."""
    drawn = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} tf.function-graph_building[10,200] convert_to_tensor[50,20]
         | EagerLocalExecute: MapDataset[220,80] EagerLocalExecute: MakeIterator[310,390]
         | EagerKernelExecute[320,370] KernelAndDeviceFunc::Run[330,350] MakeIterator::RootDataset[500,170]
         | MakeIterator::MapDataset[510,150] x/MatMul:MatMul[720,250]
"""
    found = diagnose([draw.host(drawn.replace("\n         |", ""), 6, 1000)])
    assert {cause.id for cause in found.causes} == {"input", "compute", "unrecorded"}
    assert "MakeIterator (390 µs per step), MapDataset (280 µs per step)" in found.causes[0].sentence.text
    assert found.causes[0].remedy.text.startswith("Make the input once")


def test_a_function_that_is_traced_before_a_pipeline_is_made_is_none_of_it() -> None:
    drawn = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} score[5,300]{tf_function_call=traced-nonXla}
         | tf.function-graph_building[10,200] EagerLocalExecute: __inference_score_1[220,80]
         | EagerLocalExecute: MapDataset[310,80] x/MatMul:MatMul[420,550]
"""
    found = diagnose([draw.host(drawn.replace("\n         |", ""), 6, 1000)])
    assert {"retrace", "input"} <= {cause.id for cause in found.causes}
