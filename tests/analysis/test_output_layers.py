"""An output layer of many classes is to be computed only for the rows that count, where it was for all of them."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps


def model(rows: int = 512, classes: int = 8000, loss: int = 300, shapes: bool = True) -> HostWithSteps:
    """Five steps of 1 ms: two layers for 4 x 128 rows of 64 numbers, an output layer for so many, and its loss."""
    events = []
    for step in range(5):
        at = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 990))
        ops = [
            ("aten::linear", 100, [[4, 128, 64], [64, 64], [64]]),
            ("aten::linear", 100, [[4, 128, 64], [64, 64], []]),
            ("aten::linear", 100, [[rows, 64], [classes, 64], [classes]]),
            ("aten::_log_softmax", loss, [[rows, classes], [], []]),
        ]
        for name, length, dimensions in ops:
            of_op: dict[str, Any] = {"Input Dims": dimensions} if shapes else {}
            events.append(torchtrace.op(name, at + 5, length - 10, **of_op))
            at += length
    return torchtrace.host(*events, deviceProperties=[])


def test_an_output_layer_for_all_rows_is_worth_leaving_some_out() -> None:
    assert "computes_all_rows" in program_facts(model())


def test_the_last_row_of_each_sequence_may_be_left_out() -> None:
    """It has no next token to tell."""
    assert "computes_all_rows" in program_facts(model(rows=4 * 127))


@pytest.mark.parametrize(
    "host",
    [model(rows=80), model(classes=200), model(loss=100), model(shapes=False)],
    ids=["rows were left out", "few classes", "little of the step", "no shapes"],
)
def test_other_output_layers_are_as_they_should_be(host: HostWithSteps) -> None:
    assert "computes_all_rows" not in program_facts(host)
