"""The five tools of XLA's programs where there is nothing to show: each says why and what to do, wherever one asks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest
import torchtrace
from torchtrace import V100, launch, on_device, op
from werkzeug.test import Client

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

OPS, NOTHING = ("op_profile", "hlo_stats", "roofline_model"), "no_xla_program"
HOST = "/host:CPU\n  main | train[0,90]{_r=1, step_num=s} a/MatMul:MatMul[10,20]"
RAN = "/host:CPU\n  t | add.5[10,40]{hlo_op=dot.1, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}"
EVERY = dict.fromkeys(OPS, NOTHING) | {"memory_viewer": "no_buffers", "graph_viewer": NOTHING}
CASES: dict[str, tuple[Any, Mapping[str, str]]] = {
    "TensorFlow on the CPU": (draw.space(HOST, steps=3), EVERY),
    "TensorFlow on a GPU": (draw.space(draw.GPU, steps=3), EVERY),
    "a TPU that ran nothing": (draw.space(HOST + "\n/device:TPU:0 {device_type_string=TPU}"), EVERY),
    "programs that did not run": (
        hlodraw.planted(draw.space(HOST), 7, hlodraw.train()),
        dict.fromkeys(OPS, "no_xla_ops") | {"memory_viewer": "no_buffers"},
    ),
    "programs without a plan of their memory": (
        hlodraw.planted(draw.space(RAN), 7, hlodraw.train()),
        {"memory_viewer": "no_buffers"},
    ),
    "ops without their programs": (draw.space(RAN), {"memory_viewer": "no_buffers", "graph_viewer": NOTHING}),
}


@pytest.mark.parametrize("name", CASES)
def test_why_there_is_nothing(tmp_path: Path, name: str) -> None:
    space, empty = CASES[name]
    draw.session(tmp_path, vm=space)
    told(tmp_path, empty)


def test_traces_of_pytorch(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    events = op("aten::mm", 10, 30), launch(1, 15), on_device(1, 20, 40)
    (folder / "worker.pt.trace.json").write_text(torchtrace.text(*events, deviceProperties=[V100]))
    told(tmp_path, EVERY)


def told(folder: Path, empty: Mapping[str, str]) -> None:
    client = Client(App(Logdir(str(folder)), keep=False))
    run = client.get("/sessions").get_json()["sessions"][0]["run"]
    tools = {tool["name"]: tool for tool in client.get("/tools", query_string={"run": run}).get_json()}
    for tool in EVERY:
        asked = {"run": run, "tag": tool}
        named, old = client.get("/answer", query_string=asked).get_json(), client.get("/data", query_string=asked)
        listed = tools[tool]["unavailable"]
        assert old.status_code == 200 and old.get_json() is not None
        if tool not in empty:
            assert listed is None and named["headline"] and NOTHING not in [note["code"] for note in named["notes"]]
            continue
        assert listed["code"] == empty[tool] and listed["message"] and listed["remedy"]
        assert listed in named["notes"] and named["headline"] is None
        if tool == "roofline_model":
            # Its old answer has room for it.
            assert listed["message"] in old.get_data(as_text=True)
