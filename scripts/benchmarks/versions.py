"""This tree against another version of it: user time and memory of whole processes that answer each tool.

`versions.py TREE FILE …`: TREE is a checkout of the other version, its kernels ready where it has any to build; both
run by turns in this environment, without any cache of results.
"""

import subprocess
import sys
from pathlib import Path

from measure import Cost, median, run, show

ROOT = Path(__file__).resolve().parents[2]
TOOLS = (
    "overview_page",
    "input_pipeline_analyzer",
    "framework_op_stats",
    "pod_viewer",
    "kernel_stats",
    "memory_profile",
)
ROUNDS = 3


def main(tree: Path, files: list[Path]) -> None:
    """Print the medians of each tool on each file; those that have nothing to show are left out."""
    for file in files:
        size = f"{file.stat().st_size / 1e6:.3g} MB"
        for tool in filter(lambda tool: answers(tool, file), TOOLS):
            costs: dict[str, list[Cost]] = {"ours": [], "before": []}
            # The first round is for what either compiles or the system reads for the first time.
            for turn in range(ROUNDS + 1):
                for name, where in (("ours", ROOT), ("before", tree)):
                    cost, _ = run(asked(tool, file), PYTHONPATH=str(where), PYTHONSAFEPATH="1")
                    if turn:
                        costs[name].append(cost)
            show(f"{tool} of {size}, whole processes", {name: median(each) for name, each in costs.items()})


def asked(tool: str, file: Path) -> list[str]:
    """The command that answers a tool."""
    return [sys.executable, "-m", "tb_profile_plugin", "tool", tool, str(file), "--no-cache"]


def answers(tool: str, file: Path) -> bool:
    """Whether the capture has something to show in it."""
    return not subprocess.run(asked(tool, file), capture_output=True, check=False).returncode


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
