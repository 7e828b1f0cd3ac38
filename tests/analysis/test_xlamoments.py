"""When instructions run after their program began: on the CPU by runs, on a GPU by the first of an op's kernels."""

import draw
import pytest

from tb_profile_plugin.analysis.xla.run_times import mean_begins

CPU = """
/host:CPU
  t | a[10,5]{hlo_op=a, program_id=7, run_id=1} in_loop[15,1]{hlo_op=l, program_id=7, run_id=1}
  | in_loop[17,1]{hlo_op=l, program_id=7, run_id=1} b[20,5]{hlo_op=b, program_id=7, run_id=1}
  | in_loop[105,1]{hlo_op=l, program_id=7, run_id=2} in_loop[107,1]{hlo_op=l, program_id=7, run_id=2}
  | a[100,5]{hlo_op=a, program_id=7, run_id=2} b[114,5]{hlo_op=b, program_id=7, run_id=2}
  | c[300,5]{hlo_op=c, program_id=8, run_id=3}
"""
GPU = """
/device:GPU:0
  Stream #1 | k[10,5]{hlo_op=a, program_id=7} k2[16,2]{hlo_op=a, program_id=7} m[30,5]{hlo_op=b, program_id=7}
  | k[50,5]{hlo_op=a, program_id=7} k2[56,2]{hlo_op=a, program_id=7} m[60,5]{hlo_op=b, program_id=7}
"""


@pytest.mark.parametrize(("drawn", "after"), [(CPU, 12), (GPU, 15)])
def test_mean_of_the_runs(drawn: str, after: int) -> None:
    host = draw.host(drawn)
    assert mean_begins(host, 7) == {"a": 0, "b": after * 10**6}
    assert mean_begins(host, 9) == {}


def test_nothing_ran() -> None:
    assert mean_begins(draw.host("/host:CPU\n  t | step[0,9]"), 7) == {}
