"""What a host did in a step at a glance: why its device was idle, and its busiest lanes."""

from pathlib import Path
from typing import Any

import draw
from werkzeug.test import Client

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir


def glance(folder: Path, **query: int) -> dict[str, Any]:
    server = Client(App(Logdir(str(folder))))
    answer: dict[str, Any] = server.get(
        "/timeline/glance", query_string={"run": "run", "host": "host", **query}
    ).get_json()
    return answer


def test_a_glance_shows_why_a_device_is_idle_and_what_is_busiest(tmp_path: Path) -> None:
    draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))
    window = {"begin": 0, "end": 10**9, "width": 500}
    found = glance(tmp_path, **window)
    kinds = [lane["kind"] for lane in found["lanes"]]
    assert kinds[0] == "idle" and {"device", "host"} <= set(kinds)
    idle = found["lanes"][0]
    assert idle["title"].endswith("why idle") and idle["rows"] == 1
    for lane in found["lanes"]:
        assert len(lane["begin"]) == len(lane["end"]) == len(lane["row"]) == len(lane["name"]) > 0
        assert min(lane["begin"]) >= 0 and max(lane["end"]) <= 10**9 and max(lane["row"]) < lane["rows"]
    names = {found["names"][place] for lane in found["lanes"] if lane["kind"] == "device" for place in lane["name"]}
    assert any("gemm" in name for name in names)
    few = glance(tmp_path, **window | {"width": 2})
    assert sum(len(lane["begin"]) for lane in few["lanes"]) < sum(len(lane["begin"]) for lane in found["lanes"])


def test_a_glance_at_a_tpu_shows_its_ops_though_another_line_looks_like_a_stream(tmp_path: Path) -> None:
    space = draw.space("""
    /host:CPU
      python | train[0,100]{_r=1}
    /device:TPU:0
      XLA Modules | jit_step[0,100]
      XLA Ops | fusion[0,40] copy-done[40,60]
      XLA TraceMe | mark[5,1]
    """)
    draw.session(tmp_path, host=space)
    found = glance(tmp_path, begin=0, end=10**8, width=500)
    titles = [lane["title"] for lane in found["lanes"] if lane["kind"] == "device"]
    assert titles == ["TPU:0 · XLA Ops"]


def test_a_glance_at_a_gpu_shows_streams_and_not_what_is_derived_from_them(tmp_path: Path) -> None:
    """An annotation lasts from its first kernel to its last: as work it would be the busiest lane."""
    drawn = draw.space("""
    /host:CPU
      python | train[0,100]{_r=1}
    /device:GPU:0
      Stream #7 | gemm[0,10] gemm[80,10]
      Launch Stats | forward[0,90]
    """)
    draw.session(tmp_path, host=drawn)
    found = glance(tmp_path, begin=0, end=10**8, width=500)
    assert [lane["title"] for lane in found["lanes"] if lane["kind"] == "device"] == ["GPU:0 · Stream #7"]


def test_a_glance_leaves_out_frames_that_last_and_threads_that_wait(tmp_path: Path) -> None:
    space = draw.space("""
    /host:CPU
      waiter | wait[0,100]
      python | main[0,100] run[1,98] load[10,30] compute[50,40]
    """)
    draw.session(tmp_path, host=space)
    found = glance(tmp_path, begin=0, end=10**8, width=500)
    lanes = {lane["title"]: lane for lane in found["lanes"] if lane["kind"] == "host"}
    names = found["names"]
    assert [names[place] for place in lanes["python"]["name"]] == ["load", "compute"]
    assert lanes["python"]["rows"] == 1
