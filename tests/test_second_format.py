"""Another input format is a folder beside xspace/: whoever fills the neutral columns is answered by every analysis."""

from pathlib import Path

import pytest
import toy_format

from tb_profile_plugin import store
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.workers.slowest_host import host_comparison
from tb_profile_plugin.formats import recognize, xspace
from tb_profile_plugin.model.host import Host
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.timeline.details import details
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.tiles import timeline

TRACE = """[
 {"thread": "main", "name": "train", "us": [0, 900], "args": {"_r": 1, "step_num": 0}},
 {"thread": "main", "name": "train", "us": [1000, 900], "args": {"_r": 1, "step_num": 1}},
 {"thread": "pool", "name": "dense/MatMul:MatMul", "us": [100, 300], "args": {"shape": "(f32[8,8])"}},
 {"thread": "pool", "name": "dense/MatMul:MatMul", "us": [1100, 200], "args": {"shape": "(f32[4,4])"}}
]"""


@pytest.fixture(autouse=True)
def _with_the_toy_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognize, "FORMATS", (xspace, toy_format))


def test_steps_ops_and_the_timeline_are_those_of_the_trace() -> None:
    host = Host("toy", toy_format.read(TRACE)).with_steps()
    assert host_comparison([host, host])[1][0].average_ms == 0.9
    table = host_ops(host)
    assert [(op.type, op.occurrences, op.total_ps) for op in table.ops if op.name == "dense/MatMul"] == [
        ("MatMul", 2, 500 * 10**6)
    ]
    shown = timeline(host)
    assert [lane.name for lane in shown.lanes] == ["main", "pool"]
    assert len(search(host, Pattern("4,4")).event) == 1
    assert details(host, 2)["name"] == "dense/MatMul:MatMul"


def test_files_are_found_by_name_and_opened_by_content(tmp_path: Path) -> None:
    for name in ("a.toy", "b.toy", "unsure.toy"):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text(TRACE)
    (stored,) = store.Logdir(str(tmp_path)).sessions()
    assert (stored.name, stored.hosts) == ("run", ("a", "b", "unsure"))
    assert host_comparison(Session(stored).select())[1][0].average_ms == 0.9
    assert store.resolve(tmp_path / "run").hosts == ("a", "b", "unsure")


def test_a_name_that_leaves_it_open_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "unsure.toy").write_text("[1, 2]")
    assert store.Logdir(str(tmp_path)).sessions() == []


def test_what_another_capture_was_copied_into_is_not_shown_twice(tmp_path: Path) -> None:
    (tmp_path / "copy of vm.toy").write_text(TRACE)
    assert [each.name for each in store.Logdir(str(tmp_path)).sessions()] == [tmp_path.name]
    (tmp_path / "vm.xplane.pb").write_bytes(b"")
    assert [each.name for each in store.Logdir(str(tmp_path)).sessions()] == ["vm"]
