"""TensorBoard itself, started as people start it."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def started(python: Path | str, logdir: Path) -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it said until it had one."""
    command = [python, "-m", "tensorboard.main", "--logdir", logdir, "--port", "0", "--load_fast=false"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = []
        try:
            assert process.stdout
            for line in process.stdout:
                said.append(line)
                address = re.search(r"http://\S+/", line)
                if address:
                    break
            else:
                pytest.fail("TensorBoard did not start: " + "".join(said))
            yield address[0], said
        finally:
            process.terminate()
            process.communicate(timeout=30)
