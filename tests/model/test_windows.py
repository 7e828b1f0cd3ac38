"""The capture's length is the program's, not the profiler's; lanes made from a device's record do not bridge pauses."""

import draw
import numpy as np

from tb_profile_plugin.compat.step_account.breakdown import parts_of_capture
from tb_profile_plugin.model.derived_lanes import lanes
from tb_profile_plugin.model.host import run_window

TRACED = """
/host:CPU
  python | $contextlib.py:1 __enter__[0,5000] $profiler.py:101 start_trace[0,4990] CollectGarbage[100,1]
  | $train.py:3 step[5001,99] dot[5010,50] $profiler.py:213 stop_trace[5200,3000] $os.py:1 write[5300,9]
/device:GPU:0
  Stream #1 | gemm[5050,200]
"""


def test_the_profilers_own_start_and_stop_are_not_the_program() -> None:
    host = draw.host(TRACED)
    assert [ps // 1_000_000 for ps in host.window] == [0, 8200]
    assert [ps // 1_000_000 for ps in run_window(host)] == [4990, 5250]
    assert parts_of_capture(host).sum() == 260_000_000


def test_what_a_pool_records_while_the_profiler_stops_is_not_the_program() -> None:
    host = draw.host(TRACED.replace("/device", "  pool | ThreadpoolListener::StartRegion[5260,2700]\n/device"))
    assert [ps // 1_000_000 for ps in run_window(host)] == [4990, 5250]


def test_frames_of_other_files_and_runs_between_change_nothing() -> None:
    text = "/host:CPU\n  python | dot[0,9] $profiler.py:9 start_trace[20,5] $my.py:9 stop_trace[40,9]"
    host = draw.host(text)
    assert run_window(host) == host.window


def test_a_program_that_pauses_is_shown_once_per_run() -> None:
    op = "{hlo_op=f, hlo_module=jit_f, program_id=7}"
    text = f"/device:GPU:0\n  Stream #1 | a[0,500]{op} b[900,200]{op} a[20000,500]{op} b[20600,200]{op}"
    host = draw.host(text)
    (found,) = [spans for key, _, _, spans in lanes(host, host.gpus[0]) if key.startswith("modules")]
    times = np.stack((found.begin, found.end), axis=1) // 1_000_000
    assert times.tolist() == [[0, 1100], [20000, 20800]]
