"""The five tools of XLA's programs on one of 100,000 instructions: first answers of a server, and the next ones.

`xla.py FILE`; the page of the graph is measured, too: how long its worker takes for as many instructions as it shows.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from frames import FLAGS
from measure import median, run, served
from playwright.sync_api import sync_playwright

TOOLS = ("op_profile", "hlo_stats", "roofline_model", "memory_viewer", "graph_viewer")
LIMIT_S, LIMIT_MB, LIMIT_AGAIN_S, LIMIT_LAYOUT_MS = 3.0, 1000, 0.2, 1000


def main(path: str) -> None:
    """Print what each costs beside what it may."""
    size = Path(path).stat().st_size / 1e6
    cold, again, peak = json.loads(run([sys.executable, __file__, "answered", path])[1])
    print(f"a program of {size:.0f} MB: " + ", ".join(f"{tool} {spent:.2f} s" for tool, spent in cold.items()))
    total = sum(cold.values())
    print(
        f"all of them, nothing decoded: {total:.2f} s of the processor (at most {LIMIT_S}), {peak:.0f} MB ({LIMIT_MB})"
    )
    print(f"the slowest of them again: {again:.3f} s (at most {LIMIT_AGAIN_S})")
    start, kept = restarted(path)
    print(
        f"and by a new process of the command line: {kept:.2f} s of the processor, of which {start:.2f} s to start "
        f"(at most {LIMIT_AGAIN_S})"
    )
    count, spent = layout(path)
    print(f"{count} instructions laid out in {spent:.0f} ms by Chromium's worker (at most {LIMIT_LAYOUT_MS} for 150)")


def answered(path: str) -> tuple[dict[str, float], float, float]:
    """Processor time in s of each, the first with decoding, of the slowest when asked again, and the peak in MB."""
    import resource

    from werkzeug.test import Client

    from tb_profile_plugin.serve import App
    from tb_profile_plugin.store import Logdir

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.xplane.pb").symlink_to(Path(path).resolve())
        client = Client(App(Logdir(folder), keep=False))
        name = client.get("/sessions").get_json()["sessions"][0]["run"]

        def ask(tool: str) -> float:
            begin = time.process_time()
            query = {"run": name, "tag": tool, "part": "1"}
            response = client.get("/answer", query_string=query, headers={"Accept-Encoding": "gzip"})
            assert response.status_code == 200, response.data
            return time.process_time() - begin

        cold = {tool: ask(tool) for tool in TOOLS}
        again = max(ask(tool) for tool in TOOLS)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        return cold, again, peak


def restarted(path: str) -> tuple[float, float]:
    """User time in s of a process that only says its version, and of the slowest that finds its answer kept."""
    command = [sys.executable, "-m", "tb_profile_plugin"]
    with tempfile.TemporaryDirectory() as folder:

        def spent(*words: str) -> float:
            run([*command, *words], TB_PROFILE_CACHE_DIR=folder)
            return median([run([*command, *words], TB_PROFILE_CACHE_DIR=folder)[0] for _ in range(3)]).user_s

        return spent("--version"), max(spent("tool", tool, path) for tool in TOOLS)


DONE = "worker-done"
_WATCH = """
const Real = window.Worker;
window.Worker = class extends Real {
  constructor(...given) { super(...given); this.addEventListener("message", () => performance.mark("worker-done")); }
  postMessage(...given) { performance.mark("worker-asked"); super.postMessage(...given); }
};
"""


def layout(path: str) -> tuple[int, float]:
    """Instructions drawn, and milliseconds until the worker answered how, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.xplane.pb").symlink_to(Path(path).resolve())
        with served(folder) as (address, _):
            return drawn(address)


def drawn(address: str) -> tuple[int, float]:
    """The same for a server."""
    names = ["chromium", "chromium-browser", "google-chrome"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, names))), args=FLAGS)
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(_WATCH)
        with urlopen(f"{address}sessions") as sessions:
            name = quote(json.load(sessions)["sessions"][0]["run"])
        page.goto(f"{address}#v=1&run={name}&tool=graph_viewer&graph_width=9&open=all")
        page.locator(".op .box").first.wait_for()
        marks: list[dict[str, Any]] = page.evaluate("performance.getEntriesByType('mark').map(m => m.toJSON())")
        boxes = page.locator(".op .box, .opened").count()
        browser.close()
    asked, done = (max(mark["startTime"] for mark in marks if mark["name"] == name) for name in ("worker-asked", DONE))
    return boxes, float(done - asked)


if __name__ == "__main__":
    if sys.argv[1] == "answered":
        print(json.dumps(answered(sys.argv[2])))
    else:
        main(sys.argv[1])
