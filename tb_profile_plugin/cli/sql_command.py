"""The verb ``sql``: one question, or a shell for as many as one likes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.settings import DEFAULT_ROWS, DEFAULT_SECONDS
from ..runtime.terminal import say, warn
from .answers import stored_session
from .options import SESSION, add_memory_limit, add_output, count
from .output import open_output, write_as

if TYPE_CHECKING:
    from ..export.frames.frame import Frame
    from ..export.sql.query import QueryResult


def add(verbs: Any) -> None:
    """Add the verb to those of ``tb-profile``."""
    verbs.add_parser(
        "sql",
        help="query events, steps, ops, kernels and allocations with SQL",
        epilog="Example: SELECT name, ms(sum(duration_ps)) AS ms FROM events GROUP BY name ORDER BY ms DESC. "
        "--schema lists tables and columns. Queries run in a process that cannot open files.",
        options=_options,
    )


def _options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=SESSION)
    verb.add_argument(
        "query",
        metavar="QUERY",
        nargs="?",
        default="",
        help="one SELECT; - reads standard input; without a query, a terminal opens a shell",
    )
    verb.add_argument("--schema", action="store_true", help="print the tables with their columns and types")
    verb.add_argument(
        "--also",
        metavar="SESSION",
        action="append",
        default=[],
        help="further session, distinguished by the column session; repeatable",
    )
    verb.add_argument("--host", default="", help="show only this host of the session (default: all)")
    add_output(verb, "text", "csv", "json", "markdown", "parquet")
    verb.add_argument("--rows", type=count, default=DEFAULT_ROWS, help="maximum number of rows (default: %(default)s)")
    verb.add_argument(
        "--seconds", type=count, default=DEFAULT_SECONDS, help="time limit in seconds (default: %(default)s)"
    )
    add_memory_limit(verb)
    verb.set_defaults(verb=_sql)


def _sql(args: argparse.Namespace) -> None:
    if args.schema:
        from .sql_shell import schema

        for line in schema():
            say(line)
        return
    opens_shell = not args.query and sys.stdin.isatty()
    if opens_shell and (args.out or args.format != "text"):
        raise problem_error("usage", "The shell shows only text.", "Give a query, or leave out --format and --out.")
    query = sys.stdin.read() if args.query in ("", "-") and not opens_shell else args.query
    if args.format == "parquet" and not args.out:
        raise problem_error("usage", "Parquet needs a file.", "Name it with --out.")
    stored, *other_sessions = [stored_session(path) for path in (args.session, *args.also)]
    from ..api import Capture

    session, also = Capture(stored), [Capture(other) for other in other_sessions]
    if opens_shell:
        from .sql_shell import Shell

        Shell(session.sql_tables(args.host, also), args.rows, args.seconds).run()
    else:
        _write_result(args, session.sql_result(query, args.host, args.rows, args.seconds, also))


def _write_result(args: argparse.Namespace, result: QueryResult) -> None:
    import json

    from ..export.frames import display
    from ..tools.answers import csv

    frame, most_rows = result.frame, args.rows
    if args.format == "parquet":
        _write_parquet(frame, args.out)
    else:
        write_as(
            args,
            text=lambda: f"{display.text(frame, most_rows)}\n",
            markdown=lambda: display.markdown(frame, most_rows),
            csv=lambda: "".join(csv.lines([frame.columns, *frame.rows()])),
            json=lambda: f"{json.dumps(frame.records())}\n",
        )
    if result.is_cut:
        warn(Message("Only the first {count} rows are shown; raise --rows (up to 8 MiB).", count=len(frame)))


def _write_parquet(frame: Frame, path: Path) -> None:
    """Here, of the rows that came back: the process that ran the query can open no file."""
    import duckdb

    # Whether the file can be written is told in our words.
    with open_output(path):
        pass
    escaped_path = os.fspath(path).replace("'", "''")
    with duckdb.connect() as connection:
        connection.register("result", frame)
        connection.execute(f"COPY result TO '{escaped_path}' (FORMAT parquet)")
