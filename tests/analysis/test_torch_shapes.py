"""What shapes tell: metrics over all predictions so far sort more in each step; distances make arrays of all pairs;
kernels of convolutions are long.
"""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_shapes import adjacency_ps, long_kernels_ps, pairs_ps
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


@pytest.mark.parametrize(
    ("repeats", "second", "in_gradients", "makes_pairs"),
    [
        ("aten::repeat", [1, 256, 32], False, True),
        ("aten::expand", [1, 256, 32], False, True),
        ("aten::repeat", [384, 1, 32], False, False),
        ("aten::expand", [1, 256, 32], True, False),
    ],
    ids=["repeated", "expanded", "by one axis", "gradients of sums"],
)
def test_pairs_may_be_repeated_before(repeats: str, second: list[int], in_gradients: bool, makes_pairs: bool) -> None:
    """As ``a.unsqueeze(1).repeat(…) - b.unsqueeze(0).repeat(…)`` makes them."""
    pairs, events = [384, 256, 32], []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        ops = [(repeats, [[384, 1, 32], []]), (repeats, [second, []]), ("aten::sub", [pairs, pairs, []])]
        if in_gradients:
            events += [torchtrace.op("autograd::engine::evaluate_function: SumBackward1", at + 5, 2_200)]
        for place, (name, dims) in enumerate([*ops, ("aten::sum", [pairs, [], [], []])]):
            shapes: dict[str, Any] = {"Input Dims": dims}
            events += [torchtrace.op(name, at + 10 + 1_100 * place, 1_000, **shapes)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("broadcasts_pairs" in program_facts(host)) == makes_pairs
    assert pairs_ps(host) == (2_000 * 10**6 if makes_pairs else 0)


@pytest.mark.parametrize(
    ("fills", "product", "ps"),
    [
        ([[1700, 1700], [], []], [[1700, 1700], [1700, 64]], 5_000 * 10**6),
        ([[1700, 64], [], []], [[1700, 1700], [1700, 64]], 0),
        ([[1700, 1700], [], []], [[1700, 64], [64, 64]], 0),
        ([[64, 64], [], []], [[64, 64], [64, 16]], 0),
        ([[1700, 1700], [], []], [[1700, 1700], [1700, 1700]], 0),
    ],
    ids=["adjacency", "no square is filled", "no square multiplies", "small", "powers"],
)
def test_graphs_need_no_dense_adjacency_matrix(fills: list[Any], product: list[Any], ps: int) -> None:
    events = []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        filled: dict[str, Any] = {"Input Dims": fills}
        multiplied: dict[str, Any] = {"Input Dims": product}
        events += [torchtrace.op("aten::index_put_", at + 10, 1_000, **filled)]
        events += [torchtrace.op("aten::mm", at + 1_020, 4_000, **multiplied)]
        events += [torchtrace.op("aten::relu", at + 5_100, 3_000)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("multiplies_adjacency" in program_facts(host)) == (ps > 0)
    assert adjacency_ps(host) == ps
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert ("Sum over edges" in compute.remedy.text) == (ps > 0)
    assert not ps or compute.gain_ps == ps


@pytest.mark.parametrize(
    ("gradient", "kernel", "ps", "are_long"),
    [
        ([4, 32, 2048], [32, 1, 1024], 3_000 * 10**6, True),
        ([4, 32, 2048], [32, 32, 9], 0, False),
        ([4, 32, 16], [32, 1, 1024], 0, False),
        ([4, 32, 2048, 1], [32, 1, 1024, 1], 0, False),
    ],
    ids=["long", "short", "patches", "images"],
)
def test_long_kernels_are_convolved_by_fourier_transforms(
    gradient: list[int], kernel: list[int], ps: int, are_long: bool
) -> None:
    sequence, events = [*gradient[:2], 3_071, *gradient[3:]], []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        forward: dict[str, Any] = {"Input Dims": [sequence, kernel, [], []]}
        backward: dict[str, Any] = {"Input Dims": [gradient, sequence, kernel, []]}
        events += [torchtrace.op("aten::convolution", at + 10, 1_000, **forward)]
        events += [torchtrace.op("aten::convolution_backward", at + 1_020, 2_000, **backward)]
        events += [torchtrace.op("aten::mm", at + 3_100, 6_000)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("long_kernels" in program_facts(host)) == are_long
    assert long_kernels_ps(host) == ps
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert ("by FFT" in compute.remedy.text) == are_long


def test_on_a_device_kernels_of_pairs_count() -> None:
    host = distances([384, 1, 32], [1, 256, 32], "aten::sub", "aten::sum", 1_000, on_gpu=True)
    assert "broadcasts_pairs" in program_facts(host)
    assert pairs_ps(host) == 3_000 * 10**6
