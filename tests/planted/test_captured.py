"""Programs whose slowness was planted, captured on a real GPU (an H100): the diagnosis agrees with their own clocks.

`scripts/planted OUT GPU` captures these and three dozen others anew, where a GPU is.
"""

from pathlib import Path

import pytest
from planted.judge import judge, judge_without
from planted.measured import Clock
from planted.table import GPU

import tb_profile_plugin

CAPTURED = Path(__file__).parent / "captured"


@pytest.mark.parametrize("name", sorted(path.name for path in CAPTURED.iterdir()))
def test_the_diagnosis_of_a_program_on_a_gpu(name: str) -> None:
    folder, program = CAPTURED / name, GPU[name]
    run, other = Clock.read(folder / "with"), Clock.read(folder / "without")
    found, clean = (tb_profile_plugin.open(folder / kind) for kind in ("with", "without"))
    assert judge(program, run, other, found.answer("why"), found.answer("why", steps="all")) == []
    assert judge_without(program, run, other, clean.answer("why"), clean.answer("why", steps="all")) == []
