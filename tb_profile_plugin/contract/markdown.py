"""Texts of a capture in Markdown."""

from __future__ import annotations

from ..terminal import shown


def escaped(text: str) -> str:
    """As Markdown shows it on one line, whatever is in it; characters that do something by their numbers."""
    text = shown(" ".join(text.split()))
    for mark in "\\`*_{}[]<>#|~":
        text = text.replace(mark, f"\\{mark}")
    # Nobody is told of a pull request by the name of an op.
    return text.replace("@", "&#64;")


def code(text: str) -> str:
    """The same as code, also in tables."""
    plain = shown(" ".join(text.replace("`", "'").split()))
    return f"`{plain.replace('|', chr(0x2223))}`" if plain else ""
