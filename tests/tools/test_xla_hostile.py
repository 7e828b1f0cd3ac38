"""The five tools of XLA's programs on programs that make no sense: an answer or a problem that is told, in bounds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import draw
import hlohostile
import pytest
from werkzeug.test import Client

import tb_profile_plugin
from tb_profile_plugin.formats.xspace.hlo import fields
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

TOOLS = ("op_profile", "hlo_stats", "roofline_model", "memory_viewer", "graph_viewer")
OLD = [
    *({"tag": tool} for tool in TOOLS),
    *({"tag": "op_profile", "group_by": group} for group in ("category", "provenance")),
    {"tag": "memory_viewer", "module_name": "m(7)", "memory_space": "1"},
    *(
        {"tag": "graph_viewer", "type": kind}
        for kind in ("graph", "short_txt", "long_txt", "pb", "adj_nodes", "custom_call")
    ),
    {"tag": "graph_viewer", "type": "graph", "node_name": "fusion.2", "graph_width": "9", "module_name": "7"},
]
"""What scripts for the existing plugin ask."""


@pytest.mark.parametrize("name", hlohostile.PROGRAMS)
def test_all_tools_answer(tmp_path: Path, name: str) -> None:
    draw.session(tmp_path, vm=hlohostile.capture(hlohostile.PROGRAMS[name]()))
    answered(Client(App(Logdir(str(tmp_path)), keep=False)))


def test_what_is_cut_is_told(tmp_path: Path) -> None:
    told = set()
    for size, proto in enumerate(hlohostile.truncated()):
        draw.session(tmp_path / str(size), vm=hlohostile.capture(proto))
        told |= answered(Client(App(Logdir(str(tmp_path / str(size))), keep=False)))
    assert "damaged_program" in told


def answered(client: Client) -> set[str]:
    """Codes of what the tools' answers note; each answers, or says what is wrong."""
    noted = set()
    for route, query in [*(("/answer", {"tag": tool}) for tool in TOOLS), *(("/data", query) for query in OLD)]:
        response = client.get(route, query_string={"run": "run"} | query)
        assert response.status_code in (200, 400, 404, 413), (query, response.data[-500:])
        if response.status_code != 200:
            problem = json.loads(response.data)
            assert problem["message"] and problem["remedy"], query
        elif route == "/answer":
            noted |= {problem["code"] for problem in response.get_json()["notes"]}
    return noted


def test_programs_are_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MOST_MESSAGES", 3)
    capture = draw.session(tmp_path, vm=hlohostile.capture(hlohostile.many(9)))
    for tool in TOOLS:
        answer = capture.answer(tool)
        if tool != "memory_viewer":
            assert "large_program" in [note["code"] for note in answer["notes"]], tool
    graph = capture.answer("graph_viewer")
    assert graph["facts"]["instructions"]["value"] == 3


ASK = """
import resource, sys, tb_profile_plugin
from tb_profile_plugin.formats.xspace.hlo import fields
fields.MOST_MESSAGES = int(sys.argv[1])
peaks = []
for large, folder in enumerate(sys.argv[2:4]):
    capture = tb_profile_plugin.open(folder)
    for tool in sys.argv[4:]:
        notes = {note["code"] for note in capture.answer(tool)["notes"]}
        assert tool == "memory_viewer" or ("large_program" in notes) == large, (tool, notes)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
print(peaks[1] - peaks[0])
"""
"""Prints what a large program takes more than a small one, in MiB."""


@pytest.mark.parametrize("most", [100_000, pytest.param(fields.MOST_MESSAGES, marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the peak")
def test_more_computations_than_are_read(tmp_path: Path, most: int) -> None:
    folders = [tmp_path / "small", tmp_path / "large"]
    for folder, computations in zip(folders, (100, most + most // 10), strict=True):
        draw.session(folder, vm=hlohostile.capture(hlohostile.many(computations)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", ASK, str(most), *map(str, folders), *TOOLS]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert int(said) < 1940 * most / fields.MOST_MESSAGES


def test_programs_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_profile_plugin.analysis.health import capture_health
    from tb_profile_plugin.formats.xspace import hlo

    space = hlohostile.capture(hlohostile.circles())
    for number in range(8, 14):
        draw.program(space, number, "other")
    monkeypatch.setattr(hlo, "PROGRAMS", 4)
    monkeypatch.setattr(capture_health, "PROGRAMS", 4)
    draw.session(tmp_path, vm=space)
    capture = tb_profile_plugin.open(tmp_path)
    assert len(capture.select()[0].modules) == 4
    assert "many_programs" in [problem.code for problem in capture_health.findings_of_host(capture.select()[0])]
