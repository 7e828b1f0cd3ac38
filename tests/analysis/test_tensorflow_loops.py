"""A loop that calls a function for one element after the other, as tf.map_fn makes it, is named with what it costs."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.tensorflow.tensorflow_loops import table_gradients_ps
from tb_profile_plugin.model.host import HostWithSteps

MAP = "model/crops_1/map/while/body/_7/model/crops_1/map/while/resize:ResizeBilinear"


def turns(count: int, each: int, name: str = MAP, rest: int = 100) -> HostWithSteps:
    """Five steps of 1 ms: turns of a loop, so many µs from one to the next, in each of which one op is recorded; then a
    product.
    """
    process, run = "ExecutorState::Process", "{_ct=2, _c=10s+1}"
    ops = " ".join(
        f"{process}[{at},{each - 1}]{run} {name}[{at + 1},{each // 5}]" for at in range(60, 60 + each * count, each)
    )
    end = 60 + each * count
    text = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[20,960] EagerKernelExecute[30,940]
         | FunctionRun[32,8]{{_pt=2, _p=10s+1}}
  tf_Compute/1 | {ops} {process}[{end},{rest + 20}]{run} model/dense/MatMul:MatMul[{end + 10},{rest}]
"""
    return draw.host(text, steps=5)


def overhead(host: HostWithSteps) -> Cause:
    return next(cause for cause in diagnose([host], replays=True).causes if cause.id == "dispatch")


@pytest.mark.parametrize("name", [MAP, MAP.replace("while/", "while/model/crops_1/map/while_grad/", 1)])
def test_the_scope_of_a_loop_over_elements_is_named(name: str) -> None:
    found = overhead(turns(40, 20, name))
    assert "crops (tf.map_fn)" in found.sentence.text
    assert "function of crops once for the whole batch instead of 40 times" in found.remedy.text
    assert "maps_in_loop" in program_facts(turns(40, 20, name))


def test_a_loop_outside_of_all_scopes_is_called_after_its_function() -> None:
    assert (
        "function of tf.map_fn once for the whole batch instead of 40 times"
        in overhead(turns(40, 20, "map/while/body/_7/map/while/Cos:Cos")).remedy.text
    )


@pytest.mark.parametrize(
    ("count", "each", "name"),
    [
        (40, 20, MAP.replace("map/", "")),
        (40, 20, "model/map_image/while/body/_7/model/map_image/while/Relu:Relu"),
        (4, 200, MAP),
        (12, 10, MAP),
    ],
    ids=["a recurrent layer", "a layer of that name", "few turns", "little of the step"],
)
def test_other_loops_have_no_such_remedy(count: int, each: int, name: str) -> None:
    host = turns(count, each, name)
    assert "maps_in_loop" not in program_facts(host)
    assert "tf.map_fn" not in overhead(host).remedy.text


@pytest.mark.parametrize(
    ("name", "count", "holds"),
    [
        ("model/lstm_1/while/body/_7/model/lstm_1/while/add:AddV2", 40, True),
        ("gradient_tape/model/lstm_1/while/model/lstm_1/while_grad/body/_7/add:AddV2", 40, True),
        ("model/lstm_1/while/body/_7/model/lstm_1/while/add:AddV2", 4, False),
        ("model/dense_1/meanwhile/add:AddV2", 40, False),
        (MAP, 40, False),
    ],
    ids=["a recurrent layer", "its gradient", "few turns", "no loop", "tf.map_fn"],
)
def test_turns_of_a_recurrent_layer_are_what_a_step_is(name: str, count: int, holds: bool) -> None:
    host = turns(count, 20, name)
    assert ("takes_turns" in program_facts(host)) == holds
    assert ("shorter sequences" in overhead(host).remedy.text) == holds


def test_a_headline_says_that_a_loop_takes_the_time() -> None:
    found = diagnose([turns(45, 18, "rank/while/body/_7/rank/while/add:AddV2", rest=10)])
    assert found.headline.sentence.text.endswith("of 1.00 ms), in turns of a loop.")


GRADIENTS = "gradient_tape/while/while_grad/body/_88/gradient_tape/while/gradients/AddN"


@pytest.mark.parametrize(
    ("name", "fills"),
    [
        (f"{GRADIENTS}/inputs_1:UnsortedSegmentSum", True),
        ("gradient_tape/model/embedding/AddN/inputs_1:UnsortedSegmentSum", False),
        (f"{GRADIENTS}/inputs_1:Mul", False),
    ],
    ids=["in turns", "without a loop", "another op"],
)
def test_a_lookup_in_each_turn_fills_the_whole_table(name: str, fills: bool) -> None:
    """As ``tf.gather(table, row)`` in a ``for`` over rows does."""
    ops = " ".join(f"{name}[{at},60] {GRADIENTS}:AddN[{at + 60},20]" for at in range(60, 860, 100))
    text = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[20,960] EagerKernelExecute[30,940]
         | FunctionRun[32,8]{{_pt=2, _p=10s+1}}
  tf_Compute/1 | ExecutorState::Process[50,900]{{_ct=2, _c=10s+1}} {ops} while/MatMul:MatMul[870,50]
"""
    host = draw.host(text, steps=5)
    assert ("gathers_in_loop" in program_facts(host)) == fills
    assert table_gradients_ps(host) == (640 * 10**6 if fills else 0)
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert ("before the loop" in compute.remedy.text) == fills
