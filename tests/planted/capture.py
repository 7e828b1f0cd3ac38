"""Run planted programs, or all, and capture each with its cause and without: `scripts/planted OUT [NAME …]`.

Those of a GPU are run by name, or all of them by `GPU`, with an interpreter that TB_PROFILE_FRAMEWORKS names.

OUT gets the logdirs NAME/with and NAME/without, each with a measured.json, and expected.json. All of them take a minute
and a half on two cores.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from planted.measured import expected
from planted.table import GPU, PROGRAMS

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"}


def capture(python: str, out: Path, *names: str) -> Path:
    """Capture these programs, or all, into this folder; those of one file in one process."""
    files: dict[str, list[str]] = {}
    for name in names or PROGRAMS:
        files.setdefault((PROGRAMS | GPU)[name].file, []).append(name)
        shutil.rmtree(out / name, ignore_errors=True)
    for file, wanted in files.items():
        run(python, out, file, wanted)
    return out


def run(python: str, out: Path, file: str, names: Sequence[str], without_first: bool = False) -> None:
    """Capture programs of one file in one process."""
    command = [python, str(HERE / "programs" / f"{file}.py"), str(out), *names]
    environment = ENVIRONMENT | {"PLANTED_TURNED": "1" if without_first else ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{file} failed:\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    python, out, *names = sys.argv[1:]
    names = list(GPU) if names == ["GPU"] else names
    capture(python, Path(out).resolve(), *names)
    Path(out, "expected.json").write_text(json.dumps(expected(Path(out)), indent=1) + "\n")
