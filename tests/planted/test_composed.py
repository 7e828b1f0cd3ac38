"""Composed programs of each framework, stored: the diagnosis agrees with their own clocks, and blames nothing where no
fault is.

`scripts/planted compose` captured them; `tb-profile export --format xplane --redact` made those of TensorFlow and JAX
small. Each folder is named after its seed.
"""

from pathlib import Path

import pytest
from planted.composed_judge import judged, printed

COMPOSED = Path(__file__).parent / "composed"


@pytest.mark.parametrize("seed", sorted(path.name for path in COMPOSED.iterdir()))
def test_the_diagnosis_of_a_composed_program(seed: str) -> None:
    program = judged(COMPOSED / seed)
    assert (program.first, program.control, program.wrong) == ("right", True, ()), printed(program)
    assert program.size is not False and program.ceiling is not False, printed(program)
