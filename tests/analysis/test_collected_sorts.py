"""Metrics over all predictions so far sort more in each step than in the one before."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps


def program(sizes: list[int], fixed: int, shapes: bool) -> HostWithSteps:
    """A step for each size: sorts of so many elements and of a fixed number, and a product. Times in µs."""

    def stated(*dims: int) -> dict[str, Any]:
        return {"Input Dims": [dims, [], []]} if shapes else {}

    events = []
    for step, size in enumerate(sizes):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        events += [torchtrace.op("aten::argsort", at + 10, 5_000, **stated(size))]
        events += [torchtrace.op("aten::sort", at + 20, 4_000, **stated(size))]
        events += [torchtrace.op("aten::sort", at + 5_100, 1_000, **stated(fixed, 2))]
        events += [torchtrace.op("aten::mm", at + 6_200, 3_700, **stated(64, 64))]
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("sizes", "fixed", "shapes", "are_collected"),
    [
        ([4096, 4608, 5120, 5632, 6144], 100, True, True),
        ([4096, 4608, 5120, 5632, 6144], 100, False, False),
        ([4096, 4608, 5120, 5632, 6144], 9999, True, False),
        ([4096, 4608, 5120, 5632], 100, True, False),
        ([4096, 4096, 4096, 4096, 4096], 100, True, False),
        ([4096, 4608, 5000, 5632, 6144], 100, True, False),
    ],
    ids=["collected", "no shapes", "larger ones", "few steps", "the same", "other lengths"],
)
def test_what_steps_collect_is_sorted_once(sizes: list[int], fixed: int, shapes: bool, are_collected: bool) -> None:
    host = program(sizes, fixed, shapes)
    assert ("sorts_more" in program_facts(host)) == are_collected
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert ("once at the end of an epoch" in compute.remedy.text) == are_collected
