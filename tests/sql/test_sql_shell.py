"""The shell of `tb-profile sql`: lines until a semicolon, commands, mistakes that end nothing, one decoding."""

import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import draw
import pytest

from tb_profile_plugin.api import Capture
from tb_profile_plugin.cli import main
from tb_profile_plugin.cli.sql_shell import Shell
from tb_profile_plugin.export.frames.tables import TABLES
from tb_profile_plugin.export.sql import query as sql_query
from tb_profile_plugin.formats import recognize
from tb_profile_plugin.runtime.problems import ProblemError

pty = pytest.importorskip("pty", reason="there are no terminals to open")
LONG_S = 300.0


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    return draw.session(tmp_path, host=draw.space(draw.GPU, steps=4))


@pytest.fixture
def shell(capture: Capture) -> Shell:
    return Shell(capture.sql_tables())


def test_a_question_ends_with_a_semicolon_and_not_within_a_text(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = shell.add_line("", "SELECT count(*) AS n, ';' AS mark -- steps;")
    assert capsys.readouterr().out == ""
    assert shell.add_line(asked, "FROM steps;") == ""
    assert capsys.readouterr().out.splitlines() == ["Result: 1 row", "n  mark", "4  ;"]
    assert shell.add_line("", ";") == shell.add_line("", "") == capsys.readouterr().out == ""


def test_tables_and_columns_are_told(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.add_line("", ".tables")
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TABLES)
    shell.add_line("", ".schema steps")
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[1:]] == [column.id for column in TABLES["steps"].columns]
    shell.add_line("", ".schema")
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said if not line.startswith(" ")] == [*TABLES, "Macros"]
    with pytest.raises(ProblemError, match="There is no table 'nothing'"):
        shell.add_line("", ".schema nothing")
    shell.add_line("", ".open /etc/passwd")
    assert "There is no command .open. Commands: .help, .quit" in capsys.readouterr().err


def test_a_capture_is_decoded_and_its_tables_made_once(
    capture: Capture, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = Counter[str]()
    decode, events = recognize.decode, Capture.events

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            calls[name] += 1
            return function(*given, **more)

        return call

    monkeypatch.setattr(recognize, "decode", counted("decode", decode))
    monkeypatch.setattr(Capture, "events", counted("events", events))
    shell = Shell(capture.sql_tables())
    for query in ("SELECT count(*) FROM events;", "SELECT max(duration_ps) FROM events;", "FROM steps LIMIT 1;"):
        shell.add_line("", query)
    assert capsys.readouterr().out.count("Result: 1 row") == 3
    assert calls == {"decode": 1, "events": 1}


def test_long_answers_are_cut_on_the_terminal(capture: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    Shell(capture.sql_tables(), rows=200).add_line("", "SELECT * FROM range(1000);")
    said = capsys.readouterr()
    assert "200 rows" in said.out and "the first 100" in said.out and len(said.out.splitlines()) == 102
    assert "Only the first 200 rows are shown" in said.err


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, *arguments: str):
        self._place, theirs = pty.openpty()
        command = [sys.executable, "-m", "tb_profile_plugin", "sql", *arguments]
        environment = os.environ | {"TERM": "dumb"}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self._seen = ""

    def type(self, text: str) -> None:
        os.write(self._place, text.encode())

    def wait_for(self, text: str) -> str:
        """What was said until that text, it included, since the last call.

        What is typed is said, too, and the prompt again with it: a text to wait for must not stand there.
        """
        while text not in self._seen:
            assert select.select([self._place], [], [], LONG_S)[0], self._seen
            self._seen += os.read(self._place, 65536).decode()
        said, _, self._seen = self._seen.partition(text)
        return said + text

    def interrupt_until(self, text: str) -> None:
        """Sends SIGINT until that text is said: one that comes before a line is waited for is not seen until then.

        The next one is sent when nothing more was said for long: one that comes while the first is answered ends it.
        """
        while text not in self._seen:
            self.process.send_signal(signal.SIGINT)
            while text not in self._seen and select.select([self._place], [], [], 5)[0]:
                self._seen += os.read(self._place, 65536).decode()
        self.wait_for(text)

    def close(self) -> int:
        code = self.process.wait(LONG_S)
        os.close(self._place)
        return code


@pytest.fixture
def terminal(capture: Capture) -> Iterator[Terminal]:
    terminal = Terminal(str(capture.stored.folder))
    yield terminal
    terminal.process.kill()


def test_no_mistake_ends_it(terminal: Terminal) -> None:
    terminal.wait_for("sql> ")
    terminal.type("SELECT wrong FROM steps;\n")
    terminal.wait_for("for tables and columns")
    terminal.wait_for("sql> ")
    terminal.type("DROP TABLE steps;\n")
    terminal.wait_for("only SELECT is allowed")
    terminal.wait_for("sql> ")
    terminal.type("SELECT count(*)\n")
    terminal.wait_for("...> ")
    terminal.type("+ 38 AS n FROM steps;\n")
    terminal.wait_for("42")
    terminal.wait_for("sql> ")
    terminal.type(".quit\n")
    assert terminal.close() == 0


def test_ctrl_c_drops_what_is_begun(terminal: Terminal) -> None:
    terminal.wait_for("sql> ")
    terminal.type("SELECT 1\n")
    terminal.wait_for("...> ")
    terminal.interrupt_until("sql> ")
    terminal.type("SELECT 'a' || 'b';\n")
    terminal.wait_for("ab")
    terminal.wait_for("sql> ")
    terminal.type("\x04")
    assert terminal.close() == 0


def test_ctrl_c_ends_a_question_and_not_the_shell(
    capture: Capture, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["SELECT 1;", "SELECT 2;", ".quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    answers = sql_query.sql

    def interrupted(tables: Any, query: str, *limits: Any) -> sql_query.QueryResult:
        if "1" in query:
            raise KeyboardInterrupt
        return answers(tables, query, *limits)

    monkeypatch.setattr(sql_query, "sql", interrupted)
    Shell(capture.sql_tables()).run()
    assert capsys.readouterr().out.splitlines()[-2:] == ["2", "2"]


def test_a_shell_shows_text_only(
    capture: Capture, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert main.main(["sql", str(capture.stored.folder), "--format", "csv"]) == 2
    assert "The shell shows only text." in capsys.readouterr().err
