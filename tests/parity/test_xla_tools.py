"""HLO stats, op profile and roofline against xprof on public captures; what differs has a row in the docs."""

from typing import Any

import pytest
from xprof_answers import both, needed, rows

pytestmark = needed
NAMES = ["rocm-attention", "rocm-8gpu-conv", "rocm-te-attention", "tpu-v6e-inference"]


def keyed(answer: Any) -> dict[Any, dict[str, Any]]:
    return {(row["program_id"], row["hlo_op_name"]): row for row in rows(answer)}


def transfer(row: dict[str, Any]) -> bool:
    return str(row["category"]).endswith(("-start", "-done"))


@pytest.mark.parametrize("name", NAMES)
def test_hlo_stats(name: str) -> None:
    theirs, ours = both(name, "hlo_stats")
    columns = [(column["id"], column["type"]) for column in theirs["cols"]]
    assert [(column["id"], column["type"]) for column in ours["cols"]][: len(columns)] == columns
    found, wanted = keyed(ours), keyed(theirs)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        mine = found[key]
        same = ("category", "core_type", "hlo_rematerialization", "total_time", "total_self_time")
        assert [mine[column] for column in same] == pytest.approx([row[column] for column in same])
        assert mine["source_info"].endswith(row["source_info"].rpartition("<div")[2].rpartition(">")[2])
        # X4: executions, not kernels.
        assert mine["occurrences"] == row["occurrences"] or mine["kernels"] == row["occurrences"]
        if transfer(row):
            # X7, X8: waiting has no rate.
            assert mine["measured_memory_bw"] == 0 and mine["bound_by"] == "Transfer"
            continue
        # X3: products and attention of libraries have a cost.
        rate = mine["measured_memory_bw"] * mine["kernels" if mine["kernels"] else "occurrences"] / mine["occurrences"]
        assert rate == pytest.approx(row["measured_memory_bw"], rel=1e-6, abs=1e-6) or not row["measured_memory_bw"]
        assert mine["model_flop_rate"] > 0 or not row["model_flop_rate"]
    assert [row["rank"] for row in rows(ours)] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_op_profile(name: str) -> None:
    theirs, ours = both(name, "op_profile")
    assert ours["deviceType"] == theirs["deviceType"]
    assert [*ours["byProgram"]["metrics"]][: len(theirs["byProgram"]["metrics"])] == [*theirs["byProgram"]["metrics"]]
    found, wanted = times(ours["byProgram"]), times(theirs["byProgram"])
    idle, beside = wanted.pop(("IDLE",)), found.pop(("IDLE",)) + found.pop(("Other work",), 0)
    # X13: copies and kernels of no program are not idle time.
    assert beside == pytest.approx(idle, rel=1e-3)
    assert found == wanted


def times(node: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], int]:
    answer = {}
    for child in node["children"]:
        place = (*path, child["name"])
        answer[place] = child["metrics"]["rawTime"]
        answer |= times(child, place) if child["metrics"]["rawTime"] else {}
    return {place: time for place, time in answer.items() if time}


@pytest.mark.parametrize("name", NAMES)
def test_roofline(name: str) -> None:
    (theirs, _), (ours, _) = both(name, "roofline_model")
    columns = [(column["id"], column["type"]) for column in theirs["cols"]]
    assert [(column["id"], column["type"]) for column in ours["cols"]][: len(columns)] == columns
    assert ours["p"].keys() == theirs["p"].keys()
    assert float(ours["p"]["peak_flop_rate"]) == pytest.approx(float(theirs["p"]["peak_flop_rate"]), rel=1e-4)
    # X12: no record where there is no step.
    wanted = {
        (r["hlo_module_id"], r["operation"], r["include_infeed_outfeed"]): r
        for r in rows(theirs)
        if r["step"] == "Total"
    }
    found = {(r["hlo_module_id"], r["operation"], r["include_infeed_outfeed"]): r for r in rows(ours)}
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        assert found[key]["total_time"] == pytest.approx(row["total_time"], rel=1e-3)
        assert found[key]["total_self_time"] == pytest.approx(row["total_self_time"])


PROGRAMS = {
    "jax-cpu": "jit_step(6)",
    "rocm-8gpu-conv": "jit_forward_3d_conv(15)",
    "rocm-te-attention": "jit_loss_fn(17)",
    "tpu-v6e-inference": "jit_f(12190760917235803885)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_viewer(name: str) -> None:
    theirs, ours = both(name, "memory_viewer", module_name=PROGRAMS[name])
    assert theirs.keys() == ours.keys()
    for key, value in theirs.items():
        if isinstance(value, float | int | str) or key in ("heapSizes", "unpaddedHeapSizes", "hloInstructionNames"):
            assert ours[key] == pytest.approx(value) if not isinstance(value, str) else ours[key] == value, key
    # What gets the memory of another is one stretch with it.
    assert ours["logicalBufferSpans"].items() <= theirs["logicalBufferSpans"].items()
    parts = ("size", "offset", "startStep", "endStep", "shapeString", "unpaddedSize", "name")
    found, wanted = (keyed_by(each["bufferBlocks"], "logicalBufferId", parts) for each in (ours, theirs))
    assert found.items() <= wanted.items()
    assert [each.get("sizeMib", 0) for each in ours["indefiniteLifetimes"]] == pytest.approx(
        [each.get("sizeMib", 0) for each in theirs["indefiniteLifetimes"]]
    )
    held = [sorted(each["logicalBufferSizeMib"] for each in answer["maxHeap"]) for answer in (ours, theirs)]
    assert held[0] == pytest.approx(held[1])
    facts = ("label", "logicalBufferSizeMib", "instructionName", "shapeString", "groupName", "opCode")
    found, wanted = (keyed_by(each["maxHeap"], "logicalBufferId", facts) for each in (ours, theirs))
    # X11: another value can be in an allocation at the peak; X20: fusions get the names of what is in them.
    for number in found.keys() & wanted.keys():
        assert found[number][1:] == wanted[number][1:], number
        assert str(found[number][0]).startswith(str(wanted[number][0])), number
    for answer in (ours, theirs):
        assert [answer["maxHeap"][i] for i in answer["bySizeToMaxHeap"]] == answer["maxHeapBySize"]
        assert [answer["maxHeapBySize"][i] for i in answer["maxHeapToBySize"]] == answer["maxHeap"]


def keyed_by(each: list[dict[str, Any]], key: str, parts: tuple[str, ...]) -> dict[Any, tuple[Any, ...]]:
    return {one[key]: tuple(one.get(part) for part in parts) for one in each}
