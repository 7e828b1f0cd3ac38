"""Programs whose slowness was planted: the diagnosis finds it, and measures it as the programs themselves did."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from frameworks import Python, python
from planted.capture import capture
from planted.judge import judge, judge_without
from planted.measured import Clock
from planted.table import PROGRAMS

import tb_profile_plugin

__all__ = ["python"]

pytestmark = pytest.mark.slow

Captured = Callable[[str], Path]


@pytest.fixture(scope="module")
def captured(python: Python, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """The folder of a program's captures; all programs of its file are captured when the first is asked for."""
    out = tmp_path_factory.mktemp("planted")

    @cache
    def of_file(file: str) -> None:
        capture(python, out, *(name for name, program in PROGRAMS.items() if program.file == file))

    def of_program(name: str) -> Path:
        of_file(PROGRAMS[name].file)
        return out / name

    return of_program


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_planted_cause_is_found(captured: Captured, name: str) -> None:
    folder = captured(name)
    run, other = Clock.read(folder / "with"), Clock.read(folder / "without")
    found = tb_profile_plugin.open(folder / "with")
    assert judge(PROGRAMS[name], run, other, found.answer("why"), found.answer("why", steps="all")) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_it_nothing_is_blamed(captured: Captured, name: str) -> None:
    folder = captured(name)
    run, other = Clock.read(folder / "with"), Clock.read(folder / "without")
    found = tb_profile_plugin.open(folder / "without")
    assert judge_without(PROGRAMS[name], run, other, found.answer("why"), found.answer("why", steps="all")) == []
