"""The Overview of 256 hosts on a Dask cluster of 1, 2 and 4 workers, all of them processes of this machine.

Then what one host costs a worker, and the session's own process, and from these an estimate for 1,024 hosts.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from distributed import Client
from hosts import copies

from tb_profile_plugin import __version__, store, tools
from tb_profile_plugin.model.executors import executor
from tb_profile_plugin.model.session import Session, portion

HOSTS = 256
WORKERS = (1, 2, 4)
SAMPLE = 32
"""Hosts that one process works on alone, to know what each costs."""
MANY = 1024
GUESSED_WORKERS = (1, 4, 16, 64, 256)
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def main(path: str) -> None:
    """Print the measurements, then the estimate."""
    tool = tools.get("overview_page")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "run")
        folder.mkdir()
        copies(Path(path), folder, HOSTS)
        stored = store.resolve(folder)
        print(f"overview_page of {HOSTS} copies of {stored.files[0].size / 1e6:.1f} MB on a Dask cluster;")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
        print(f"{'workers':>8}{'wall s':>9}{'speedup':>9}{'workers CPU s':>15}{'here CPU s':>12}{'scheduler':>11}")
        walls: dict[int, float] = {}
        for count in WORKERS:
            with cluster(Path(name), count) as (address, scheduler, workers):
                with closing(executor(f"dask://{address}")) as there:
                    # Workers import and compile before the clock starts.
                    tool.run(Session(few(stored, 4 * count), executor=there))
                    spent = [sum(map(processor_s, workers)), time.process_time(), processor_s(scheduler)]
                    session = Session(stored, executor=there)
                    walls[count] = timed(lambda session=session: tool.run(session))
                    spent = [
                        sum(map(processor_s, workers)) - spent[0],
                        time.process_time() - spent[1],
                        processor_s(scheduler) - spent[2],
                    ]
                    assert not session.unreadable
            speedup = walls[WORKERS[0]] / walls[count]
            print(f"{count:8}{walls[count]:9.2f}{speedup:9.2f}{spent[0]:15.2f}{spent[1]:12.2f}{spent[2]:11.2f}")
        estimate(stored, session, spent)


def estimate(stored: store.StoredSession, session: Session, spent: list[float]) -> None:
    """What 1,024 hosts take: the work of the hosts side by side, what one process does for each, and the merge."""
    tool = tools.get("overview_page")
    begin = time.process_time()
    for file in stored.files[:SAMPLE]:
        found = portion(file, (tool.question(),), __version__)
    host_s = (time.process_time() - begin) / SAMPLE
    merge_s = min(timed(lambda: tool.run(session)) for _ in range(5)) / HOSTS
    serial_s = max(spent[1] / HOSTS - merge_s, spent[2] / HOSTS)
    print(
        f"a host: {host_s * 1e3:.1f} ms of a worker, {len(pickle.dumps(found)) / 1e3:.0f} kB sent back; the session's"
    )
    print(f"process or the scheduler {serial_s * 1e3:.2f} ms; {merge_s * 1e3:.2f} ms of the merge")
    print(f"{MANY} hosts: max({MANY} x {host_s * 1e3:.1f} ms / workers, {MANY} x {serial_s * 1e3:.2f} ms) + merge")
    for workers in GUESSED_WORKERS:
        gather_s = max(MANY * host_s / workers, MANY * serial_s)
        print(f"{workers:8} workers{gather_s + MANY * merge_s:9.2f} s, of these the merge {MANY * merge_s:.2f} s")


def few(stored: store.StoredSession, count: int) -> store.StoredSession:
    """A session of the first hosts."""
    return store.StoredSession(stored.name, stored.folder, stored.files[:count])


def timed(work: Callable[[], object]) -> float:
    """Seconds of the clock."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def processor_s(process: subprocess.Popen[bytes]) -> float:
    """Seconds of the processor that a process took so far (Linux)."""
    facts = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) * TICK_S


@contextmanager
def cluster(folder: Path, count: int) -> Iterator[tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]]:
    """A scheduler's address, its process, and those of so many workers of one thread each."""
    file = folder / f"scheduler-{count}.json"

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file), "--no-dashboard"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.kill)
        return process

    with ExitStack() as stack:
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        options = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
        workers = [start("worker", *options) for _ in range(count)]
        while not file.exists():
            time.sleep(0.05)
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(count)
            address = client.scheduler.address.removeprefix("tcp://")
        yield address, scheduler, workers


if __name__ == "__main__":
    main(sys.argv[1])
