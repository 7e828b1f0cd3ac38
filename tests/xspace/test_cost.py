"""What hostile captures cost: no more than is allowed, and nothing once nobody waits."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tb_profile_plugin
from tb_profile_plugin.cli import main
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.runtime import cancellation, memory, settings
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import read, resolve, safe_read

DECODE = import_module("tb_profile_plugin.formats.xspace.reader")
CPU = field(2, b"/host:CPU")
EVENT = field(4, b"")
LINE = field(3, EVENT)


def written(tmp_path: Path, data: bytes, packed: bool = False) -> Path:
    path = tmp_path / f"vm.xplane.pb{'.gz' * packed}"
    path.write_bytes(gzip.compress(data, 9, mtime=0) if packed else data)
    return path


def codes(data: bytes) -> list[str]:
    return [problem.code for problem in xspace.decode(data).problems]


def problem_of(path: Path) -> Any:
    with pytest.raises(ProblemError) as caught:
        tb_profile_plugin.open(path).select()
    return caught.value.problem


PEAK = """
import resource, sys, tb_profile_plugin
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.runtime.problems import ProblemError
# Whatever numba compiles, it compiles before.
xspace.decode(bytes.fromhex("0a1e12017022070801120312016e2a07080112031201731a072205080110021800"))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
try:
    host = tb_profile_plugin.open(sys.argv[1]).select()[0]
    assert len(host.trace) == sum(len(plane.events) for plane in host.space.planes)
    codes = [problem.code for problem in host.problems] or ["none"]
    print(codes[0], peak() - before)
except ProblemError as error:
    print(error.problem.code, peak() - before)
"""

BOMBS: dict[str, tuple[bytes, str]] = {
    "planes": (field(1, b"") * 95_000, "too_many_planes"),
    "more planes": (field(1, b"") * 950_000, "too_many_planes"),
    "lines": (field(1, field(3, b"") * 400_000), "too_many_lines"),
    "some events": (field(1, field(3, EVENT * 2_000_000)), "none"),
    "events": (field(1, field(3, EVENT * 14_000_000)), "inflates_too_much"),
    "errors": (field(2, b"") * 400_000, "too_many_messages"),
    "nothing": (bytes(200_000_000), "inflates_too_much"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the peak")
@pytest.mark.parametrize("name", BOMBS)
def test_tiny_files_cost_little(tmp_path: Path, name: str) -> None:
    data, code = BOMBS[name]
    path = written(tmp_path, data, packed=True)
    assert path.stat().st_size < 200_000
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert said[0] == code
    assert int(said[1]) < 150


def test_an_honest_file_inflates_whole(tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    path = written(tmp_path, data, packed=True)
    assert read(resolve(path).files[0]) == data
    # Captures come to 10 times their size, small ones may come to more.
    assert read(resolve(written(tmp_path, bytes(4 << 20), packed=True)).files[0]) == bytes(4 << 20)


def test_the_first_planes_lines_and_messages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DECODE, "_MOST_PLANES", 3)
    monkeypatch.setattr(DECODE, "_MOST_LINES", 5)
    monkeypatch.setattr(DECODE, "_MOST_MESSAGES", 2)
    full = (field(1, CPU + LINE) + field(1, CPU + LINE * 2)) + field(1, LINE * 2)
    assert codes(full + field(2, b"a") * 2) == []
    space = xspace.decode(full + field(1, CPU + LINE * 9) + field(3, b"b") * 3)
    assert [problem.code for problem in space.problems] == ["too_many_planes", "too_many_messages"]
    assert [len(plane.lines) for plane in space.planes] == [1, 2, 2]
    space = xspace.decode(field(1, LINE * 4) + field(1, CPU + LINE * 4) + field(1, LINE))
    assert [problem.code for problem in space.problems] == ["too_many_lines"]
    assert [len(plane.lines) for plane in space.planes] == [4, 1, 0]
    assert [len(plane.events) for plane in space.planes] == [4, 1, 0]
    assert "9 lines, of which the first 5" in space.problems[0].message


@pytest.mark.parametrize("packed", [False, True])
def test_the_file_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    path = written(tmp_path, os.urandom(300_000), packed)
    monkeypatch.setenv(settings.MEMORY_LIMIT, "100K")
    # Told by its size alone.
    monkeypatch.setattr(safe_read, "_read", lambda file, size: pytest.fail("read"))
    problem = problem_of(path)
    assert problem.code == "too_large"
    assert "larger than the memory limit" in problem.message
    assert settings.MEMORY_LIMIT in problem.remedy


@pytest.mark.parametrize(
    "data",
    [
        field(1, field(3, EVENT * 100_000)),
        field(1, field(3, field(4, field(4, b"") * 100_000) * 4)),
        field(1, field(5, b"") * 50_000),
        field(1, LINE * 20_000),
        field(9, b"") * 200_000,
        b"\x48\x00" * 200_000,
    ],
)
def test_what_it_holds_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    path = written(tmp_path, data)
    assert tb_profile_plugin.open(path).select()
    monkeypatch.setenv(settings.MEMORY_LIMIT, "5M")
    assert problem_of(path).code == "too_large"


def test_the_limit_is_what_one_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(settings.MEMORY_LIMIT, raising=False)
    group = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_CGROUP_FILES", (group,))
    machine = memory.limit()
    assert machine > 1 << 28
    assert memory.configured_limit() == 0
    group.write_text("max\n")
    assert memory.limit() == machine
    group.write_text("1000000\n")
    assert memory.limit() == 1_000_000
    monkeypatch.setenv(settings.MEMORY_LIMIT, "2G")
    assert memory.limit() == memory.configured_limit() == 2 << 30
    monkeypatch.setenv(settings.MEMORY_LIMIT, "plenty")
    assert memory.limit() == 1_000_000


def test_the_command_line_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Set, so that it is as it was afterwards.
    monkeypatch.setenv(settings.MEMORY_LIMIT, "1G")
    path = str(written(tmp_path, field(1, field(3, EVENT * 100_000))))
    for verb in (["tool", "overview_page", path, "--no-cache"], ["export", path, "--out", str(tmp_path / "out")]):
        assert main.main([*verb, "--memory-limit", "2M"]) == 1
        assert "larger than the memory limit of 0.002 GiB" in capsys.readouterr().err
        assert os.environ[settings.MEMORY_LIMIT] == str(2 << 20)
        assert main.main([*verb, "--memory-limit", "1G"]) == 0
        capsys.readouterr()


@pytest.mark.parametrize("packed", [False, True])
def test_reading_ends_when_nobody_waits(tmp_path: Path, packed: bool) -> None:
    path = written(tmp_path, os.urandom(100_000), packed)
    with cancellation.wanted_while(lambda: False), pytest.raises(cancellation.Cancelled):
        read(resolve(path).files[0])


def asked(times: int) -> Callable[[], bool]:
    """Somebody who waits for so many questions."""
    left = iter(range(times))
    return lambda: next(left, None) is not None


def test_decoding_ends_when_nobody_waits() -> None:
    data = field(1, CPU + LINE) * 50
    for times in (0, 1, 20, 60, 110):
        with cancellation.wanted_while(asked(times)), pytest.raises(cancellation.Cancelled):
            xspace.decode(data)
    assert len(xspace.decode(data).planes) == 50
