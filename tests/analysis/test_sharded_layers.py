"""FSDP2 that gathers each layer by itself is told to gather whole blocks, where gathers are too short to gain by it."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_gathers import shards_layers
from tb_profile_plugin.model.host import HostWithSteps

LAYERS = ("norm", "attention.query", "attention.out", "mlp.up")
GLOO = 21


def gathering(*modules: str, lasts: float = 300) -> HostWithSteps:
    """Four steps that gather the weights of these modules one after the other, each for so many µs."""
    events = []
    for step in range(4):
        at = 100_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 99_000), torchtrace.op("aten::mm", at + 10, 2000)]
        for number, module in enumerate(modules):
            begin = at + 3000 + (lasts + 100) * number
            events.append(torchtrace.mark(f"FSDP::all_gather ({module})", begin, 50))
            events.append(torchtrace.on_host("user_annotation", "gloo:all_gather", begin + 20, lasts, GLOO))
    return torchtrace.host(*events, deviceProperties=[])


def test_layers_that_are_gathered_one_by_one_are_to_be_sharded_by_the_block() -> None:
    host = gathering("head", *(f"layers.{block}.{layer}" for block in range(3) for layer in LAYERS))
    assert {"fsdp", "shards_layers"} <= program_facts(host)
    remedy = next(cause for cause in diagnose([host]).causes if cause.id == "exposed_collective").remedy.text
    assert "whole blocks" in remedy


@pytest.mark.parametrize(
    "host",
    [
        gathering("head", *(f"layers.{block}" for block in range(12))),
        gathering(*(f"stages.{stage}.blocks.{block}" for stage in range(3) for block in range(6))),
        gathering(*(f"layers.{block}{part}" for block in range(6) for part in ("", ".experts"))),
        gathering(*(f"layers.{block}.{layer}" for block in range(3) for layer in LAYERS), lasts=3000),
        gathering("encoder", "decoder", "head"),
    ],
    ids=["blocks", "blocks of stages", "a part of each block", "long gathers", "no list"],
)
def test_other_gathers_are_not(host: HostWithSteps) -> None:
    assert not shards_layers(host.trace)


@pytest.mark.parametrize(
    ("passes", "optimizers", "are_told"),
    [(4, 1, True), (1, 1, False), (4, 4, False)],
    ids=["micro-batches", "one pass", "a change after each"],
)
def test_weights_that_each_micro_batch_gathers_are_to_be_kept(passes: int, optimizers: int, are_told: bool) -> None:
    events = []
    for step in range(4):
        at = 100_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 99_000), torchtrace.op("aten::mm", at + 10, 2000)]
        for number in range(passes):
            begin = at + 3_000 + 20_000 * number
            events += [torchtrace.mark("FSDP::all_gather (blocks.0)", begin, 50)]
            events += [torchtrace.on_host("user_annotation", "gloo:all_gather", begin + 20, 15_000, GLOO)]
            events += [torchtrace.mark("FSDP::root_post_backward_callback", begin + 16_000, 50)]
        for number in range(optimizers):
            events += [torchtrace.mark("Optimizer.step#AdamW.step", at + 98_000 + 100 * number, 50)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("gathers_each_pass" in program_facts(host)) == are_told
    waits = next(cause for cause in diagnose([host]).causes if cause.id == "exposed_collective")
    assert ("reshard_after_forward=False" in waits.remedy.text) == are_told
