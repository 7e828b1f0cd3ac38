"""Texts of a capture in Markdown."""

from __future__ import annotations

from ..terminal import shown


def escaped(text: str) -> str:
    """As Markdown shows it on one line, whatever is in it; characters that do something by their numbers."""
    text = shown(" ".join(text.split()))
    for mark in "\\`*_{}[]<>#|~":
        text = text.replace(mark, f"\\{mark}")
    return text
