"""An interpreter with TensorFlow and JAX, and programs that train in it."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "capture" / "programs"
ENVIRONMENT = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"}

Python = str


@pytest.fixture(scope="session")
def python() -> Python:
    """An interpreter with TensorFlow and JAX."""
    made = subprocess.run([ROOT / "scripts" / "frameworks"], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"scripts/frameworks could not install TensorFlow and JAX: {made.stderr[-500:]}")
    return made.stdout.strip()


@contextmanager
def trained(python: Python, framework: str) -> Iterator[str]:
    """A program that trains meanwhile; gives the address of its profiler."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [python, str(PROGRAMS / f"train_{framework}.py"), str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as program:
        assert program.stdin and program.stdout
        assert program.stdout.readline() == b"ready\n"
        yield f"localhost:{port}"
        program.stdin.close()
