"""Traces are found by names, else by a look into them; a job's workers are hosts of one session, spans are sessions."""

import gzip
from pathlib import Path

import pytest
from torchtrace import op, text

from tb_profile_plugin import store
from tb_profile_plugin.analysis.workers import pod_steps
from tb_profile_plugin.formats import kineto
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.tools import get

TRACE = text(op("aten::mm", 0, 5)).encode()
TRACES = Path(__file__).parent.parent / "traces"


def found(folder: Path, *names: str, content: bytes = TRACE) -> dict[str, tuple[str, ...]]:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return {session.name: session.hosts for session in Logdir(str(folder)).sessions()}


@pytest.mark.parametrize(
    ("names", "sessions"),
    [
        (["log/vm_1.1623143089861.pt.trace.json"], {"log": ("vm_1",)}),
        (
            ["log/vm_1.1751410836000000000.pt.trace.json.gz", "log/vm_2.1751410836900000000.pt.trace.json.gz"],
            {"log": ("vm_1", "vm_2")},
        ),
        (
            [f"log/vm_{worker}.{span}.pt.trace.json" for worker in (1, 2) for span in (1623143089861, 1623143189861)],
            {"log/1": ("vm_1", "vm_2"), "log/2": ("vm_1", "vm_2")},
        ),
        (
            [
                "log/vm_1.1623143089861.pt.trace.json",
                "log/vm_2.1623143090861.pt.trace.json",
                "log/vm_2.1623143989861.pt.trace.json",
            ],
            {"log/1": ("vm_1", "vm_2"), "log/2": ("vm_2",)},
        ),
        (["log/vm.1.pt.trace.json", "log/vm.1.pt.trace.json.gz"], {"log": ("vm",)}),
        (["a/rank0.json", "a/rank1.json.gz"], {"a": ("rank0", "rank1")}),
        (
            ["a/bs_32_rank0.json", "a/bs_32_rank1.json", "a/graph_capture_rank_0.17.pt.trace.json.gz"],
            {"a/bs_32": ("bs_32_rank0", "bs_32_rank1"), "a/graph_capture": ("graph_capture_rank_0",)},
        ),
        (["a/trace.json", "a/other.json"], {"a/trace": ("trace",), "a/other": ("other",)}),
        (["plugins/profile/r1/a.trace.json.gz", "plugins/profile/r1/b.trace.json.gz"], {"r1": ("a", "b")}),
    ],
)
def test_sessions_by_names(tmp_path: Path, names: list[str], sessions: dict[str, tuple[str, ...]]) -> None:
    assert found(tmp_path, *names) == sessions


def test_other_json_is_passed_over(tmp_path: Path) -> None:
    other = b'{"nodes": [1], "schema": "1.0.2"}'
    assert found(tmp_path, "package.json", "chakra_rank0.json", "b.json.gz", content=other) == {}
    assert found(tmp_path, "a.txt", "a.json.tmp") == {}


def test_what_lies_beside_an_xspace_is_not_shown_twice(tmp_path: Path) -> None:
    run = tmp_path / "plugins/profile/r1"
    run.mkdir(parents=True)
    (run / "vm.xplane.pb").write_bytes(b"\x0a\x00")
    assert found(tmp_path, "plugins/profile/r1/vm.trace.json.gz", "plugins/profile/r1/perfetto_trace.json.gz") == {
        "r1": ("vm",)
    }


def test_a_file_or_a_folder_is_opened_whatever_its_ending(tmp_path: Path) -> None:
    (tmp_path / "named.txt").write_bytes(gzip.compress(TRACE))
    (tmp_path / "not_compressed.pt.trace.json.gz").write_bytes(TRACE)
    for name in ("named.txt", "not_compressed.pt.trace.json.gz"):
        (host,) = Session(store.resolve(tmp_path / name)).select()
        assert len(host.trace) == 1
    assert store.resolve(tmp_path).hosts == ("not_compressed",)


def test_what_only_looks_compressed_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.pt.trace.json.gz").write_bytes(b"no trace")
    with pytest.raises(ProblemError, match="cannot be inflated"):
        Session(store.resolve(tmp_path)).select()


def test_a_real_trace_with_modules_memory_and_stacks() -> None:
    (host,) = Session(store.resolve(TRACES / "torch_training")).select()
    assert host.problems == []
    assert (host.steps.source, host.steps.number.tolist()) == ("profiler", [1, 2, 3])
    assert list(host.steps.name) == ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]
    session = Session(store.resolve(TRACES / "torch_training"))
    ops = get("framework_op_stats").run(session)["tables"]["ops"]
    names = next(column["values"] for column in ops["columns"] if column["id"] == "name")
    assert "Net_0/Conv2d_0/aten::mkldnn_convolution" in names
    held = get("memory_profile").run(session)["headline"]["text"]
    assert held.startswith("CPU peaks at") and "Conv2d_0/aten::" in held


def test_real_workers_are_compared() -> None:
    session = Session(store.resolve(TRACES / "torch_workers"))
    hosts: list[HostWithSteps] = session.select()
    assert session.hosts == ("rank0", "rank1")
    steps = pod_steps.pod_steps(hosts)
    assert [(step.number, len(step.workers)) for step in steps] == [(1, 2), (2, 2), (3, 2)]
    assert [problem.code for problem in session.problems()] == []


def test_names() -> None:
    assert kineto.host_of("node1_4711.1623143089861.pt.trace.json") == "node1_4711"
    assert kineto.host_of("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz") == "rank-34.Jul_15_10_52_41"
    assert kineto.host_of("vm.xplane.pb") is None
