"""Workers on 127.0.0.1 that sum over all of them in each step, of which one is late by a fault.

`late_workers.py FRAMEWORK OUT FAULT WORKERS LATE` runs them; OUT gets the session `job`, and a folder for
each worker that tells when it came to the sum of each step, by a clock that all share.
"""

import importlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

STEPS, WARM_STEPS = 20, 3
SLEEP_S = 0.03
FAULTS = {
    "none": "nobody is late",
    "sleep": f"sleeps {1000 * SLEEP_S:.0f} ms in Python",
    "input": f"waits {1000 * SLEEP_S:.0f} ms for its rows",
    "work": "does more operations",
    "data": "does the same operations on more rows",
}


class Worker:
    """One of them, and what it plants and measures."""

    def __init__(self, folder, fault, count, late, rank, ports):
        self.folder, self.count, self.rank, self.ports = Path(folder), int(count), int(rank), ports.split(",")
        self.fault = fault if self.rank == int(late) else "none"
        self.came = []

    @property
    def rows(self):
        """How many rows a batch has."""
        return 1024 if self.fault == "data" else 128

    @property
    def layers(self):
        """How many products a step has."""
        return 64 if self.fault == "work" else 8

    def batches(self, batch):
        """The same one for ever; late where that is the fault."""
        while True:
            if self.fault == "input":
                time.sleep(SLEEP_S)
            yield batch

    def prepare(self):
        """What the host does before a step's work; only with its fault."""
        if self.fault == "sleep":
            time.sleep(SLEEP_S)

    def meet(self):
        """The worker comes to a step's sum: all its work is done."""
        self.came.append(time.monotonic())

    def write(self):
        """Keep what was measured of the captured steps."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "came.json").write_text(json.dumps(self.came[-STEPS:]))


def free_ports(count):
    """As many as nobody listens to."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main(framework, out, fault, count, late):
    """Run all workers, and put their captures into one session."""
    ports, folders = ",".join(free_ports(int(count))), [Path(out, str(rank)) for rank in range(int(count))]
    command = [sys.executable, __file__, framework]
    workers = [
        subprocess.Popen([*command, str(folder), fault, count, late, str(rank), ports])
        for rank, folder in enumerate(folders)
    ]
    if max(worker.wait() for worker in workers):
        sys.exit(1)
    job = Path(out, "job")
    job.mkdir()
    for rank, folder in enumerate(folders):
        for capture in (*folder.rglob("*.xplane.pb"), *folder.rglob("*.pt.trace.json")):
            os.rename(capture, job / f"worker-{rank}.{capture.name.partition('.')[2]}")


if __name__ == "__main__":
    framework, *arguments = sys.argv[1:]
    if len(arguments) == 4:
        main(framework, *arguments)
    else:
        worker = Worker(*arguments)
        importlib.import_module(f"late_{framework}").work(worker)
        worker.write()
