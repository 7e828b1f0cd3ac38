"""Rows that tf.data pads to one length, as recorded shapes tell, and Python within steps that XLA is to compile."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps

STEP = """/host:CPU
  python | train[0,1000]{_r=1, step_num=s} IteratorGetNext:IteratorGetNext[10,30]
         | Iterator::Root[12,27]{id=1} OPS
         | Iterator::Root::PaddedBatchV2[13,25]{id=2, parent_id=1, shapes='BATCHES'}
         | Iterator::Root::PaddedBatchV2::Generator[14,20]{id=3, parent_id=2, shapes='ROWS'}
"""
MATMUL = "model/MatMul:MatMul[100,800]"


def padded(batches: str, rows: str, ops: str = MATMUL) -> HostWithSteps:
    """Five steps whose input is padded batches of these rows, each described by the shapes of its tensors."""
    return draw.host(STEP.replace("BATCHES", batches).replace("ROWS", rows).replace("OPS", ops), 5)


@pytest.mark.parametrize(
    ("batches", "rows", "pads"),
    [
        ("[12,120] [12,120]", "[?] [?]", True),
        ("[?,64,120]", "[64,?]", True),
        ("[12,?]", "[?]", False),
        ("[12,120]", "[120]", False),
        ("[12,120] [12]", "[?]", False),
        ("<unknown>", "[?]", False),
    ],
    ids=["all to one", "by the second size", "to the longest", "of one length", "of other tensors", "not recorded"],
)
def test_rows_of_any_length_that_are_padded_to_one(batches: str, rows: str, pads: bool) -> None:
    host = padded(batches, rows)
    assert ("pads_to_length" in program_facts(host)) == pads
    work = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert work.remedy.text.startswith("Pad batches to their longest row") == pads


def test_turns_over_padded_rows_are_padded_less() -> None:
    loop = " ".join(f"lstm/while/body/_7/lstm/while/add:AddV2[{100 + 40 * turn},10]" for turn in range(20))
    for batches, pads in (("[12,120]", True), ("[12,?]", False)):
        assert ("pads_turns" in program_facts(padded(batches, "[?]", loop))) == pads


@pytest.mark.parametrize(
    ("ops", "calls"), [(f"{MATMUL} x/EagerPyFunc:EagerPyFunc[910,50]", True), (MATMUL, False)], ids=["a call", "none"]
)
def test_xla_is_advised_only_where_nothing_calls_python(ops: str, calls: bool) -> None:
    assert ("calls_python" in program_facts(padded("[12,?]", "[?]", ops))) == calls


def test_python_of_the_input_is_none_of_the_step() -> None:
    run = "InstantiatedCapturedFunction::Run[15,15]{id=99, _pt=1, _p=7}"
    text = STEP.replace("::Generator[14,20]", "::Map[14,20]").replace("OPS", f"{run} {MATMUL}")
    text += "  tf_b   | ExecutorState::Process[16,13]{id=99, _ct=1, _c=7} x/EagerPyFunc:EagerPyFunc[17,10]"
    host = draw.host(text.replace("BATCHES", "[12,?]").replace("ROWS", "[?]"), 1)
    assert "calls_python" not in program_facts(host)
