"""Real TensorFlow and JAX processes on the CPU: every way in which people capture, and what the tools show then."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from figures import column, facts
from frameworks import ENVIRONMENT, PROGRAMS, ROOT, Python, python, trained

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.cli import main
from tb_profile_plugin.model.profiler_options import levels

__all__ = ["python"]

pytestmark = pytest.mark.slow

THEIRS = ROOT / "scripts" / "captures"
"""Those whose captures lie in tests/traces: here they run anew."""

Output = pytest.CaptureFixture[str]


def run(python: Python, program: Path, folder: Path, *more: str) -> Path:
    """Let a program write its captures; returns the logdir."""
    done = subprocess.run(
        [python, program, "out", *more], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "out"


@pytest.fixture(scope="module")
def tensorflow(python: Python) -> Iterator[str]:
    with trained(python, "tensorflow") as address:
        yield address


@pytest.fixture(scope="module")
def jax(python: Python) -> Iterator[str]:
    with trained(python, "jax") as address:
        yield address


def check(capture: Capture, steps: int, at_most: int | None = None) -> None:
    """The Overview has these steps, their parts sum to them, and the Input page answers."""
    answer = capture.answer("overview_page")
    found = facts(answer)
    assert steps <= found["steps_complete"] + found["steps_incomplete"] <= (at_most or steps), found
    assert found["step_median_ms"] > 0
    assert answer["headline"]["text"]
    if len(capture.hosts) == 1:
        # Steps are as the slowest host lived them, parts are means over hosts.
        assert sum(column(answer, "parts", "step_ms")) == pytest.approx(found["step_average_ms"])
    assert capture.answer("input_pipeline_analyzer")["headline"]["text"]


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("keras_fit", 6),
        ("keras_one_batch", 1),
        ("custom_loop", 8),
        ("starved_input", 4),
        ("jax_steps", 10),
    ],
)
def test_programs_that_capture_themselves(python: Python, tmp_path: Path, program: str, steps: int) -> None:
    capture = tb_profile_plugin.open(run(python, THEIRS / f"{program}.py", tmp_path))
    check(capture, steps)
    if program == "starved_input":
        assert capture.answer("overview_page")["headline"]["text"].startswith("Waiting for input")


def test_two_workers_that_capture_themselves(python: Python, tmp_path: Path) -> None:
    logdir = run(python, THEIRS / "two_workers.py", tmp_path)
    for worker in sorted(logdir.iterdir()):
        check(tb_profile_plugin.open(worker), 6)


def test_start_and_stop_whose_options_tensorflow_drops(python: Python, tmp_path: Path) -> None:
    capture = tb_profile_plugin.open(run(python, PROGRAMS / "start_stop.py", tmp_path))
    check(capture, 6)
    [host] = capture.select()
    # Asked for: 3, 1, 1. TensorFlow 2.21 takes its defaults; the page shows what was in effect.
    assert levels(host) == {"host_tracer_level": 2, "device_tracer_level": 1, "python_tracer_level": 0}


def test_the_iterator_outside_the_mark(python: Python, tmp_path: Path) -> None:
    capture = tb_profile_plugin.open(run(python, PROGRAMS / "iterator_outside.py", tmp_path))
    check(capture, 12)
    page = capture.answer("input_pipeline_analyzer")
    assert re.match(r"Waiting for input takes \d+ % of the step-to-step time", page["headline"]["text"])
    assert any("Call next(batches) inside the step annotation" in note["remedy"] for note in page["notes"])


def test_tensorflows_own_client(python: Python, tensorflow: str, tmp_path: Path) -> None:
    capture = tb_profile_plugin.open(run(python, PROGRAMS / "trace_client.py", tmp_path, f"grpc://{tensorflow}"))
    check(capture, 5, 200)


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_our_client(framework: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: Output) -> None:
    address = request.getfixturevalue(framework)
    options = ["--duration", "600ms", "--python-tracer-level", "1", "--host-tracer-level", "1"]
    assert main.main(["capture", address, str(tmp_path), *options]) == 0
    capture = tb_profile_plugin.open(tmp_path)
    check(capture, 5, 200)
    [host] = capture.select()
    assert host.name == address.replace(":", "_")
    assert levels(host) == {"host_tracer_level": 1, "device_tracer_level": 1, "python_tracer_level": 1}
    assert host.cpu and any(name.startswith("$") for name in host.cpu.names)


def test_two_servers_and_a_dead_one(tensorflow: str, jax: str, tmp_path: Path, capsys: Output) -> None:
    assert main.main(["capture", f"{tensorflow},localhost:1,{jax}", str(tmp_path), "--duration", "500ms"]) == 1
    assert "No capture came from localhost:1." in capsys.readouterr().err
    capture = tb_profile_plugin.open(tmp_path)
    assert set(capture.hosts) == {tensorflow.replace(":", "_"), jax.replace(":", "_")}
    check(capture, 5, 400)


def test_stop(tensorflow: str, tmp_path: Path) -> None:
    from tb_profile_plugin.capture.address import parse
    from tb_profile_plugin.capture.job import Job
    from tb_profile_plugin.capture.options import Options

    job = Job(parse(tensorflow), Options(60_000), tmp_path)
    job.start()
    assert not job.wait(1)
    begin = time.monotonic()
    job.stop()
    assert job.wait(20) and job.problem is None
    assert time.monotonic() - begin < 10
    check(tb_profile_plugin.open(tmp_path), 5, 400)


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_the_flight_recorder(framework: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    address = request.getfixturevalue(framework)
    assert main.main(["capture", address, "--recorder", "start"]) == 0
    time.sleep(0.5)
    assert main.main(["capture", address, str(tmp_path), "--recorder", "snapshot"]) == 0
    assert main.main(["capture", address, "--recorder", "stop"]) == 0
    check(tb_profile_plugin.open(tmp_path), 5, 400)


def test_a_program_that_is_profiled_already(tensorflow: str, tmp_path: Path, capsys: Output) -> None:
    from tb_profile_plugin.capture.address import parse
    from tb_profile_plugin.capture.job import Job
    from tb_profile_plugin.capture.options import Options

    job = Job(parse(tensorflow), Options(60_000), tmp_path / "first")
    job.start()
    assert not job.wait(1)
    assert main.main(["capture", tensorflow, str(tmp_path / "second"), "--duration", "100ms", "--retries", "0"]) == 1
    assert "already being profiled" in capsys.readouterr().err
    job.stop()
    assert job.wait(20)
    assert not (tmp_path / "second").exists()


def test_the_demo(python: Python, tmp_path: Path) -> None:
    command = [python, "-m", "tb_profile_plugin", "capture", "--demo", "logs", "--duration", "500ms"]
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    check(tb_profile_plugin.open(tmp_path / "logs"), 5, 1000)


def test_doctor_where_they_are_installed(python: Python, tensorflow: str) -> None:
    command = [python, "-m", "tb_profile_plugin", "doctor", tensorflow]
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "jax 0.10.2" in done.stdout
    assert "TensorFlow 2.21 ignores ProfilerOptions" in done.stdout
    assert "A profiler answers." in done.stdout
