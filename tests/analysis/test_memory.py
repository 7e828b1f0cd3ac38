"""Memory: what is alive when, use over time at every zoom, and what steps leave behind."""

from itertools import pairwise

import draw
import numpy as np
import pytest

from tb_profile_plugin.analysis.ops import memory as analysis
from tb_profile_plugin.model.devices.allocations import Allocations, allocations, dtype_name
from tb_profile_plugin.model.host import HostWithSteps

GPU = "allocator_name=GPU_0_bfc, bytes_reserved=10, fragmentation=0.25"


def event(at: float, address: int, size: int, heap: int, kind: str = "Allocation", more: str = "") -> str:
    stats = f"{GPU}, addr={address}, allocation_bytes={size}, requested_bytes={size - 1}, bytes_allocated={heap}"
    return f"Memory{kind}[{at},0]{{{stats}, bytes_available={1000 - heap}, peak_bytes_in_use={heap}{more}}}"


def free(at: float, address: int, size: int, heap: int) -> str:
    return event(at, address, size, heap, "Deallocation")


def memory(*events: str, steps: str = "") -> tuple[HostWithSteps, Allocations]:
    host = draw.host("/host:CPU\n  a | " + " ".join(events) + (f"\n  main | {steps}" if steps else ""))
    return host, allocations(host)["GPU_0_bfc"]


def test_what_is_alive_at_a_moment_and_what_was_there_before() -> None:
    matmul = ", tf_op='m/MatMul:MatMul', data_type=1, shape='[2]', region_type=output"
    _, found = memory(
        event(1, 100, 50, 550, more=matmul),
        event(2, 200, 50, 600, more=matmul),
        free(3, 999, 200, 400),
        event(4, 300, 30, 430, more=", data_type=119"),
        free(5, 100, 50, 380),
    )
    at_peak = analysis.holdings(found, found.peak)
    assert found.peak == 1
    assert [(h.op, h.size, h.occurrences, h.total) for h in at_peak] == [
        ("allocated before the capture", 500, 1, 500),
        ("m/MatMul:MatMul", 50, 2, 100),
        ("stack", 10, 1, 10),
    ]
    assert (at_peak[1].dtype, at_peak[1].shape, at_peak[1].region, at_peak[1].requested) == (
        "float",
        "[2]",
        "output",
        49,
    )
    at_end = analysis.holdings(found, len(found) - 1)
    assert [(h.op, h.total, h.dtype) for h in at_end] == [
        ("allocated before the capture", 300, "INVALID"),
        ("m/MatMul:MatMul", 50, "float"),
        ("", 30, "half_ref"),
        ("stack", 10, "INVALID"),
    ]
    assert sum(h.total for h in at_end) == found.in_use[-1]
    assert (found.text("op", 4), found.dtype_name(4), found.text("op", 2)) == ("m/MatMul:MatMul", "float", "")


def test_a_peak_counts_allocations_of_earlier_steps() -> None:
    host, found = memory(
        event(10, 1, 70, 70, more=", tf_op=kept"),
        event(110, 2, 30, 100, more=", tf_op=temp"),
        free(190, 2, 30, 70),
        steps="step[0,100]{_r=1, step_num=0} step[100,100]{_r=1, step_num=1}",
    )
    assert [(h.op, h.total) for h in analysis.holdings(found, found.peak)] == [
        ("kept", 70),
        ("temp", 30),
        ("stack", 10),
    ]
    first, second = analysis.step_memory(host, found)
    assert (first.left, first.outstanding, first.in_use, first.peak) == (70, 70, 80, 80)
    assert (second.left, second.outstanding, second.in_use, second.peak) == (0, 70, 80, 110)
    assert analysis.growth(host, found) == [analysis.Growth("kept", 1, 70, 70, 1, 0)]


def test_a_leak_climbs_from_step_to_step() -> None:
    rounds = []
    for step in range(4):
        at = 100 * step
        rounds += [event(at + 10, 10 + step, 5, 5 * step + 5, more=", tf_op=leak")]
        rounds += [event(at + 20, 90, 40, 5 * step + 45, more=", tf_op=fine"), free(at + 30, 90, 40, 5 * step + 5)]
    marks = " ".join(f"step[{100 * step},90]{{_r=1, step_num={step}}}" for step in range(4))
    host, found = memory(*rounds, steps=marks)
    assert [step.outstanding for step in analysis.step_memory(host, found)] == [5, 10, 15, 20]
    assert [step.peak - step.in_use for step in analysis.step_memory(host, found)] == [40] * 4
    assert analysis.growth(host, found) == [analysis.Growth("leak", 4, 20, 20, 4, 0)]


def test_the_largest_that_stays_stands_for_what_outlives_a_step() -> None:
    late = [event(110, 4, 50, 110, more=", tf_op=a"), free(210, 4, 50, 60)]
    host, found = memory(
        *(event(at, at, size, size, more=", tf_op=a") for at, size in ((10, 5), (20, 40), (30, 15))),
        *late,
        steps="step[0,100]{_r=1, step_num=0} step[100,100]{_r=1, step_num=1}",
    )
    (growth,) = analysis.growth(host, found)
    assert found.size[growth.event] == 40 and growth.left == 110


def test_a_new_allocation_at_an_address_ends_the_old_one() -> None:
    _, found = memory(event(1, 7, 10, 10), event(2, 7, 20, 20), free(3, 7, 20, 0))
    assert found.until.tolist() == [1, 2, -1]
    assert found.source.tolist() == [0, 1, 1]


def test_times_are_absolute_and_events_of_all_threads_in_one_order() -> None:
    space = draw.space("/host:CPU\n  a | " + event(50, 1, 10, 10) + "\n  b | " + event(10, 2, 20, 30))
    space.planes[0].lines[1].timestamp_ns = 100_000
    found = allocations(draw.decoded(space))["GPU_0_bfc"]
    assert found.time.tolist() == [50_000_000, 110_000_000]
    assert found.peak == 1


def test_names_that_lost_their_first_letter_are_mended() -> None:
    text = event(1, 1, 10, 10, more=", shape='XNUL250'").replace("GPU_0_bfc", "XNULPU_0_bfc")
    other = event(2, 1, 10, 10).replace("GPU_0_bfc", "XNULomething")
    space = draw.space(f"/host:CPU\n  a | {text} {other}")
    for each in space.planes[0].lines[0].events:
        for stat in each.stats:
            if stat.str_value:
                stat.str_value = stat.str_value.replace("XNUL", "\0")
    host = draw.decoded(space)
    assert sorted(allocations(host)) == ["GPU_0_bfc", "\N{REPLACEMENT CHARACTER}omething"]
    assert allocations(host)["GPU_0_bfc"].text("shape", 0) == "[250,…]"


def test_devices_by_number() -> None:
    text = "MemoryAllocation[1,0]{index_on_host=3, addr=1} MemoryAllocation[1,0]{device_ordinal=12u, addr=1}"
    assert list(allocations(draw.host("/host:CPU\n  a | " + text))) == ["12", "3"]


@pytest.mark.parametrize(("number", "name"), [(-1, ""), (0, "INVALID"), (3, "int32"), (101, "float_ref"), (99, "")])
def test_names_of_types(number: int, name: str) -> None:
    assert dtype_name(number) == name


def random_memory(count: int) -> Allocations:
    random = np.random.default_rng(7)
    sizes = random.integers(1, 1000, count)
    heap = np.abs(np.cumsum(sizes * random.choice([-1, 1], count))) + 1
    zero, one = np.zeros(count, np.int64), np.ones(count, bool)
    values = {"stack": zero, "heap": heap, "free": zero, "fragmentation": random.random(count)}
    values |= dict.fromkeys(("peak_in_use", "requested", "address", "op", "region", "shape", "dtype", "group"), zero)
    time = np.sort(random.integers(0, 10**9, count))
    links = {"until": np.full(count, count), "source": np.arange(count)}
    return Allocations("m", zero, time, one, size=sizes, texts={}, **values, **links)


@pytest.mark.parametrize(("begin", "end"), [(0, 10**9), (3 * 10**8, 5 * 10**8), (10**8, 10**8 + 1000)])
def test_the_series_shows_the_extremes_of_every_column(begin: int, end: int) -> None:
    found = random_memory(20000)
    shown = analysis.usage_series(found, begin, end, 100)
    assert len(shown) <= 302
    edges = np.linspace(begin, end + 1, 101)
    for low, high in pairwise(edges):
        inside = np.flatnonzero((found.time >= low) & (found.time < high))
        chosen = shown[np.isin(shown, inside)]
        if len(inside):
            assert found.in_use[chosen].max() == found.in_use[inside].max()
            assert found.in_use[chosen].min() == found.in_use[inside].min()
            assert found.fragmentation[chosen].max() == found.fragmentation[inside].max()


def test_the_sampled_timeline_keeps_the_peak() -> None:
    found = random_memory(2503)
    shown = analysis.sampled_events(found, 1000)
    assert len(shown) == 1000
    assert found.in_use[shown].max() == found.in_use.max()
    assert analysis.sampled_events(random_memory(10), 1000).tolist() == list(range(10))


def test_of_equal_peaks_the_one_that_stands_last_in_the_file_counts() -> None:
    late, early = event(2, 1, 50, 70), event(1, 2, 20, 70)
    found = allocations(draw.host(f"/host:CPU\n  a | {late}\n  b | {early} {event(3, 3, 80, 10)}"))["GPU_0_bfc"]
    # Their order in time is the other way round.
    assert (found.peak, found.event[found.peak]) == (0, 1)
