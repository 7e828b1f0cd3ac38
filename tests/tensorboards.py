"""TensorBoard itself, started as people start it."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def address_of(process: subprocess.Popen[str]) -> tuple[str, list[str]]:
    """Where a server that was just started listens, and what it said until it did."""
    said = []
    assert process.stdout
    for line in process.stdout:
        said.append(line)
        address = re.search(r"http://\S+/", line)
        if address:
            return address[0], said
    raise AssertionError("The server did not start: " + "".join(said))


@contextmanager
def started(python: Path | str, logdir: Path) -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it said until it had one."""
    command = [python, "-m", "tensorboard.main", "--logdir", logdir, "--port", "0", "--load_fast=false"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield address_of(process)
        finally:
            process.terminate()
            process.communicate(timeout=30)
