"""What an attack is: something that is tried, and the promise that it tries to break; and the servers to try it on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import targets
from tensorboards import address_of

import tb_profile_plugin

STANDALONE, TENSORBOARD, COMMAND = "standalone", "tensorboard", "command"
PATIENCE_S = 60.0
"""Whatever takes longer counts as hanging."""
_PROMPT_S = 5.0
"""What answers of no work may take while a server is attacked, on a machine that has other things to do."""
_COMPILING_S = 900.0


class Broken(Exception):
    """A promise that did not hold, with what was seen."""


class Untried(Exception):
    """An attack that cannot be tried here, with the reason."""


@dataclass(frozen=True)
class Attack:
    """One attack; `run` raises `Broken` where the promise does not hold."""

    id: str
    promise: str
    run: Callable[..., None]
    places: tuple[str, ...]
    long: bool = False
    """Whether it only is part of the long form."""


ATTACKS: list[Attack] = []


def attack(
    name: str, promise: str, *places: str, long: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers an attack: on servers it gets a `Server`, on the command line a `Command`."""

    def register(run: Callable[..., None]) -> Callable[..., None]:
        ATTACKS.append(Attack(name, promise, run, places or (STANDALONE, TENSORBOARD), long))
        return run

    return register


def check(holds: bool, otherwise: str) -> None:
    """Raise `Broken` unless it holds."""
    if not holds:
        raise Broken(otherwise)


def _settings(folder: Path) -> dict[str, str]:
    """The environment for this package as it lies here, with a cache in the folder."""
    package = Path(tb_profile_plugin.__file__).resolve().parents[1]
    return {**os.environ, "PYTHONPATH": str(package), "TB_PROFILE_CACHE_DIR": str(folder / "cache")}


@dataclass
class Answer:
    """What a server said, and how long it took."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


@dataclass(frozen=True)
class Command:
    """The command line, and a folder of its own for all that is tried with it."""

    folder: Path
    long: bool

    def start(self, *arguments: str | Path, out: int = subprocess.PIPE, **environment: str) -> subprocess.Popen[bytes]:
        """`tb-profile` with these arguments, its cache in the folder; `out` is where its output and errors go."""
        command = [sys.executable, "-m", "tb_profile_plugin", *map(str, arguments)]
        settings = {**_settings(self.folder), **environment}
        return subprocess.Popen(command, cwd=self.folder, env=settings, stdout=out, stderr=out)

    def __call__(self, *arguments: str | Path, **environment: str) -> tuple[int, bytes, bytes]:
        """Its exit code, output and errors; `Broken` where it hangs or shows a traceback."""
        with self.start(*arguments, out=subprocess.PIPE, **environment) as process:
            try:
                out, error = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Broken(f"tb-profile {arguments[0]} takes more than {PATIENCE_S:.0f} s") from None
        check(b"Traceback" not in error, f"tb-profile {arguments[0]} ends with a traceback: {error.decode()[-300:]}")
        return process.returncode, out, error


@dataclass(frozen=True)
class Server:
    """A server on this machine; the logdir and process of one that was started here are known."""

    kind: str
    port: int
    prefix: str
    long: bool
    process: int = 0
    logdir: Path | None = None
    host: str = "127.0.0.1"
    patience: float = PATIENCE_S

    def get(self, path: str, headers: dict[str, str] | None = None, method: str = "GET", **query: object) -> Answer:
        """The answer to a request; `Broken` where there is none in time."""
        began = time.monotonic()
        connection = HTTPConnection(self.host, self.port, timeout=self.patience)
        try:
            connection.request(method, self.path(path, **query), headers=headers or {})
            response = connection.getresponse()
            body = response.read()
        except (OSError, HTTPException) as error:
            raise Broken(f"{path} is not answered: {error or type(error).__name__}") from error
        finally:
            connection.close()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, body, time.monotonic() - began)

    def path(self, path: str, **query: object) -> str:
        """A route's path and query as they are asked for."""
        return f"{self.prefix}{path}" + (f"?{urlencode(query)}" if query else "")

    def session(self, name: str = targets.RUN) -> str:
        """A session's name: that one, where the captures are those made here, or any."""
        runs = [entry["run"] for entry in json.loads(self.get("/sessions").body)["sessions"]]
        if not runs:
            raise Untried("the server has no session")
        return name if name in runs else str(runs[0])

    def lists(self, name: str) -> None:
        """Wait until a session that was just written is listed, which takes seconds."""
        for _ in range(60):
            if json.dumps(name).encode() in self.get("/sessions").body:
                return
            time.sleep(0.5)
        raise Broken("new sessions are not listed")

    @property
    def prompt_s(self) -> float:
        """What answers of no work may take. The short form is a test, and runs on machines of any speed: there it only
        has to find answers that wait until the attack is over.
        """
        return _PROMPT_S if self.long else PATIENCE_S / 2

    def client(self, stack: ExitStack, text: str) -> socket.socket:
        """A client that sends this text; it takes no more than a little of the answer by itself."""
        client = stack.enter_context(socket.socket())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(self.prompt_s)
        client.connect((self.host, self.port))
        client.sendall(text.encode())
        return client

    def answers_others(self) -> None:
        """Raise `Broken` unless somebody who asks for next to nothing is answered."""
        answer = self.get("/version")
        check(answer.status == 200, f"/version is answered with {answer.status}")
        check(answer.seconds < self.prompt_s, f"/version took {answer.seconds:.1f} s")

    def memory(self) -> int:
        """Bytes that its process has in memory; 0 where that is not known."""
        try:
            status = Path(f"/proc/{self.process}/status").read_text()
        except OSError:
            return 0
        return int(status.partition("VmRSS:")[2].split()[0]) << 10

    def worked(self) -> float:
        """Seconds of the processor that its process has taken; 0 where that is not known."""
        try:
            fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running(address: str, long: bool) -> Server:
    """A server that runs already; ValueError for one that is not on this machine, or not ours."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if host != "localhost" and not ip_address(host).is_loopback:
        raise ValueError(f"{host} is not this machine: only loopback addresses are attacked")
    for kind, prefix in (
        (STANDALONE, ""),
        (TENSORBOARD, "/data/plugin/profile"),
        (TENSORBOARD, "/data/plugin/tb_profile"),
    ):
        server = Server(kind, parts.port or 80, prefix, long, host=host)
        if server.get("/version").body == tb_profile_plugin.__version__.encode():
            return server
    raise ValueError(f"{address} does not answer as this package does")


@contextmanager
def started(kind: str, long: bool) -> Iterator[Server]:
    """A server of that kind over captures made for it, on a free port of the loopback address."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets.make(folder / "logs")
        command: list[str | Path]
        if kind == STANDALONE:
            command = [sys.executable, "-m", "tb_profile_plugin", "serve", folder / "logs", "--port", "0"]
        else:
            command = [sys.executable, "-m", "tensorboard.main", "--logdir", folder / "logs", "--port", "0"]
            command.append("--load_fast=false")
        with subprocess.Popen(
            command, env=_settings(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                address, _ = address_of(process)
                # A server whose log nobody reads would stop at some point.
                threading.Thread(target=deque, args=(process.stdout, 0), daemon=True).start()
                found = running(address, long)
                server = Server(kind, found.port, found.prefix, long, process.pid, folder / "logs", found.host)
                # The compiler takes minutes on a machine that never ran it, and is no promise.
                replace(server, patience=_COMPILING_S).get("/data", run=targets.RUN, tag="overview_page")
                yield server
            finally:
                process.terminate()
                process.wait(timeout=30)
