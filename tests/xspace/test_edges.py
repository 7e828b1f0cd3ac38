"""What the wire format allows and real captures show: each case is drawn, decoded and looked at."""

import re

import draw
import numpy as np
import pytest
import upb

from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.formats.protobuf import varint

LINE = """
/host:CPU
  t | A[1,2]{x=1, y=2u, z=0.5, text=word, ref=&other, r=-3} B[4,1]
"""


def decode(space: object) -> XSpace:
    return xspace.decode(space.SerializeToString(), "f")  # type: ignore[attr-defined]


def test_stats_of_every_kind() -> None:
    (plane,) = decode(draw.space(LINE)).planes
    assert plane.event_facts(0) == {"x": 1, "y": 2, "z": 0.5, "text": "word", "ref": "other", "r": -3}
    assert plane.event_facts(1) == {}
    assert plane.stat("y").numbers.tolist() == [2]
    assert plane.stat("text").strings == ["word"]
    assert plane.stat("ref").strings == ["other"]
    assert plane.stat("x").strings == [""], "a number is no text"
    assert plane.stat("text").numbers.tolist() == [0], "a text is no number"
    assert len(plane.stat("never")) == 0


def test_bytes_and_large_numbers() -> None:
    drawn = draw.space(LINE)
    stats = drawn.planes[0].lines[0].events[0].stats
    stats[0].bytes_value = b"\x00\xff"
    stats[1].uint64_value = 2**64 - 1
    stats[5].int64_value = -(2**63)
    facts = decode(drawn).planes[0].event_facts(0)
    assert (facts["x"], facts["y"], facts["r"]) == (b"\x00\xff", 2**64 - 1, -(2**63))


def test_a_stat_without_a_value_is_none() -> None:
    drawn = draw.space(LINE)
    drawn.planes[0].lines[0].events[0].stats[0].ClearField("int64_value")
    assert decode(drawn).planes[0].event_facts(0)["x"] is None


def test_facts_of_a_plane() -> None:
    (plane,) = decode(draw.space("/device:GPU:0 {clock_rate=1530000u, device_vendor=Nvidia, share=0.5}")).planes
    assert plane.facts() == {"clock_rate": 1530000, "device_vendor": "Nvidia", "share": 0.5}


def test_the_map_key_wins_over_the_id_inside() -> None:
    drawn = draw.space(LINE)
    drawn.planes[0].event_metadata[1].id = 77
    (plane,) = decode(drawn).planes
    assert plane.names[plane.events.name[0]] == "A"
    assert 77 not in plane.metadata.key


def test_the_last_entry_of_a_key_wins() -> None:
    for key in (1, 2**40):
        space = draw.XSpace()
        plane = space.planes.add()
        plane.lines.add().events.add(metadata_id=key)
        plane.event_metadata[key].name = "first"
        data = space.SerializeToString()
        again = draw.XSpace()
        again.planes.add().event_metadata[key].name = "second"
        entry = again.planes[0].SerializeToString()
        body = plane.SerializeToString() + entry
        space = draw.XSpace.FromString(b"\x0a" + varint(len(body)) + body)
        assert space.planes[0].event_metadata[key].name == "second", "as protobuf has it"
        (decoded,) = xspace.decode(b"\x0a" + varint(len(body)) + body).planes
        assert decoded.names[decoded.events.name[0]] == "second"
        assert len(data) < len(body)


def test_missing_metadata_has_no_name() -> None:
    drawn = draw.space("/host:CPU\n  t | ?[1,2]")
    drawn.planes[0].lines[0].events[0].stats.add(metadata_id=12345, int64_value=1)
    (plane,) = decode(drawn).planes
    assert plane.events.name.tolist() == [0]
    assert plane.names[0] == ""
    assert plane.event_facts(0) == {"": 1}


@pytest.mark.parametrize("key", [0, -5, 2**62, -(2**63)])
def test_keys_of_any_size(key: int) -> None:
    drawn = draw.space("/host:CPU")
    plane = drawn.planes[0]
    plane.event_metadata[key].name = "odd"
    plane.event_metadata[3].name = "three"
    plane.stat_metadata[key].name = "fact"
    line = plane.lines.add()
    line.events.add(metadata_id=key).stats.add(metadata_id=key, int64_value=4)
    line.events.add(metadata_id=3)
    (decoded,) = decode(drawn).planes
    assert [decoded.names[row] for row in decoded.events.name] == ["odd", "three"]
    assert decoded.event_facts(0) == {"fact": 4}


def test_unknown_fields_are_skipped() -> None:
    extra = b"".join([b"\xf8\x07\x05", b"\xf9\x07" + b"x" * 8, b"\xfa\x07\x03abc", b"\xfd\x07" + b"x" * 4])
    event = b"\x08\x01" + extra + b"\x10\x80\x89\x7a" + b"\x18\x05"
    line = extra + b"\x22" + varint(len(event)) + event
    entry = b"\x08\x01\x12" + varint(len(extra) + 3) + b"\x12\x01A" + extra
    plane = b"\x1a" + varint(len(line)) + line + extra + b"\x22" + varint(len(entry)) + entry
    data = extra + b"\x0a" + varint(len(plane)) + plane
    space = xspace.decode(data)
    assert list(space.problems) == []
    (decoded,) = space.planes
    assert decoded.names[decoded.events.name[0]] == "A"
    assert (decoded.events.begin.tolist(), decoded.events.duration.tolist()) == ([2_000_000], [5])


def test_events_out_of_order_are_sorted_with_their_stats() -> None:
    drawn = draw.space("/host:CPU\n  t | C[9,1]{n=3} inner[1,1]{n=2} A[1,5]{n=1}\n  u | Z[0,1]{n=4}")
    (plane,) = decode(drawn).planes
    assert [plane.names[row] for row in plane.events.name] == ["A", "inner", "C", "Z"]
    assert [plane.event_facts(i)["n"] for i in range(4)] == [1, 2, 3, 4]


def test_a_line_in_several_messages_is_one_line() -> None:
    text = (
        "/host:CPU\n  Stream #7 | C[5,2]{n=3} D[5,1]{n=4}\n  other | X[9,1]{n=5}\n  Stream #7 | A[1,3]{n=1} B[2,1]{n=2}"
    )
    drawn = draw.space(text)
    drawn.planes[0].lines[0].timestamp_ns = 1000
    (plane,) = decode(drawn).planes
    assert (plane.lines.id.tolist(), list(plane.lines.name)) == ([7, 2], ["Stream #7", "other"])
    assert plane.lines.begin.tolist() == [0, 0]
    assert plane.lines.first_event.tolist() == [0, 4, 5]
    assert [plane.names[row] for row in plane.events.name] == ["A", "B", "C", "D", "X"]
    assert [plane.event_facts(i)["n"] for i in range(5)] == [1, 2, 3, 4, 5]


def test_lines_of_one_id_and_two_names_stay_two() -> None:
    drawn = draw.space("/host:CPU\n  a | A[1,1]\n  b | B[2,1]\n  | C[3,1]\n  a | D[3,1]")
    for line in drawn.planes[0].lines:
        line.id = 7 if line.name == "b" else 0
    (plane,) = decode(drawn).planes
    assert list(plane.lines.name) == ["a", "b", "a"], "an id of 0 tells no line from another"


def test_display_names_win() -> None:
    drawn = draw.space(LINE)
    drawn.planes[0].lines[0].display_name = "shown"
    drawn.planes[0].event_metadata[1].display_name = "Op"
    (plane,) = decode(drawn).planes
    assert list(plane.lines.name) == ["shown"]
    assert [plane.display_names[row] for row in plane.events.name] == ["Op", "B"]
    assert [plane.names[row] for row in plane.events.name] == ["A", "B"]


def test_aggregated_events() -> None:
    drawn = draw.space(LINE)
    drawn.planes[0].lines[0].events[1].num_occurrences = 12
    (plane,) = decode(drawn).planes
    assert sorted(plane.events.occurrences.tolist()) == [0, 12]


def test_line_timestamps_are_added() -> None:
    drawn = draw.space(LINE)
    drawn.planes[0].lines[0].timestamp_ns = 5
    (plane,) = decode(drawn).planes
    assert plane.events.begin.tolist() == [1_005_000, 4_005_000]


def test_epoch_times_count_from_the_earliest_line() -> None:
    drawn = draw.space("/host:CPU\n  t | A[1,2]\n  u | B[1,2]\n  empty |")
    epoch = 1_700_000_000_123_456_789
    drawn.planes[0].lines[0].timestamp_ns, drawn.planes[0].lines[1].timestamp_ns = epoch + 7, epoch
    space = decode(drawn)
    assert space.origin_ns == epoch
    assert space.planes[0].events.begin.tolist() == [1_007_000, 1_000_000]
    assert list(space.problems) == []


def test_times_beyond_belief_are_cut_and_told() -> None:
    drawn = draw.space(LINE)
    first, second = drawn.planes[0].lines[0].events
    first.duration_ps, second.offset_ps = -5, 2**63 - 1
    space = decode(drawn)
    assert space.planes[0].events.duration.tolist() == [0, 1_000_000]
    assert int(space.planes[0].events.end.max()) < 2**62
    (problem,) = space.problems
    assert (problem.code, problem.severity, problem.where) == ("impossible_times", "warning", "f")
    assert problem.message.startswith("2 events")


def test_mixed_epoch_and_zero_lines_do_not_overflow() -> None:
    drawn = draw.space("/host:CPU\n  t | A[1,2]\n  u | B[1,2]")
    drawn.planes[0].lines[0].timestamp_ns = 2**63 - 1
    events = decode(drawn).planes[0].events
    assert (events.end >= events.begin).all()


def test_text_that_is_not_utf8() -> None:
    data = draw.space("/host:CPU\n  t | ABCD[1,2]").SerializeToString().replace(b"ABCD", b"\x00\xffCD")
    (plane,) = xspace.decode(data).planes
    assert plane.names[1] == "\x00�CD"


def test_errors_warnings_and_host_names() -> None:
    space = decode(draw.space("error: no CUPTI\nwarning: late\nhostname: h1\nhostname: h2"))
    assert (space.errors, space.warnings, space.hostnames) == (["no CUPTI"], ["late"], ["h1", "h2"])


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "empty"), (b"\x08\x01", "no planes"), (b"hello world, this is text", "damaged"), (b"\xff" * 40, "damaged")],
)
def test_what_is_no_capture(data: bytes, said: str) -> None:
    space = xspace.decode(data, "file")
    assert list(space.planes) == []
    assert any(said in problem.message for problem in space.problems)
    assert all(problem.remedy and problem.where == "file" for problem in space.problems)


def test_a_text_tools_damage_is_named() -> None:
    data = draw.space(LINE).SerializeToString() + b"\x0a\xff\xff\x03" + b"\xef\xbf\xbd" * 8
    (problem,) = xspace.decode(data).problems
    assert "binary mode" in problem.remedy


def test_progress_goes_from_nothing_to_all() -> None:
    seen: list[tuple[str, float]] = []
    xspace.decode(draw.space(LINE).SerializeToString(), "", lambda phase, fraction: seen.append((phase, fraction)))
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert all(re.fullmatch(r"[A-Z][a-z]+", phase) for phase, _ in seen)


def test_the_reference_of_these_tests_sees_what_was_drawn() -> None:
    (plane,) = upb.planes(draw.space(LINE).SerializeToString())
    np.testing.assert_array_equal(plane.begin, [1_000_000, 4_000_000])
    assert plane.stats.text == {3: b"word"}
