"""The trace as other viewers read it."""

import json
from typing import Any

from draw import host
from protobuf import fields

from tb_profile_plugin.timeline import chrome, perfetto

TEXT = """
/host:CPU
  python | train[0,100]{_r=1} launch[5,2]{c=1, size=7, shape='(half[2])'}
  _counters_ | hbm[0,0]{bw=1.5} hbm[10,0]{bw=9}
/device:GPU:0
  Stream #13(Compute) | gemm[20,10]{c=1, kernel_details=regs}
  Async | copy[0,10] copy[5,10]
"""


def trace_events(**excerpt: int) -> list[dict[str, Any]]:
    text = "".join(chrome.pieces([host(TEXT)], chrome.Excerpt(**excerpt)))
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return events


def test_events_flows_counters_and_overlapping_events_for_chrome() -> None:
    events = trace_events()
    slices = {event["name"]: event for event in events if event["ph"] == "X"}
    assert slices["launch"]["ts"] == 5
    assert slices["launch"]["dur"] == 2
    assert slices["launch"]["args"] == {"correlation_id": 1001, "size": 7, "shape": "(half[2])"}
    start, finish = (next(event for event in events if event["ph"] == phase) for phase in "sf")
    assert (start["id"], start["ts"], finish["ts"]) == (finish["id"], 5, 20)
    assert (finish["pid"], finish["tid"]) == (slices["gemm"]["pid"], slices["gemm"]["tid"])
    assert [event["args"]["value"] for event in events if event["ph"] == "C"] == [1.5, 9]
    assert [event["ts"] for event in events if event["ph"] == "e"] == [10, 15]


def test_an_excerpt_holds_what_overlaps_its_range() -> None:
    names = {event["name"] for event in trace_events(begin=25_000_000, end=26_000_000) if event["ph"] == "X"}
    assert names >= {"train", "gemm"}
    assert "launch" not in names


def test_begins_and_ends_pair_up_on_each_track_for_perfetto() -> None:
    packets = [dict(fields(packet)) for _, packet in fields(b"".join(perfetto.pieces([host(TEXT)])))]
    tracks = [dict(fields(packet[60])) for packet in packets if 60 in packet]
    names_of_tracks = {track[2].decode() for track in tracks if 2 in track}
    assert names_of_tracks >= {"Stream #13(Compute)", "Async", "Async 1", "Async 2", "hbm"}
    open_on: dict[int, int] = {}
    last: dict[int, int] = {}
    flows: dict[int, list[bytes]] = {47: [], 48: []}
    names: dict[Any, Any] = {}
    for packet in packets:
        if 12 in packet:
            names |= {dict(fields(entry))[1]: dict(fields(entry))[2] for _, entry in fields(packet[12])}
        if 11 not in packet:
            continue
        event = dict(fields(packet[11]))
        track = event[11]
        assert packet[8] >= last.get(track, 0)
        last[track] = packet[8]
        open_on[track] = open_on.get(track, 0) + {1: 1, 2: -1, 4: 0}[event[9]]
        assert open_on[track] >= 0
        if event[9] == 1:
            assert names[event[10]]
        for number in flows:
            flows[number] += [event[number]] if number in event else []
    assert set(open_on.values()) == {0}
    assert flows[47] == flows[48] != []
