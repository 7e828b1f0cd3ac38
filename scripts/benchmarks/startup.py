"""What TensorBoard's start pays for the plugin, and the command line before it does anything; what the pages weigh.

And the Overview of a small capture from the command line: the first time on a machine, and later.
"""

import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Cost, median, run, show
from tools import ASK_XPROF, QUIET, ROOT, XPROF

from tb_profile_plugin.runtime.jit import WAYS

ROUNDS = 5
SMALL = ROOT / "tests/traces/custom_loop/plugins/profile/run/host.xplane.pb"
PROGRAMS = {
    "python": "",
    "TensorBoard's plugin interface": "import tensorboard.plugins.base_plugin",
    "the same with our plugin": "import tb_profile_plugin.plugin",
    "our plugin, made and asked": (
        "from types import SimpleNamespace as N; from tb_profile_plugin.plugin import Loader; import tempfile; "
        "Loader().load(N(logdir=tempfile.mkdtemp(), flags=None)).frontend_metadata()"
    ),
    "the command line": "import tb_profile_plugin.cli.main",
    "decoder and tools": "from tb_profile_plugin import tools; tools.all_tools()",
}


TENSORBOARD = {
    "with the plugin": "from tensorboard import main; main.run_main()",
    "without": "from tensorboard import default, main; default.get_dynamic_plugins = list; main.run_main()",
}
"""Ours is the only one here that TensorBoard does not bring itself."""
STATIC = {
    "ours": Path(__file__).resolve().parents[2] / "tb_profile_plugin" / "static",
    "xprof": Path(__file__).resolve().parents[2] / ".venv-parity/lib",
}


def main() -> None:
    """Print medians, and what each import takes beyond the interpreter itself."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    starts: dict[str, list[Cost]] = {name: [] for name in TENSORBOARD}
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            begin = time.perf_counter()
            run([sys.executable, "-c", program])
            times[name].append(time.perf_counter() - begin)
        for name, program in TENSORBOARD.items():
            starts[name].append(until_it_listens(program))
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, seconds in medians.items():
        print(f"{name:32}{seconds:8.3f} s{seconds - medians['python']:+10.3f} s")
    show("start of tensorboard, until it listens", {name: median(each) for name, each in starts.items()})
    first_answers()
    for name, folder in STATIC.items():
        weigh(name, sorted(folder.rglob("*" if name == "ours" else "site-packages/xprof/static/**/*")))


def until_it_listens(program: str) -> Cost:
    """What a server costs until it says where it listens."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        command = [sys.executable, "-c", program, "--logdir", folder, "--port", "0"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert server.stderr
        next(line for line in server.stderr if "http://" in line)
        wall = time.perf_counter() - begin
        server.terminate()
        _, _, usage = os.wait4(server.pid, 0)
        server.returncode = 0
    return Cost(usage.ru_utime, wall, usage.ru_maxrss * 1024 / 1e6)


def first_answers() -> None:
    """Print what a small capture's Overview costs in a process of its own, for each way that kernels run and xprof."""
    ours = [sys.executable, "-m", "tb_profile_plugin", "tool", "overview_page", str(SMALL), "--no-cache"]
    xprof = [str(XPROF), str(ASK_XPROF), str(SMALL), "--", "overview_page"]
    first: dict[str, Cost] = {}
    later: dict[str, list[Cost]] = {name: [] for name in (*WAYS, "xprof")}
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            first[way] = run(ours, TB_PROFILE_KERNELS=way, NUMBA_CACHE_DIR=folder)[0]
        for _ in range(ROUNDS):
            for way in WAYS:
                later[way].append(run(ours, TB_PROFILE_KERNELS=way, NUMBA_CACHE_DIR=folder)[0])
            later["xprof"].append(run(xprof, **QUIET)[0])
    size = f"{SMALL.stat().st_size / 1e3:.0f} kB"
    show(f"overview_page of {size}, the first process on a machine", first)
    show(f"overview_page of {size}, later processes", {name: median(costs) for name, costs in later.items()})


def weigh(name: str, files: list[Path]) -> None:
    """Print what the scripts, styles and pages among the files weigh, as they are and compressed."""
    served = [path for path in files if path.suffix in (".js", ".css", ".html")]
    plain = sum(path.stat().st_size for path in served)
    packed = sum(len(gzip.compress(path.read_bytes(), 6)) for path in served)
    print(f"pages of {name}: {len(served)} files, {plain / 1e3:,.0f} kB, compressed {packed / 1e3:,.0f} kB")


if __name__ == "__main__":
    main()
