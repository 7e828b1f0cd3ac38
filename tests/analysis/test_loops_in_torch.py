"""What PyTorch computes part by part is many ops, which few replace: slices of an attention, and experts."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps

SLICE = ["slice", "transpose", "baddbmm", "softmax", "slice", "bmm", "copy_"]
LAYER = ["linear", "view", "add"]


def program(*ops: str) -> HostWithSteps:
    """Three steps of these ops, each of 4 µs and 6 µs after the one before."""
    events = []
    for step in range(3):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 6 * len(ops) + 20)]
        events += [torchtrace.op(f"aten::{name}", at + 6 * place + 5, 4) for place, name in enumerate(ops)]
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("ops", "are_slices"),
    [
        ([*LAYER, *SLICE * 16] * 2, True),
        # Each head has layers of its own, and a block goes on after its heads.
        ([*[*["linear"] * 3, *SLICE] * 8, "cat", *LAYER] * 3, True),
        ([*["linear"] * 3, *SLICE, *LAYER] * 16, False),
        # All rows at once, in many layers; a layer for each head, or each step of a decoder; few slices of many ops.
        ([*LAYER, *SLICE] * 16, False),
        ([*SLICE, "lstm_cell"] * 16, False),
        ([*LAYER * 10, *SLICE * 2] * 4, False),
        # What chooses experts.
        ([*LAYER, *["softmax", "slice"] * 16, *["bmm"] * 20], False),
    ],
    ids=["slices", "heads", "blocks of one head", "layers", "steps", "few", "no products between"],
)
def test_slices_of_an_attention_follow_each_other_without_a_layer_between(ops: list[str], are_slices: bool) -> None:
    host = program(*ops)
    assert ("slices_attention" in program_facts(host)) == are_slices
    eager = next(cause for cause in diagnose([host]).causes if cause.id == "eager")
    assert ("instead of slice by slice" in eager.remedy.text) == are_slices


EXPERT = ["select", "nonzero", "index", "linear", "silu", "linear", "mul", "index_add_"]


@pytest.mark.parametrize(
    ("ops", "are_experts"),
    [
        ([*LAYER, "softmax", "topk", *EXPERT * 8] * 2, True),
        # A mask chooses rows where they are taken and written; weights are no layer's.
        ([*LAYER, *["nonzero", "index", "mm", "relu", "nonzero", "index_put_"] * 6] * 4, True),
        ([*LAYER, *EXPERT, "layer_norm"] * 8, False),
        ([*LAYER, "softmax", "topk", *EXPERT * 2] * 4, False),
        ([*LAYER * 40, "topk", *EXPERT * 5] * 2, False),
        # Rows that are known, as of an embedding's gradient; no product of what is chosen.
        ([*LAYER, *["index", "linear", "index_add_"] * 16], False),
        ([*LAYER, *["nonzero", "index", "mul", "index_put_"] * 16], False),
    ],
    ids=["experts", "masks", "layers", "two", "few", "known rows", "no products"],
)
def test_experts_follow_each_other_with_rows_of_their_own(ops: list[str], are_experts: bool) -> None:
    host = program(*ops)
    assert ("loops_over_experts" in program_facts(host)) == are_experts
    eager = next(cause for cause in diagnose([host]).causes if cause.id == "eager")
    assert ("such as experts) at once" in eager.remedy.text) == are_experts
