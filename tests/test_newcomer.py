"""README's first command as a newcomer runs it: a fresh clone, an empty home, none of the developers' packages."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from checkout import ROOT, checkout, run

from tb_profile_plugin.runtime.jit.library import PATH

PATIENCE_S = 1800
FOREIGN = ("PYTHON", "VIRTUAL_ENV", "XDG_", "TB_PROFILE_", "NUMBA_")
"""Begins of variables that a newcomer has not set."""

pytestmark = [
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler to link kernels with"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a home that holds nothing; what was downloaded before is not downloaded again."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    downloads = {
        "PIP_CACHE_DIR": run(sys.executable, "-m", "pip", "cache", "dir", cwd=ROOT).split()[-1],
        "npm_config_cache": run("npm", "config", "get", "cache", cwd=ROOT).split()[-1],
    }
    return kept | downloads | {"HOME": str(tmp_path_factory.mktemp("home")), "PYTHON": sys.executable}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages and kernels that scripts/setup made here of the same sources, in the same way, are not made again."""
    folder = checkout(tmp_path_factory.mktemp("newcomer") / "clone")
    for made in ("static", "compiled"):
        shutil.copytree(ROOT / "tb_profile_plugin" / made, folder / "tb_profile_plugin" / made)
    return folder


@contextmanager
def started(command: list[str], folder: Path, environment: dict[str, str], out: Path) -> Iterator[str]:
    """The address that a server's output names, once it does; the server is ended with the block."""
    with out.open("wb") as file:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://\S+:\d+", out.read_text(encoding="utf-8"))):
            assert server.poll() is None and time.monotonic() < end, out.read_text(encoding="utf-8")
            time.sleep(0.2)
        yield found[0]
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def ask(address: str) -> Any:
    with urlopen(address, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


def test_the_demo_opens_its_pages(clone: Path, environment: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with started(["scripts/demo", "--port", "0"], clone, environment, out) as address:
        assert ask(f"{address}/data/plugins_listing")["profile"]["tab_name"] == "Profile"
        base = f"{address}/data/plugin/profile"
        with urlopen(f"{base}/index.js", timeout=PATIENCE_S) as page:
            assert b"render" in page.read()
        session = next(each for each in ask(f"{base}/sessions")["sessions"] if "starved_input" in each["run"])
        answer = ask(f"{base}/answer?run={session['run']}&tag=overview_page")
        assert answer["headline"]["text"].startswith("Waiting for input")
    said = out.read_text(encoding="utf-8")
    assert "Traceback" not in said and "first used" not in said and "WARNING: Kernels" not in said
    assert (clone / PATH.relative_to(ROOT)).is_file()


def test_the_command_line_answers_with_compiled_kernels(clone: Path, environment: dict[str, str]) -> None:
    """In what the demo has set up; what README shows is what it says."""
    python = str(clone / ".venv/bin/python")
    found = subprocess.run([python, "-c", "import pytest"], env=environment, capture_output=True, text=True)
    assert "ModuleNotFoundError" in found.stderr, "developers' packages hide what is missing"
    code = "from tb_profile_plugin.runtime import jit; print(jit.way)"
    why = [str(clone / ".venv/bin/tb-profile"), "why", "tests/traces/starved_input"]
    for command in ([python, "-c", code], why):
        found = subprocess.run(command, env=environment, cwd=clone, capture_output=True, text=True, check=True)
        assert found.stderr == ""
        first = found.stdout.splitlines()[0]
        assert first == "native" or f"\n{first}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
