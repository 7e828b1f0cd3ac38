"""Recurrent cells that run one time step after the other are told from layers that take whole sequences."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts


@pytest.mark.parametrize(
    ("cell", "count", "each_us", "in_loop"),
    [
        ("aten::gru_cell", 40, 90, True),
        ("aten::lstm_cell", 40, 90, True),
        ("aten::gru", 40, 90, False),
        ("aten::gru_cell", 4, 900, False),
        ("aten::gru_cell", 40, 5, False),
    ],
    ids=["GRU", "LSTM", "layers", "few", "short"],
)
def test_cells_in_a_loop_take_whole_sequences(cell: str, count: int, each_us: int, in_loop: bool) -> None:
    events: list[dict[str, Any]] = []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990)]
        for number in range(count):
            begin = at + 10 + (each_us + 10) * number
            events += [torchtrace.op(cell, begin, each_us), torchtrace.op("aten::addmm", begin + 1, each_us - 2)]
        events += [torchtrace.op("aten::mm", at + 9_000 - 5_000, 5_900)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("steps_cells" in program_facts(host)) == in_loop
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert ("whole sequences" in compute.remedy.text) == in_loop
