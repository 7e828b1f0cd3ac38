"""The Overview of sessions of 1, 16, 64 and 256 hosts, whole processes: copies of one capture, 5 MB of it at best.

Each copy's clock is shifted by some milliseconds, so that no two hosts are alike.
"""

import os
import sys
import tempfile
from pathlib import Path

from measure import run, show

from tb_profile_plugin.runtime.protos import message

ROOT = Path(__file__).resolve().parents[2]
XPROF = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
ASK_XPROF = ROOT / "tests" / "parity" / "ask_xprof.py"
COUNTS = (1, 16, 64, 256)
SHIFT_NS = 1_700_000


def main(path: str) -> None:
    """Each number of hosts by itself, ours and then xprof's where it is there."""
    size = Path(path).stat().st_size / 1e6
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            files = copies(Path(path), Path(folder), count)
            commands = {"ours": ours(folder)}
            if XPROF.exists():
                commands["xprof"] = [str(XPROF), str(ASK_XPROF), *files, "--", "overview_page"]
            costs = {name: run(command, TF_CPP_MIN_LOG_LEVEL="3")[0] for name, command in commands.items()}
            show(f"overview_page of {count} hosts of {size:.1f} MB, whole processes", costs)


def ours(folder: str, *more: str) -> list[str]:
    """The command that answers the Overview of the captures in a folder."""
    return [sys.executable, "-m", "tb_profile_plugin", "tool", "overview_page", folder, "--no-cache", *more]


def copies(path: Path, folder: Path, count: int) -> list[str]:
    """The files of so many hosts, made where they are missing."""
    space = message("tensorflow.profiler.XSpace")()
    space.ParseFromString(path.read_bytes())
    files = [folder / f"host-{number:04}.xplane.pb" for number in range(count)]
    for number, file in enumerate(files):
        if not file.exists():
            file.write_bytes(shifted(space, number * SHIFT_NS))
    return [str(file) for file in files]


def shifted(space: object, by_ns: int) -> bytes:
    """The capture as a host records it whose clock is ahead."""
    copy = message("tensorflow.profiler.XSpace")()
    copy.CopyFrom(space)
    for plane in copy.planes:
        for line in plane.lines:
            line.timestamp_ns += by_ns
    return copy.SerializeToString()


if __name__ == "__main__":
    main(sys.argv[1])
