"""Asks a query of the tables of a capture, in a process that is locked down and killed where it goes too far."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from ...runtime.messages import Message
from ...runtime.problems import Problem, ProblemError, problem_error
from ...runtime.records import record
from ...runtime.settings import DEFAULT_ROWS, DEFAULT_SECONDS
from ...tools.answers.answer import Column, Table
from ..frames.batches import values
from ..frames.frame import Frame
from . import wire

_RESULT_BYTES = 8 << 20
"""Bytes of JSON that a result may have."""
_MEMORY_BYTES = 2 << 30
"""Bytes of memory that a query may take, besides the tables."""
_QUERY_BYTES = 64 << 10
_START_S = 60.0
"""How long the process may take to start and to check the query."""
_GRACE_S = 2.0
"""How long a query may go on beyond its time before the process is killed."""
_ENVIRONMENT = ("PATH", "PYTHONHOME", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables of the environment that the process gets: what an interpreter needs, and no credentials."""


@record
class QueryResult:
    """The rows that a query found."""

    frame: Frame
    is_cut: bool
    """Whether there are more rows than were asked for, or than a result may have bytes."""


def need_duckdb() -> None:
    """Raise `ProblemError` where what answers queries is not installed."""
    if find_spec("duckdb") is None or find_spec("nanoarrow") is None:
        raise problem_error("no_duckdb", "SQL needs DuckDB.", "pip install 'tb-profile-plugin[sql]'")


def sql(
    tables: Mapping[str, Callable[[], Frame]], query: str, rows: int = DEFAULT_ROWS, seconds: float = DEFAULT_SECONDS
) -> QueryResult:
    """The rows of one SELECT over these tables, of which those are made whose names stand in it.

    Raises `ProblemError` for any other statement, for a query that DuckDB does not understand, and for one that takes
    more memory than it may or so many seconds.
    """
    need_duckdb()
    if len(query.encode("utf-8", "replace")) > _QUERY_BYTES:
        raise _bad_query_error(Message("The query is longer than 64 KiB."))
    request = {"query": query, "rows": rows, "bytes": _RESULT_BYTES, "memory": _MEMORY_BYTES, "seconds": seconds}
    with _query_process() as (process, source, sink):
        with _kill_after(process, _START_S):
            wire.send(sink, request)
            try:
                refusal = _receive(source).get("refused")
            except EOFError:
                raise _bad_query_error(Message("DuckDB crashed on this query.")) from None
        if refusal:
            raise _bad_query_error(refusal)
        words_of_query = {word.lower() for word in re.findall(r"\w+", query)}
        for name, make_frame in tables.items():
            if name in words_of_query:
                wire.send_frame(sink, name, make_frame())
        wire.send(sink, None)
        with _kill_after(process, seconds + _GRACE_S) as kill_event:
            try:
                response = _receive(source)
            except EOFError:
                raise _failure("time" if kill_event.is_set() else "process", seconds=seconds) from None
    if "failed" in response:
        raise _failure(response["failed"], response["text"], seconds)
    return QueryResult(_frame(response), bool(response["more"]))


@contextmanager
def _query_process() -> Iterator[tuple[subprocess.Popen[bytes], BinaryIO, BinaryIO]]:
    # It imports from where this process does, and not from where it happens to start.
    folders = [os.path.abspath(folder) for folder in sys.path]
    code = f"import sys; sys.path[:] = {folders!r}; from {__package__} import child; child.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        cwd=Path(sys.executable).anchor,
    )
    assert process.stdin and process.stdout
    try:
        yield process, cast(BinaryIO, process.stdout), cast(BinaryIO, process.stdin)
    except BrokenPipeError:
        raise _failure("process") from None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            # The process may end before it has read all.
            process.stdin.close()


@contextmanager
def _kill_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield killed
    finally:
        timer.cancel()


def _receive(source: BinaryIO) -> dict[str, Any]:
    """The next message of the process; raises EOFError where it has ended."""
    message = wire.receive(source, 4 * _RESULT_BYTES)
    return message if isinstance(message, dict) else {}


def _bad_query_error(text: str) -> ProblemError:
    # DuckDB shows the place in the query below its sentences, in lines of its own.
    sentences = " ".join(re.split(r"\n+LINE \d+:", text)[0].split())
    return problem_error("bad_query", sentences, "Run `tb-profile sql --schema` for tables and columns.")


def _failure(kind: Literal["query", "time", "memory", "process"], text: str = "", seconds: float = 0) -> ProblemError:
    """The error of a query that DuckDB refused (``text``), or that ended its process or was ended with it."""
    if kind == "query":
        return _bad_query_error(text)
    if kind == "time":
        problem = Problem(
            "query_too_long",
            Message("The query took longer than {seconds} s.", seconds=f"{seconds:g}"),
            Message("Query less, or raise the limit."),
        )
    else:
        message = (
            Message("The query takes more than 2 GiB of memory.")
            if kind == "memory"
            else Message("The query takes more than 2 GiB of memory, or DuckDB crashed on it.")
        )
        problem = Problem("query_too_large", message, "Aggregate, or query less.")
    return ProblemError(problem)


def _frame(response: dict[str, Any]) -> Frame:
    columns: Sequence[tuple[str, str]] = response["columns"]
    # Columns of one name get different ones: pandas and others could show only one of them.
    names = [
        name if name not in [other_name for other_name, _ in columns[:i]] else f"{name}_{i}"
        for i, (name, _) in enumerate(columns)
    ]
    cells_of_columns = [[row[i] for row in response["rows"]] for i in range(len(columns))]
    fields = tuple(
        _field(name, duckdb_type, column)
        for name, (_, duckdb_type), column in zip(names, columns, cells_of_columns, strict=True)
    )
    batch = {
        field.id: values(field, column if field.kind != "string" else [_text(cell) for cell in column])
        for field, column in zip(fields, cells_of_columns, strict=True)
    }
    count = len(response["rows"])
    label = Message("Result, cut after {count} rows", count=count) if response["more"] else Message("Result")
    return Frame(Table("result", label, fields), [batch])


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _field(name: str, duckdb_type: str, column: Sequence[Any]) -> Column:
    """A column by DuckDB's type: integers that no int64 holds are texts, as is all that is no number."""
    if duckdb_type == "BOOLEAN":
        return Column(name, name, "boolean", dtype="bool")
    if duckdb_type.endswith("INT") or duckdb_type == "INTEGER":
        fits = all(cell is None or -(2**63) <= cell < 2**63 for cell in column)
        return Column(name, name) if fits else Column(name, name, "string")
    if duckdb_type in ("DOUBLE", "FLOAT") or duckdb_type.startswith("DECIMAL"):
        return Column(name, name, dtype="float64")
    return Column(name, name, "string")
