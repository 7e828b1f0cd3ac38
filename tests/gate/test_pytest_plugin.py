"""The fixture and the marker, in a pytest of their own, over a framework that only copies a capture."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TRACE = ROOT / "tests" / "traces" / "jax_steps"

TEST = f"""
import shutil, sys, types
from contextlib import contextmanager, nullcontext
import pytest

@contextmanager
def trace(folder):
    yield
    shutil.copytree({str(TRACE)!r}, folder, dirs_exist_ok=True)

marks = []

def mark(name, step_num):
    marks.append(step_num)
    return nullcontext()

jax = sys.modules["jax"] = types.ModuleType("jax")
jax.profiler = types.SimpleNamespace(trace=trace, StepTraceAnnotation=mark)
jax.block_until_ready = lambda value: value

def profiled(profile_budget, name="train"):
    with profile_budget(name, steps=3, warmup=2) as run:
        seen = [run.block(step) for step in run.steps()]
        with pytest.raises(RuntimeError):
            run.step
            run.compiles
    assert seen == [-2, -1, 0, 1, 2] and marks[-3:] == [0, 1, 2]
    return run

def test_passes(profile_budget):
    run = profiled(profile_budget)
    assert run.compiles == 0 and run.launches > 0
    run.step.max("1 s").change("+3%")

def test_breaks(profile_budget):
    profiled(profile_budget).step.max("1 ns")

@pytest.mark.profile_budget(launches=9999, compiles=0)
def test_marker_passes(profile_budget):
    profiled(profile_budget)

@pytest.mark.profile_budget(launches=0)
def test_marker_breaks(profile_budget):
    profiled(profile_budget)
"""


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    plugin = ("-p", "tb_profile_plugin.gate.pytest_plugin", "-p", "no:cacheprovider")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--rootdir",
        str(folder),
        *plugin,
        *more,
        str(folder / "test_it.py"),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_budgets_of_a_test(folder: Path) -> None:
    done = run(folder, "--profile-baseline", str(folder / "perf"), "--profile-update")
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "step is" in done.stdout and "more than 0.00" in done.stdout and "launches is" in done.stdout
    assert len(list((folder / "perf" / "train").iterdir())) == 1
    kept = run(folder, "--profile-keep", str(folder / "kept"), "-k", "test_passes")
    assert "1 passed" in kept.stdout and list((folder / "kept").rglob("*.xplane.pb"))
