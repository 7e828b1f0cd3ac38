"""Rows, visible slices, counters, search, statistics and details of a timeline."""

import numpy as np
import pytest
from draw import host
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline import details
from tb_profile_plugin.timeline import rows as lane_rows
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.selection import LaneRows, statistics
from tb_profile_plugin.timeline.tiles import Timeline, timeline

US = 1_000_000


def lane(drawn: HostWithSteps, name: str) -> int:
    return next(i for i, lane in enumerate(timeline(drawn).lane_set.lanes) if lane.name == name)


def names(shown: Timeline, numbers: np.ndarray) -> list[str]:
    return [shown.names[number] for number in numbers.tolist()]


def seen(
    drawn: HostWithSteps, name: str, begin: float, end: float, width: int
) -> list[tuple[int, str, float, float, int]]:
    """(row, name, begin, end, how many) of what is visible of a lane, in µs."""
    shown = timeline(drawn)
    found = shown.slices([(lane(drawn, name), 0)], round(begin * US), round(end * US), width)
    times = (found.begin / US).tolist(), (found.end / US).tolist()
    return list(zip(found.row.tolist(), names(shown, found.name), *times, found.count.tolist(), strict=True))


NESTED = """
/host:CPU
  python | outer[0,100] first[10,20] inner[12,5] second[40,20]
"""


def test_events_stand_below_what_encloses_them() -> None:
    rows = [(row, name) for row, name, *_ in seen(host(NESTED), "python", 0, 100, 1000)]
    assert rows == [(0, "outer"), (1, "first"), (1, "second"), (2, "inner")]


def test_events_that_overlap_without_nesting_stand_side_by_side_and_rows_are_used_again() -> None:
    drawn = host("/host:CPU\n  python | a[0,10] b[5,10] c[12,10] d[30,1]")
    assert [(row, name) for row, name, *_ in seen(drawn, "python", 0, 40, 400)] == [
        (0, "a"),
        (0, "c"),
        (0, "d"),
        (1, "b"),
    ]


def test_tiny_neighbours_become_one_slice_that_bears_the_name_of_the_longest() -> None:
    events = " ".join(f"{'long' if i == 7 else 'short'}[{i},{0.9 if i == 7 else 0.5}]" for i in range(20))
    drawn = host(f"/host:CPU\n  python | {events} wide[40,30]")
    found = seen(drawn, "python", 0, 100, 5)
    assert found == [(0, "long", 0, 19.5, 20), (0, "wide", 40, 70, 1)]


def test_everything_is_reachable_by_zooming_in() -> None:
    events = " ".join(f"e{i}[{i},0.5]" for i in range(20))
    found = seen(host(f"/host:CPU\n  python | {events}"), "python", 7, 10.4, 1000)
    assert [(name, many) for _, name, _, _, many in found] == [("e7", 1), ("e8", 1), ("e9", 1), ("e10", 1)]


def test_only_the_first_rows_where_that_is_enough() -> None:
    drawn = host(NESTED)
    found = timeline(drawn).slices([(0, 1)], 0, 100 * US, 1000)
    assert names(timeline(drawn), found.name) == ["outer"]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 300)), min_size=1, max_size=300),
    st.integers(0, 3000),
    st.integers(1, 2000),
    st.integers(1, 400),
)
def test_a_view_counts_every_event_of_its_window_once(
    spans: list[tuple[int, int]], begin: int, span: int, width: int
) -> None:
    """Merged or not, nothing is lost and nothing shown twice; slices of a row do not overlap."""
    drawn = host("/host:CPU\n  t | " + " ".join(f"e{d % 5}[{b},{d}]" for b, d in spans))
    found = timeline(drawn).slices([(0, 0)], begin * US, (begin + span) * US, width)
    inside = sum(b + d >= begin and b <= begin + span for b, d in spans)
    assert int(found.count.sum()) == inside
    assert len(found.row) <= (2 * width + 4) * len(timeline(drawn).rows[0])
    for row in np.unique(found.row):
        mine = found.row == row
        assert (found.begin[mine][1:] >= found.end[mine][:-1]).all()


def test_large_blocks_give_what_single_events_give() -> None:
    events = " ".join(f"e{i % 7}[{3 * i},{1 + i % 3}]" for i in range(5000))
    drawn = host(f"/host:CPU\n  t | {events}")
    found = timeline(drawn).slices([(0, 0)], 0, 15000 * US, 3)
    assert found.count.sum() == 5000
    busy = (found.busy.astype(float) / 254) * (found.end - found.begin)
    assert busy.sum() == pytest.approx(sum(1 + i % 3 for i in range(5000)) * US, rel=0.01)
    longest = timeline(drawn).lane_set.lanes[0]
    at = found.event.astype(int)
    assert set((longest.end - longest.begin)[at].tolist()) == {3 * US}


@pytest.mark.parametrize("width", [7, 40, 150])
def test_merged_slices_are_half_a_column_longer_at_most_and_on_average_one(width: int) -> None:
    events = " ".join(f"e{i}[{3 * i},{1 + i % 3}]" for i in range(5000))
    drawn = host(f"/host:CPU\n  t | {events}")
    found = timeline(drawn).slices([(0, 0)], 0, 15000 * US, width)
    column = 15000 * US / width
    assert found.count.sum() == 5000
    assert (found.end - found.begin).max() <= 1.5 * column
    assert len(found.count) == pytest.approx(width, rel=0.35)


def test_more_rows_than_can_be_shown_share_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_rows, "MAX_ROWS", 3)
    drawn = host("/host:CPU\n  t | " + " ".join(f"e{i}[{i},100]" for i in range(6)))
    rows = timeline(drawn).rows[0]
    assert rows.row.tolist() == [0, 1, 2, 2, 2, 2]


def test_a_counter_has_no_slices_wherever_it_stands() -> None:
    points = " ".join(f"hbm[{i},0]{{bw={i}}}" for i in range(5000))
    drawn = host(f"/device:GPU:0\n  _counters_ | {points}\n  s | k[0,1] l[2,5000]")
    shown = timeline(drawn)
    counter, stream = lane(drawn, "hbm"), lane(drawn, "s")
    alone = shown.slices([(counter, 0)], 0, 100 * US, 100)
    assert {len(getattr(alone, column)) for column in alone.__dataclass_fields__} == {0}
    found = shown.slices([(counter, 0), (stream, 0), (counter, 1)], 0, 100 * US, 100)
    assert (found.lane.tolist(), names(shown, found.name)) == ([1, 1], ["k", "l"])


def test_a_counter_keeps_its_peaks() -> None:
    text = "/device:GPU:0\n  _counters_ | hbm[0,0]{bw=1} hbm[10,0]{bw=9} hbm[11,0]{bw=2} hbm[80,0]{bw=4}\n  s | k[0,1]"
    drawn = host(text)
    found = timeline(drawn).counter(lane(drawn, "hbm"), 0, 100 * US, 4)
    assert (found.begin / US).tolist() == [0, 80]
    assert [found.low.tolist(), found.high.tolist(), found.last.tolist()] == [[1, 4], [9, 4], [2, 4]]
    late = timeline(drawn).counter(lane(drawn, "hbm"), 50 * US, 60 * US, 4)
    assert late.last.tolist() == [2]  # What held before the window still holds in it.


GPU = """
/host:CPU
  python | train[0,100]{_r=1, step_num=1} launch[5,2]{c=1}
/device:GPU:0
  Stream #13(Compute) | gemm[20,10]{c=1, kernel_details=regs, tf_op='net/dense/MatMul:MatMul'}
                      | add[30,5]{kernel_details=regs, tf_op='net/dense/Add:Add'}
"""


def test_lanes_that_the_capture_lacks_come_from_the_streams() -> None:
    drawn = host(GPU)
    shown = timeline(drawn)
    device = next(section for section in shown.sections if section.kind == "device")
    assert [each.name for each in device.lanes] == [
        "Steps",
        "Framework Ops",
        "Framework Name Scope",
        "Stream #13(Compute)",
    ]
    assert [
        (row, name, end - begin) for row, name, begin, end, _ in seen(drawn, "Framework Name Scope", 0, 99, 99)
    ] == [
        (0, "net", 15),
        (1, "dense", 15),
    ]
    assert [name for _, name, *_ in seen(drawn, "Framework Ops", 0, 99, 99)] == ["MatMul", "Add"]


def test_stored_lanes_are_taken_as_they_are() -> None:
    drawn = host("/device:GPU:0\n  Stream #1(Compute) | k[0,5]{kernel_details=r, tf_op='a/B:B'}\n  Steps | 0[0,5]")
    assert [each.name for each in timeline(drawn).lane_set.lanes] == ["Steps", "Stream #1(Compute)"]


def test_python_functions_have_a_lane_of_their_own() -> None:
    drawn = host("/host:CPU\n  python | $a.py:1 f[0,9] train[1,5] $b.py:2 g[2,3]".replace("$a.py:1 f", "$a.py:1_f"))
    assert {each.kind for each in timeline(drawn).lane_set.lanes} == {"thread", "frames"}
    frames = timeline(drawn).lane_set.lanes[lane(drawn, "python · Python")]
    assert [frames.position(int(event)) for event in frames.events(np.arange(len(frames)))] == list(range(len(frames)))


def test_every_event_is_found_again_by_its_number() -> None:
    drawn = host(GPU)
    shown = timeline(drawn)
    for place, each in enumerate(shown.lanes):
        for position, event in enumerate(each.events(np.arange(len(each))).tolist()):
            assert shown.lane_set.find(event) == (place, position)
    assert shown.lane_set.find(10**6) == (-1, -1)


def test_statistics_of_a_box() -> None:
    drawn = host(NESTED)
    found = statistics(drawn, LaneRows(0, 0, 2), 0, 50 * US)
    rows = zip(names(timeline(drawn), found.name), found.count, found.total_ps // US, found.self_ps // US, strict=True)
    assert sorted(rows) == [("first", 1, 20, 15), ("outer", 1, 100, 60), ("second", 1, 20, 20)]
    assert (found.begin, found.end) == (0, 100 * US)
    assert len(statistics(drawn, LaneRows(0), 500 * US, 600 * US).name) == 0


def test_details_and_the_arrow_from_launch_to_kernel() -> None:
    drawn = host(GPU)
    kernel = int(search(drawn, Pattern("gemm"), args=False).event[0])
    told = details.details(drawn, kernel)
    assert (told["name"], told["op"], told["step"]) == ("gemm", "net/dense/MatMul", "train 1")
    assert told["args"]["kernel_details"] == "regs"
    arrow = details.arrows_of(drawn, kernel)[0]
    assert (drawn.trace.name(arrow.source), arrow.target, arrow.kind) == ("launch", kernel, "launch")
    places = range(len(timeline(drawn).lane_set.lanes))
    assert details.arrows_between(drawn, places, 0, 100 * US, 10) == ([arrow], 1)
    with pytest.raises(ProblemError):
        details.details(drawn, 10**6)


def test_a_lane_nests_unless_its_events_overlap() -> None:
    def nested(text: str) -> bool:
        shown = timeline(host(f"/host:CPU\n  t | {text}"))
        return lane_rows.is_nested(shown.lanes[0], shown.rows[0])

    assert nested("a[0,10] b[1,5] c[2,2] d[7,2] e[20,5]")
    assert not nested("a[0,10] b[5,10]")
