"""Imports: what TensorBoard's start pays for the plugin, and what the command line pays before it does anything."""

import statistics
import sys
import time

from measure import run

ROUNDS = 5
PROGRAMS = {
    "python": "",
    "TensorBoard's plugin interface": "import tensorboard.plugins.base_plugin",
    "the same with our plugin": "import tb_profile_plugin.plugin",
    "our plugin, made and asked": (
        "from types import SimpleNamespace as N; from tb_profile_plugin.plugin import Loader; import tempfile; "
        "Loader().load(N(logdir=tempfile.mkdtemp(), flags=None)).frontend_metadata()"
    ),
    "the command line": "import tb_profile_plugin.cli",
    "decoder and tools": "from tb_profile_plugin import tools; tools.find()",
}


def main() -> None:
    """Print the median wall time of each, and what it takes beyond the interpreter itself."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            begin = time.perf_counter()
            run([sys.executable, "-c", program])
            times[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, seconds in medians.items():
        print(f"{name:32}{seconds:8.3f} s{seconds - medians['python']:+10.3f} s")


if __name__ == "__main__":
    main()
