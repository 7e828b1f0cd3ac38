"""Steps after the last work that devices recorded, though the host goes on as before, do not count."""

import pytest
import torchtrace
from torchtrace import frame, launch, mark, on_device, op

from tb_profile_plugin.analysis.health.capture_health import findings_of_host
from tb_profile_plugin.model.host import HostWithSteps


def drawn(kernels: int, later: str = "forward", later_us: int = 100, copies: int = 0) -> HostWithSteps:
    """Six steps: kernels in so many of the first ones, after which the host calls that, and copies in others."""
    events = []
    for step in range(6):
        is_later = step >= kernels
        begin, duration, name = 1000 * step, later_us if is_later else 100, later if is_later else "forward"
        events += [mark(f"ProfilerStep#{step}", begin, duration), frame(f"train.py(3): {name}", begin, 90)]
        events += [op(f"aten::{name}", begin + 10, 50), launch(2 * step + 1, begin + 15)]
        if not is_later:
            events.append(on_device(2 * step + 1, begin + 20, 60))
        if step < copies:
            events += [launch(2 * step + 2, begin + 17), on_device(2 * step + 2, begin + 80, 5, "Memcpy", "gpu_memcpy")]
    return torchtrace.host(*events)


def said(host: HostWithSteps) -> list[str]:
    return [str(each.message) for each in findings_of_host(host) if each.code == "devices_unrecorded"]


@pytest.mark.parametrize("copies", [0, 5])
def test_steps_whose_kernels_were_not_recorded_do_not_count(copies: int) -> None:
    host = drawn(3, copies=copies)
    assert host.steps.complete.tolist() == [True] * 3 + [False] * 3
    assert said(host) == ["GPU:0 recorded kernels in 3 of 6 steps; averages leave out the others."]


@pytest.mark.parametrize(
    "host",
    [
        drawn(6),
        drawn(0),
        # Evaluation that computes elsewhere, and a tail on the CPU, are other work, or take another time.
        drawn(3, "evaluate"),
        drawn(3, later_us=900),
        # One step may be anything.
        drawn(1),
    ],
)
def test_steps_without_kernels_count_where_the_program_has_none_there(host: HostWithSteps) -> None:
    assert host.steps.complete.all()
    assert not said(host)
