import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tb_profile_plugin
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.problems import ProblemError

pytestmark = pytest.mark.usefixtures("fakes")


@pytest.fixture
def logdir(tmp_path: Path, put: Callable[[str], Path]) -> str:
    put("train/plugins/profile/r1/a.xplane.pb")
    put("train/plugins/profile/r1/b.xplane.pb")
    return str(tmp_path)


def run(*arguments: str) -> int:
    return main.main(arguments)


def test_a_tools_json(logdir: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("tool", "echo", logdir, "--host", "b", "-o", "size=large") == 0
    assert json.loads(capsys.readouterr().out) == {"run": "train/r1", "hosts": ["b"], "size": "large"}
    out = tmp_path / "out.json"
    assert run("tool", "echo", logdir, "--out", str(out)) == 0
    assert json.loads(out.read_text())["hosts"] == ["a", "b"]
    assert capsys.readouterr().out == ""


def test_the_same_in_python(logdir: str) -> None:
    capture = tb_profile_plugin.open(logdir)
    assert capture.tool("echo", size="large") == {"run": "train/r1", "hosts": ["a", "b"], "size": "large"}
    with pytest.raises(ProblemError):
        capture.tool("echo", size="huge")


def test_the_list_of_tools(logdir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tools", logdir) == 0
    out = capsys.readouterr().out
    assert "echo: What was asked?" in out
    assert "-o size=small  How large. (small, large)" in out
    assert "nothing to show: No GPU." in out


def test_the_list_of_sessions(logdir: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sessions", logdir) == 0
    assert capsys.readouterr().out.strip().endswith("train/r1  (a, b)")
    (tmp_path / "empty").mkdir()
    assert run("sessions", str(tmp_path / "empty")) == 0
    answer = capsys.readouterr()
    assert answer.out == "" and "No sessions in" in answer.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tool", "echo", "{}/none"], "This file or folder does not exist."),
        (["sessions", "{}/none"], "The folder cannot be searched: No such file or directory."),
        (["sessions", "{}/train/plugins/profile/r1/a.xplane.pb"], "The folder cannot be searched: Not a directory."),
        (["tool", "echo", "{}", "--host", "c"], "There is no host 'c'."),
        (["tool", "echo", "{}", "--out", "{}/none/x"], "No such file or directory"),
    ],
)
def test_a_problem_is_told_and_exits_with_1(
    logdir: str, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert run(*(argument.format(logdir) for argument in arguments)) == 1
    answer = capsys.readouterr()
    assert answer.err.startswith("tb-profile: ") and told in answer.err
    assert "Traceback" not in answer.err and answer.out == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tool", "none", "{}"], "There is no tool named 'none'."),
        (["tool", "echo", "{}", "-o", "size=huge"], "size='huge' is not one of its choices."),
        (["tool", "echo", "{}", "-o", "host=b"], "Name it with --host."),
        (["capture", "localhost:1"], "A LOGDIR is missing."),
    ],
)
def test_what_is_wrong_whatever_it_is_asked_of_exits_with_2(
    logdir: str, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert run(*(argument.format(logdir) for argument in arguments)) == 2
    assert told in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_is_told(logdir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tool", "echo", logdir, "--out", "/dev/full") == 1
    told = capsys.readouterr().err
    assert "The file cannot be written: No space left on device. (/dev/full)" in told


@pytest.mark.parametrize(
    "arguments", [[], ["none"], ["tool", "echo"], ["tool", "a", "b", "-o", "x"], ["serve", "x", "--port", "x"]]
)
def test_a_wrong_call_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        run(*arguments)
    assert raised.value.code == 2


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "tb_profile_plugin", "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == f"tb-profile {tb_profile_plugin.__version__}\n"


def test_documents_name_every_verb_and_option() -> None:
    docs = Path(tb_profile_plugin.__file__).parent / "docs"
    readme = "".join((docs / name).read_text(encoding="utf-8") for name in ("commands.md", "capture.md"))
    parser = main._parser()
    parser.declare()
    verbs = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, verb in verbs.choices.items():
        assert f"tb-profile {name}" in readme
        verb.declare()
        options = {option for action in verb._actions for option in action.option_strings} - {"-h", "--help"}
        assert {option for option in options if option not in readme} == set()
