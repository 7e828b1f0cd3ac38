"""TensorBoard starts with the older profile plugin installed beside ours, and shows both."""

import json
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from tensorboards import started


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


def test_both_are_there(python: Path, tmp_path: Path, put: Callable[[str], Path]) -> None:
    put("plugins/profile/r1/vm.xplane.pb")
    with started(python, tmp_path / "plugins") as (address, said):
        with urllib.request.urlopen(f"{address}data/plugins_listing", timeout=60) as answer:
            listing = json.load(answer)
        with urllib.request.urlopen(f"{address}data/plugin/tb_profile/runs", timeout=60) as answer:
            assert json.load(answer) == ["r1"]
    assert {"profile", "tb_profile"} <= set(listing)
    assert listing["tb_profile"]["enabled"] is True
    assert sum("has a plugin named" in line for line in said) == 1
