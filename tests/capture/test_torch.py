"""Real PyTorch on the CPU, where it is installed: the demo, what README says, and the code that remedies show."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from figures import facts
from frameworks import ENVIRONMENT, ROOT

import tb_profile_plugin
from tb_profile_plugin.analysis.diagnosis.remedies.examples import EXAMPLES

TORCH = os.environ.get("TORCH_PYTHON") or (sys.executable if importlib.util.find_spec("torch") else "")
"""An interpreter with PyTorch, which is large: nothing installs it for these tests."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TORCH, reason="PyTorch is not here; TORCH_PYTHON names one that has it"),
]

STUBS = """\
import torch
loader = [(torch.zeros(4, 8), torch.zeros(4, 8))] * 8
model = torch.nn.Sequential(torch.nn.Linear(8, 8))
def train_step(images, labels):
    torch.nn.functional.mse_loss(model(images), labels).backward()
"""


def run(folder: Path, *arguments: str) -> str:
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([TORCH, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def check(logdir: Path, steps: int) -> None:
    capture = tb_profile_plugin.open(logdir)
    found = facts(capture.answer("overview_page"))
    assert found["steps_complete"] == steps
    for table in ("operators", "shapes", "lines", "modules"):
        assert capture.answer("torch_ops")["tables"][table]["rows"] > 0, table
    assert capture.answer("memory_profile")["headline"]["text"].startswith("CPU peaks at")


def test_the_demo(tmp_path: Path) -> None:
    said = run(tmp_path, "-m", "tb_profile_plugin", "capture", "--demo", "--framework", "torch", "logs", "--run", "r1")
    assert str(tmp_path / "logs/plugins/profile/r1") in said
    check(tmp_path / "logs", 10)


def test_what_readme_says(tmp_path: Path) -> None:
    (code,) = re.findall(r"# PyTorch: .*?\n(with torch.*?)\n\n", (ROOT / "README.md").read_text(), re.DOTALL)
    run(tmp_path, "-c", STUBS + code)
    check(tmp_path / "logs", 5)


SNIPPETS = {" ".join(key): code for key, code in EXAMPLES.items() if "torch" in code}


@pytest.mark.parametrize("cause", SNIPPETS)
def test_code_of_remedies_runs(cause: str, tmp_path: Path) -> None:
    run(tmp_path, "-c", SNIPPETS[cause])
