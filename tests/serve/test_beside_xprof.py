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

PARITY = Path(__file__).resolve().parents[2] / ".venv-parity"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that has everything of this one, and what only the one with the existing plugin has."""
    (beside,) = (PARITY / "lib").glob("python*/site-packages")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    lines = [f"import site; site.addsitedir({folder!r})\n" for folder in (sysconfig.get_path("purelib"), str(beside))]
    (packages / "both.pth").write_text("".join(lines))
    return venv / "bin" / "python"


@pytest.mark.skipif(not (PARITY / "ready").exists(), reason="`scripts/setup tests` installs the existing plugin")
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
