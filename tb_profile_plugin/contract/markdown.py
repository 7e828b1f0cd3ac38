"""Texts of a capture in Markdown."""

from __future__ import annotations


def escaped(text: str) -> str:
    """As Markdown shows it on one line, whatever is in it."""
    for mark in "\\`*_{}[]<>#|~":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
