"""Calls that work on a device of their own each are replicas of one step, not turns of a loop."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose

TEXT = """
/host:CPU
  python | EagerExecute: __inference_train_7[0,100]  EagerExecute: __inference_train_7[500,100]
         | Launch[10,5]{c=1}  Launch[510,5]{c=2}
/device:GPU:0
  Stream #7(Compute) | gemm[20,50]{c=1}
"""


@pytest.mark.parametrize(("device", "between_us"), [("  Stream #7", 400), ("/device:GPU:1\n  Stream #7", 0)])
def test_no_time_passes_between_steps_of_different_devices(device: str, between_us: int) -> None:
    host = draw.host(TEXT + f"{device} | gemm[520,50]{{c=2}}")
    found = diagnose([host], replays=True).typical
    assert len(found.steps) == 2
    assert found.between_ps.sum() == between_us * 10**6
