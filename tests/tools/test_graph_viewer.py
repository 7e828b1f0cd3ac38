"""The program graph: what is asked for, what is answered, and the documents of older clients."""

import json
from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest
from werkzeug.test import Client, TestResponse

import tb_profile_plugin
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

CPU = """
/host:CPU
  tf_XLAEigen/1 | dot.1[10,40]{hlo_op=dot.1, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
  | scale_fusion[60,10]{hlo_op=scale_fusion, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    space = hlodraw.planted(draw.space(CPU), 7, hlodraw.train())
    draw.session(tmp_path, vm=draw.program(space, 12, "other", idle_op="add a/Add:Add"))
    return tmp_path


def rows(answer: Any, table: str) -> list[dict[str, Any]]:
    found = answer["tables"][table]
    values = {column["id"]: column["values"] for column in found["columns"]}
    return [{name: column[i] for name, column in values.items()} for i in range(found["rows"])]


def test_it_opens_on_the_op_that_takes_most(folder: Path) -> None:
    answer = tb_profile_plugin.open(folder).answer("graph_viewer")
    assert answer["headline"]["text"].startswith("dot.1 takes 80 % of the time of m: 40.0 µs in 1 run.")
    nodes = {row["name"]: row for row in rows(answer, "nodes")}
    assert list(nodes) == ["dot.1", "x", "w", "scale_fusion", "shifted"]
    assert nodes["dot.1"]["flops"] == 2 * 8**2 and nodes["dot.1"]["share"] == 0.8
    assert nodes["shifted"]["constants"] == "1: 0.25" and nodes["shifted"]["self_us"] is None
    assert nodes["scale_fusion"]["opens"] and not nodes["scale_fusion"]["opened"]
    assert [row["program"] for row in rows(answer, "programs")] == ["m(7)", "other(12)"]
    edge = rows(answer, "edges")[0]
    assert (edge["source"], edge["target"], edge["operand"], edge["bytes"]) == (1, 0, 0, 256)


def test_what_is_asked_for(folder: Path) -> None:
    capture = tb_profile_plugin.open(folder)
    inside = capture.answer("graph_viewer", node_name="twice", find="FUSION")
    assert [(row["computation"], row["name"]) for row in rows(inside, "path")] == [("c3", ""), ("c1", "scale_fusion")]
    assert "is inside scale_fusion" in inside["headline"]["text"]
    assert [row["name"] for row in rows(inside, "found")] == ["scale_fusion"]
    for module in ("other", "other(12)", "12"):
        found = capture.answer("graph_viewer", module_name=module)
        assert found["facts"]["node"]["value"] == "idle_op" and "did not run by itself" in found["headline"]["text"]
    opened = rows(capture.answer("graph_viewer", open="scale_fusion"), "nodes")
    assert {row["name"] for row in opened if row["inside"] is not None} == {"p", "twice"}


@pytest.mark.parametrize(
    "options", [{"module_name": "1"}, {"module_name": "9" * 30}, {"node_name": "dot.2"}, {"graph_width": "0"}]
)
def test_what_does_not_exist(folder: Path, options: dict[str, str]) -> None:
    with pytest.raises(ProblemError) as caught:
        tb_profile_plugin.open(folder).answer("graph_viewer", **options)
    assert caught.value.problem.remedy


def test_without_programs_it_says_why(tmp_path: Path) -> None:
    draw.session(tmp_path, vm=draw.space("/host:CPU\n  main | step[0,9]"))
    capture = tb_profile_plugin.open(tmp_path)
    assert tb_profile_plugin.tools.get("graph_viewer").unavailable(capture).code == "no_xla_program"  # type: ignore[union-attr]
    assert rows(capture.answer("graph_viewer"), "nodes") == []


@pytest.fixture
def ask(folder: Path) -> Any:
    client = Client(App(Logdir(str(folder))))

    def data(**query: str) -> TestResponse:
        return client.get("/data", query_string={"run": "run", "tag": "graph_viewer"} | query)

    return data


def test_older_clients_get_documents(ask: Any) -> None:
    neighbours = ask(type="adj_nodes", module_name="m(7)", node_name="%shifted").get_json(force=True)
    assert neighbours == {"consumer_names": ["tuple.7"], "operand_names": ["scale_fusion", "constant.4"]}
    picked = json.loads(ask(type="adj_nodes", node_name="last").data)
    assert picked == {"consumer_names": [], "operand_names": ["loop"]}
    dot = ask(type="graph", node_name="dot.1", format="dot", graph_width="1", merge_fusion="1")
    assert dot.content_type == "text/vnd.graphviz; charset=utf-8" and dot.data.startswith(b"digraph G {")
    assert b"cluster" not in dot.data and b"scale_fusion" in dot.data
    assert b"cluster" in ask(type="graph", node_name="c3").data
    assert ask(type="short_txt").data.startswith(
        b"HloModule m, entry_computation_layout={(f32[8,8], f32[8,8])->f32[8,8]}"
    )
    assert b"\n  %dot.1 = f32[8,8] dot(%x, %w)\n" in ask(type="long_txt").data
    assert ask(type="pb").data == hlodraw.train()
    assert ask().get_json()["tool"] == "graph_viewer"


def test_documents_that_do_not_exist(ask: Any) -> None:
    wrong = {"type": "json"}, {"type": "graph", "format": "png"}, {"type": "graph", "graph_width": "-1"}
    assert [ask(**query).status_code for query in wrong] == [400] * 3
    missing = {"type": "custom_call", "node_name": "dot.1"}, {"type": "graph", "node_name": "<b>"}
    assert [ask(**query).status_code for query in missing] == [404] * 2


def test_documents_are_shown_by_no_browser(ask: Any) -> None:
    for query in ({"type": "graph", "format": "html"}, {"type": "long_txt"}, {"type": "pb"}):
        headers = ask(**query).headers
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
