"""Processes that call functions for another one."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import deadly
import draw
import pytest

from tb_profile_plugin.runtime.worker_process import ProcessEndedError, WorkerProcess

ROOT = Path(__file__).resolve().parents[2]


def test_a_script_that_uses_processes_needs_no_guard(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for host in ("a", "b"):
        (folder / f"{host}.xplane.pb").write_bytes(draw.space(draw.GPU, steps=3).SerializeToString())
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, tb_profile_plugin\n"
        "capture = tb_profile_plugin.open(sys.argv[1], executor='processes:2')\n"
        "print(len(capture.tool('overview_page')['tables']), 'tables')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, str(script), str(folder)], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.endswith(" tables\n") and ran.stdout.count("\n") == 1 and not ran.stderr


def test_a_process_that_prints_or_fails_oddly_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    with closing(WorkerProcess()) as process:
        process.call(print, "This is no answer.")
        assert "no answer" in capfd.readouterr().err
        with pytest.raises(ZeroDivisionError):
            process.call(divmod, 1, 0)
        with pytest.raises(RuntimeError, match="Unpicklable: odd"):
            process.call(deadly.raise_unpicklable)
        assert process.call(divmod, 7, 4) == (1, 3)
        with pytest.raises(ProcessEndedError):
            process.call(os._exit, 1)
