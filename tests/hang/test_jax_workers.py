"""Workers of a real program, of which one is late, or none."""

import shutil
import subprocess
from pathlib import Path

import pytest
from figures import facts
from frameworks import ENVIRONMENT, ROOT, python

import tb_profile_plugin

__all__ = ["python"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("cause", "said"), [("python", "Host"), ("work", "Other work"), ("none", None)])
def test_the_worker_that_is_late_is_named_with_its_cause(python: str, tmp_path: Path, cause: str, said: str) -> None:
    program = ROOT / "tests" / "hang" / "programs" / "jax_workers.py"
    command = [python, str(program), str(tmp_path / "runs"), cause, "2"]
    subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, timeout=300)
    (tmp_path / "job").mkdir()
    for rank in range(2):
        (capture,) = (tmp_path / "runs" / str(rank)).rglob("*.xplane.pb")
        shutil.copy(capture, tmp_path / "job" / f"worker-{rank}.xplane.pb")
    known = facts(tb_profile_plugin.open(tmp_path / "job").answer("communication"))
    if said is None:
        # Two workers on a busy machine wait for each other, but not always for the same one.
        assert known["late_worker"] is None or known["cause"] != "Host"
    else:
        assert (known["pattern"], known["late_worker"], known["cause"]) == ("persistent", "worker-1", said)
