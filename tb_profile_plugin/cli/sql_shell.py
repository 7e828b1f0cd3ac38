"""The shell of ``tb-profile sql``: questions over lines until a semicolon; no mistake ends it."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from ..export.frames import display
from ..export.frames.frame import Frame
from ..export.frames.tables import TABLES
from ..export.sql import ask
from ..runtime.messages import Message
from ..runtime.problems import ProblemError
from ..runtime.terminal import say, warn
from .sql_schema import schema

_ROWS = 100
"""Rows on a terminal."""
_HELP = (
    Message("Type one SELECT on one or more lines, and end it with a semicolon."),
    ".tables         the tables",
    ".schema TABLE   columns of a table, or of all",
    ".quit           end; so does Ctrl+D",
)
_COMMANDS = (".help", ".quit", ".schema", ".tables")


class Shell:
    """Asks of tables that are made once, when a question first names them."""

    def __init__(self, tables: Mapping[str, Callable[[], Frame]], rows: int = ask.ROWS, seconds: float = ask.SECONDS):
        """Of each answer at most so many rows are taken, which may take at most so many seconds.

        Raises `ProblemError` where DuckDB is not installed.
        """
        ask.need_duckdb()
        self._tables = tables
        self._rows = rows
        self._seconds = seconds

    def run(self) -> None:
        """Read from standard input until it ends."""
        _complete_names()
        say(
            Message(
                "Tables: {tables}. End a query with a semicolon; .help lists commands, .quit ends.",
                tables=", ".join(self._tables),
            )
        )
        question: str | None = ""
        while question is not None:
            question = self._next(question)

    def _next(self, begun: str) -> str | None:
        """Read a line, after which a question is as complete as `take` says; None at the end."""
        try:
            line = input("...> " if begun else "sql> ")
            return None if line.strip() == ".quit" and not begun else self.take(begun, line)
        except EOFError:
            say("")
            return None
        except KeyboardInterrupt:
            say("")
        except ProblemError as error:
            warn(error.problem)
        return ""

    def take(self, begun: str, line: str) -> str:
        """Answer what a line completes; returns the question that is not complete yet, empty where there is none.

        Raises `ProblemError` for what cannot be answered.
        """
        if not begun and line.strip().startswith("."):
            self._command(*line.split())
            return ""
        question = f"{begun}\n{line}" if begun else line.strip()
        if not sqlite3.complete_statement(question):
            return question
        if question.strip("; \n\t"):
            self._answer(question)
        return ""

    def _command(self, name: str, *arguments: str) -> None:
        if name == ".tables":
            for table in self._tables:
                say(f"{table:12} {TABLES[table].doc}")
        elif name == ".schema":
            for line in schema(*arguments[:1]):
                say(line)
        elif name == ".help":
            for line in _HELP:
                say(line)
        else:
            warn(Message("There is no command {name}. Commands: {commands}.", name=name, commands=", ".join(_COMMANDS)))

    def _answer(self, query: str) -> None:
        result = ask.sql(self._tables, query, self._rows, self._seconds)
        sys.stdout.write(f"{display.text(result.frame, _ROWS)}\n")
        sys.stdout.flush()
        if result.more:
            warn(
                Message(
                    "Only the first {count} rows are shown; add LIMIT, or start with a higher --rows.",
                    count=len(result.frame),
                )
            )


def _complete_names() -> None:
    """Let the tabulator complete names of tables and columns, where Python has readline."""
    with suppress(ImportError):
        import readline

        columns = {column.id for table in TABLES.values() for column in table.columns}
        words = sorted({*TABLES, *columns, *_COMMANDS})
        readline.set_completer(lambda text, index: [*filter(lambda word: word.startswith(text), words), None][index])
        readline.set_completer_delims(" \t\n,;()=<>+-*/")
        readline.parse_and_bind("tab: complete")
