"""Asks a server at random for minutes, while captures come and go, and watches its memory and open files.

`scripts/soak MINUTES` runs it for long, tests/serve/test_load.py for a minute.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tensorboards import address_of

from tb_profile_plugin.tools import all_tools

TRACES = Path(__file__).resolve().parent / "traces"
CLIENTS = 8
SAMPLE_S = 2.0


@dataclass
class Sample:
    """The server at one moment."""

    seconds: float
    memory_mib: float
    files: int
    threads: int


@dataclass
class Report:
    """What a run was like."""

    requests: int = 0
    aborted: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    """What was answered with a server's error, or not at all."""
    samples: list[Sample] = field(default_factory=list)

    def __str__(self) -> str:
        half, last = self.samples[len(self.samples) // 2], self.samples[-1]
        peak = max(sample.memory_mib for sample in self.samples)
        tenths = [self.samples[(len(self.samples) - 1) * i // 10].memory_mib for i in range(1, 11)]
        return (
            f"{self.requests:,} requests, {self.aborted:,} broken off, statuses {sorted(self.statuses.items())}; "
            f"memory {half.memory_mib:.0f} MiB at half time, {last.memory_mib:.0f} at the end, {peak:.0f} at most "
            f"(at each tenth {', '.join(f'{memory:.0f}' for memory in tenths)}); "
            f"open files {half.files} and {last.files}; threads {half.threads} and {last.threads}; "
            f"failed: {self.failed[:9]}"
        )


def start(logdir: Path, cache: Path) -> tuple[subprocess.Popen[str], int]:
    """A standalone server and its port."""
    command = [sys.executable, "-m", "tb_profile_plugin", "serve", str(logdir), "--port", "0"]
    environment = {**os.environ, "TB_PROFILE_CACHE_DIR": str(cache), "TB_PROFILE_CACHE_LIMIT": "64M"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    address, _ = address_of(process)
    port = urlsplit(address).port
    assert port
    return process, port


def wait_until_ready(port: int) -> None:
    """Until the tools are compiled, which takes minutes on a machine that never did."""
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("GET", "/progress?run=keras_fit/run")
        working = json.load(connection.getresponse())["hosts"]
        connection.close()
        if not working:
            return
        time.sleep(1)


def fill(logdir: Path) -> None:
    """Six sessions, two of them below one run."""
    for folder in sorted(TRACES.glob("*/plugins/profile/run")):
        shutil.copytree(folder, logdir / folder.parts[-4] / "plugins" / "profile" / "run")


class Soak:
    """One run over a logdir of its own."""

    def __init__(self, port: int, logdir: Path, pid: int, seed: int):
        self.report = Report()
        self._port, self._logdir, self._pid = port, logdir, pid
        self._seed = seed
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._tools = [name for name, tool in all_tools().items()]

    def run(self, seconds: float) -> Report:
        """Ask for so long, then let the server rest and look once more."""
        begin = time.monotonic()
        workers = [threading.Thread(target=self._ask, args=(self._seed + i,)) for i in range(CLIENTS)]
        workers.append(threading.Thread(target=self._disturb, args=(self._seed,)))
        for worker in workers:
            worker.start()
        while time.monotonic() < begin + seconds:
            time.sleep(SAMPLE_S)
            self.report.samples.append(self._look(time.monotonic() - begin))
        self._over.set()
        for worker in workers:
            worker.join()
        time.sleep(SAMPLE_S)
        self.report.samples.append(self._look(time.monotonic() - begin))
        return self.report

    def _ask(self, seed: int) -> None:
        dice = random.Random(seed)
        while not self._over.is_set():
            query = self._query(dice)
            broken_off = dice.random() < 0.05
            try:
                status = self._break_off(query) if broken_off else self._get(query)
            except (OSError, HTTPException):
                status = -1
            with self._lock:
                self.report.requests += 1
                self.report.aborted += broken_off
                if not broken_off:
                    self.report.statuses[status] = self.report.statuses.get(status, 0) + 1
                    if status < 0 or status >= 500:
                        self.report.failed.append(f"{status} {query}")

    def _query(self, dice: random.Random) -> str:
        runs = [*(path.name + "/run" for path in self._logdir.iterdir()), "none", "../etc"]
        run = dice.choice(runs)
        kind = dice.randrange(10)
        if kind < 5:
            asked = {"run": run, "tag": dice.choice(self._tools), "host": dice.choice(["", "", "ALL_HOSTS", "x"])}
            if dice.random() < 0.2:
                asked["step_event"] = f"e{dice.randrange(20)}"
            return "/data?" + urlencode(asked)
        window = {"run": run, "lanes": "0.0,0.1", "begin": dice.randrange(10**9), "end": 10**10, "width": 800}
        others = [
            "/sessions",
            "/session?" + urlencode({"run": run}),
            "/tools?" + urlencode({"run": run}),
            "/timeline/lanes?" + urlencode({"run": run}),
            "/timeline/slices?" + urlencode(window),
            "/timeline/search?" + urlencode({"run": run, "text": "a"}),
            "/index.html",
        ]
        return dice.choice(others)

    def _get(self, query: str) -> int:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request("GET", query, headers={"Accept-Encoding": "gzip"})
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()

    def _break_off(self, query: str) -> int:
        with socket.create_connection(("127.0.0.1", self._port), timeout=120) as raw:
            raw.sendall(f"GET {query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return 0

    def _disturb(self, seed: int) -> None:
        """A session that is written, cut and deleted again and again."""
        dice = random.Random(seed)
        content = next((TRACES / "keras_fit").rglob("*.xplane.pb")).read_bytes()
        path = self._logdir / "changing" / "plugins" / "profile" / "run" / "vm.xplane.pb"
        path.parent.mkdir(parents=True)
        while not self._over.wait(0.5):
            kind = dice.randrange(4)
            if kind == 0:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content if kind < 3 else content[: dice.randrange(len(content))])

    def _look(self, seconds: float) -> Sample:
        status = Path(f"/proc/{self._pid}/status").read_text()
        numbers = {key: int(value) for key, value in re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE)}
        files = len(os.listdir(f"/proc/{self._pid}/fd"))
        return Sample(seconds, numbers["VmRSS"] / 1024, files, numbers["Threads"])


def soak(seconds: float, seed: int = 1) -> Report:
    """Start a server, ask it, end it; raises AssertionError where it ended by itself."""
    with tempfile.TemporaryDirectory() as folder:
        logdir, cache = Path(folder, "logs"), Path(folder, "cache")
        fill(logdir)
        process, port = start(logdir, cache)
        try:
            wait_until_ready(port)
            report = Soak(port, logdir, process.pid, seed).run(seconds)
            assert process.poll() is None, "the server ended"
        finally:
            process.terminate()
            process.communicate(timeout=30)
    return report


if __name__ == "__main__":
    print(soak(60 * float(sys.argv[1])))
