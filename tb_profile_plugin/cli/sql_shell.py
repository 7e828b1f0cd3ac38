"""The shell of ``tb-profile sql``: questions over lines until a semicolon; no mistake ends it. What its tables hold."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from ..export.frames import display
from ..export.frames.frame import Frame
from ..export.frames.tables import TABLES
from ..export.sql import query as sql_query
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import DEFAULT_ROWS, DEFAULT_SECONDS
from ..runtime.terminal import say, warn

_TERMINAL_ROWS = 100
"""Rows on a terminal."""
_HELP = (
    Message("Type one SELECT on one or more lines, and end it with a semicolon."),
    ".tables         the tables",
    ".schema TABLE   columns of a table, or of all",
    ".quit           end; so does Ctrl+D",
)
_COMMANDS = (".help", ".quit", ".schema", ".tables")
_TYPES = {"bool": "BOOLEAN", "int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "float64": "DOUBLE"}


class Shell:
    """Reads queries and prints their answers; a table is made once, when a query first names it."""

    def __init__(
        self, tables: Mapping[str, Callable[[], Frame]], rows: int = DEFAULT_ROWS, seconds: float = DEFAULT_SECONDS
    ):
        """``rows`` and ``seconds`` limit each answer. Raises `ProblemError` where DuckDB is not installed."""
        sql_query.need_duckdb()
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
        query: str | None = ""
        while query is not None:
            query = self._read_line(query)

    def _read_line(self, unfinished: str) -> str | None:
        """Read a line and add it to the unfinished query; returns what is unfinished then, or None at the end."""
        try:
            line = input("...> " if unfinished else "sql> ")
            return None if line.strip() == ".quit" and not unfinished else self.add_line(unfinished, line)
        except EOFError:
            say("")
            return None
        except KeyboardInterrupt:
            say("")
        except ProblemError as error:
            warn(error.problem)
        return ""

    def add_line(self, unfinished: str, line: str) -> str:
        """Add a line, and answer the query that it completes; returns the query that is unfinished then, or nothing.

        Raises `ProblemError` for a query that cannot be answered.
        """
        if not unfinished and line.strip().startswith("."):
            self._command(*line.split())
            return ""
        query = f"{unfinished}\n{line}" if unfinished else line.strip()
        if not sqlite3.complete_statement(query):
            return query
        if query.strip("; \n\t"):
            self._answer(query)
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
        result = sql_query.sql(self._tables, query, self._rows, self._seconds)
        sys.stdout.write(f"{display.text(result.frame, _TERMINAL_ROWS)}\n")
        sys.stdout.flush()
        if result.is_cut:
            warn(
                Message(
                    "Only the first {count} rows are shown; add LIMIT, or start with a higher --rows.",
                    count=len(result.frame),
                )
            )


def schema(table_name: str = "") -> Iterator[str]:
    """Lines about the tables and their columns, or about one table; raises `ProblemError` where there is none."""
    if table_name and table_name not in TABLES:
        raise problem_error(
            "no_table",
            Message("There is no table {only}.", only=repr(table_name)),
            Message("Tables: {tables}.", tables=", ".join(TABLES)),
        )
    for table in [TABLES[table_name]] if table_name else TABLES.values():
        yield f"{table.id}: {table.doc}"
        for field in Frame(table, []).schema:
            sql_type = "VARCHAR" if field.kind == "string" else _TYPES[field.dtype]
            yield f"    {field.id:24} {sql_type:8} {field.doc or field.label}"
    if not table_name:
        yield Message("Macros: s(x), ms(x) and us(x) convert times in ps.")


def _complete_names() -> None:
    """Let the tabulator complete names of tables and columns, where Python has readline."""
    with suppress(ImportError):
        import readline

        columns = {column.id for table in TABLES.values() for column in table.columns}
        words = sorted({*TABLES, *columns, *_COMMANDS})
        readline.set_completer(lambda text, index: [*filter(lambda word: word.startswith(text), words), None][index])
        readline.set_completer_delims(" \t\n,;()=<>+-*/")
        readline.parse_and_bind("tab: complete")
