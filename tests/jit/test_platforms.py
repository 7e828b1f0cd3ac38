"""The wheels of all platforms: made alike twice, well formed, and their libraries answer as this machine's does."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tb_profile_plugin.runtime import jit
from tb_profile_plugin.runtime.jit.library import SEAL, seal

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CAPTURES = [
    ROOT / "tests/traces/tfdata/slow_map.xplane.pb",
    ROOT / "tests/traces/tfdata/two_iterators.xplane.pb",
    ROOT / "tests/traces/torch_workers/rank0.1795320720074995050.pt.trace.json.gz",
]
INFO = "tb_profile_plugin-0.dist-info/"
METADATA = """Name: tb-profile-plugin
Requires-Dist: numba>=0.60
Requires-Dist: numpy>=1
Requires-Dist: numba==1; extra == 'dev'
"""
PLAIN = {
    "tb_profile_plugin/__init__.py": "",
    f"{INFO}METADATA": METADATA,
    f"{INFO}WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}RECORD": "",
}
PLATFORMS = {
    "macosx_11_0_arm64": "kernels.dylib",
    "macosx_11_0_x86_64": "kernels.dylib",
    "manylinux_2_17_aarch64.musllinux_1_1_aarch64": "kernels.so",
    "manylinux_2_17_x86_64.musllinux_1_1_x86_64": "kernels.so",
    "win_amd64": "kernels.dll",
    "win_arm64": "kernels.dll",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(jit.way != "native", reason="there is no library of kernels to compare with"),
]


def wheels(folder: Path, seed: str) -> dict[str, Path]:
    """By tag, made in the folder by a process of its own."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "tb_profile_plugin-0-py3-none-any.whl", "w") as plain:
        for name, content in PLAIN.items():
            plain.writestr(zipfile.ZipInfo(name), content)
    program = [sys.executable, str(ROOT / "scripts/kernels/build.py"), "wheels", str(folder)]
    subprocess.run(program, env={**os.environ, "PYTHONHASHSEED": seed}, cwd=folder, check=True)
    return {path.stem.split("-none-")[1]: path for path in folder.glob("*.whl") if "-any" not in path.name}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return wheels(tmp_path_factory.mktemp("wheels") / "first", "1")


def test_the_same_sources_make_the_same_bytes(made: dict[str, Path], tmp_path: Path) -> None:
    again = wheels(tmp_path / "second", "2")
    assert {tag: path.read_bytes() for tag, path in again.items()} == {
        tag: path.read_bytes() for tag, path in made.items()
    }


def test_each_platform_has_its_wheel(made: dict[str, Path]) -> None:
    assert made.keys() == PLATFORMS.keys()
    for tag, path in made.items():
        wheel = zipfile.ZipFile(path)
        assert f"tb_profile_plugin/compiled/{PLATFORMS[tag]}" in wheel.namelist()
        sealed = wheel.read(f"tb_profile_plugin/compiled/{PLATFORMS[tag]}{SEAL}").decode()
        assert sealed == seal(wheel.read(f"tb_profile_plugin/compiled/{PLATFORMS[tag]}"))
        assert str(ROOT).encode() not in wheel.read(f"tb_profile_plugin/compiled/{PLATFORMS[tag]}")
        metadata = wheel.read(INFO + "METADATA").decode()
        assert "numba>=" not in metadata and "numpy>=1" in metadata and "extra == 'dev'" in metadata
        about = wheel.read(INFO + "WHEEL").decode().splitlines()
        assert about[1:] == ["Root-Is-Purelib: false", *(f"Tag: py3-none-{each}" for each in tag.split("."))]
        record = dict(line.split(",", 1) for line in wheel.read(INFO + "RECORD").decode().splitlines())
        assert record.keys() == set(wheel.namelist())
        for name in wheel.namelist():
            content = wheel.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert record[name] in (f"sha256={digest},{len(content)}", ",")


def answers(program: str, *arguments: str | Path) -> object:
    """What a program in this folder says of the captures."""
    command = [sys.executable, str(HERE / program), *map(str, (*arguments, *CAPTURES))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TB_PROFILE_KERNELS": "native"}
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("tag", PLATFORMS)
def test_each_library_answers_as_this_machines_own(made: dict[str, Path], tag: str, tmp_path: Path) -> None:
    library = Path(zipfile.ZipFile(made[tag]).extract(f"tb_profile_plugin/compiled/{PLATFORMS[tag]}", tmp_path))
    assert {"way": "native", "answers": answers("emulated.py", library)} == answers("answers.py")
