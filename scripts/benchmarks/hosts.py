"""The Overview of sessions of 1, 8 and 64 hosts, whole processes: copies of one capture, about 5 MB of it at best."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from measure import run

ROOT = Path(__file__).resolve().parents[2]
XPROF = Path(os.environ.get("XPROF_PYTHON") or ROOT / ".venv-parity" / "bin" / "python")
ASK_XPROF = ROOT / "tests" / "parity" / "ask_xprof.py"
COUNTS = (1, 8, 64)


def main(path: str) -> None:
    """Print a row per number of hosts and candidate."""
    print(f"overview_page of copies of {Path(path).stat().st_size / 1e6:.1f} MB, whole processes")
    print(f"{'hosts':>5}  {'':6}{'user s':>10}{'wall s':>10}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        files: list[str] = []
        for count in COUNTS:
            while len(files) < count:
                files.append(shutil.copy(path, Path(folder, f"host-{len(files)}.xplane.pb")))
            candidates = {
                "ours": [sys.executable, "-m", "tb_profile_plugin.cli", "tool", "overview_page", folder, "--no-cache"]
            }
            if XPROF.exists():
                candidates["xprof"] = [str(XPROF), str(ASK_XPROF), *files, "--", "overview_page"]
            for name, command in candidates.items():
                cost, _ = run(command, TF_CPP_MIN_LOG_LEVEL="3")
                print(f"{count:5}  {name:6}{cost.user_s:10.2f}{cost.wall_s:10.2f}{cost.peak_mb:10.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
