"""What names hold reaches a terminal as text only, whichever verb prints them."""

import ast
import logging
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import tb_profile_plugin
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.runtime.terminal import LogFormatter, cells, printable, wrapped

PACKAGE = Path(tb_profile_plugin.__file__).parent
HOSTILE = "a\nFAKE\r\x1b[2J\x1b]0;t\x07\x9b31m\x7f\u202e\u2066\u061c\u200b\ufeff\u00ad\u2028\u3000\U000e0041\ud800"


def test_any_character_is_shown_on_its_line() -> None:
    for number in range(sys.maxunicode + 1):
        assert printable(chr(number)).isprintable(), hex(number)
    plain = "C:\\logs\\run 1 – größer 日本語 🙂 é (x=1)"
    assert printable(plain) == plain
    assert printable("a\x1b[1m\n\u202e\udcff") == "a\\x1b[1m\\n\\u202e\\udcff"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("words are kept whole", ["words are", "kept whole"]),
        ("步骤内核，启动队列", ["步骤内核，", "启动队列"]),
        ("（既定値: all）です。", ["（既定値:", "all）で", "す。"]),
        ("스텝 시간이 깁니다", ["스텝", "시간이", "깁니다"]),
        ("", [""]),
    ],
)
def test_lines_are_no_wider_than_a_terminal_shows_them(text: str, lines: list[str]) -> None:
    assert wrapped(text, 10) == lines
    assert all(cells(line) <= 10 for line in lines)


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """A logdir of hostile names: of itself, a run, a host, a folder that is nearly one."""
    name = HOSTILE.replace("\ud800", "\udcff")
    folder = tmp_path / name
    try:
        (folder / "plugins/profile" / name).mkdir(parents=True)
    except OSError:
        pytest.skip("this file system takes no such names")
    (folder / "plugins/profile" / name / f"{name}.xplane.pb").write_bytes(b"")
    (folder / "plugins/profile" / f"{name}2").mkdir()
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "{}"],
        ["sessions", "{}/plugins/profile/x"],
        ["doctor", "{}"],
        ["doctor", "{}:1"],
        ["tools", "{}"],
        ["tools", "{}/none"],
        ["tool", "{}", "{}"],
        ["tool", "overview_page", "{}", "--host", "{}"],
        ["tool", "overview_page", "{}", "-o", "{}={}"],
        ["tool", "overview_page", "{}", "-o", "{}"],
        ["tool", "overview_page", "{}", "--out", "{}/none/x"],
        ["tool", "overview_page", "{}", "--executor", "{}"],
        ["export", "{}", "--format", "xplane", "--host", "{}"],
        ["serve", "{}", "--host", "{}"],
        ["serve", "{}", "--port", "{}"],
        ["serve", "{}", "--memory-limit", "{}"],
        ["capture", "{}", "{}"],
        ["capture", "localhost:1", "{}", "--run", "{}"],
        ["cache", "show"],
        ["cache", "{}"],
        ["cache", "show", "{}"],
        ["cache", "show", "--{}"],
    ],
    ids=" ".join,
)
def test_no_verb_prints_what_moves_the_cursor(
    arguments: list[str], logdir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TB_PROFILE_CACHE_DIR", str(logdir / "cache"))
    with suppress(SystemExit):
        main.main([argument.replace("{}", str(logdir)) for argument in arguments])
    answer = capsys.readouterr()
    lines = (answer.out + answer.err).split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert not any(line.startswith("FAKE") for line in lines)
    assert any("FAKE" in line for line in lines)
    assert "Traceback" not in answer.err


def test_records_of_the_log_are_lines_that_nobody_forges() -> None:
    try:
        raise ProblemError(tb_profile_plugin.runtime.problems.Problem("x", HOSTILE))
    except ProblemError:
        record = logging.LogRecord("n", logging.ERROR, "p", 1, "No answer to %s", (HOSTILE,), sys.exc_info())
    first, *others = LogFormatter("%(levelname)s %(message)s").format(record).split("\n")
    assert first.startswith("ERROR No answer to a\\nFAKE") and first.isprintable()
    assert others and all(line.startswith("    ") and line.isprintable() for line in others)


def test_a_fault_of_ours_is_told_in_the_same_way(
    logdir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object) -> None:
        # Reports of tests travel between processes as UTF-8.
        raise RuntimeError(HOSTILE.replace("\ud800", ""))

    monkeypatch.setattr("tb_profile_plugin.store.Logdir.survey", fail)
    assert main.main(["sessions", str(logdir)]) == 1
    assert "a bug in tb-profile" in caplog.text
    assert capsys.readouterr().out == ""


def test_nothing_prints_past_the_terminal() -> None:
    def prints(path: Path) -> bool:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        names = {
            (node.value.id, node.attr)
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        return "print" in calls or ("sys", "stderr") in names

    found = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if prints(path)}
    # The demo's own program prints to a pipe; the command line sets the streams up.
    assert found == {"runtime/terminal.py", "capture/demo.py", "cli/main.py"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_is_closed_or_full_ends_no_command_in_a_traceback() -> None:
    for redirection, code, said in (
        (">&-", 0, ""),
        (">&- 2>&-", 0, ""),
        (">/dev/full", 1, "Standard output cannot be written: No"),
    ):
        command = f"{shlex.quote(sys.executable)} -m tb_profile_plugin guide {redirection}"
        found = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert found.returncode == code and "Traceback" not in found.stderr and said in found.stderr
        assert found.stderr.count("\n") == bool(said)


def test_a_process_ends_with_its_code_after_all_that_was_to_end_before() -> None:
    """Its memory is not taken apart, yet what modules do at exit is, and what was printed is written."""
    program = (
        "import atexit; from tb_profile_plugin.cli import main as command\n"
        "command.main = lambda: (atexit.register(print, 'later'), print('answer'), 3)[-1]\n"
        "command.run()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "answer\nlater\n", "")


def test_an_error_of_a_process_that_nothing_caught_is_shown() -> None:
    program = "from tb_profile_plugin.cli import main as command; command.main = lambda: 1 // 0; command.run()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "ZeroDivisionError" in ended.stderr
