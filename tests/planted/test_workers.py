"""Workers of real programs, of which one is late, or none: who is named, and why, is true by their own clock."""

import subprocess
from pathlib import Path

import pytest
from frameworks import python
from planted.workers import JOBS, Job, judge, run

__all__ = ["python"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_worker_that_is_late_is_named_with_its_cause(job: Job, python: str, tmp_path: Path) -> None:
    if job.framework == "torch" and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip("the interpreter has no PyTorch")
    wrong, sentence = judge(job, run(python, tmp_path, job))
    assert not wrong, sentence
