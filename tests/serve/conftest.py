"""An application over empty files, with sessions and tools that need no capture."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from plain import plain
from werkzeug.test import Client

from tb_profile_plugin import api, tools
from tb_profile_plugin.analysis.health import capture_health
from tb_profile_plugin.compat.datatable import column_head, data_table
from tb_profile_plugin.model import profiler_options, session
from tb_profile_plugin.runtime.problems import Problem, ProblemError
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir, StoredSession
from tb_profile_plugin.tools.answers.tool import Param, Tool

TABLE = data_table([column_head("op", "Op, name", "string"), column_head("ms", "ms")], [["a", 1], ['b "c"', 2.5]])


@dataclass
class Module:
    name: str
    program_id: int

    @property
    def title(self) -> str:
        return f"{self.name}({self.program_id})"


class FakeHost(str):
    """A host by its name; only ``b`` ran XLA programs."""

    @property
    def name(self) -> str:
        return str(self)

    @property
    def modules(self) -> dict[int, Module]:
        return {6: Module("jit_step", 6), 2: Module("jit_init", 2)} if self == "b" else {}


class FakeSession:
    """Answers like a session; a host named ``bad`` cannot be read."""

    unreadable = ()
    has_lost_hosts = closed = False

    def __init__(self, stored: StoredSession, decoded_pool: Any = None, executor: Any = None, beside: Any = None):
        self.stored = stored
        self.name = stored.name
        self.hosts = stored.hosts

    def select(self, host: str = "", needs: Any = (), step_event: str = "") -> list[FakeHost]:
        if host in ("", "ALL_HOSTS"):
            return [FakeHost(name) for name in self.hosts]
        if host not in self.hosts:
            raise ProblemError(Problem("unknown_host", f"There is no host {host!r}."), 404)
        return [FakeHost(host)]

    def close(self) -> None:
        self.closed = True

    def facts(self, needs: Any = ()) -> dict[str, Any]:
        if "bad" in self.hosts:
            raise ProblemError(Problem("truncated", "Nothing can be read."), 422)
        return {"device": "CPU", "steps": 3}

    def problems(self) -> list[Problem]:
        return [Problem("note", "Something is odd.", severity="warning")]

    def progress(self) -> list[dict[str, Any]]:
        return [{"host": host, "phase": "waiting", "fraction": 0.0} for host in self.hosts]


class Fakes:
    """The tools of these tests, and levers to watch and hold them."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.hold = threading.Event()
        self.hold.set()
        self.entered = threading.Event()

    def tools(self) -> dict[str, Tool]:
        def echo(session: Any, hosts: Any, size: str) -> Any:
            """What was asked?"""
            self.calls.append("echo")
            return {"run": session.name, "hosts": hosts, "size": size}

        def one(session: Any, hosts: Any) -> Any:
            """Shows one host at a time."""
            return [{"summary": True}, TABLE]

        def slow(session: Any, hosts: Any) -> Any:
            """Takes as long as the test wants."""
            self.calls.append("slow")
            self.entered.set()
            assert self.hold.wait(10)
            return "x" * 5000

        def broken(session: Any, hosts: Any) -> Any:
            """Has a bug."""
            self.calls.append("broken")
            raise RuntimeError("the secret is 42")

        def absent(session: Any, hosts: Any) -> Any:
            """Has nothing to show."""

        param = Param("size", "small", "How large.", ("small", "large"))
        made = [
            plain("Echo", params=[param])(echo),
            plain("One", all_hosts=False)(one),
            plain("Slow")(slow),
            plain("Broken")(broken),
            plain("Absent", unavailable=lambda session, hosts: Problem("no_gpu", "No GPU.", "Use one."))(absent),
        ]
        return {each.name: each for each in made}


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    fakes = Fakes()
    found = fakes.tools()
    monkeypatch.setattr(tools, "all_tools", lambda: found)
    monkeypatch.setattr(session, "Session", FakeSession)
    monkeypatch.setattr(capture_health, "findings", lambda session, hosts: session.problems())
    monkeypatch.setattr(capture_health, "why_empty", lambda session, hosts: None)
    monkeypatch.setattr(profiler_options, "levels", lambda host: {"host_tracer_level": 2})
    monkeypatch.setattr(api.Capture, "select", FakeSession.select)
    return fakes


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str], Path]:
    """Put a capture below the logdir."""

    def put(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        return path

    return put


@pytest.fixture
def client(tmp_path: Path, fakes: Fakes, put: Callable[[str], Path]) -> Client:
    for name in ["train/plugins/profile/r 1+ü/a.xplane.pb", "train/plugins/profile/r 1+ü/b.xplane.pb"]:
        put(name)
    put("plugins/profile/single/vm.xplane.pb")
    return Client(App(Logdir(str(tmp_path))))
