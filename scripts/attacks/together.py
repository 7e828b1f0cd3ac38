"""Servers that share a cache, that are told to end, and that have very many clients or sessions."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import targets
from attack import COMMAND, PATIENCE_S, STANDALONE, Broken, Command, Server, Untried, attack, check

_RUNS = 12
_TOOLS = ("overview_page", "framework_op_stats", "why", "memory_profile")
_LIMIT = 256 << 10
"""Bytes of a cache that holds a few of these sessions' answers."""
_ENDS_S = 20
_CLIENTS, _DRIPS = 500, 100
_LOOKS = 12
_SESSIONS, _ROOM = 60, "400M"
"""Sessions of some MB decoded, and the memory that they may take together."""
_GROWTH_MIB = 700
_RANGES = (
    "bytes=0-0",
    "bytes=-1",
    "bytes=5-2",
    "bytes=abc",
    "bytes=0-,0-,0-",
    "bytes=99999999999999999999-",
    "lines=1-2",
)


@attack("H9-cache", "Two servers on one cache answer as one alone, also where one is ended in the middle.", COMMAND)
def one_cache(command: Command) -> None:
    """Both are asked for all pages of more sessions than the cache holds; one is told to end meanwhile."""
    logdir = command.folder / "logs"
    runs = [f"run{i}" for i in range(_RUNS)]
    for i, run in enumerate(runs):
        targets.put(logdir, run, "host.xplane.pb", targets.small(steps=2 + i).SerializeToString())
    with _serving(command, logdir, TB_PROFILE_CACHE_DIR=str(command.folder / "alone")) as alone:
        wanted = _answers(alone, runs)
    cache = command.folder / "both"
    settings = {"TB_PROFILE_CACHE_DIR": str(cache), "TB_PROFILE_CACHE_LIMIT": str(_LIMIT)}
    with _serving(command, logdir, **settings) as one, _serving(command, logdir, **settings) as other:
        with ThreadPoolExecutor(2) as threads:
            ended = threads.submit(_until_it_ends, one, runs)
            answers = [_answers(other, runs[::step]) for step in (1, -1, 1)]
            check(ended.result(), f"a server goes on {_ENDS_S} s after it was told to end")
        for found in answers:
            differ = [key for key, body in found.items() if body != wanted[key]]
            check(not differ, f"{len(differ)} answers are others than without a second server: {differ[:3]}")
    cache_bytes = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    check(cache_bytes <= _LIMIT * 5 // 4, f"the cache holds {cache_bytes:,} bytes and may hold {_LIMIT:,}")


@attack("H9-end", "A server that is told to end ends soon, whatever it works on.", COMMAND)
def ended_within_requests(command: Command) -> None:
    """Searches of the costliest kind, a trace that nobody reads, a head that is not whole."""
    logdir = command.folder / "logs"
    targets.make(logdir)
    for number in (signal.SIGTERM, signal.SIGINT):
        with _serving(command, logdir) as server, ExitStack() as stack:
            for i in range(8):
                path = server.path("/timeline/search", run=targets.LARGE, text=f"(?:a?){{900}}a{{900}}{i}", regex=1)
                server.client(stack, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            path = server.path("/data", run=targets.LARGE, tag="trace_viewer")
            server.client(stack, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            server.client(stack, "GET / HTTP/1.1\r\nHost: loc")
            time.sleep(1)
            check(_ends(server, number), f"it goes on {_ENDS_S} s after signal {number}")


@attack("H9-evict", "More sessions than memory holds are answered rightly, and memory stays bounded.", COMMAND)
def evictions(command: Command) -> None:
    """All of them twice, eight at a time, with nothing kept on disk."""
    logdir = command.folder / "logs"
    capture = targets.small(steps=4000).SerializeToString()
    runs = [f"run{i}" for i in range(_SESSIONS)]
    for run in runs:
        targets.put(logdir, run, "host.xplane.pb", capture)
    settings = {"TB_PROFILE_MEMORY_LIMIT": _ROOM, "TB_PROFILE_CACHE_LIMIT": "0"}
    with _serving(command, logdir, **settings) as server:
        server.get("/data", run=runs[0], tag=_TOOLS[0])
        before = server.memory()
        first, again = (_answers(server, runs, _TOOLS[:1]) for _ in range(2))
        check(first == again and len(set(first.values())) == 1, "equal sessions have different answers")
        grown = (server.memory() - before) >> 20
        check(grown < _GROWTH_MIB, f"the server has {grown} MiB more in memory than before")
        server.answers_others()


@attack("H4-many", "500 clients at once are answered or told to come again, and nobody else waits.")
def many_clients(server: Server) -> None:
    """All connected before the first of them asks."""
    request = f"GET {server.path('/version')} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.socket()) for _ in range(_CLIENTS)]
        answered = 0
        for client in clients:
            client.settimeout(PATIENCE_S)
            client.connect((server.host, server.port))
        for client in clients:
            with suppress(ConnectionError):
                client.sendall(request)
        for client in clients:
            with suppress(ConnectionError):
                answered += client.recv(64)[9:12] in (b"200", b"503")
    check(answered > _CLIENTS * 0.9, f"{answered} of {_CLIENTS} clients are told something")
    server.answers_others()


@attack("H4-drip", "Heads and answers that go on by a letter at a time keep no small answer waiting.")
def drips(server: Server) -> None:
    """Half of them grow their head, half read a large answer."""
    path = server.path("/data", run=server.session(targets.LARGE), tag="trace_viewer")
    with ExitStack() as stack:
        heads = [server.client(stack, f"GET {path} HTTP/1.1\r\nX: ") for _ in range(_DRIPS // 2)]
        readers = [server.client(stack, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(_DRIPS // 2)]
        for _ in range(_LOOKS):
            for head in heads:
                with suppress(OSError):
                    head.sendall(b"x")
            for reader in readers:
                reader.setblocking(False)
                with suppress(OSError):
                    reader.recv(1)
            server.answers_others()
            time.sleep(0.3)


@attack("ranges", "Parts of an answer, however they are asked for, cost no more than the whole and fail nothing.")
def ranges(server: Server) -> None:
    """Of tables, pages and files to save."""
    run = server.session()
    for path, query in (("/data", {"run": run, "tag": "overview_page"}), ("/share/capture", {"run": run}), ("/", {})):
        complete = server.get(path, None, **query)
        for byte_range in (*_RANGES, "bytes=" + ",".join(f"{i}-{i}" for i in range(2000))):
            answer = server.get(path, {"Range": byte_range}, **query)
            check(
                answer.status in (complete.status, 206, 416, 431),
                f"{path} answers {byte_range[:40]} with {answer.status}",
            )
            check(
                len(answer.body) <= len(complete.body) + 1000,
                f"{path} answers {byte_range[:40]} with {len(answer.body):,} bytes",
            )


@contextmanager
def _serving(command: Command, logdir: Path, **settings: str) -> Iterator[Server]:
    """A standalone server of its own."""
    with command.start("serve", logdir, "--port", "0", out=subprocess.PIPE, **settings) as process:
        assert process.stdout and process.stderr
        try:
            line = process.stdout.readline().decode()
            for stream in (process.stdout, process.stderr):
                threading.Thread(target=stream.read, daemon=True).start()
            port = int(line.partition("127.0.0.1:")[2].partition("/")[0] or 0)
            check(port > 0, f"the server does not start: {line}")
            yield Server(STANDALONE, port, "", command.long, process.pid)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENDS_S)
            process.kill()


def _answers(server: Server, runs: list[str], tools: tuple[str, ...] = _TOOLS) -> dict[tuple[str, str], bytes]:
    questions = [(run, tool) for run in runs for tool in tools]
    with ThreadPoolExecutor(8) as clients:
        found = list(clients.map(lambda each: server.get("/data", run=each[0], tag=each[1]), questions))
    wrong = {answer.status for answer in found} - {200, 404}
    check(not wrong, f"pages are answered with {wrong}")
    return {key: answer.body for key, answer in zip(questions, found, strict=True)}


def _until_it_ends(server: Server, runs: list[str]) -> bool:
    """Ask until it is told to end in the middle of that; whether it does."""
    threading.Timer(1.0, os.kill, (server.process, signal.SIGTERM)).start()
    until = time.monotonic() + _ENDS_S
    with suppress(Broken):
        while time.monotonic() < until:
            _answers(server, runs)
    return _is_gone(server, until)


def _ends(server: Server, number: int) -> bool:
    os.kill(server.process, number)
    return _is_gone(server, time.monotonic() + _ENDS_S)


def _is_gone(server: Server, until: float) -> bool:
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{server.process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        except OSError as error:
            raise Untried("processes cannot be looked at here") from error
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
