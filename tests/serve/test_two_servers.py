"""Two servers on one cache, one of them killed: right answers, within the limit, and nothing of others is touched."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError

import pytest
from werkzeug.test import Client

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir, cache

TRACES = Path(__file__).resolve().parent.parent / "traces"
LIMIT = 64 << 10
RUNS = ("custom_loop/run", "jax_steps/run", "keras_fit/run")
TOOLS = ("overview_page", "framework_op_stats", "input_pipeline_analyzer", "pod_viewer", "memory_profile")
PATHS = [f"{route}run={run}" for run in RUNS for route in ("session?", *(f"data?tag={tool}&" for tool in TOOLS))]


class Server:
    def __init__(self) -> None:
        command = [sys.executable, "-m", "tb_profile_plugin", "serve", str(TRACES), "--port", "0"]
        environment = {**os.environ, "TB_PROFILE_CACHE_LIMIT": str(LIMIT)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        address = re.search(r"http://\S+/", self.process.stdout.readline())
        assert address
        self.address = address[0]

    def ask(self, path: str) -> object:
        try:
            with urllib.request.urlopen(self.address + path, timeout=120) as answer:
                return json.load(answer)
        except HTTPError as problem:
            with problem:
                return json.load(problem)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    started = [Server(), Server()]
    yield started
    for server in started:
        server.kill()


def test_answers_are_right_and_the_cache_keeps_its_limit(servers: list[Server]) -> None:
    apart = Client(App(Logdir(str(TRACES)), keep=False))
    right = {path: apart.get(f"/{path}").get_json() for path in PATHS}
    foreign = [cache.folder().parent / "results" / "model.ckpt", cache.folder() / "results-notes.md"]
    for turn in range(3):
        with ThreadPoolExecutor(4) as pool:
            asked = [(path, server, pool.submit(server.ask, path)) for path in PATHS for server in servers]
            victim, other = servers if turn % 2 else servers[::-1]
            asked[len(PATHS) // 2][2].exception()
            victim.kill()
            answers = {(path, server): answer for path, server, answer in asked if not answer.exception()}
        assert {path: answers[path, other].result() for path in PATHS} == right
        assert all(answer.result() == right[path] for (path, _), answer in answers.items())
        entries = [path for path in cache.folder().iterdir() if path.suffix == ""]
        assert entries and sum(max(entry.stat().st_size, 4096) for entry in entries) <= LIMIT * 1.1
        for path in foreign:
            if not turn:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(bytes(50_000))
                os.utime(path, (1, 1))
            assert path.read_bytes() == bytes(50_000)
        servers[servers.index(victim)] = Server()
