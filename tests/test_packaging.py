"""A clean checkout builds a source archive, that builds a pure wheel, and the wheel alone works."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Standard output of a command that must succeed."""
    answer = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source archive of what git would hold."""
    work = tmp_path_factory.mktemp("build")
    clean = work / "clean"
    for name in run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (clean / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clean / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", work / "dist", cwd=clean)
    (found,) = (work / "dist").glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_is_pure_and_holds_everything(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in [
        "tb_profile_plugin/static/index.html",
        "tb_profile_plugin/static/index.js",
        "tb_profile_plugin/protos.binpb",
        "tb_profile_plugin/docs/http.md",
    ]:
        assert needed in names
    folders = {name.split("/")[0] for name in names}
    assert len(folders) == 2 and "tb_profile_plugin" in folders
    assert [name for name in names if "node_modules" in name or "__pycache__" in name or "compiled" in name] == []
    # One more file of 0.1 MB, and the wheels for platforms are this.
    assert wheel.stat().st_size < 2_800_000


@pytest.mark.slow
def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    run(*pip, "--target", installed, wheel, cwd=tmp_path)
    code = (
        "import tb_profile_plugin; from importlib.metadata import entry_points;"
        "from tb_profile_plugin.protos import message; message('tensorflow.profiler.XSpace')();"
        "entries = [each for each in entry_points(group='tensorboard_plugins') if 'tb_profile' in each.value];"
        "print(tb_profile_plugin.__file__, entries[0].load().__name__)"
    )
    answer = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed)).split()
    assert answer == [str(installed / "tb_profile_plugin" / "__init__.py"), "Loader"]


def test_without_npm_the_build_stops_with_one_sentence() -> None:
    answer = subprocess.run(
        [sys.executable, "hatch_build.py", "frontend"], cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True
    )
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1 and "needs npm" in answer.stderr
