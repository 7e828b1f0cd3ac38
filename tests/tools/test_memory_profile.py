"""The memory profile against the files that TensorFlow wrote beside captures, and against the promised shape."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin import tools
from tb_profile_plugin.compat import memory_profile as old_memory_profile
from tb_profile_plugin.runtime.problems import ProblemError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "profiles"


def drawn(tmp_path: Path, **hosts: int) -> Any:
    def space(size: int) -> Any:
        stats = f"allocator_name=GPU_0_bfc, bytes_allocated={size}, bytes_available=700, peak_bytes_in_use={size}"
        first = f"MemoryAllocation[10,0]{{{stats}, addr=5, allocation_bytes={size}, requested_bytes=3, tf_op=a}}"
        text = f"/host:CPU\n  main | step[0,90]{{_r=1, step_num=1}}\n  pool | {first} MemoryDeallocation[20,0]"
        return draw.space(text + "{allocator_name=GPU_0_bfc, bytes_available=700, addr=5}")

    return draw.session(tmp_path, **{name: space(size) for name, size in hosts.items()})


def rows(answer: Any, name: str) -> list[dict[str, Any]]:
    table = answer["tables"][name]
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, [cell["v"] for cell in row["c"]], strict=True)) for row in table["rows"]]


def test_the_established_shape(tmp_path: Path) -> None:
    answer = drawn(tmp_path, host=300).xprof("memory_profile")
    assert (answer["numHosts"], answer["version"], answer["memoryIds"]) == (1, 1, ["GPU_0_bfc"])
    (memory,) = answer["memoryProfilePerAllocator"].values()
    assert memory["profileSummary"] == {
        "peakBytesUsageLifetime": "300",
        "peakStats": {
            "stackReservedBytes": "0",
            "heapAllocatedBytes": "300",
            "freeMemoryBytes": "700",
            "fragmentation": 0.0,
            "peakBytesInUse": "300",
        },
        "peakStatsTimePs": "10000000",
        "memoryCapacity": "1000",
    }
    assert memory["activeAllocations"] == [{"snapshotIndex": "0", "specialIndex": "-1", "numOccurrences": "1"}]
    assert memory["memoryProfileSnapshots"][0]["activityMetadata"]["tfOpName"] == "a"
    assert [s["activityMetadata"]["memoryActivity"] for s in memory["sampledTimelineSnapshots"]] == [
        "ALLOCATION",
        "DEALLOCATION",
    ]


def test_the_table_is_of_the_chosen_moment(tmp_path: Path) -> None:
    capture = drawn(tmp_path, host=300)
    assert [row["op_name"] for row in rows(capture.xprof("memory_profile"), "breakdown")] == ["a"]
    after = capture.xprof("memory_profile", at_ms="0.02")
    assert rows(after, "breakdown") == []
    assert after["tables"]["summary"]["p"]["moment_ms"] == "0.020000"
    window = capture.xprof("memory_profile", begin_ms="0.015", end_ms="0.03")
    assert [row["time_ms"] for row in rows(window, "timeline")] == [0.01, 0.02]


def test_hosts_side_by_side(tmp_path: Path) -> None:
    capture = drawn(tmp_path, big=900, small=100)
    answer = capture.xprof("memory_profile", "ALL_HOSTS")
    assert [(row["host"], row["peak_bytes"]) for row in rows(answer, "summary")] == [("big", 900), ("small", 100)]
    assert answer["tables"]["summary"]["p"]["host"] == "big"
    assert capture.xprof("memory_profile", "small")["tables"]["summary"]["p"]["host"] == "small"


@pytest.mark.parametrize("options", [{"memory_id": "no"}, {"at_ms": "soon"}, {"begin_ms": "inf"}])
def test_options_that_make_no_sense_are_problems(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(ProblemError):
        drawn(tmp_path, host=300).xprof("memory_profile", **options)


def test_captures_without_allocations_say_why(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, host=draw.space("/host:CPU\n  main | a[0,1]"))
    reason = tools.get("memory_profile").unavailable(capture)
    assert reason and reason.code == "no_allocations" and "host_tracer_level" in reason.remedy


def plain(value: Any) -> Any:
    """Whole numbers written as strings or numbers alike; letters that Windows lost put back."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, str):
        text = value.replace("\0PU_", "GPU_").replace("\0pu_", "gpu_").replace("\0", "[")
        if text.startswith("[") and not text.endswith("]"):
            # Cut at the first comma, and shown as such.
            text += ",…]"
        return int(text) if text.lstrip("-").isdecimal() else text
    return value


def alive(memory: Any) -> Counter[Any]:
    """What is alive at the peak, by op, size, region, type and shape."""
    found: Counter[Any] = Counter()
    for each in memory["activeAllocations"]:
        index = int(each["snapshotIndex"])
        if index >= 0:
            facts = plain(memory["memoryProfileSnapshots"][index]["activityMetadata"])
            kinds = ("tfOpName", "allocationBytes", "requestedBytes", "regionType", "dataType", "tensorShape")
            found[tuple(facts[kind] for kind in kinds)] += int(each["numOccurrences"])
    return found


PEAKS_OF_SEVERAL_STEPS = {("memory-2021", "GPU_0_bfc"), ("memory-2021", "gpu_host_bfc")}
"""Where TensorFlow's list lacks what is alive from before the peak's step, or holds what is freed by then."""
STALE_LIFETIME = {("tfdata-windows-2023", "GPU_0_bfc")}
"""Where the last event states a lower maximum than an earlier one."""


@pytest.mark.parametrize("name", ["gpu-windows-2021", "memory-2021", "tfdata-windows-2023"])
def test_equal_to_what_tensorflow_wrote_beside_the_capture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("the public captures are not here")
    # These versions chose other events than later ones where there are more than 1000: compare with all events.
    monkeypatch.setattr(old_memory_profile, "_SNAPSHOTS", 10_000)
    file = next(folder.glob("*memory_profile.json.gz"))
    theirs = json.loads(gzip.decompress(file.read_bytes()), strict=False)["memoryProfilePerAllocator"]
    ours = tb_profile_plugin.open(folder).xprof("memory_profile")["memoryProfilePerAllocator"]
    assert set(ours) == {plain(memory) for memory in theirs}
    for written, expected in theirs.items():
        memory, key = ours[plain(written)], (name, plain(written))
        found, wanted = plain(memory["profileSummary"]), plain(expected["profileSummary"])
        if key in STALE_LIFETIME:
            assert found.pop("peakBytesUsageLifetime") > wanted.pop("peakBytesUsageLifetime")
        assert found == wanted
        # Before 2023 the timeline was called the snapshots.
        timeline = expected.get("sampledTimelineSnapshots") or expected["memoryProfileSnapshots"]
        events = {json.dumps(plain(each), sort_keys=True) for each in memory["sampledTimelineSnapshots"]}
        assert {json.dumps(plain(each), sort_keys=True) for each in timeline} <= events
        if key not in PEAKS_OF_SEVERAL_STEPS:
            assert alive(memory) == alive(expected)


def test_allocations_that_say_nothing_share_nothing(tmp_path: Path) -> None:
    told = draw.space("/host:CPU\n  python | MemoryAllocation[1,1] MemoryDeallocation[3,1] MemoryAllocation[5,1]")
    answer = draw.session(tmp_path, host=told).xprof("memory_profile")
    assert [row["share"] for row in rows(answer, "breakdown")] == [None]
