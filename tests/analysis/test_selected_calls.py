"""The calls of a part of a timeline: whose time, device time, idle time and memory they are; times in µs."""

import draw
import drawn
import pytest
from trees import holds, paths

from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.timeline.calls import BYTES, DEVICE, IDLE, TIME, selected_calls, weights
from tb_profile_plugin.timeline.selection import LaneRows
from tb_profile_plugin.timeline.tiles import timeline

US = 1_000_000
NESTED = """
/host:CPU
  python | $train.py:3 step[0,100] outer[10,50] $model.py:7 call[12,40] inner[20,5]
  pool | inner[0,30]
"""
TIMES = {
    "python 1": (0, 100),
    "python 1/train.py:3 step": (50, 100),
    "python 1/train.py:3 step/outer": (10, 50),
    "python 1/train.py:3 step/outer/model.py:7 call": (35, 40),
    "python 1/train.py:3 step/outer/model.py:7 call/inner": (5, 5),
    "pool 2": (0, 30),
    "pool 2/inner": (30, 30),
}


def weighed(
    host: HostWithSteps, begin: int = 0, end: int = 1000, weight: str = TIME, lanes: str = "", per: int = US
) -> dict[str, tuple[float, float]]:
    """(own, total) by path, of the lanes whose names begin so."""
    found = timeline(host).lanes
    areas = [LaneRows(place) for place, lane in enumerate(found) if lane.name.startswith(lanes)]
    tree = selected_calls(host, areas, begin * US, end * US, weight)
    holds(tree)
    return {path: (own / per, total / per) for path, (own, total) in paths(tree).items()}


def test_frames_and_other_events_of_a_thread_nest_in_each_other() -> None:
    assert weighed(draw.host(NESTED)) == TIMES


def test_only_what_lies_in_the_range_and_on_the_rows_counts() -> None:
    host = draw.host(NESTED)
    assert weighed(host, 22, 30, lanes="pool") == {"pool 2": (0, 8), "pool 2/inner": (8, 8)}
    inner = selected_calls(host, [LaneRows(0, 1, 2)], 0, 1000 * US)
    assert {path: own for path, (own, _) in paths(inner).items()} == {"python 1": 0, "python 1/inner": 5 * US}


def test_work_of_devices_belongs_to_the_call_that_launched_it() -> None:
    host = draw.decoded(drawn.nvidia())
    assert weights(host) == [TIME, DEVICE, IDLE, BYTES]
    launched = weighed(host, 0, 900, DEVICE, "tf_Compute")
    own = {path.split("/")[-1]: own for path, (own, _) in launched.items() if own}
    assert own == {"cuLaunchKernel": 300 + 100 + 120, "cuMemcpyHtoDAsync": 40}


def test_idle_time_belongs_to_the_call_that_a_device_waits_for() -> None:
    host = draw.decoded(drawn.nvidia())
    idle = weighed(host, 0, 100_000, IDLE)
    assert idle
    assert all(total > 0 for _, total in idle.values())


def test_memory_belongs_to_the_call_that_allocates_it() -> None:
    host = draw.decoded(drawn.nvidia())
    allocated = weighed(host, 0, 1000, BYTES, per=1)
    assert {path.split("/")[-1]: own for path, (own, _) in allocated.items() if own} == {"MemoryAllocation": 4096}


def test_steps_that_differ_by_their_number_are_calls_of_one_path() -> None:
    host = draw.host("/host:CPU\n  python | ProfilerStep#6[0,10] a[1,2] ProfilerStep#7[20,10] a[21,3]")
    assert weighed(host) == {
        "python 1": (0, 20),
        "python 1/ProfilerStep": (15, 20),
        "python 1/ProfilerStep/a": (5, 5),
    }


def test_without_devices_only_time_is_told() -> None:
    assert weights(draw.host(NESTED)) == [TIME]


@pytest.mark.parametrize("weight", [TIME, DEVICE, IDLE, BYTES])
def test_nothing_selected_is_an_empty_tree(weight: str) -> None:
    assert weighed(draw.host(NESTED), 5000, 6000, weight) == {}
