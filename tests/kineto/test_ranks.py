"""Workers of a job: found by rank, named by rank, compared by what they send each other."""

import gzip
from pathlib import Path
from typing import Any

import pytest
import torchtrace
from torchtrace import launch, mark, on_device, on_host, op

from tb_profile_plugin import store
from tb_profile_plugin.analysis.activity.communication import overlaps
from tb_profile_plugin.analysis.workers import worker_communication
from tb_profile_plugin.analysis.workers.late_peers import late_peers
from tb_profile_plugin.analysis.workers.lateness import late_workers
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.model.names.collective_args import of_range
from tb_profile_plugin.model.ranks import labels, missing
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.tools import get
from tb_profile_plugin.tools.columns import device_work

TRACES = Path(__file__).parent.parent / "traces"
KINETO = Path(__file__).resolve().parents[3] / "shared" / "profiles-kineto"
SIZES = {
    "Collective name": "allreduce",
    "In msg nelems": 250_000,
    "Out msg nelems": 250_000,
    "dtype": "Float",
    "Group size": 2,
    "Process Group Name": "0",
    "Process Group Description": "default_pg",
}
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"


def events(late: float, **args: Any) -> list[dict[str, Any]]:
    """Six steps, in each an all-reduce that ends at the same time and begins so many µs later."""
    answer = []
    for i in range(6):
        at = 1000.0 * i
        answer += [mark(f"ProfilerStep#{i}", at, 900), launch(i + 1, at + 1)]
        answer.append(on_device(i + 1, at + 100 + late, 300 - late, NCCL, **args))
    return answer


def worker(rank: int, late: float, world: int = 2, **args: Any) -> HostWithSteps:
    told = {"backend": "nccl", "rank": rank, "world_size": world}
    return torchtrace.host(*events(late, **args), distributedInfo=told)


def written(folder: Path, names: dict[str, int], world: int = 2) -> list[tuple[str, tuple[str, ...]]]:
    for name, rank in names.items():
        told = {"backend": "nccl", "pg_count": 1, "rank": rank, "world_size": world}
        text = torchtrace.text(*events(100.0 * rank, **SIZES), distributedInfo=told).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return sorted((each.name, each.hosts) for each in store.Logdir(str(folder)).sessions())


def test_a_number_in_a_name_is_a_rank_where_the_file_says_so(tmp_path: Path) -> None:
    names = {"trace_0.json": 0, "trace_1.json.gz": 1, "trace_7.json": 3, "other.json": 2}
    assert written(tmp_path, names) == [
        ("other", ("other",)),
        ("trace", ("trace_0", "trace_1")),
        ("trace_7", ("trace_7",)),
    ]


def test_workers_are_called_by_their_ranks(tmp_path: Path) -> None:
    written(tmp_path, {"vm_4711.1.pt.trace.json": 1, "vm_4712.1.pt.trace.json": 0})
    session = Session(store.resolve(tmp_path))
    assert labels(session.select()) == {"vm_4711": "rank 1", "vm_4712": "rank 0"}
    answer = get("pod_viewer").run(session)
    names = {column["id"]: column["values"] for column in answer["tables"]["workers"]["columns"]}
    assert (names["worker"][:2], names["host"][:2]) == (["rank 0", "rank 1"], ["vm_4712", "vm_4711"])


@pytest.mark.parametrize("ranks", [(0, 0), (0, None)])
def test_ranks_that_do_not_tell_workers_apart_name_nobody(ranks: tuple[int, int | None]) -> None:
    hosts = [torchtrace.host(*events(0), distributedInfo={"rank": rank, "world_size": 2}) for rank in ranks]
    hosts[1].name = "other"
    assert labels(hosts) == {"worker": "worker", "other": "other"}


def test_sizes_and_who_came_late(tmp_path: Path) -> None:
    written(tmp_path, {"rank0.1.pt.trace.json": 0, "rank1.1.pt.trace.json": 1})
    answer = get("communication").run(Session(store.resolve(tmp_path)))
    assert answer["headline"]["text"].endswith("rank 1 is last in 6 of 6 collectives; others wait 600 µs.")
    tables = {id: {each["id"]: each["values"] for each in table["columns"]} for id, table in answer["tables"].items()}
    rows = tables["collectives"]
    assert (rows["worker"], rows["kind"], rows["bytes"]) == (["rank 0", "rank 1"], ["all-reduce"] * 2, [10**6] * 2)
    assert (rows["total_us"], rows["waiting_us"]) == ([1800, 1200], [600, 0])
    # 1 MB in 200 µs; the ring of two carries as much.
    assert rows["gb_per_s"] == pytest.approx([5, 5])
    assert rows["bus_gb_per_s"] == pytest.approx([5, 5])
    assert (tables["late"]["worker"], tables["late"]["caused_us"]) == (["rank 1", "rank 0"], [600, 0])
    assert tables["waits"]["waiting_us"] == pytest.approx([100] * 6)


def numbered(rank: int, numbers: range, group: str, late: float = 0) -> HostWithSteps:
    """An all-reduce of each number, which ends at the same time on all ranks."""
    found = []
    for i in numbers:
        at = 1000.0 * i
        found += [mark(f"ProfilerStep#{i}", at, 900), launch(i + 1, at + 1)]
        stated = SIZES | {"Process Group Name": group, "Seq": i}
        found.append(on_device(i + 1, at + 100 + late, 300 - late, NCCL, **stated))
    host = torchtrace.host(*found, distributedInfo={"rank": rank, "world_size": 2})
    host.name = f"rank{rank}"
    return host


def test_sequence_numbers_match_collectives_where_captures_begin_apart() -> None:
    found = late_peers([numbered(0, range(2, 12), "0"), numbered(1, range(5, 14), "0", 100)])
    assert found is not None
    assert (len(found.late), set(found.late.tolist())) == (7, {1})
    assert found.waiting_ps[:, 0].tolist() == [100_000_000] * 7


def test_collectives_of_other_groups_are_others() -> None:
    assert late_peers([numbered(0, range(6), "1"), numbered(1, range(6), "2", 100)]) is None


def test_nobody_is_called_late_where_ranks_are_missing() -> None:
    hosts = [worker(0, 0, world=8), worker(1, 100, world=8)]
    hosts[1].name = "other"
    assert missing(hosts) == (6, 8, [2, 3, 4])
    assert missing([worker(0, 0, world=10**18)]) == (10**18 - 1, 10**18, [1, 2, 3])
    assert late_peers(hosts) is None
    (first, _) = worker_communication.communication_rows(hosts, None)
    assert (first.waiting_ps, first.bytes, first.bytes_per_s) == (None, None, None)


def test_collectives_are_what_their_range_says_where_kernels_say_nothing() -> None:
    around: dict[str, Any] = {"Input Dims": "[[1000], []]", "Input type": '["c10::Half", "Scalar"]'}
    one = torchtrace.host(
        on_host("user_annotation", "nccl:all_to_all", 0, 50, **around),
        launch(1, 5),
        on_device(1, 20, 10, "ncclDevKernel_SendRecv"),
    )
    (row,) = worker_communication.communication_rows([one], None)
    assert (row.kind, row.bytes, row.dtype, row.bus_bytes_per_s) == ("all-to-all", 2000, "c10::Half", None)
    assert [overlap.kind for overlap in overlaps(one)] == ["", "all-to-all"], "as everywhere"


def test_collectives_are_what_their_kernel_states() -> None:
    stated = SIZES | {"Collective name": "all_to_allv"}
    kernel = on_device(1, 20, 10, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", **stated)
    (row,) = worker_communication.communication_rows([torchtrace.host(launch(1, 5), kernel)], None)
    assert row.kind == "all-to-all"


@pytest.mark.parametrize(
    "told", [{}, {"Input Dims": "[[", "Input type": "x"}, {"Input Dims": "[[-1, true]]", "Input type": "[3]"}]
)
def test_shapes_that_are_none_say_nothing(told: dict[str, str]) -> None:
    assert of_range(told, "all-reduce").bytes is None


def test_collectives_of_several_threads_at_once_take_their_time_once(tmp_path: Path) -> None:
    gloo = [("gloo:all_reduce", 100, 400, 8), ("gloo:all_reduce", 300, 400, 9), ("gloo:all_gather", 600, 300, 8)]
    events = [on_host("user_annotation", name, begin, duration, tid) for name, begin, duration, tid in gloo]
    text = torchtrace.text(mark("ProfilerStep#1", 0, 1000), *events).encode()
    (tmp_path / "worker.1.pt.trace.json").write_bytes(text)
    answer = get("communication").run(Session(store.resolve(tmp_path)))
    assert answer["headline"]["text"] == "Collectives take 800 µs per device, 100 % of it exposed."
    rows = {each["id"]: each["values"] for each in answer["tables"]["communication"]["columns"]}
    assert rows["kind"] == ["all", "all-reduce", "all-gather"]
    assert rows["time_ps"] == [800_000_000, 600_000_000, 300_000_000]


def test_workers_of_gloo_wait_for_each_other() -> None:
    answer = get("communication").run(Session(store.resolve(TRACES / "torch_workers")))
    tables = {id: {each["id"]: each["values"] for each in table["columns"]} for id, table in answer["tables"].items()}
    rows = tables["collectives"]
    assert 4 * (8 * 3 * 9 + 8 + 10 * 8 * 14 * 14 + 10) in rows["bytes"]
    assert {row for row, kind in zip(rows["waiting_us"], rows["kind"], strict=True) if kind == "all-reduce"} != {None}
    assert tables["late"]["of"] == [5, 5]


def beside_nccl(rank: int, late: float) -> HostWithSteps:
    """In each step an all-reduce of NCCL, to which all come at once, and then one of gloo, to which one comes late; of
    NCCL's, which state no group, this rank recorded the first ones only.
    """
    found = []
    for step in range(8):
        at = 2000.0 * step
        found += [mark(f"ProfilerStep#{step}", at, 1900), launch(step + 1, at + 1)]
        found += [on_device(step + 1, at + 100, 200, NCCL)] if step < 8 - rank else []
        found.append(on_host("user_annotation", "gloo:all_reduce", at + 500 + late, 800 - late, 9))
    host = torchtrace.host(*found, distributedInfo={"rank": rank, "world_size": 3})
    host.name = f"rank{rank}"
    return host


def test_gloo_beside_nccl_is_matched_by_its_own_order() -> None:
    hosts = [beside_nccl(rank, 400.0 * (rank == 2)) for rank in range(3)]
    found = late_peers(hosts)
    assert found is not None
    assert [worker.name for worker in found.workers] == ["rank 0", "rank 1", "rank 2"]
    assert found.waiting_ps.tolist() == [[400_000_000, 400_000_000, 0]] * 8
    rows = worker_communication.communication_rows(hosts, found)
    assert [(row.device, row.kind, row.waiting_ps) for row in rows if row.worker == "rank 0"] == [
        ("CPU", "all-reduce", 3_200_000_000),
        ("/device:GPU:0", "all-reduce", None),
    ]
    verdict = late_workers(hosts, found).verdict
    assert verdict is not None and verdict.worker == "rank 2"
    waited = device_work.communication(hosts, found)
    assert [*zip(waited["device"], waited["waiting_ps"], strict=True)][:2] == [
        ("/device:GPU:0", None),
        ("CPU", 3_200_000_000),
    ]


def test_what_a_sampled_trace_says_of_workers_is_doubtful(tmp_path: Path) -> None:
    for rank in range(2):
        ops = [op("aten::add", 10.0 * i, 5, **{"External id": 8 * i}) for i in range(1, 200)]
        text = torchtrace.text(mark("ProfilerStep#1", 0, 2000), *ops, distributedInfo={"rank": rank, "world_size": 2})
        (tmp_path / f"rank{rank}.1.pt.trace.json").write_bytes(text.encode())
    headline = get("pod_viewer").run(Session(store.resolve(tmp_path)))["headline"]
    assert headline["doubt"] == "1 in 8 ops was recorded."


@pytest.mark.skipif(not KINETO.is_dir(), reason="the real traces are not here")
def test_collectives_of_real_traces() -> None:
    answer = get("communication").run(Session(store.resolve(KINETO / "a100-ddp-nccl")))
    tables = {id: {each["id"]: each["values"] for each in table["columns"]} for id, table in answer["tables"].items()}
    rows, hidden = tables["collectives"], tables["communication"]
    assert 4 * 2_049_000 in rows["bytes"]
    assert sum(rows["count"]) == 21
    assert set(rows["members"]) == {2}
    assert (hidden["time_ps"][0], hidden["hidden_ps"][0]) == (46_876_493_000, 7_317_025_000)
    answer = get("communication").run(Session(store.resolve(KINETO / "workers-sampled-128")))
    assert answer["tables"]["late"]["rows"] == 0
    assert "ranks_missing" in [note["code"] for note in answer["notes"]]


@pytest.mark.parametrize("tool", ["pod_viewer", "communication"])
def test_missing_ranks_are_named_and_the_others_compared(tmp_path: Path, tool: str) -> None:
    written(tmp_path, {f"rank{rank}.1.pt.trace.json": rank for rank in range(8) if rank != 5}, world=8)
    answer = get(tool).run(Session(store.resolve(tmp_path)))
    (note,) = (note["message"] for note in answer["notes"] if note["code"] == "ranks_missing")
    assert note.startswith("1 of 8 ranks is missing: 5.")
    assert answer["headline"]


def test_arrivals_are_drawn_in_order_of_time(tmp_path: Path) -> None:
    written(tmp_path, {"rank0.1.pt.trace.json": 0, "rank1.1.pt.trace.json": 1})
    answer = get("communication").run(Session(store.resolve(tmp_path)))
    rows = {each["id"]: each["values"] for each in answer["tables"]["arrivals"]["columns"]}
    assert rows["collective"] == [number for number in range(1, 7) for _ in range(2)]
    assert rows["worker"] == ["rank 0", "rank 1"] * 6
    assert rows["arrives_us"] == pytest.approx([0, 100] * 6)
    assert rows["late"] == [False, True] * 6
    assert rows["transfer_us"] == pytest.approx([200] * 12)
