"""Memory of XLA programs: against JAX's `memory_analysis()`, fixed points of public captures, and drawn heaps."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hlodraw import sizes

from tb_profile_plugin.analysis.xla.heap import OUTPUT, PARAMETER, TEMPORARY, Heap, heap, memory_spaces
from tb_profile_plugin.analysis.xla.memory import curve_times
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.formats.xspace.hlo import modules
from tb_profile_plugin.formats.xspace.hlo.module import Module

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "traces" / "xla_costs.json.gz"
SHARED = ROOT.parent / "shared" / "profiles"
MIB = 2**20


def recorded() -> dict[str, tuple[Module, dict[str, int]]]:
    found = {}
    for name, entry in json.loads(gzip.decompress(RECORDED.read_bytes())).items():
        parts = field(1, base64.b64decode(entry["hlo"])) + field(3, base64.b64decode(entry["buffers"]))
        found[name] = Module(np.frombuffer(parts, np.uint8), 1), entry["memory"]
    return found


def test_sizes_are_those_of_jax() -> None:
    for name, (module, stated) in recorded().items():
        assert sizes(module) == [stated["argument"], stated["output"], stated["temp"]], name
        laws(heap(module))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public captures are not here")
@pytest.mark.parametrize(
    ("capture", "program", "mib", "fixed", "peak"),
    [
        ("jax-cpu", "jit_step(6)", 0.7500228881835938, 655_384, 1),
        ("rocm-8gpu-conv", "jit_forward_3d_conv(15)", 1104.4921875, 579_072_000, 3),
        ("tpu-v6e-inference", "jit_f(12190760917235803885)", 20480.000030517578, 32, 4),
        ("rocm-te-attention", "jit_loss_fn(17)", 496.50012969970703, 201_326_652, 10),
    ],
)
def test_peaks_are_those_of_xprof(capture: str, program: str, mib: float, fixed: int, peak: int) -> None:
    found = {each.title: each for each in programs(capture)}
    simulated = heap(found[program])
    assert (simulated.peak_bytes / MIB, simulated.fixed_bytes, simulated.peak) == (mib, fixed, peak)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public captures are not here")
def test_what_an_allocation_holds_is_the_result() -> None:
    """Not the largest of the values that share its memory."""
    step = next(each for each in programs("jax-cpu") if each.title == "jit_step(6)")
    held = {
        each.kind: step.names[step.assignment.buffers.instruction[each.buffer]]
        for each in heap(step).fixed_allocations[:1]
    }
    assert held == {OUTPUT: "multiply_subtract_fusion"}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public captures are not here")
@pytest.mark.parametrize("capture", ["jax-cpu", "rocm-attention", "rocm-8gpu-conv", "tpu-v6e-inference"])
def test_laws(capture: str) -> None:
    for module in programs(capture):
        for color in memory_spaces(module.assignment):
            laws(heap(module, color))


def programs(capture: str) -> list[Module]:
    file = next((SHARED / capture).glob("*.xplane.pb"))
    return list(modules(xspace.decode(file.read_bytes(), "host")).values())


def laws(found: Heap) -> None:
    alive = sum(found.blocks[place].size for place in found.live_blocks(found.peak))
    assert min(found.curve, default=0) >= found.fixed_bytes or not found.curve
    assert found.peak_bytes <= found.total or not found.curve
    if found.blocks:
        assert alive + found.fixed_bytes == found.peak_bytes == found.fixed_bytes + found.bytes_of(TEMPORARY)
        assert found.curve[-1] == found.fixed_bytes
    blocks = sorted(found.blocks, key=lambda block: block.offset)
    for i, one in enumerate(blocks[:200]):
        for other in blocks[i + 1 : 200]:
            apart = one.offset + one.size <= other.offset or one.end <= other.begin or other.end <= one.begin
            assert apart or not (one.size and other.size), "two values in one place at a time"


def assignment(sizes: dict[int, int], fixed: tuple[int, ...], events: list[tuple[int, int, int]]) -> Module:
    """Buffers by id, each in an allocation of its own; constants among them; events (kind, buffer, shared with)."""
    body = b""
    for number, size in sizes.items():
        body += field(1, bytes([8, number]) + b"\x10" + varint(size))
        assigned = field(9, bytes([8, number]) + b"\x18" + varint(size))
        body += field(3, b"\x10" + varint(size) + (b"\x60\x01" if number in fixed else b"") + assigned)
    trace = b"".join(
        field(1, bytes([8, kind, 16, buffer]) + (bytes([40, shared]) if shared else b""))
        for kind, buffer, shared in events
    )
    return Module(np.frombuffer(field(3, body + field(4, trace)), np.uint8), 1)


ALLOC, FREE, SHARE = 0, 1, 2


@pytest.mark.parametrize(
    "events",
    [
        [(ALLOC, 1, 0), (SHARE, 2, 1), (FREE, 1, 0), (FREE, 2, 0)],
        [(ALLOC, 1, 0), (FREE, 1, 0), (SHARE, 2, 1), (FREE, 2, 0)],
    ],
)
def test_values_that_share_memory_count_once(events: list[tuple[int, int, int]]) -> None:
    """Of two buffers in one place one comes alive with the other, or again after it has gone."""
    found = heap(assignment({1: 500, 2: 500, 3: 1000}, (3,), events))
    assert (found.peak_bytes, found.fixed_bytes, found.total) == (1500, 1000, 2000)
    assert [found.curve[i] for i in (0, -1)] == [1000, 1000]


def test_a_chain_of_shares_is_one_block() -> None:
    found = heap(
        assignment({1: 500, 2: 500, 3: 500}, (), [(0, 1, 0), (2, 2, 1), (2, 3, 2), (1, 1, 0), (1, 3, 0), (1, 2, 0)])
    )
    assert found.peak_bytes == 500 and len(found.blocks) == 1 and found.bytes_of(PARAMETER) == 0


@pytest.mark.parametrize("events", [[(FREE, 1, 0)], [(SHARE, 1, 1)], [(SHARE, 1, 9)], [(ALLOC, 9, 0)], [(5, 1, 0)]])
def test_events_without_sense_do_no_harm(events: list[tuple[int, int, int]]) -> None:
    found = heap(assignment({1: 500}, (), [(ALLOC, 1, 0), *events]))
    assert 0 <= min(found.curve) and len(found.instructions) == len(found.curve)


def test_what_leaving_values_out_saves() -> None:
    """Two of 8 and 4 bytes that overlap, and one of 10 later on: without the first, the last makes the peak."""
    events = [(ALLOC, 1, 0), (ALLOC, 2, 0), (FREE, 1, 0), (FREE, 2, 0), (ALLOC, 3, 0), (FREE, 3, 0)]
    found = heap(assignment({1: 8, 2: 4, 3: 10}, (), events))
    assert found.curve == [0, 8, 12, 4, 0, 10, 0] and found.peak == 2
    assert [found.peak_without(places) for places in ([], [0], [2], [0, 2], [0, 1, 2])] == [12, 10, 12, 4, 0]
    assert [found.live_blocks(position) for position in range(7)] == [[], [0], [0, 1], [1], [], [2], []]


def test_memory_is_taken_when_an_instruction_begins_and_given_back_when_the_next_one_does() -> None:
    found = Heap([0, 8, 12, 4, 0], ["a", "b", "a", "b", ""], [False, False, True, True, True])
    assert curve_times(found, {"a": 10.0, "b": 30.0}) == [0, 10, 30, 30, 30]
    assert curve_times(found, {"b": 30.0}) == [0, 30, 30, 30, 30] and curve_times(found, {}) == []
    found = Heap([0, 8, 0, 4, 0], ["a", "a", "b", "b", ""], [False, True, False, True, True])
    assert curve_times(found, {"a": 10.0, "b": 30.0}) == [0, 10, 30, 30, 30]
