"""A timeline that was looked at before is read back from the cache: the same bytes, and nothing decoded."""

import threading
from collections.abc import Callable
from pathlib import Path

import draw
import pytest
from werkzeug.test import Client

from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.serve import App, views
from tb_profile_plugin.store import Logdir, cache
from tb_profile_plugin.timeline.host_view import slab_pieces, view_of_host, view_of_slab

TRACES = Path(__file__).resolve().parent.parent / "traces"
MIXED = """
/host:CPU
  python | $loop.py:1[0,100] work[10,20] größe[40,10]
  _counters_ | memory[0,0]{bytes=1} memory[50,0]{bytes=2}
"""
"""Python's frames between other events, and a counter: lanes whose events do not simply follow one another."""

RUNS = ("two_workers/run", "keras_fit/run", "jax_steps/run")


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "WORTH_BYTES", 0)
    monkeypatch.setattr(views, "_WRITE_DELAY_S", 0.0)


def answers(client: Client, run: str) -> dict[str, bytes]:
    """All that a page asks for to show the timeline."""
    lanes = client.get("/timeline/lanes", query_string={"run": run})
    found = lanes.get_json()
    keys = ",".join(lane["key"] for section in found["sections"] for lane in section["lanes"])
    span = found["duration"]
    queries = [
        ("slices", {"lanes": keys, "begin": 0, "end": span, "width": 1600}),
        ("slices", {"lanes": keys, "begin": span // 3, "end": span // 2, "width": 300}),
        ("names", {"blocks": "0.0,0.1"}),
        ("steps", {}),
    ]
    rest = [client.get(f"/timeline/{route}", query_string={"run": run, **query}) for route, query in queries]
    assert all(response.status_code == 200 for response in [lanes, *rest])
    return {f"{i}": response.data for i, response in enumerate([lanes, *rest])}


def written() -> None:
    """Wait until those that are being kept are."""
    for thread in threading.enumerate():
        if thread.name == "timeline":
            thread.join()


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the sessions whose captures are decoded."""
    found: list[str] = []
    decode = Session._decode

    def watched(session: Session, host: HostWithSteps) -> XSpace:
        found.append(session.name)
        return decode(session, host)

    monkeypatch.setattr(Session, "_decode", watched)
    return found


@pytest.mark.parametrize("run", RUNS)
def test_the_next_server_shows_the_same_without_decoding(run: str, decoded: list[str]) -> None:
    first = answers(Client(App(Logdir(str(TRACES)))), run)
    written()
    assert set(decoded) == {run}
    decoded.clear()
    assert answers(Client(App(Logdir(str(TRACES)))), run) == first
    assert not decoded


def test_details_are_those_of_the_decoded_capture() -> None:
    run, query = RUNS[1], {"run": RUNS[1], "event": "0.5"}
    first = Client(App(Logdir(str(TRACES))))
    answers(first, run)
    written()
    again = Client(App(Logdir(str(TRACES))))
    answers(again, run)
    told = [client.get("/timeline/event", query_string=query) for client in (first, again)]
    assert told[0].status_code == 200
    assert told[0].data == told[1].data


@pytest.mark.parametrize("damage", [lambda body: body[:-7], lambda body: body[:99] + b"?" + body[100:], lambda _: b""])
def test_a_damaged_one_is_worked_out_anew(damage: Callable[[bytes], bytes]) -> None:
    first = answers(Client(App(Logdir(str(TRACES)))), RUNS[1])
    written()
    (entry,) = cache.folder().glob("results-*")
    entry.write_bytes(damage(entry.read_bytes()))
    assert answers(Client(App(Logdir(str(TRACES)))), RUNS[1]) == first


def test_deleting_the_cache_harms_nobody() -> None:
    client = Client(App(Logdir(str(TRACES))))
    first = answers(client, RUNS[1])
    written()
    for entry in cache.folder().glob("results-*"):
        entry.unlink()
    assert answers(client, RUNS[1]) == first
    # What is written later would stand in the cache of the test that comes next.
    written()


def test_nothing_is_kept_of_small_captures_or_where_nothing_shall_be(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(Client(App(Logdir(str(TRACES)), keep=False)), RUNS[1])
    monkeypatch.setattr(views, "WORTH_BYTES", 1 << 30)
    answers(Client(App(Logdir(str(TRACES)))), RUNS[1])
    written()
    assert not list(cache.folder().glob("results-*"))


def test_every_column_comes_back() -> None:
    shown = view_of_host(draw.host(MIXED))
    slab = b"".join(slab_pieces(shown))
    again = view_of_slab(memoryview(slab))
    assert b"".join(slab_pieces(again)) == slab
    assert {lane.kind for lane in again.timeline.lanes} == {"thread", "frames", "counter"}
    assert [again.timeline.names[i] for i in range(len(again.timeline.names))] == [
        shown.timeline.names[i] for i in range(len(shown.timeline.names))
    ]
    assert "größe" in [again.timeline.names[i] for i in range(len(again.timeline.names))]
