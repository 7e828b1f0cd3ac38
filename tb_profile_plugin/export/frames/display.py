"""Frames as notebooks and terminals show them: still pictures of the first rows, without scripts, in light and dark."""

from __future__ import annotations

from html import escape
from typing import Any

from ...runtime import terminal
from ...runtime.messages import shortened
from ...tools.answers.answer import Column
from ...tools.answers.markdown import escaped
from .batches import Batches

_ROWS = 10
_LETTERS = 80
"""Letters of a text in a cell at most: names of kernels take thousands."""

STYLE = (
    "<style>.tb-profile{color-scheme:light dark;font:13px/1.4 system-ui,sans-serif;max-width:100%;overflow-x:auto}"
    ".tb-profile table{border-collapse:collapse;color:#1f2328;background:#fff}"
    ".tb-profile caption{text-align:left;padding:4px 8px;color:#57606a}"
    ".tb-profile th,.tb-profile td{padding:3px 8px;border-bottom:1px solid #d0d7de;text-align:left;white-space:nowrap}"
    ".tb-profile .n{text-align:right;font-variant-numeric:tabular-nums}"
    "@media(prefers-color-scheme:dark){.tb-profile table{color:#e6edf3;background:#0d1117}"
    ".tb-profile caption{color:#9198a1}.tb-profile th,.tb-profile td{border-color:#3d444d}}</style>"
)
"""Light or dark as the reader's system prefers: of a notebook's own theme a page knows nothing."""


def html(frame: Batches) -> str:
    """The first rows as a table, everything in it escaped."""
    heads = "".join(f'<th{_side(field)} title="{escape(field.doc)}">{escape(field.id)}</th>' for field in frame.schema)
    cells = (
        [f"<td{_side(field)}>{escape(_cell(value))}</td>" for field, value in zip(frame.schema, row, strict=True)]
        for row in frame.head(_ROWS).rows()
    )
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    caption = f"<caption>{escape(_title(frame, _ROWS))}</caption>"
    body = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    return f'{STYLE}<div class="tb-profile">{body}</div>'


def markdown(frame: Batches, rows: int = _ROWS) -> str:
    """The first rows as a table of Markdown, names as text."""
    marks = "|".join("---:" if field.kind == "number" else "---" for field in frame.schema)
    cells = [frame.columns, *([_cell(value) for value in row] for row in frame.head(rows).rows())]
    head, *lines = [f"| {' | '.join(map(escaped, row))} |" for row in cells]
    return "\n".join([escaped(_title(frame, rows)), "", head, f"|{marks}|", *lines]) + "\n"


def text(frame: Batches, rows: int = _ROWS) -> str:
    """The first rows for a terminal."""
    cells = [frame.columns, *([_cell(value) for value in row] for row in frame.head(rows).rows())]
    columns = list(zip(*([terminal.printable(cell) for cell in row] for row in cells), strict=True))
    padded = []
    for field, column in zip(frame.schema, columns, strict=True):
        width = max(map(len, column))
        padded.append([cell.rjust(width) if field.kind == "number" else cell.ljust(width) for cell in column])
    lines = ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
    return "\n".join([_title(frame, rows), *lines])


def _title(frame: Batches, rows: int) -> str:
    more = f", the first {rows}" if len(frame) > rows else ""
    return f"{frame.table.label}: {len(frame):,} row{'' if len(frame) == 1 else 's'}{more}"


def _side(field: Column) -> str:
    return ' class="n"' if field.kind == "number" else ""


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return shortened(value, _LETTERS)
