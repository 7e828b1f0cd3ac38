"""What must hold on any trace, however its events lie: tried on random ones."""

import itertools
from typing import Any

import draw
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.analysis.self_times import nested_times
from tb_profile_plugin.analysis.steps import step_time
from tb_profile_plugin.compat.step_account.breakdown import parts_of_capture, parts_of_steps
from tb_profile_plugin.compat.step_account.parts import DEVICE
from tb_profile_plugin.model.host import HostWithSteps

LAW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True)

HOST_NAMES = [
    "a/MatMul:MatMul",
    "b:B",
    "IteratorGetNext",
    "Iterator::Root::Map",
    "XlaCompile",
    "MEMCPYHtoD",
    "FunctionRun",
    "EagerExecute",
    "anything",
    "Launch",
]
DEVICE_NAMES = ["sgemm", "h884gemm", "ncclAllReduce", "MemcpyH2D", "MemcpyD2H", "MemcpyP2P", "other_kernel"]

times = some.tuples(some.integers(0, 60), some.integers(0, 25))
"""Begin and duration in µs: so few that ends often meet."""


def line(names: list[str]) -> Any:
    """Events that may nest, touch, overlap and coincide."""
    return some.lists(some.tuples(some.sampled_from(names), times, some.integers(0, 4)), max_size=12)


def serial(events: Any) -> Any:
    """One after the other, as a stream runs them: begins taken as gaps, and nothing takes no time."""
    at, answer = 0, []
    for name, (gap, duration), number in events:
        answer.append((name, (at + gap // 4, duration + 1), number))
        at += gap // 4 + duration + 1
    return answer


traces = some.fixed_dictionaries(
    {
        "markers": some.lists(some.tuples(some.integers(0, 80), some.integers(1, 40)), max_size=4),
        "threads": some.lists(line(HOST_NAMES), max_size=3),
        "streams": some.lists(line(DEVICE_NAMES).map(serial), max_size=2),
    }
)


def drawing(trace: dict[str, Any]) -> Any:
    """The drawn space: numbers of events are correlation ids and context links alike."""
    text = ["/host:CPU", "  python | " + " ".join(f"train[{b},{d}]{{_r=1}}" for b, d in trace["markers"])]
    launches = itertools.count()
    for i, events in enumerate(trace["threads"]):
        row = " ".join(f"{name}[{b},{d}]{{{host_stats(name, n, launches)}}}" for name, (b, d), n in events)
        text.append(f"  thread{i} | {row}")
    text.append("/device:GPU:0 {compute_cap_major=8}")
    for i, events in enumerate(trace["streams"]):
        row = " ".join(f"{name}[{b},{d}]{{c={n}, tf_op=op{n}:Op}}" for name, (b, d), n in events)
        text.append(f"  Stream #{i + 1} | {row}")
    return draw.space("\n".join(text))


def host_stats(name: str, number: int, launches: Any) -> str:
    if name == "Launch":
        return f"c={next(launches)}"
    return f"_pt=0, _p={number}" if number % 2 else f"_ct=0, _c={number + 1}"


def figures(host: HostWithSteps) -> Any:
    """All that the laws speak of."""
    found = step_time.slowest_steps([host])
    whole = parts_of_capture(host)
    parts = sorted(zip(found.duration_ps.tolist(), found.state_ps.tolist(), strict=True))
    return parts, whole.tolist(), table(host_ops(host)), table(device_ops(host))


def table(ops: OpTable) -> Any:
    return (
        sorted((op.name, op.type, op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps) for op in ops.ops),
        ops.busy_ps,
        ops.idle_ps,
    )


def length_of_union(spans: list[tuple[int, int]]) -> int:
    """Moments, µs by µs, that some span covers."""
    return len({moment for begin, duration in spans for moment in range(begin, begin + duration)})


@LAW
@given(traces)
def test_the_parts_of_a_step_sum_to_it(trace: dict[str, Any]) -> None:
    host = draw.decoded(drawing(trace))
    steps, found = host.steps, parts_of_steps(host, host.grouped_steps)
    np.testing.assert_array_equal(found.sum(axis=1), steps.end - steps.begin)
    assert (found >= 0).all()
    whole = parts_of_capture(host)
    assert int(whole.sum()) == host.window[1] - host.window[0]


@LAW
@given(traces)
def test_device_work_in_a_step_is_the_union_over_streams(trace: dict[str, Any]) -> None:
    host = draw.decoded(drawing(trace | {"threads": []}))
    copies = ("MemcpyH2D",)
    spans = [times for events in trace["streams"] for name, times, _ in events if name not in copies]
    expected = length_of_union(spans)
    whole = parts_of_capture(host)
    assert int(whole[:, list(DEVICE)].sum()) == expected * 1_000_000


@LAW
@given(some.lists(line(["a:A", "b:B", "c:C", "no op"]), max_size=3))
def test_self_times_of_a_thread_sum_to_the_union_of_its_ops(lines: list[Any]) -> None:
    text = "\n".join(
        f"  t{i} | " + " ".join(f"{name}[{b},{d}]" for name, (b, d), _ in row) for i, row in enumerate(lines)
    )
    host = draw.host(f"/host:CPU\n{text}")
    expected = sum(length_of_union([times for name, times, _ in row if name != "no op"]) for row in lines)
    found = host_ops(host)
    assert found.self_ps == found.busy_ps == expected * 1_000_000
    assert all(0 <= op.self_ps <= op.total_ps for op in found.ops)
    extremes = [(op.min_ps or 0, op.total_ps / op.occurrences, op.max_ps or 0) for op in found.ops]
    assert all(least <= mean <= most for least, mean, most in extremes)


@LAW
@given(some.lists(some.tuples(some.integers(0, 40), some.integers(0, 20)), max_size=12))
def test_self_times_by_hand(spans: list[tuple[int, int]]) -> None:
    """At every moment the op that began last (of those, the shortest) runs; counted moment by moment."""
    spans = sorted(spans, key=lambda span: (span[0], -span[1]))
    begin = np.array([b for b, _ in spans], np.int64)
    duration = np.array([d for _, d in spans], np.int64)
    op = np.arange(len(spans), dtype=np.int32)
    found, _ = nested_times(np.array([0, len(spans)]), begin, duration, op, len(spans))
    expected = [0] * len(spans)
    for moment in range(61):
        running = [i for i, (b, d) in enumerate(spans) if b <= moment < b + d]
        if running:
            expected[max(running)] += 1
    assert found[:, 2].tolist() == expected


@LAW
@given(traces, some.integers(1, 10**12))
def test_shifting_time_changes_nothing(trace: dict[str, Any], shift_ns: int) -> None:
    drawn = drawing(trace)
    before = figures(draw.decoded(drawn))
    for plane in drawn.planes:
        for each in plane.lines:
            each.timestamp_ns += shift_ns
    assert figures(draw.decoded(drawn)) == before


@LAW
@given(traces, some.randoms(use_true_random=False))
def test_the_order_of_lines_changes_nothing(trace: dict[str, Any], dice: Any) -> None:
    drawn = drawing(trace)
    before = figures(draw.decoded(drawn))
    for plane in drawn.planes:
        lines = list(plane.lines)
        dice.shuffle(lines)
        del plane.lines[:]
        plane.lines.extend(lines)
    assert figures(draw.decoded(drawn)) == before


@LAW
@given(traces, some.randoms(use_true_random=False))
def test_the_order_of_events_in_a_line_changes_nothing(trace: dict[str, Any], dice: Any) -> None:
    # Which of two events with the same span encloses the other is told by their order alone.
    threads = [list({times: (name, times, n) for name, times, n in events}.values()) for events in trace["threads"]]
    drawn = drawing(trace | {"markers": trace["markers"][:1], "threads": threads})
    before = figures(draw.decoded(drawn))
    for plane in drawn.planes:
        for each in plane.lines:
            events = list(each.events)
            dice.shuffle(events)
            del each.events[:]
            each.events.extend(events)
    assert figures(draw.decoded(drawn)) == before


@LAW
@given(traces, some.randoms(use_true_random=False))
def test_a_line_in_two_messages_is_one_line(trace: dict[str, Any], dice: Any) -> None:
    drawn = drawing(trace)
    before = figures(draw.decoded(drawn))
    for plane in drawn.planes:
        for line in list(plane.lines):
            place = dice.randrange(len(line.events) + 1)
            more = plane.lines.add(id=line.id, name=line.name)
            more.events.extend(line.events[place:])
            del line.events[place:]
    assert figures(draw.decoded(drawn)) == before
