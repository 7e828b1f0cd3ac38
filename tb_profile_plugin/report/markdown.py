"""Names of captures in Markdown, whatever is in them."""

from __future__ import annotations

_MARKS = "\\`*_{}[]<>()#+!|@~"


def escaped(text: str) -> str:
    """As prose and in tables; nobody is mentioned by an ``@``."""
    for mark in _MARKS:
        text = text.replace(mark, f"\\{mark}" if mark != "@" else "&#64;")
    return " ".join(text.split())


def code(text: str) -> str:
    """As code in a table."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain.replace('|', chr(0x2223))}`" if plain else ""
