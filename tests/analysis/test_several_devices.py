"""What is said of compute where a host has several devices: any of them counts, and one alone computes for less."""

import draw
import pytest

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose

SENTENCE = (
    "This is the time in which at least one of 2 devices computes. Each computes for 40 % of the step on average."
)


@pytest.mark.parametrize(("second_begin", "share", "is_said"), [(500, 0.8, True), (100, 0.4, False)])
def test_devices_that_compute_by_turns(second_begin: int, share: float, is_said: bool) -> None:
    """A third one only copies."""
    text = "/host:CPU\n  python | train[0,1000]{_r=1, step_num=s}\n"
    text += "/device:GPU:2\n  Stream #9 | MemcpyH2D[0,5]{memcpy_details='kind_src:pageable size:8'}\n"
    for device, begin in enumerate((100, second_begin)):
        text += f"/device:GPU:{device}\n  Stream #7 | gemm[{begin},400]{{kernel_details='regs:8 grid:1,1,1'}}\n"
    cause = next(cause for cause in diagnose([draw.host(text, 4)]).causes if cause.id == "compute")
    assert cause.share == pytest.approx(share)
    assert (SENTENCE in cause.sentence.text) == is_said
