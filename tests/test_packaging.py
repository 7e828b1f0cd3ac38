"""A clean checkout builds a source archive, that builds the wheel of this machine, and the wheel alone works."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from checkout import ROOT, checkout, run

from tb_profile_plugin import __version__
from tb_profile_plugin.runtime import jit

INFO = f"tb_profile_plugin-{__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source archive, with pages and kernels that lie here, which tests/test_newcomer.py makes anew."""
    work = tmp_path_factory.mktemp("build")
    run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", work, cwd=checkout(work / "clean"))
    with tarfile.open(work / f"tb_profile_plugin-{__version__}.tar.gz") as archive:
        archive.extractall(work, filter="data")
    source = work / f"tb_profile_plugin-{__version__}"
    for name in ("static", "compiled"):
        assert not (source / "tb_profile_plugin" / name).exists()
        if (ROOT / "tb_profile_plugin" / name).is_dir():
            shutil.copytree(ROOT / "tb_profile_plugin" / name, source / "tb_profile_plugin" / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", work, cwd=source)
    (found,) = work.glob("*.whl")
    return found


@pytest.mark.skipif(jit.way != "native", reason="there is no library of kernels")
def test_the_wheel_is_that_of_this_machine_and_holds_everything(wheel: Path) -> None:
    assert re.fullmatch(rf"tb_profile_plugin-{__version__}-py3-none-(?!any)\w+\.whl", wheel.name)
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    for needed in [
        "tb_profile_plugin/static/index.html",
        "tb_profile_plugin/static/index.js",
        "tb_profile_plugin/protos.binpb",
        "tb_profile_plugin/docs/changelog.md",
        "tb_profile_plugin/docs/http.md",
        f"tb_profile_plugin/compiled/{jit.library.PATH.name}",
    ]:
        assert needed in names
    assert {name.split("/")[0] for name in names} == {"tb_profile_plugin", INFO}
    assert [name for name in names if "node_modules" in name or "__pycache__" in name] == []
    metadata = archive.read(f"{INFO}/METADATA").decode()
    assert "Requires-Dist: numba>" not in metadata and "Requires-Dist: numpy>" in metadata
    assert "Root-Is-Purelib: false" in archive.read(f"{INFO}/WHEEL").decode()


def test_the_wheel_hands_on_the_notices_of_what_is_bundled(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    notices = archive.read(f"{INFO}/licenses/tb_profile_plugin/static/notices.txt").decode()
    bundled = json.loads((ROOT / "frontend/package.json").read_text(encoding="utf-8"))["dependencies"]
    assert [name for name, version in bundled.items() if f"\n{name} {version} (" not in notices] == []
    assert "License-File: tb_profile_plugin/static/notices.txt" in archive.read(f"{INFO}/METADATA").decode()


def test_the_readme_knows_how_large_a_wheel_is(wheel: Path) -> None:
    (megabytes,) = re.findall(r"a wheel of about ([\d.]+) MB", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert abs(wheel.stat().st_size / 1e6 - float(megabytes)) < 0.25


def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    run(*pip, "--target", installed, wheel, cwd=tmp_path)
    code = (
        "import sys; sys.modules['numba'] = None;"
        "import tb_profile_plugin; from importlib.metadata import entry_points; "
        "from tb_profile_plugin.runtime import jit;"
        "from tb_profile_plugin.runtime.protos import message; message('tensorflow.profiler.XSpace')();"
        "entries = [each for each in entry_points(group='tensorboard_plugins') if 'tb_profile' in each.value];"
        "print(tb_profile_plugin.__file__, entries[0].load().__name__, jit.way)"
    )
    answer = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed)).split()
    assert answer[:2] == [str(installed / "tb_profile_plugin" / "__init__.py"), "Loader"]
    assert answer[2:] == ["native"] or jit.way != "native"


@pytest.mark.parametrize("asked", [True, False])
def test_without_kernels_it_is_the_wheel_for_any_machine(asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    import hatch_build

    for name in ("build_protos", "build_frontend"):
        monkeypatch.setattr(hatch_build, name, lambda: None)
    failed = SimpleNamespace(wait=lambda: 1)
    monkeypatch.setattr(hatch_build, "start_kernels", lambda: failed)
    monkeypatch.setattr(hatch_build, "FOR_ANY_MACHINE", asked)
    said: list[str] = []
    developers = {"dev": ["numba==1", "ziglang==2", "numba-stubs"]}
    core = SimpleNamespace(dependencies=["numba>=0"], license_files=[], optional_dependencies=developers)
    around: Any = SimpleNamespace(core=core, display_warning=said.append)
    hook = hatch_build.BuildHook(str(ROOT), {}, around, around, "", "wheel", around)
    build_data: dict[str, Any] = {"artifacts": []}
    hook.initialize("standard", build_data)
    assert build_data == {"artifacts": []} and core.dependencies == ["numba>=0"]
    if asked:
        assert hook.dependencies() == said == []
    else:
        assert hook.dependencies()[0] == "numba==1" and "numba compiles them when they are first used" in said[0]
        monkeypatch.setenv("CC", "no-such-compiler")
        assert hook.dependencies() == ["numba==1", "ziglang==2"]


def test_without_npm_the_build_stops_with_one_sentence() -> None:
    answer = subprocess.run(
        [sys.executable, "hatch_build.py", "frontend"], cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True
    )
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1 and "needs npm" in answer.stderr


def test_zig_links_for_this_machine_where_there_is_no_c_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts/kernels"))
    import link

    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(link, "link", lambda code, platform: code + platform.tag.encode())
    assert link.link_here(b"object ", "aarch64-unknown-linux-gnu").startswith(b"object manylinux_2_17_aarch64")
    assert link.link_here(b"object ", "arm64-apple-darwin23.1.0") == b"object macosx_11_0_arm64"
    with pytest.raises(SystemExit, match="riscv64"):
        link.link_here(b"object", "riscv64-unknown-linux-gnu")
