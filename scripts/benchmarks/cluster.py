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
from functools import partial
from pathlib import Path

from distributed import Client
from hosts import copies

from tb_profile_plugin import __version__, store, tools
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.model.worker import summarise
from tb_profile_plugin.runtime.executors import HostExecutor, executor

HOSTS = 256
WORKERS = (1, 2, 4)
SAMPLE = 32
"""Hosts that one process works on alone, to know what each costs."""
MANY = 1024
GUESSED_WORKERS = (1, 4, 16, 64, 256)
Process = subprocess.Popen[bytes]
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
        host_s, size, read_s = one_host(stored)
        first = 0.0
        for count in WORKERS:
            with cluster(Path(name), count) as (address, scheduler, workers):
                with closing(executor(f"dask://{address}")) as there:
                    # Workers import and compile before the clock starts.
                    tool.run(Session(few(stored, 4 * count), executor=there))
                    session = Session(stored, executor=there)
                    wall, *spent = measured(partial(tool.run, session), scheduler, workers)
                    assert not session.unreadable
                    first = first or wall
                    print(
                        f"{count:8}{wall:9.2f}{first / wall:9.2f}{spent[1]:15.2f}{spent[2]:12.2f}{spent[0]:11.2f}",
                        flush=True,
                    )
                    jobs = {str(number): (size,) for number in range(MANY)}
                    _, *sent = measured(partial(_all_outcomes, there, jobs), scheduler, workers)
        merge_s = min(measured(lambda: tool.run(session))[-1] for _ in range(5)) / HOSTS
    estimate(host_s, size, max(sent[0] / MANY, sent[2] / MANY + read_s), merge_s)


def one_host(stored: store.StoredSession) -> tuple[float, int, float]:
    """Seconds of the processor that a host takes, bytes that are sent back, and seconds to make sense of them."""
    needs = tools.get("overview_page").host_needs()
    summarise(stored.files[0], needs, __version__)
    begin = time.process_time()
    for file in stored.files[:SAMPLE]:
        found = summarise(file, needs, __version__)
    host_s = (time.process_time() - begin) / SAMPLE
    sent = pickle.dumps(found)
    return host_s, len(sent), min(measured(lambda: pickle.loads(sent))[-1] for _ in range(20))


def estimate(host_s: float, size: int, job_s: float, merge_s: float) -> None:
    """What 1,024 hosts take: their work side by side, or the jobs' way through one process, and the merge."""
    print(f"a host: {host_s * 1e3:.1f} ms of a worker, {size / 1e3:.0f} kB back, {merge_s * 1e3:.2f} ms to merge;")
    print(f"a job: {job_s * 1e3:.2f} ms of the scheduler or of the session's process, whichever takes longer")
    print(f"{MANY} hosts: max({MANY} x {host_s * 1e3:.1f} ms / workers, {MANY} x {job_s * 1e3:.2f} ms) + merge")
    for workers in GUESSED_WORKERS:
        gather_s = max(MANY * host_s / workers, MANY * job_s)
        print(f"{workers:8} workers{gather_s + MANY * merge_s:9.2f} s, of these the merge {MANY * merge_s:.2f} s")


def few(stored: store.StoredSession, count: int) -> store.StoredSession:
    """A session of the first hosts."""
    return store.StoredSession(stored.name, stored.folder, stored.files[:count])


def _all_outcomes(there: HostExecutor, jobs: dict[str, tuple[int]]) -> list[object]:
    """What the workers make of the jobs."""
    return list(there.outcomes(bytes, jobs, 0))


def measured(work: Callable[[], object], *processes: Process | list[Process]) -> list[float]:
    """Seconds of the clock; of the processor: of each of these (lists together), and of this process."""
    groups = [each if isinstance(each, list) else [each] for each in processes]
    before = [sum(map(processor_s, group)) for group in groups]
    here, begin = time.process_time(), time.perf_counter()
    work()
    wall, here = time.perf_counter() - begin, time.process_time() - here
    after = [sum(map(processor_s, group)) for group in groups]
    return [wall, *(late - early for early, late in zip(before, after, strict=True)), here]


def processor_s(process: Process) -> float:
    """Seconds of the processor that a process took so far (Linux)."""
    facts = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) * TICK_S


@contextmanager
def cluster(folder: Path, count: int) -> Iterator[tuple[str, Process, list[Process]]]:
    """A scheduler's address, its process, and those of so many workers of one thread each."""
    file = folder / f"scheduler-{count}.json"

    def start(*words: str) -> Process:
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
