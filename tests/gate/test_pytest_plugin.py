"""The fixture and the marker, in a pytest of their own, over frameworks that only copy a capture."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TRACES = ROOT / "tests" / "traces"

TEST = f"""
import shutil, sys, types
from contextlib import contextmanager, nullcontext
import pytest

@contextmanager
def trace(folder):
    yield
    shutil.copytree({str(TRACES / "jax_steps")!r}, folder, dirs_exist_ok=True)

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

def test_unclear(profile_budget):
    run = profiled(profile_budget)
    run.step.max(f"{{round(run.step.value)}} ps")

def test_breaks(profile_budget):
    profiled(profile_budget).step.max("1 ns")

@pytest.mark.profile_budget(launches=9999, compiles=0)
def test_marker_passes(profile_budget):
    profiled(profile_budget)

@pytest.mark.profile_budget(launches=0)
def test_marker_breaks(profile_budget):
    profiled(profile_budget)
"""

TORCH = f"""
import shutil, sys, types
from contextlib import contextmanager, nullcontext
import pytest

@contextmanager
def profile(on_trace_ready):
    yield
    on_trace_ready()

def handler(folder):
    return lambda: shutil.copytree({str(TRACES / "torch_training")!r}, folder, dirs_exist_ok=True)

marks, waits = [], []
sys.modules["jax"] = types.ModuleType("jax")
torch = sys.modules["torch"] = types.ModuleType("torch")
mark = lambda name: marks.append(name) or nullcontext()
torch.profiler = types.SimpleNamespace(profile=profile, tensorboard_trace_handler=handler, record_function=mark)
torch.cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=lambda: waits.append(1))

def test_a_framework_that_is_not_there(profile_budget):
    with pytest.raises(RuntimeError, match="import tensorflow"), profile_budget("train", framework="tensorflow"):
        pass

def test_torch(profile_budget):
    with profile_budget("train", steps=2, warmup=1, framework="torch") as run:
        assert [run.block(step) for step in run.steps()] == [-1, 0, 1]
    assert marks == ["ProfilerStep#0", "ProfilerStep#1"] and len(waits) == 3
    assert run.launches > 0
    run.step.max("1 s")
"""


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    plugin = ("-p", "tb_profile_plugin.budgets.pytest_plugin", "-p", "no:cacheprovider")
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
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "step is" in done.stdout and "more than 0.00" in done.stdout and "launches is" in done.stdout
    assert len(list((folder / "perf" / "train").iterdir())) == 1
    kept = run(folder, "--profile-keep", str(folder / "kept"), "-k", "test_passes")
    assert "1 passed" in kept.stdout and list((folder / "kept").rglob("*.xplane.pb"))


def test_each_verdict_is_told_at_the_end(folder: Path) -> None:
    done = run(folder, "--junitxml", str(folder / "junit.xml"))
    lines = done.stdout.partition("profile budgets")[2].partition("short test summary")[0].splitlines()
    told = {line.partition("::")[2].partition(":")[0]: line for line in lines if "::" in line}
    assert "– The change of step: not judged" in told["test_passes"]
    assert "? step is" in told["test_unclear"] and "✗ step is" in told["test_breaks"]
    assert "✗ launches is" in told["test_marker_breaks"]
    assert "UnprovenBudget: step is" in done.stdout and "is unclear" in done.stdout
    assert "there is no baseline. Name a folder of baselines with --profile-baseline." in done.stdout
    assert 'value="? step is' in (folder / "junit.xml").read_text()


def test_baselines_that_are_not_there_fail(folder: Path) -> None:
    done = run(folder, "--profile-baseline", str(folder / "perf"), "-k", "test_passes")
    assert "1 failed" in done.stdout and "holds no baselines: create them with --profile-update" in done.stdout


def test_changes_without_a_baseline_warn(folder: Path) -> None:
    (folder / "perf" / "other").mkdir(parents=True)
    (folder / "perf" / "other" / "00000000-0001-0000000000000000.json").write_text("{}")
    other = run(folder, "--profile-baseline", str(folder / "perf"), "-k", "test_passes")
    assert "1 passed" in other.stdout and "has no baseline of 'train' for this machine" in other.stdout
    made = run(folder, "--profile-baseline", str(folder / "perf"), "--profile-update", "-k", "test_passes")
    assert "1 passed" in made.stdout and "UnprovenBudget" not in made.stdout and "not judged" in made.stdout


def test_torch_is_profiled(folder: Path) -> None:
    (folder / "test_it.py").write_text(TORCH)
    done = run(folder)
    assert "2 passed" in done.stdout, done.stdout
