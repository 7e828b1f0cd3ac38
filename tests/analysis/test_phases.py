"""What lies before the steps, or before the devices' work where there are none."""

import pytest
import torchtrace
from torchtrace import launch, mark, on_device, on_host

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.analysis.steps.typical_times import typical_times
from tb_profile_plugin.tools.columns.wall_time import phase_columns

S = 10**6


@pytest.mark.parametrize(
    ("call", "begin"), [("cudaDeviceGetStreamPriorityRange", 1), ("cudaDeviceSynchronize", 5), ("cudaGetDevice", 5)]
)
def test_the_drivers_start_belongs_to_the_devices_work(call: str, begin: int) -> None:
    duration = 100 if call == "cudaGetDevice" else 3 * S
    events = [on_host("cuda_runtime", call, S, duration), launch(1, 4.5 * S), on_device(1, 5 * S, S)]
    found = host_account(torchtrace.host(*events))
    work_begin, work_end = found.edges[2:4].tolist()
    assert (work_end - work_begin) / 1e12 == 6 - begin


def test_what_comes_before_the_drivers_start_is_not_said_to_come_before_the_work() -> None:
    late = [launch(1, 4.5 * S), on_device(1, 5 * S, S), on_host("cpu_op", "aten::add", 0, 10)]
    start = on_host("cuda_runtime", "cudaFree", S, 3 * S)
    labels = []
    for events in (late, [*late, start]):
        host = torchtrace.host(*events)
        labels.append([*map(str, phase_columns(diagnose([host]), [host])["label"])])
    assert labels == [
        ["From the first to the last device work", "Before the first device work"],
        ["From the driver's start to the last device work", "Before the driver's start"],
    ]


@pytest.mark.parametrize(("copied_us", "has_line"), [(30, True), (10, False)])
def test_copies_that_take_longer_than_compute_are_told_beside_it(copied_us: int, has_line: bool) -> None:
    """Both take less than a hundredth of the time from the first work to the last."""
    copy = torchtrace.on_device(1, 100, copied_us, "Memcpy HtoD (Pageable -> Device)")
    host = torchtrace.host(launch(1, 50), copy, launch(2, 9_000), on_device(2, 9_900, 20))
    assert [cause.id for cause in diagnose([host]).causes][-2:].count("exposed_copy") == has_line


def test_a_first_step_may_begin_on_the_host_before_devices_are_free_for_it() -> None:
    step = [mark("ProfilerStep#5", 0, 10), launch(5, 1), on_device(5, 100, 20)]
    assert not host_account(torchtrace.host(*step)).begins_ahead
    assert host_account(torchtrace.host(*step, on_device(2, 3, 97))).begins_ahead


@pytest.mark.parametrize(("first_us", "is_long"), [(10, True), (3000, False)])
def test_one_of_two_gaps_that_holds_nearly_all_of_their_time_is_long(first_us: float, is_long: bool) -> None:
    steps = [mark(f"ProfilerStep#{i}", at, 100) for i, at in enumerate((0, 100 + first_us, 5200 + first_us))]
    work = [
        event for i, step in enumerate(steps, 1) for event in (launch(i, step["ts"]), on_device(i, step["ts"] + 9, 80))
    ]
    after = on_host("cpu_op", "aten::add", 9_000, 10)
    found = typical_times([torchtrace.host(*steps, *work, after)], "typical", False).long_pauses
    assert (found is not None) == is_long
