"""TensorBoard starts with the older profile plugin installed beside ours, and shows both."""

import json
import re
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that has everything of this one, and xprof."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    (packages,) = venv.glob("[Ll]ib/**/site-packages")
    parent = sysconfig.get_path("purelib")
    (packages / "parent.pth").write_text(f"import site; site.addsitedir({parent!r})\n")
    (python,) = [path for path in [venv / "bin/python", venv / "Scripts/python.exe"] if path.exists()]
    install = subprocess.run([python, "-m", "pip", "install", "--quiet", "xprof"], capture_output=True, text=True)
    if install.returncode != 0:
        pytest.skip(f"xprof cannot be installed here: {install.stderr.strip().splitlines()[-1:]}")
    return python


@pytest.mark.slow
def test_both_are_there(python: Path, tmp_path: Path, put: Callable[[str], Path]) -> None:
    put("plugins/profile/r1/vm.xplane.pb")
    command = [python, "-m", "tensorboard.main", "--logdir", tmp_path / "plugins", "--port", "0", "--load_fast=false"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    try:
        assert process.stdout
        for line in process.stdout:
            said.append(line)
            address = re.search(r"http://\S+/", line)
            if address:
                break
        else:
            pytest.fail("TensorBoard did not start: " + "".join(said))
        with urllib.request.urlopen(f"{address[0]}data/plugins_listing", timeout=60) as answer:
            listing = json.load(answer)
        with urllib.request.urlopen(f"{address[0]}data/plugin/tb_profile/runs", timeout=60) as answer:
            assert json.load(answer) == ["r1"]
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert {"profile", "tb_profile"} <= set(listing)
    assert listing["tb_profile"]["enabled"] is True
    assert sum("brings a plugin named" in line for line in said) == 1
