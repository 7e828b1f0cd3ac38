"""Answers that are no longer than an assistant can read."""

from __future__ import annotations

import json
from typing import Any

from ...runtime.messages import shortened
from ...tools.answers.answer import Json

MOST_BYTES = 24_000
"""Bytes of an answer at most: about 6,000 tokens."""
_MOST_CHARACTERS = 300
"""Characters of a text in a table at most."""


def rows_as_json(head: dict[str, Json], rows: list[dict[str, Any]], start: int, limit: int) -> str:
    """JSON with as many of the rows from ``start`` on as fit; ``next`` is where to go on."""
    start, limit = max(0, start), max(1, limit)
    page = [
        {key: shortened(value, _MOST_CHARACTERS) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows[start : start + limit]
    ]
    while True:
        end = start + len(page)
        text = json.dumps({**head, "rows": page, "next": end if end < len(rows) else None}, ensure_ascii=False)
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES or not page:
            return bounded(text)
        page = page[: len(page) // 2]


def bounded(text: str) -> str:
    """The text, or as much of it as an answer may have."""
    return text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
