"""Routes of the timeline over real captures: slabs, several hosts on one clock, errors."""

import json
from pathlib import Path
from typing import Any

import draw
import numpy as np
import pytest
from werkzeug.test import Client, TestResponse

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.slabs import unpack

TRACES = Path(__file__).resolve().parent.parent / "traces"


@pytest.fixture(scope="module")
def server() -> Client:
    return Client(App(Logdir(str(TRACES))))


def ask(server: Client, route: str, run: str = "keras_fit/run", **query: Any) -> TestResponse:
    return server.get(f"/timeline/{route}", query_string={"run": run, **query})


def all_lanes(server: Client, run: str = "keras_fit/run") -> tuple[dict[str, Any], list[str]]:
    answer = ask(server, "lanes", run).get_json()
    return answer, [lane["key"] for section in answer["sections"] for lane in section["lanes"]]


def test_slices_lie_in_the_window_and_have_names(server: Client) -> None:
    answer, keys = all_lanes(server)
    slab = ask(server, "slices", lanes=",".join(keys), begin=0, end=answer["duration"], width=1600)
    assert slab.content_type == "application/octet-stream"
    facts, arrays = unpack(slab.data)
    assert facts["lanes"] == keys
    assert sum(map(sum, facts["counts"])) == len(arrays["begin"]) == len(arrays["name"])
    begin = facts["origin"] + arrays["begin"].astype(np.int64) * facts["unit"]
    assert begin.min() >= -facts["unit"]
    assert (begin + arrays["width"].astype(np.int64) * facts["unit"]).max() <= answer["duration"] + 2 * facts["unit"]
    number = int(arrays["name"].max())
    block = f"0.{number // answer['block']}"
    names = ask(server, "names", blocks=block).get_json()[block]
    assert names[number % answer["block"]]


def test_one_row_where_one_row_is_asked_for(server: Client) -> None:
    _, keys = all_lanes(server)
    facts, arrays = unpack(ask(server, "slices", lanes=f"{keys[0]}:1", width=100).data)
    assert facts["counts"] == [[len(arrays["begin"])]]


def test_hosts_lie_on_one_clock(server: Client) -> None:
    answer, keys = all_lanes(server, "two_workers/run")
    assert {key.split(".")[0] for key in keys} == {"0", "1"}
    _, arrays = unpack(ask(server, "search", "two_workers/run", text="e").data)
    assert set(arrays["host"].tolist()) == {0, 1}
    assert arrays["begin"].min() >= 0
    assert arrays["end"].max() <= answer["duration"]
    assert (np.diff(arrays["begin"]) >= 0).all()
    one = ask(server, "lanes", "two_workers/run", host="worker-1").get_json()
    assert {lane["key"][0] for section in one["sections"] for lane in section["lanes"]} == {"1"}


def test_an_event_leads_to_its_lane_and_its_links(server: Client) -> None:
    _, hits = unpack(ask(server, "search", text="ExecutorState::Process").data)
    event = f"0.{hits['event'][0]}"
    told = ask(server, "event", event=event).get_json()
    assert told["event"] == event
    assert told["name"] == "ExecutorState::Process"
    assert told["begin"] == hits["begin"][0]
    assert told["lane"] == f"0.{hits['lane'][0]}"
    for arrow in told["arrows"]:
        assert event in (arrow["source"]["event"], arrow["target"]["event"])


def test_statistics_and_arrows_and_steps_answer(server: Client) -> None:
    answer, keys = all_lanes(server)
    found = ask(server, "statistics", lanes=",".join(keys)).get_json()
    assert found["names"] == found["table"]["rows"] > 10
    columns = {column["id"]: column["values"] for column in found["table"]["columns"]}
    assert columns["total_us"] == sorted(columns["total_us"], reverse=True)
    assert found["events"] == sum(columns["count"])
    arrows = ask(server, "arrows", lanes=",".join(keys)).get_json()
    assert arrows["total"] >= len(arrows["arrows"]) > 0
    steps = ask(server, "steps").get_json()
    assert len(steps) == 1
    assert 0 <= steps[0]["begin"][0] < steps[0]["end"][-1] <= answer["duration"]


@pytest.mark.parametrize(
    ("route", "query", "code"),
    [
        ("slices", {"lanes": "0.999", "width": 10}, "bad_parameter"),
        ("slices", {"lanes": "7.0", "width": 10}, "bad_parameter"),
        ("slices", {"lanes": "0.0", "width": "wide"}, "bad_parameter"),
        ("slices", {"lanes": "0.0", "width": 10, "begin": 5, "end": 5}, "bad_parameter"),
        ("event", {"event": "0.99999999"}, "no_such_event"),
        ("event", {"event": "x"}, "bad_parameter"),
        ("search", {}, "bad_parameter"),
        ("search", {"text": "(", "regex": 1}, "bad_expression"),
        ("search", {"text": "(?=a)", "regex": 1}, "bad_expression"),
        ("lanes", {"host": "nobody"}, "unknown_host"),
    ],
)
def test_what_cannot_be_answered_is_told(server: Client, route: str, query: dict[str, Any], code: str) -> None:
    response = ask(server, route, **query)
    assert response.status_code in (400, 404)
    assert response.get_json()["code"] == code


def test_the_whole_trace_is_streamed_in_the_trace_event_format(server: Client) -> None:
    query = {"run": "keras_fit/run", "tag": "trace_viewer"}
    response = server.get("/data", query_string=query, headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    trace = json.loads(server.get("/data", query_string=query).data)
    events = trace["traceEvents"]
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    assert {(e["pid"], e["tid"]) for e in slices} <= threads
    assert all(e["dur"] > 0 and e["ts"] >= 0 for e in slices)
    flows = [(e["ph"], e["id"]) for e in events if e["ph"] in "sf"]
    assert flows
    assert {number for phase, number in flows if phase == "s"} == {number for phase, number in flows if phase == "f"}
    lanes = ask(server, "lanes").get_json()["sections"]
    assert len(slices) == sum(lane["events"] for section in lanes for lane in section["lanes"])
    coarse = json.loads(server.get("/data", query_string={**query, "resolution": "50"}).data)["traceEvents"]
    assert 0 < len([e for e in coarse if e["ph"] == "X"]) < len(slices)


EMPTY: dict[str, dict[str, Any]] = {
    "lanes": {},
    "slices": {"lanes": "", "begin": 0, "end": 1000, "width": 100},
    "names": {"blocks": ""},
    "steps": {},
    "arrows": {"lanes": "", "begin": 0, "end": 1000},
    "search": {"text": "a"},
    "statistics": {"lanes": "", "begin": 0, "end": 1000},
    "flame": {"lanes": "", "begin": 0, "end": 1000},
}


@pytest.mark.parametrize("route", EMPTY)
@pytest.mark.parametrize("text", ["/host:CPU", "/host:CPU\n  t |"])
def test_a_capture_cut_before_its_first_event_answers(tmp_path: Path, route: str, text: str) -> None:
    draw.session(tmp_path, vm=draw.space(text))
    answer = ask(Client(App(Logdir(str(tmp_path)))), route, "run", **EMPTY[route])
    assert answer.status_code == 200


def test_why_devices_are_idle_is_shown_when_asked_for(server: Client) -> None:
    plain, _ = all_lanes(server, "jax_steps/run")
    answer = ask(server, "lanes", "jax_steps/run", why=1).get_json()
    first, whole, *rest = answer["sections"]
    assert rest == plain["sections"]
    shown = [(lane["name"], lane["unit"]) for section in (first, whole) for lane in section["lanes"]]
    assert shown == [("Idle causes", ""), ("Busy", "share"), ("Launch queue", ""), ("Critical path", "")]
    keys = [lane["key"] for section in (whole, first) for lane in section["lanes"]]
    query = {"lanes": ",".join(keys), "begin": 0, "end": answer["duration"], "width": 50_000, "why": 1}
    facts, arrays = unpack(ask(server, "slices", "jax_steps/run", **query).data)
    path, idle = (sum(rows) for rows in facts["counts"][:2])
    assert path > 10
    assert facts["counts"][2:] == [[], []]
    assert 0 <= arrays["2.high"].min() < arrays["2.high"].max() <= 1
    assert arrays["3.high"].max() >= 1
    assert ask(server, "slices", "jax_steps/run", lanes=keys[0]).status_code == 400
    # An idle slice tells what came next and what launched it, with arrows to both.
    events = arrays["event"][path : path + idle].tolist()
    told = [ask(server, "event", "jax_steps/run", event=f"0.{event}", why=1).get_json() for event in events[1:20]]
    launched = [each for each in told if "launched by" in each["args"]]
    assert launched
    assert {arrow["kind"] for arrow in launched[0]["arrows"]} >= {"next work", "launch of the next work"}
    assert all(each["lane_name"] == "Idle causes" for each in told)
    gaps = [each["gap"] for each in told]
    assert all(sum(part["ps"] for part in gap["parts"]) == gap["end"] - gap["begin"] for gap in gaps)
    after = ask(server, "event", "jax_steps/run", event=gaps[0]["after"], why=1).get_json()
    assert after["gap"]["begin"] > gaps[0]["end"]
    before = ask(server, "event", "jax_steps/run", event=after["gap"]["before"], why=1).get_json()
    assert before["gap"]["begin"] == gaps[0]["begin"]
    path = ask(server, "event", "jax_steps/run", event=f"0.{int(arrays['event'][0])}", why=1).get_json()
    assert path["lane_name"] == "Critical path"
    assert path["args"]["spent on"]
    found = ask(server, "arrows", "jax_steps/run", **query).get_json()
    assert {arrow["kind"] for arrow in found["arrows"]} == {"critical path"}
    assert found["total"] >= len(found["arrows"]) > 0
    # Statistics are of what was recorded.
    assert ask(server, "statistics", "jax_steps/run", **query).get_json()["events"] == 0


def test_calls_are_a_tree_and_files(server: Client) -> None:
    keys, duration = all_lanes(server, "jax_steps/run")[1], all_lanes(server, "jax_steps/run")[0]["duration"]
    query = {"lanes": ",".join(keys), "begin": 0, "end": duration}
    top = ask(server, "flame", "jax_steps/run", **query).get_json()
    assert top["weight"] == "time" and {"time", "idle"} <= {weight["id"] for weight in top["weights"]}
    up = ask(server, "flame", "jax_steps/run", **query, inverted=1).get_json()
    for tree in (top, up):
        sums = list(tree["own"])
        for parent, total in zip(tree["parent"], tree["total"], strict=True):
            if parent >= 0:
                sums[parent] += total
        assert sums == tree["total"]
        assert (
            sum(t for parent, t in zip(tree["parent"], tree["total"], strict=True) if parent < 0)
            == tree["total_weight"]
        )
    file = ask(server, "flame", "jax_steps/run", **query, format="collapsed")
    assert file.headers["Content-Disposition"].startswith("attachment")
    assert sum(int(line.rpartition(" ")[2]) for line in file.text.splitlines()) == top["total_weight"]
    for wrong in ({"weight": "heat"}, {"format": "svg"}):
        assert ask(server, "flame", "jax_steps/run", **query, **wrong).status_code == 400


def test_calls_are_held_against_a_baseline(server: Client) -> None:
    answer, keys = all_lanes(server, "jax_steps/run")
    query = {"lanes": ",".join(keys), "begin": 0, "end": answer["duration"], "base": "jax_steps/run"}
    half = ask(server, "flame", "jax_steps/run", **query, base_end=answer["duration"] // 2).get_json()
    assert half["total_weight"] > half["base_total_weight"] > 0
    assert half["delta"] == [a - b for a, b in zip(half["total"], half["base_total"], strict=True)]
    same = ask(server, "flame", "jax_steps/run", **query, inverted=1).get_json()
    assert set(same["delta"]) == {0}
    assert same["base_only"] == {"nodes": [], "others": 0, "others_total": 0, "total": 0}
    other = ask(server, "flame", "jax_steps/run", **query | {"base": "keras_fit/run"}).get_json()
    assert min(other["delta"]) < 0 < max(other["delta"])
    alone = other["base_only"]
    listed = [other["base_total"][node] for node in alone["nodes"]]
    assert listed and all(other["total"][node] == 0 for node in alone["nodes"])
    assert sum(listed) + alone["others_total"] == alone["total"] <= other["base_total_weight"]
    assert ask(server, "flame", "jax_steps/run", **query, base_begin=9, base_end=8).status_code == 400


def test_what_computes_without_a_device_has_a_name_in_every_language(server: Client) -> None:
    window = {"begin": 0, "end": 10**12, "width": 500}
    found = ask(server, "glance", "keras_fit/run", **window, lang="ko").get_json()
    assert any(lane["title"].startswith("CPU 계산") for lane in found["lanes"] if lane["kind"] == "idle")


def test_without_a_device_there_is_nothing_to_tell_of_idleness(tmp_path: Path) -> None:
    draw.session(tmp_path, vm=draw.space("/host:CPU\n  python | train[0,90]{_r=1}\n/device:GPU:0\n"))
    server = Client(App(Logdir(str(tmp_path))))
    plain, why = (ask(server, "lanes", "run", why=asked).get_json() for asked in ("", 1))
    assert plain == why


def test_two_sessions_on_one_clock(server: Client) -> None:
    run, base = "jax_steps/run", "jax_async_marked/run"
    found = ask(server, "aligned", run, base=base).get_json()
    for side, name in (("session", run), ("base", base)):
        (steps,) = ask(server, "steps", name).get_json()
        at = found[side]["step"]
        assert (found[side]["begin"], found[side]["end"]) == (steps["begin"][at], steps["end"][at])
        rows = zip(steps["begin"], steps["end"], steps["complete"], strict=True)
        lengths = sorted(last - first for first, last, whole in rows if whole)
        assert found[side]["end"] - found[side]["begin"] == lengths[(len(lengths) - 1) // 2]
        assert found[side]["names"] == steps["name"]
    assert found["offset"] == found["base"]["begin"] - found["session"]["begin"]
    same = ask(server, "aligned", run, base=base, step=3).get_json()
    assert same["session"]["name"] == same["base"]["name"] == "train 3"
    other = ask(server, "aligned", run, base=base, step=3, base_step=0).get_json()
    assert (other["session"]["step"], other["base"]["step"]) == (3, 0)


def test_without_steps_both_begin_with_their_first_event(tmp_path: Path) -> None:
    for name, text in (("bare", "/host:CPU\n  t | op[5,10]"), ("marked", draw.GPU)):
        run = tmp_path / "plugins" / "profile" / name
        run.mkdir(parents=True)
        (run / "vm.xplane.pb").write_bytes(draw.space(text, steps=3).SerializeToString())
    server = Client(App(Logdir(str(tmp_path))))
    for name, base, where in (("bare", "marked", "here"), ("marked", "bare", "in the baseline")):
        found = ask(server, "aligned", name, base=base).get_json()
        assert found["offset"] == 0 and found["session"]["step"] is found["base"]["step"] is None
        assert found["text"].startswith(f"No step was found {where}")


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 400, "bad_parameter"),
        ({"base": "<b>none</b>"}, 404, "unknown_run"),
        ({"base": "jax_steps/run"}, 400, "same_session"),
        ({"base": "keras_fit/run", "step": "99"}, 400, "bad_parameter"),
        ({"base": "keras_fit/run", "base_step": "x"}, 400, "bad_parameter"),
    ],
)
def test_what_cannot_be_aligned(server: Client, query: dict[str, str], status: int, code: str) -> None:
    answer = ask(server, "aligned", "jax_steps/run", **query)
    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Client:
    """Two hosts whose all-reduces end together, by a clock of the second that is 7 µs ahead."""
    folder = tmp_path_factory.mktemp("apart")
    spans = {"first": (10, 50), "second": (49, 57)}
    draw.session(folder, **{name: draw.space(_all_reduce(*span), steps=6, every=200) for name, span in spans.items()})
    return Client(App(Logdir(str(folder))))


def _all_reduce(begin: float, end: float) -> str:
    device = f"/device:GPU:0\n  Stream #7 | gemm[0,1] ncclDevKernel_AllReduce[{begin},{end - begin}]"
    return f"{device}\n/host:CPU\n  python | $a.py:1 loop[0,99]"


def _ends(server: Client, **query: str) -> tuple[list[float], list[float]]:
    """When the all-reduces of either host end, ps."""
    _, hits = unpack(ask(server, "search", "run", text="AllReduce", **query).data)
    first, second = (sorted(hits["end"][hits["host"] == host].tolist()) for host in (0, 1))
    return first, second


def test_clocks_are_aligned_by_collectives_unless_raw_times_are_asked_for(apart: Client) -> None:
    lanes, raw_lanes = (ask(apart, "lanes", "run", clocks=clocks).get_json() for clocks in ("", "raw"))
    assert lanes["clocks"] == raw_lanes["clocks"] == {"apart": 7_000_000, "error": 0}
    first, second = _ends(apart)
    # The second host's first event is now the session's first.
    assert first == second and first[0] == 57_000_000
    first, second = _ends(apart, clocks="raw")
    assert (first[0], second[0]) == (50_000_000, 57_000_000)
    assert lanes["duration"] - raw_lanes["duration"] == 7_000_000


def test_collectives_have_the_times_at_which_the_timeline_shows_them(apart: Client) -> None:
    answer = apart.get("/answer", query_string={"run": "run", "tag": "communication"}).get_json()
    arrivals = {column["id"]: column["values"] for column in answer["tables"]["arrivals"]["columns"]}
    first, second = _ends(apart)
    assert arrivals["end_ms"] == pytest.approx([end / 1e9 for ends in zip(first, second, strict=True) for end in ends])


@pytest.mark.parametrize(("clocks", "end_us"), [("", [57, 57]), ("raw", [50, 57])])
def test_an_export_has_the_times_at_which_the_timeline_shows_events(
    clocks: str, end_us: list[float], apart: Client
) -> None:
    query = {"run": "run", "tag": "trace_viewer", "start_time_ms": "0.049", "end_time_ms": "0.1"}
    query |= {"clocks": clocks} if clocks else {}
    exported = apart.get("/data", query_string=query).get_json()["traceEvents"]
    sums = [event for event in exported if event["ph"] == "X" and "AllReduce" in event["name"]]
    assert [event["ts"] + event["dur"] for event in sorted(sums, key=lambda event: event["pid"])] == end_us
    alone = apart.get("/data", query_string={"run": "run", "tag": "trace_viewer", "host": "second"}).get_json()
    assert min(event["ts"] for event in alone["traceEvents"] if event["ph"] == "X") == 0


def test_a_window_shows_the_same_on_all_hosts_that_are_aligned(apart: Client) -> None:
    """By the clocks as they were recorded, the all-reduce of one host has ended there."""
    lanes = ask(apart, "lanes", "run").get_json()
    keys = [lane["key"] for section in lanes["sections"] for lane in section["lanes"] if section["kind"] == "device"]
    window = {"lanes": ",".join(keys), "begin": 51_000_000, "end": 56_000_000}
    for clocks, count in (("", 2), ("raw", 1)):
        assert ask(apart, "statistics", "run", **window, clocks=clocks).get_json()["events"] == count
    _, hits = unpack(ask(apart, "search", "run", text="AllReduce").data)
    event = f"{hits['host'][0]}.{hits['event'][0]}"
    assert ask(apart, "event", "run", event=event).get_json()["end"] == hits["end"][0]


def test_clocks_of_one_host_and_of_hosts_without_collectives_are_not_aligned(apart: Client, server: Client) -> None:
    assert ask(apart, "lanes", "run", host="second").get_json()["clocks"] is None
    assert ask(server, "lanes").get_json()["clocks"] is None
