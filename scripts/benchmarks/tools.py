"""Whole processes that answer the Overview of a capture, ours and xprof's; then every tool in one process of ours."""

import json
import os
import sys
import time
from pathlib import Path

from measure import last_json, median, run, show

ROOT = Path(__file__).resolve().parents[2]
XPROF = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
ASK_XPROF = ROOT / "tests" / "parity" / "ask_xprof.py"
ROUNDS = 3


def main(path: str) -> None:
    """Print the medians; each round runs both, so that a busy machine slows both."""
    ours = [sys.executable, "-m", "tb_profile_plugin.cli", "tool", "overview_page", path, "--no-cache"]
    theirs = [str(XPROF), str(ASK_XPROF), path, "--", "overview_page"]
    run(ours)
    costs = {name: [] for name in ("ours", "xprof")}
    for _ in range(ROUNDS):
        costs["ours"].append(run(ours)[0])
        costs["xprof"].append(run(theirs, TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH="")[0])
    print(f"overview_page of {Path(path).stat().st_size / 1e6:.1f} MB, whole processes, medians of {ROUNDS} runs")
    show({name: median(each) for name, each in costs.items()})
    _, output = run([sys.executable, __file__, "every tool", path])
    times = last_json(output)
    first = times["overview_page"]
    print("\nin one process, after the capture is opened:")
    for name, seconds in times.items():
        print(f"{name:32}{seconds:8.3f} s   {seconds / first:6.1%} of the first")


def every_tool(path: str) -> dict[str, float]:
    """Seconds of each tool, the Overview first, as a server that has nothing decoded answers them."""
    import tb_profile_plugin
    from tb_profile_plugin import xspace
    from tb_profile_plugin.tools import find

    xspace.warm()
    session = tb_profile_plugin.open(path)
    times = {}
    for name, tool in find().items():
        begin = time.perf_counter()
        # What is streamed is as long as the capture; its page asks for excerpts instead.
        if name == "overview_page" or not (tool.streamed or tool.unavailable(session)):
            session.tool(name)
            times[name] = time.perf_counter() - begin
    return times


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print(json.dumps(every_tool(sys.argv[2])))
