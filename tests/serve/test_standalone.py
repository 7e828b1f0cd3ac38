import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "tb_profile_plugin", "serve"]


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


def test_a_host_that_is_none_is_a_problem(tmp_path: Path) -> None:
    answer = subprocess.run([*COMMAND, str(tmp_path), "--host", "a b"], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 1
    assert (
        answer.stderr
        == "tb-profile: Cannot listen on a b:6007: Invalid host/port specified. Check --host and --port.\n"
    )


def test_a_taken_port_is_a_problem(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        answer = subprocess.run([*COMMAND, str(tmp_path), "--port", port], capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"tb-profile: Port {port} is taken.")
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        ("GET /runs HTTP/1.1\r\nHost: localhost\r\n", 200),
        ("GET /runs HTTP/1.1\r\nHost: evil.example\r\n", 403),
        ("GET /runs HTTP/1.0\r\n", 403),
        (f"GET /runs?x={'a' * 70_000} HTTP/1.1\r\nHost: localhost\r\n", 431),
        ("POST /capture/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n", 413),
        ("POST /capture/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n", 400),
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n", 404),
        ("GET //evil.example/runs HTTP/1.1\r\nHost: localhost\r\n", 404),
        ("GET http://evil.example/runs HTTP/1.1\r\nHost: evil.example\r\n", 403),
        ("BREW /runs HTTP/1.1\r\nHost: localhost\r\n", 405),
    ],
)
def test_requests_as_they_come_over_the_wire(start: Callable[..., list[str]], request_text: str, status: int) -> None:
    (line,) = start()
    address = re.search(r":(\d+)/", line)
    assert address
    with socket.create_connection(("127.0.0.1", int(address[1])), timeout=20) as raw:
        raw.sendall(f"{request_text}Connection: close\r\n\r\n".encode())
        answer = b""
        # What the server did not care to read resets the connection after its answer, which may get lost with it.
        with suppress(ConnectionResetError):
            while received := raw.recv(65536):
                answer += received
    assert int((answer.split() or [b"", b"431"])[1]) == status, answer[:300]
    assert b"Traceback" not in answer


def test_a_proxys_name_is_answered_where_it_is_allowed(start: Callable[..., list[str]]) -> None:
    (line,) = start("--allow-host", "hub.example")
    address = re.search(r"http://\S+/", line)
    assert address
    asked = urllib.request.Request(f"{address[0]}runs", headers={"Host": "hub.example"})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        assert json.load(answer) == ["r1"]
