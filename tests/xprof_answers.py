"""What xprof answers on public captures, beside our answers in its shape."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tb_profile_plugin

ROOT = Path(__file__).resolve().parents[1]
PYTHON = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
PUBLIC = ROOT.parent / "shared" / "profiles"

needed = [
    pytest.mark.skipif(not PYTHON.exists(), reason="no interpreter with xprof; see XPROF_PYTHON"),
    pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public captures are not here"),
]


def file_of(name: str) -> Path:
    """A public capture."""
    return next((PUBLIC / name).glob("*.xplane.pb"))


def both(name: str, tool: str, **options: str) -> tuple[Any, Any]:
    """xprof's answer and ours."""
    asked = tool + "?" * bool(options) + "&".join(f"{key}={value}" for key, value in options.items())
    file = file_of(name)
    command = [str(PYTHON), str(ROOT / "tests" / "parity" / "ask_xprof.py"), str(file), "--", asked]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return json.loads(answer.stdout, strict=False)[asked], tb_profile_plugin.open(file).xprof(tool, **options)


def rows(answer: Any) -> list[dict[str, Any]]:
    ids = [column["id"] for column in answer["cols"]]
    return [dict(zip(ids, [cell["v"] for cell in row["c"]], strict=True)) for row in answer["rows"]]
