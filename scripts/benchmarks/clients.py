"""A server that fifty clients ask for views of the timelines of ten captures, copies of one, and its memory.

`clients.py FILE [LIMIT]`: each client looks at one capture, and asks for a view of a random part about once a second.
Views count once every capture was opened; LIMIT is the server's memory limit, such as 8G.
"""

import json
import os
import random
import re
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from measure import served

CAPTURES, CLIENTS = 10, 50
SECONDS, PAUSE_S = 30.0, 1.0
PARTS = (1, 3, 10, 100, 1000)
WIDTH = 1600


def main(path: str, limit: str = "") -> None:
    """Print what views took and how much memory the server had."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(CAPTURES):
            Path(folder, f"run{number}").mkdir()
            Path(folder, f"run{number}", "one.xplane.pb").symlink_to(Path(path).resolve())
        options = ["--memory-limit", limit] if limit else []
        with served(folder, *options, TB_PROFILE_CACHE_DIR=f"{folder}/cache") as (address, pid):
            measure(address, pid, Path(path).stat().st_size / 1e6, limit or "3G, the default")


def measure(address: str, pid: int, size: float, limit: str) -> None:
    """Open each capture once, then let all clients ask the server of that process."""
    runs = [session["run"] for session in ask(address, "sessions")["sessions"]]
    opened = []
    for run in runs:
        begin = time.perf_counter()
        lanes = ask(address, "timeline/lanes", run=run)
        opened.append(time.perf_counter() - begin)
    keys = ",".join(lane["key"] for section in lanes["sections"] for lane in section["lanes"])
    walls: list[float] = []
    until = time.perf_counter() + SECONDS

    def client(number: int) -> None:
        choice = random.Random(number)
        while time.perf_counter() < until:
            time.sleep(choice.uniform(0, 2 * PAUSE_S))
            length = lanes["duration"] // choice.choice(PARTS)
            since = choice.randrange(lanes["duration"] - length + 1)
            where = {"run": runs[number % len(runs)], "lanes": keys, "begin": since, "end": since + length}
            begin = time.perf_counter()
            ask(address, "timeline/slices", **where, width=WIDTH)
            walls.append(time.perf_counter() - begin)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    status = Path(f"/proc/{pid}/status").read_text()
    now, peak = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[index]
    ranked, load = sorted(1e3 * wall for wall in walls), os.getloadavg()[0]
    print(
        f"{CLIENTS} clients, {len(runs)} captures of {size:.0f} MB, memory limit {limit}, load {load:.1f}:\n"
        f"  a capture opened in {statistics.median(opened):.2f} s; {len(walls)} views, {len(walls) / SECONDS:.0f} a"
        f" second: median {ranked[len(ranked) // 2]:.1f} ms, 95 % within {ranked[len(ranked) * 95 // 100]:.1f} ms,"
        f" longest {ranked[-1]:.0f} ms\n  the server's memory {now:.0f} MiB at the end, {peak:.0f} at most"
    )


def ask(address: str, route: str, **query: Any) -> Any:
    """An answer in JSON; a view is not."""
    url = f"{address}{route}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept-Encoding": "identity"})) as answer:
        content = answer.read()
    return json.loads(content) if answer.headers.get_content_type() == "application/json" else None


if __name__ == "__main__":
    main(*sys.argv[1:])
