"""The process in which a query runs. It opens no file: once locked, the operating system lets it open none.

Standard input: the question, then the tables. Standard output: ``{}`` once the query may run, or why it may not; then
rows.
"""

from __future__ import annotations

import json
import math
import sys
import threading
from decimal import Decimal
from typing import Any

import duckdb

from . import wire

_MOST_BYTES = 1 << 30
"""Bytes of JSON that are read from the process that asks."""
_MACROS = ("CREATE MACRO ms(x) AS x / 1e9", "CREATE MACRO us(x) AS x / 1e6", "CREATE MACRO s(x) AS x / 1e12")
_SETTINGS = (
    "SET threads = 2",
    "SET temp_directory = ''",
    "SET max_temp_directory_size = '0B'",
    "SET enable_external_access = false",
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
)
_CONFIG: dict[str, Any] = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


def main() -> None:
    """Answer one question."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    request = wire.receive(source, _MOST_BYTES)
    refusal = _refusal(request["query"])
    wire.send(sink, {"refused": refusal} if refusal else {})
    if refusal:
        return
    connection = duckdb.connect(config=_CONFIG)
    while (table := wire.receive_frame(source, _MOST_BYTES)) is not None:
        name, _ = table
        connection.register(*table)
        # What is imported at the first query must be so before nothing can be opened any more.
        connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    for macro in _MACROS:
        connection.execute(macro)
    connection.execute(f"SET memory_limit = '{request['memory']}B'")
    for setting in _SETTINGS:
        connection.execute(setting)
    connection.execute("SELECT 1, 1.5, TIMESTAMP '2026-01-01'").fetchall()
    _limit_process(request["memory"], request["seconds"])
    timer = threading.Timer(request["seconds"], connection.interrupt)
    timer.start()
    try:
        wire.send(sink, _answer(connection, request["query"], request["rows"], request["bytes"]))
    except duckdb.InterruptException:
        wire.send(sink, {"failed": "time", "text": ""})
    except (duckdb.OutOfMemoryException, MemoryError):
        wire.send(sink, {"failed": "memory", "text": ""})
    except duckdb.Error as error:
        wire.send(sink, {"failed": "query", "text": str(error)})
    finally:
        timer.cancel()


def _refusal(query: str) -> str:
    """Why a query does not run; empty where it may."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        return str(error)
    if len(statements) != 1:
        return f"The query has {len(statements)} statements, but only one can run."
    kind = statements[0].type
    return "" if kind == duckdb.StatementType.SELECT else f"{kind.name} is refused; only SELECT is allowed."


def _limit_process(memory: int, seconds: float) -> None:
    """Let the operating system refuse files, processes' dumps, and more memory and time than agreed."""
    try:
        import resource
    except ImportError:
        return
    limits = {
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        # Of all threads together.
        resource.RLIMIT_CPU: 4 * math.ceil(seconds) + 4,
    }
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            address_space_bytes = int(file.read().split()[0]) * resource.getpagesize()
        limits[resource.RLIMIT_AS] = address_space_bytes + memory
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


def _answer(connection: Any, query: str, most_rows: int, most_bytes: int) -> dict[str, Any]:
    """Columns and rows of the query, at most so many rows and bytes of JSON, and whether there are more."""
    cursor = connection.execute(query)
    rows: list[list[Any]] = []
    size, more = 0, False
    while not more and (row := cursor.fetchone()) is not None:
        values = [_json_value(value) for value in row]
        size += len(json.dumps(values, allow_nan=False))
        more = len(rows) == most_rows or size > most_bytes
        rows += [] if more else [values]
    return {"columns": [[column[0], str(column[1])] for column in cursor.description], "rows": rows, "more": more}


def _json_value(value: Any) -> Any:
    """A value that JSON can hold: numbers that are not finite become None, other kinds texts."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        value = float(value)
        return value if math.isfinite(value) else None
    return str(value)
