"""Kernel statistics and the memory profile against xprof, on public captures; what differs has a row in the docs."""

import re
from collections import Counter, defaultdict
from typing import Any

import pytest
from xprof_answers import both, file_of, needed, rows

import tb_profile_plugin
from tb_profile_plugin.tools.answers.reader import AnswerReader

pytestmark = needed

COPYING = "__amd_rocclr_copyBuffer.kd"
ORDERING = ("input_transpose_fusion.kd", "Im3d2Col.kd")
ARGUMENTS = ("a", "x", "kernel")
"""Of the programs in rocm-*, which XLA names copies of them after."""


def by_launch(answer: Any) -> dict[Any, dict[str, Any]]:
    """One entry per kernel and size: xprof does not know the ops of old captures (S9), so theirs are fewer."""
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(answer):
        found[row["kernel_name"], row["block_dim"], row["grid_dim"]].append(row)
    return {
        key: {
            "occurrences": sum(row["occurrences"] for row in group),
            "total": pytest.approx(sum(row["total_duration_us"] for row in group)),
            "min": min(row["min_duration_us"] for row in group),
            "max": max(row["max_duration_us"] for row in group),
        }
        for key, group in found.items()
    }


def hlo_op(kernel: str) -> str:
    """``fusion_1.kd`` is the kernel of ``fusion.1``."""
    return re.sub(r"_(\d+)$", r".\1", kernel.removesuffix(".kd"))


@pytest.mark.parametrize("name", ["gpu-v100-multi-worker", "gpu-windows-2021", "rocm-attention", "rocm-8gpu-conv"])
def test_kernels(name: str) -> None:
    theirs, ours = both(name, "kernel_stats")
    columns = [(column["id"], column["type"]) for column in theirs["cols"]]
    assert [(column["id"], column["type"]) for column in ours["cols"]][: len(columns)] == columns
    wanted = by_launch(theirs)
    copying = [wanted.pop(key) for key in list(wanted) if key[0] == COPYING]
    assert by_launch(ours) == wanted
    if copying:
        # K8: they are no kernels, but in the table of copies.
        copies = AnswerReader(tb_profile_plugin.open(file_of(name)).answer("kernel_stats"))
        assert sum(copies.values("copies", "count")) == sum(each["occurrences"] for each in copying)
    mine = defaultdict(list)
    for row in rows(ours):
        mine[row["kernel_name"], row["block_dim"], row["grid_dim"], row["total_duration_us"]].append(row)
    for row in rows(theirs):
        same = mine.get((row["kernel_name"], row["block_dim"], row["grid_dim"], row["total_duration_us"]))
        for each in same or []:
            # K2, K5: the old key of shared memory and AMD's are read, and what is unknown is blank.
            assert each["registers_per_thread"] in (row["registers_per_thread"], None)
            assert row["shmem_bytes"] in (each["shmem_bytes"], 0)
            assert each["occupancy_pct"] in (row["occupancy_pct"], None)
            # K1, K4: whatever xprof recognises is recognised, but for what only puts arrays into another order (K11).
            assert each["is_kernel_using_tensor_core"] or not row["is_kernel_using_tensor_core"]
            assert (
                each["is_op_tensor_core_eligible"]
                or not row["is_op_tensor_core_eligible"]
                or row["kernel_name"] in ORDERING
            )
            # O13: an argument is not the op that copies it.
            op = hlo_op(row["kernel_name"]) if row["op_name"] in ARGUMENTS else row["op_name"]
            assert not op or each["op_name"] == op


def mended(memory: str) -> str:
    """M4."""
    return memory.replace("\0PU_", "GPU_").replace("\0pu_", "gpu_")


def event(snapshot: Any) -> tuple[Any, ...]:
    """An event without its step, which has no meaning beyond its group, and without a shape that lost a letter."""
    stats, activity = snapshot["aggregationStats"], snapshot["activityMetadata"]
    sizes = [stats[key] for key in ("stackReservedBytes", "heapAllocatedBytes", "freeMemoryBytes", "peakBytesInUse")]
    kinds = ("memoryActivity", "requestedBytes", "allocationBytes", "address", "tfOpName", "regionType", "dataType")
    return (*sizes, stats["fragmentation"], *[activity[key] for key in kinds])


ONE_START = ["gpu-v100-multi-worker", "gpu-windows-2021", "memory-2021", "tfdata-windows-2023", "tpu-v6e-inference"]


@pytest.mark.parametrize("name", [*ONE_START, "rocm-attention", "rocm-8gpu-conv"])
def test_memory(name: str) -> None:
    theirs, ours = both(name, "memory_profile")
    assert ours["memoryIds"] == sorted(mended(memory) for memory in theirs["memoryIds"])
    assert [list(each) for each in ours["hloModules"]] == [list(each) for each in theirs["hloModules"]]
    for memory, expected in theirs["memoryProfilePerAllocator"].items():
        found = ours["memoryProfilePerAllocator"][mended(memory)]
        assert found.keys() == expected.keys()
        summary, wanted = found["profileSummary"], expected["profileSummary"]
        # M1: the maximum of what the events state, instead of the last one.
        assert int(summary.pop("peakBytesUsageLifetime")) >= int(wanted.pop("peakBytesUsageLifetime"))
        snapshots, others = found["sampledTimelineSnapshots"], expected["sampledTimelineSnapshots"]
        if name in ONE_START:
            assert summary == wanted
            assert [(s["timeOffsetPs"], event(s)) for s in snapshots] == [(s["timeOffsetPs"], event(s)) for s in others]
        else:
            # M2: times of lines with different starts are comparable here, so the order differs.
            assert (summary["memoryCapacity"], summary["peakStats"]) == (wanted["memoryCapacity"], wanted["peakStats"])
            assert Counter(map(event, snapshots)) == Counter(map(event, others))
