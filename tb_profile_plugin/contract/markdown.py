"""Texts of a capture in Markdown."""

from __future__ import annotations


def escaped(text: str) -> str:
    """As Markdown shows it on one line, whatever is in it."""
    for mark in "\\`*_{}[]<>#|~":
        text = text.replace(mark, f"\\{mark}")
    # Nobody is told of a pull request by the name of an op.
    return " ".join(text.replace("@", "&#64;").split())


def code(text: str) -> str:
    """The same as code, also in tables."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain.replace('|', chr(0x2223))}`" if plain else ""
