"""FSDP2 that gathers each layer by itself is told to gather whole blocks, where gathers are too short to gain by it."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch_gathers import shards_layers
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
