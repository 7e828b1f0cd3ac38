"""Texts and neighbours of programs against xprof's, on public captures; what differs has a row in the docs (X25)."""

import json
import os
import re
import subprocess

import pytest
from werkzeug.test import Client
from xprof_answers import PYTHON, ROOT, file_of, needed

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

pytestmark = needed
NODES = [
    ("jax-cpu", "jit_step(6)", "dot"),
    ("rocm-8gpu-conv", "jit_forward_3d_conv(15)", "cudnn-conv.1"),
    ("rocm-te-attention", "jit_loss_fn(17)", "te_fused_attn_forward_ffi.10"),
    ("tpu-v6e-inference", "jit_f(12190760917235803885)", "copy-done.2"),
]


@pytest.mark.parametrize(("name", "program", "node"), NODES)
def test_texts_and_neighbours(name: str, program: str, node: str) -> None:
    file = file_of(name)
    command = [str(PYTHON), str(ROOT / "tests" / "parity" / "ask_graph.py"), str(file), program, node]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
    told = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-2000:]
    theirs = json.loads(told.stdout)
    client = Client(App(Logdir(str(file.parent)), keep=False))
    run = client.get("/sessions").get_json()["sessions"][0]["run"]
    ours = {
        kind: client.get(
            "/data",
            query_string={"run": run, "tag": "graph_viewer", "type": kind, "module_name": program, "node_name": node},
        ).get_data(as_text=True)
        for kind in theirs
    }
    neighbours, known = json.loads(ours["adj_nodes"]), json.loads(theirs["adj_nodes"])
    assert neighbours["operand_names"] == known["operand_names"]
    # X25: xprof passes over what picks an element from a tuple where its name says so.
    picked = {f"%{each}" for each in known["consumer_names"]} & picking(theirs["long_txt"])
    assert neighbours["consumer_names"] == known["consumer_names"] or picked
    for kind in ("short_txt", "long_txt"):
        found, wanted = instructions(ours[kind]), instructions(theirs[kind])
        assert found == wanted


def picking(text: str) -> set[str]:
    """Instructions that pick an element from a tuple."""
    return {line.split()[0] for line in text.splitlines() if " get-tuple-element(" in line}


def instructions(text: str) -> dict[str, str]:
    """What each instruction is, up to its operands."""
    plain = re.sub(r"/\*index=\d+\*/", "", text)
    lines = [line.strip().removeprefix("ROOT ") for line in plain.splitlines() if line.startswith("  ")]
    return {line.partition(" = ")[0]: _head(line) for line in lines}


def _head(line: str) -> str:
    """Shape, opcode and operands; of large constants no values."""
    found = re.match(r"(.*? [a-z][a-z0-9-]*\(.*?\))(?:, [a-z_]+=|$)", line.partition(" = ")[2])
    assert found, line
    return re.sub(r"constant\(\{.*\}\)", "constant({})", found[1])
