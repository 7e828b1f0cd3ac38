"""Which ops a pipeline's map mostly runs, beside its name: users did not write the name."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.tfdata.functions import ops_of_functions

MAPPED = """
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} IteratorGetNext:IteratorGetNext[10,810]
         | Iterator::Root[12,800]{{id=1}} Iterator::Root::{stage}[13,790]{{id=2, parent_id=1}}
         | InstantiatedCapturedFunction::RunAsync[20,600]{{id=99, _pt=2, _p=1s}}
  tf_b   | ExecutorState::Process[30,500]{{id=99, _ct=2, _c=1s}} {ops}
"""


@pytest.mark.parametrize(
    ("stage", "times", "label"),
    [
        ("Map", (300, 60, 40), "Map (ResizeBilinear)"),
        ("Map", (150, 100, 80, 80), "Map (ResizeBilinear, DecodeJpeg)"),
        ("Map", (90, 80, 80, 80, 80), "Map"),
        ("Filter", (300, 60, 40), "Filter"),
    ],
    ids=["one op", "two ops", "many ops", "no map"],
)
def test_ops_that_make_most_of_a_maps_function_are_named(stage: str, times: tuple[int, ...], label: str) -> None:
    ops, at = [], 31
    for name, time in zip(("ResizeBilinear", "DecodeJpeg", "Cast", "Mul", "Pad"), times, strict=False):
        ops.append(f"scope/{name}:{name}[{at},{time}]")
        at += time
    host = draw.host(MAPPED.format(stage=stage, ops=" ".join(ops)), 4, 1000)
    assert list(ops_of_functions(host).values()) == sorted((4 * time * 10**6 for time in times), reverse=True)
    assert diagnose([host]).headline.sentence.text.endswith(f"; the slowest stage is {label}.")


def test_where_no_step_waits_for_input_nothing_is_looked_for() -> None:
    ops = "scope/ResizeBilinear:ResizeBilinear[31,300]"
    text = MAPPED.format(stage="Map", ops=ops).replace("[0,1000]", "[0,100000]")
    assert ops_of_functions(draw.host(text, 4, 100_000)) == {}
