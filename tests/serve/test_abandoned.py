"""A client that hangs up: what only it waited for ends, in both servers that people run."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from plain import plain
from waitress.channel import HTTPChannel
from werkzeug.serving import make_server

from tb_profile_plugin import tools
from tb_profile_plugin.runtime import cancellation, memo
from tb_profile_plugin.serve import App, standalone
from tb_profile_plugin.serve.connections import create_server
from tb_profile_plugin.store import Logdir

TURNS = 3000
QUERY = "/data?run=r1&tag=patient"


class Patient:
    """A tool that takes half a minute in many turns, or until it is told to end."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        """Turns that were done, one entry a run of the tool."""
        self.working, self.ended, self.enough = threading.Event(), threading.Event(), threading.Event()

    def run(self, session: Any, hosts: Any) -> Any:
        """Takes its time."""
        number = len(self.begun)
        self.begun.append(0)
        try:
            for turn in range(TURNS):
                self.begun[number] = turn
                if self.enough.is_set():
                    break
                cancellation.check()
                self.enough.wait(0.01)
                self.working.set()
        finally:
            self.ended.set()
        return {"answer": 42}


@pytest.fixture
def patient(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> Patient:
    patient = Patient()
    found = {"patient": plain("Patient")(lambda session, hosts: patient.run(session, hosts))}
    monkeypatch.setattr(tools, "all_tools", lambda: found)
    monkeypatch.setattr(tools, "get", lambda name: found["patient"])
    return patient


def waitress(logdir: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Callable[[], None]]:
    """`tb-profile serve` in a thread."""
    made: list[Any] = []
    listening = threading.Event()
    create = create_server

    def remember(*arguments: Any, **named: Any) -> Any:
        made.append(create(*arguments, **named))
        return made[0]

    monkeypatch.setattr(standalone, "create_server", remember)
    thread = threading.Thread(
        target=standalone.serve,
        args=(logdir, standalone.BindAddress("127.0.0.1", 0), lambda line: listening.set()),
        daemon=True,
    )
    thread.start()
    assert listening.wait(20)

    def stop() -> None:
        # The server's own thread closes a connection when it sees that the client has gone.
        until = time.monotonic() + 20
        while any(isinstance(each, HTTPChannel) for each in made[0].map.values()) and time.monotonic() < until:
            time.sleep(0.01)
        made[0].close()

    return int(made[0].effective_listen[0][1]), stop


def werkzeug(logdir: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Callable[[], None]]:
    """The server that TensorBoard runs."""
    server = make_server("127.0.0.1", 0, App(Logdir(logdir)), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        thread.join()
        server.server_close()

    return server.server_port, stop


@pytest.fixture(params=[waitress, werkzeug], ids=["waitress", "werkzeug"])
def port(
    request: Any, tmp_path: Path, patient: Patient, put: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    put("plugins/profile/r1/vm.xplane.pb")
    number, stop = request.param(str(tmp_path), monkeypatch)
    yield number
    patient.enough.set()
    stop()


def ask(port: int) -> socket.socket:
    """A client that asks for the tool."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(f"GET {QUERY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def test_work_ends_when_its_client_has_gone(port: int, patient: Patient) -> None:
    with ask(port):
        assert patient.working.wait(20)
        assert not patient.ended.is_set()
    assert patient.ended.wait(20)
    (turns,) = patient.begun
    assert turns < TURNS - 1


def test_another_who_waits_is_still_answered(port: int, patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    joined, wait_for_result = threading.Event(), memo._Work.wait_for_result

    def told(work: Any, wanted: Any) -> Any:
        joined.set()
        return wait_for_result(work, wanted)

    monkeypatch.setattr(memo._Work, "wait_for_result", told)
    first = ask(port)
    assert patient.working.wait(20)
    second = HTTPConnection("127.0.0.1", port, timeout=60)
    second.request("GET", QUERY)
    assert joined.wait(20)
    first.close()
    # Longer than a client that has gone is waited for.
    assert not patient.ended.wait(2)
    patient.enough.set()
    response = second.getresponse()
    assert (response.status, json.load(response)) == (200, {"answer": 42})
    second.close()
    assert len(patient.begun) == 1
