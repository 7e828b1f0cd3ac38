"""Devices' work of which the launch was not recorded, since it came before the capture, is not the first step's."""

import pytest
import torchtrace
from torchtrace import launch, mark, on_device

STEPS = [
    *(mark("ProfilerStep#5", 10, 90), mark("ProfilerStep#6", 100, 100)),
    *(launch(50, 20), launch(51, 30), launch(60, 110), launch(61, 120)),
    *(on_device(50, 400, 100), on_device(51, 50, 10, stream=9, tid=9), on_device(60, 500, 100)),
    on_device(61, 510, 10, stream=9, tid=9),
]


@pytest.mark.parametrize(
    ("early", "begin"),
    [
        ([(40, 7)], 390),
        # What is as early on another stream, too: but not what follows the step's own work there.
        ([(40, 7), (41, 9)], 390),
        ([(41, 9)], 10),
        # Ids among those of recorded launches: their launch is missing for another reason.
        ([(55, 7)], 10),
    ],
)
def test_the_first_step_begins_after_work_that_was_launched_before_the_capture(
    early: list[tuple[int, int]], begin: int
) -> None:
    work = [on_device(id, 100, 290, stream=stream, tid=stream) for id, stream in early]
    steps = torchtrace.host(*STEPS, *work).steps
    assert (steps.begin[0] - torchtrace.host(*STEPS).steps.begin[0]) / 1e6 == begin - 10
    assert (steps.end - steps.begin).tolist() == [(500 - begin) * 10**6, 100 * 10**6]
