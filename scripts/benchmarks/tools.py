"""Tools of a capture, ours and xprof's: each in a process of its own, then all in one process, and all of them again.

`tools.py FILE [alone]`; with `alone` just the Overview in a process of its own, once, for very large captures.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from measure import Cost, last_json, median, run, show

ROOT = Path(__file__).resolve().parents[2]
XPROF = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
ASK_XPROF = ROOT / "tests" / "parity" / "ask_xprof.py"
TIMELINE = "the timeline"
"""What its page asks for first; the tool's own answer is as long as the capture."""
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
TOOLS = ("overview_page", "input_pipeline_analyzer", "framework_op_stats", "pod_viewer")
"""Those of both that a capture without GPU has something for; the timeline has a benchmark of its own."""
ROUNDS = {"overview_page": 3}
"""Of whole processes; of the others one."""


def main(path: str, alone: bool) -> None:
    """Each round runs both, so that a busy machine slows both."""
    size = f"{Path(path).stat().st_size / 1e6:.0f} MB"
    if alone:
        show_processes("overview_page", path, size, 1)
        return
    run([sys.executable, __file__, "ours", path])
    for tool in TOOLS:
        show_processes(tool, path, size, ROUNDS.get(tool, 1))
    times_of = {
        "ours": last_json(run([sys.executable, __file__, "ours", path])[1]),
        "xprof": last_json(run([str(XPROF), __file__, "xprof", path], **QUIET)[1]),
    }
    for tool, again in ((tool, again) for again in (0, 1) for tool in TOOLS):
        when = "asked again" if again else "after those above it"
        show(
            f"{tool} of {size} in one process, {when}",
            {who: Cost(each[tool][again][0], each[tool][again][1], 0) for who, each in times_of.items()},
        )
    spent = {tool: user for tool, ((user, _), _) in times_of["ours"].items()}
    first, total = spent["overview_page"], sum(spent.values())
    print(f"all our tools and the timeline's first view in one process: {total / first:.2f} times the first alone")
    for tool, user in spent.items():
        print(f"  {tool:32}{user:8.3f} s of the processor {user / first:8.1%} of the first")


def show_processes(tool: str, path: str, size: str, rounds: int) -> None:
    """Processes that answer one tool."""
    costs: dict[str, list[Cost]] = {"ours": [], "xprof": []}
    for _ in range(rounds):
        ours = [sys.executable, "-m", "tb_profile_plugin", "tool", tool, path, "--no-cache"]
        costs["ours"].append(run(ours)[0])
        costs["xprof"].append(run([str(XPROF), str(ASK_XPROF), path, "--", tool], **QUIET)[0])
    show(f"{tool} of {size}, whole processes", {name: median(each) for name, each in costs.items()})


def twice(ask: Callable[[str], object], tools: Iterable[str]) -> dict[str, list[tuple[float, float]]]:
    """Processor and wall time of each tool, asked one after the other, and then all of them again."""
    found: dict[str, list[tuple[float, float]]] = {}
    names = list(tools)
    for tool in names * 2:
        cpu, wall = time.process_time(), time.perf_counter()
        ask(tool)
        found.setdefault(tool, []).append((time.process_time() - cpu, time.perf_counter() - wall))
    return found


def ours(path: str) -> dict[str, list[tuple[float, float]]]:
    """As a server answers that has nothing decoded; the Overview first."""
    from werkzeug.test import Client

    from tb_profile_plugin.serve import App
    from tb_profile_plugin.store import Logdir

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.xplane.pb").symlink_to(Path(path).resolve())
        client = Client(App(Logdir(folder), keep=False))
        run_name = client.get("/sessions").get_json()["sessions"][0]["run"]

        def get(route: str, **query: Any) -> None:
            query = {"run": run_name, **query}
            response = client.get(route, query_string=query, headers={"Accept-Encoding": "gzip"})
            assert response.status_code == 200, response.data

        def ask(tool: str) -> None:
            if tool != TIMELINE:
                get("/data", tag=tool)
                return
            found = client.get("/timeline/lanes", query_string={"run": run_name}).get_json()
            lanes = ",".join(lane["key"] for section in found["sections"] for lane in section["lanes"])
            get("/timeline/slices", lanes=lanes, begin=0, end=found["duration"], width=1600)
            get("/timeline/steps")

        return twice(ask, [*TOOLS, "tf_data_bottleneck_analysis", TIMELINE])


def xprof(path: str) -> dict[str, list[tuple[float, float]]]:
    """With a copy of the file that it may write caches beside."""
    from xprof.convert import raw_to_tool_data

    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, Path(folder, Path(path).name))
        options = {"host": Path(path).name.removesuffix(".xplane.pb"), "tqx": ""}
        return twice(lambda tool: raw_to_tool_data.xspace_to_tool_data([str(copy)], tool, options), TOOLS)


if __name__ == "__main__":
    if sys.argv[1] in ("ours", "xprof"):
        print(json.dumps({"ours": ours, "xprof": xprof}[sys.argv[1]](sys.argv[2])))
    else:
        main(sys.argv[1], sys.argv[2:] == ["alone"])
