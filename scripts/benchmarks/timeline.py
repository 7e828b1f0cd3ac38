"""The timeline of a capture, ours and xprof's: until the first view of all of it, and each view after that.

`timeline.py FILE [LARGER…]` prints a table; xprof's interpreter comes from XPROF_PYTHON or .venv-parity. Of larger
captures, for which xprof has no memory, only ours is measured.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import Cost, last_json, median, run, show

ROOT = Path(__file__).resolve().parents[2]
XPROF = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
ROUNDS = 3
WIDTH = 1600
PARTS = (1, 3, 10, 100, 1000)
"""Views of the whole and of these fractions, from a third of the capture on."""


def main(path: str, *larger: str) -> None:
    """Print the medians; each round runs both, so that a busy machine slows both."""
    for other in larger:
        costs_alone = [run([sys.executable, __file__, "ours", other])[0] for _ in range(ROUNDS)]
        show(_first_view(other), {"ours": median(costs_alone)})
    commands = {
        "ours": [sys.executable, __file__, "ours", path],
        "xprof": [str(XPROF), __file__, "xprof", path],
    }
    run(commands["ours"])
    costs: dict[str, list[Any]] = {name: [] for name in commands}
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""} if name == "xprof" else {}
            cost, output = run(command, **environment)
            costs[name].append(cost)
            told[name].append(last_json(output))
    size = Path(path).stat().st_size / 1e6
    show(_first_view(path), {name: median(each) for name, each in costs.items()})
    for index, part in enumerate(PARTS):
        views = {}
        for name, answers in told.items():
            cpu, wall, _ = ([answer["views"][index][i] for answer in answers] for i in range(3))
            views[name] = Cost(_middle(cpu) / 1e3, _middle(wall) / 1e3, 0)
        show(f"timeline of {size:.0f} MB, a view of 1/{part} at 1600 px, warm", views)
    for name, answers in told.items():
        print(f"\n{name}: CPU seconds until the first full view")
        for key in answers[0]["first"]:
            print(f"  {key:24}{_middle([answer['first'][key] for answer in answers]):8.3f}")
        print("  later views at 1600 px: share of the capture, CPU ms, wall ms, kB on the wire")
        for index, part in enumerate(PARTS):
            rows = [answer["views"][index] for answer in answers]
            print(f"  1/{part:<6}" + "".join(f"{_middle([row[i] for row in rows]):10.1f}" for i in range(3)))


def _first_view(path: str) -> str:
    kind = " of JSON" if path.endswith(".json") else ""
    size = Path(path).stat().st_size / 1e6
    return f"timeline of {size:.0f} MB{kind}, until the first full view and five later ones, whole processes"


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU ms, wall ms and the result."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = call()
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall), result


def ours(path: str) -> dict[str, Any]:
    """Our server in this process, asked as the page asks it."""
    from werkzeug.test import Client

    from tb_profile_plugin.serve import App
    from tb_profile_plugin.store import Logdir

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, Path(path).name).symlink_to(Path(path).resolve())
        app = App(Logdir(folder))
        client = Client(app)
        run_name = client.get("/sessions").get_json()["sessions"][0]["run"]

        def ask(route: str, **query: Any) -> Any:
            headers = {"Accept-Encoding": "gzip"}
            return client.get(f"/timeline/{route}", query_string={"run": run_name, **query}, headers=headers)

        decode, _, _ = timed(lambda: app._workspace.session(run_name).select())
        arrange, _, answer = timed(lambda: ask("lanes"))
        lanes = json.loads(client.get("/timeline/lanes", query_string={"run": run_name}).data)
        keys = ",".join(lane["key"] for section in lanes["sections"] for lane in section["lanes"])
        assert answer.status_code == 200

        def view(part: int) -> Any:
            begin = lanes["duration"] // 3 if part > 1 else 0
            return ask("slices", lanes=keys, begin=begin, end=begin + lanes["duration"] // part, width=WIDTH)

        first, _, _ = timed(lambda: view(1))
        views = []
        for part in PARTS:
            cpu, wall, response = timed(partial(view, part))
            views.append((cpu, wall, len(response.data) / 1e3))
    seconds = {"decode": decode / 1e3, "arrange": arrange / 1e3, "view": first / 1e3}
    return {"first": {**seconds, "all, by decode": sum(seconds.values()) / seconds["decode"]}, "views": views}


def xprof(path: str) -> dict[str, Any]:
    """xprof's trace_viewer@ at the resolution that its page asks for; it caches beside a copy of the file."""
    import gzip

    from xprof.convert import raw_to_tool_data

    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, Path(folder, Path(path).name))

        def ask(begin: float, end: float) -> bytes:
            options = {"resolution": "8000", "start_time_ms": str(begin), "end_time_ms": str(end)}
            request = {"host": Path(path).name.removesuffix(".xplane.pb"), "tqx": "", "trace_viewer_options": options}
            data, _ = raw_to_tool_data.xspace_to_tool_data([str(copy)], "trace_viewer@", request)
            return data.encode() if isinstance(data, str) else data

        first, _, answer = timed(lambda: ask(0, 0))
        low, high = json.loads(answer)["fullTimespan"]
        views = []
        for part in PARTS:
            begin = (high - low) / 3 if part > 1 else 0
            cpu, wall, data = timed(partial(ask, begin, begin + (high - low) / part))
            views.append((cpu, wall, len(gzip.compress(data, 1)) / 1e3))
    return {"first": {"all": first / 1e3}, "views": views}


if __name__ == "__main__":
    if sys.argv[1] in ("ours", "xprof"):
        print(json.dumps({"ours": ours, "xprof": xprof}[sys.argv[1]](sys.argv[2])))
    else:
        main(*sys.argv[1:])
