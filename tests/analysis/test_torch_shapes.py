"""What shapes tell: metrics over all predictions so far sort more in each step; distances make arrays of all pairs."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch_shapes import pairs_ps
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


def distances(
    first: list[int], second: list[int], combines: str, reduces: str, at_once_us: int, on_gpu: bool = False
) -> HostWithSteps:
    """Four steps of 10 ms: ops on what two arrays make together, which last so long each, and a product; with positions
    that are added to rows of another array.
    """
    pairs = [max(pair) for pair in zip(first, second, strict=True)]
    events = []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        ops = [(combines, [first, second, []]), ("aten::pow", [pairs, []]), (reduces, [pairs, [], [], []])]
        for place, (name, dims) in enumerate(ops):
            shapes: dict[str, Any] = {"Input Dims": dims}
            events += [torchtrace.op(name, at + 10 + 1_100 * place, at_once_us, **shapes)]
            if on_gpu:
                events[-1] |= {"dur": 9}
                events += [torchtrace.launch(10 * step + place + 1, at + 12 + 1_100 * place, 2)]
                events += [torchtrace.on_device(10 * step + place + 1, at + 15 + 1_100 * place, at_once_us)]
        rows: dict[str, Any] = {"Input Dims": [[64, 1, 8], [1, 99, 8], []]}
        events += [torchtrace.op("aten::add", at + 3_900, 50, **rows)]
        taken: dict[str, Any] = {"Input Dims": [[64, 99, 8], [], [], []]}
        events += [torchtrace.op("aten::sum", at + 4_000, 5_000, **taken)]
    return torchtrace.host(*events, **({} if on_gpu else {"deviceProperties": []}))


@pytest.mark.parametrize(
    ("first", "second", "combines", "reduces", "at_once_us", "makes_pairs"),
    [
        ([384, 1, 32], [1, 256, 32], "aten::sub", "aten::sum", 1_000, True),
        ([384, 1, 32], [1, 256, 32], "aten::mul", "aten::mean", 1_000, True),
        ([384, 1, 32], [1, 256, 32], "aten::sub", "aten::sum", 300, False),
        ([384, 1, 32], [1, 256, 32], "aten::sub", "aten::softmax", 1_000, False),
        ([384, 1, 32], [1, 256, 32], "aten::add", "aten::sum", 1_000, False),
        ([384, 256, 32], [1, 256, 32], "aten::sub", "aten::sum", 1_000, False),
        ([384, 1, 32], [1, 4, 32], "aten::sub", "aten::sum", 1_000, False),
    ],
    ids=["distances", "products", "short", "no sum", "not by products", "one repeated", "few"],
)
def test_distances_of_all_pairs_are_products(
    first: list[int], second: list[int], combines: str, reduces: str, at_once_us: int, makes_pairs: bool
) -> None:
    host = distances(first, second, combines, reduces, at_once_us)
    assert ("broadcasts_pairs" in program_facts(host)) == makes_pairs
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert ("torch.cdist" in compute.remedy.text) == makes_pairs
    assert not makes_pairs or compute.gain_ps == 3 * at_once_us * 10**6


def test_on_a_device_kernels_of_pairs_count() -> None:
    host = distances([384, 1, 32], [1, 256, 32], "aten::sub", "aten::sum", 1_000, on_gpu=True)
    assert "broadcasts_pairs" in program_facts(host)
    assert pairs_ps(host) == 3_000 * 10**6
