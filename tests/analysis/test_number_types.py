"""TensorFlow's ops that compute in float64 are known by the memory that they ask for."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts

FLOAT32, FLOAT64, INT64 = 1, 2, 9


@pytest.mark.parametrize(
    ("conv", "dense", "is_float64"),
    [(FLOAT64, FLOAT64, True), (FLOAT64, FLOAT32, True), (FLOAT32, FLOAT64, False), (INT64, INT64, False)],
    ids=["all", "the longest", "a short one", "whole numbers"],
)
def test_ops_with_results_in_float64(conv: int, dense: int, is_float64: bool) -> None:
    text = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} EagerExecute[20,960] EagerKernelExecute[30,940]
         | FunctionRun[32,8]{{_pt=2, _p=10s+1}}
  tf_Compute/1 | ExecutorState::Process[50,900]{{_ct=2, _c=10s+1}} conv/Conv2D:Conv2D[60,600]
               | MemoryAllocation[70,0]{{data_type={conv}, allocator_name=cpu}} dense/MatMul:MatMul[700,200]
               | MemoryAllocation[710,0]{{data_type={dense}, allocator_name=cpu}}
"""
    host = draw.host(text, steps=5)
    assert ("float64" in program_facts(host)) == is_float64
    found = diagnose([host])
    assert found.headline.sentence.text.endswith(", in float64.") == is_float64
    assert ("Compute in float32" in found.causes[0].remedy.text) == is_float64
