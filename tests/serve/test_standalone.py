import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "tb_profile_plugin.cli", "serve"]


@pytest.fixture
def start(tmp_path: Path, put: Callable[[str], Path]) -> Iterator[Callable[..., list[str]]]:
    """Start the server on a free port; returns the lines that it says until it listens."""
    started: list[subprocess.Popen[str]] = []
    put("plugins/profile/r1/vm.xplane.pb")

    def start(*arguments: str) -> list[str]:
        process = subprocess.Popen(
            [*COMMAND, str(tmp_path), "--port", "0", *arguments], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if "http://" in line:
                break
        return lines

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=20)


def test_it_prints_an_address_that_answers(start: Callable[..., list[str]]) -> None:
    (line,) = start()
    address = re.search(r"http://127\.0\.0\.1:[1-9]\d+/", line)
    assert address
    with urllib.request.urlopen(f"{address[0]}runs", timeout=20) as answer:
        assert json.load(answer) == ["r1"]
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("host", "lines"), [("localhost", 1), ("0.0.0.0", 2)])
def test_it_warns_where_others_can_reach_it(start: Callable[..., list[str]], host: str, lines: int) -> None:
    said = start("--host", host)
    assert len(said) == lines
    assert re.search(rf"http://{host}:[1-9]\d+/", said[-1])


def test_a_taken_port_is_a_problem(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        answer = subprocess.run([*COMMAND, str(tmp_path), "--port", port], capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"tb-profile: Port {port} is taken.")
    assert "Traceback" not in answer.stderr
