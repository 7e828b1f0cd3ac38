"""Texts of a capture in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...runtime.messages import localized, translated
from ...runtime.regex import regex
from ...runtime.terminal import printable

_OUTER_UNDERSCORE = regex(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
MOST_CHARACTERS = 60_000
"""Characters that a comment of a pull request can hold, and some to spare."""


def escaped(text: str) -> str:
    """As Markdown shows it on one line, whatever is in it; characters that do something by their numbers."""
    text = printable(" ".join(translated(text).split()))
    for mark in "\\`*{}[]<>#|~":
        text = text.replace(mark, f"\\{mark}")
    # Within a word it does nothing, and names with it are searched for.
    text = _OUTER_UNDERSCORE.sub(r"\\_", text)
    # Nobody is told of a pull request by the name of an op.
    return text.replace("@", "&#64;")


def code(text: str) -> str:
    """The text as code, also in tables."""
    printable_text = printable(" ".join(text.replace("`", "'").split()))
    return f"`{printable_text.replace('|', chr(0x2223))}`" if printable_text else ""


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table of escaped cells; heads with ``#`` stand over numbers.

    Heads are English, and said in the language of whoever asked.
    """
    yield f"| {' | '.join(localized(head.removeprefix('#')) for head in heads)} |"
    yield f"|{'|'.join('---:' if head.startswith('#') else '---' for head in heads)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def comment_marker(*names: str) -> str:
    """A comment that no reader sees, by which an update of the same names takes the place of the text."""
    printable_text = ("".join(letter for letter in name if letter.isalnum() or letter in "._") for name in names)
    return f"<!-- tb-profile:{'-'.join(printable_text)} -->"


def fitting_text(lines: Iterable[str]) -> str:
    """The lines, without those that make it longer than a comment may be."""
    fitting_lines, remaining = [], MOST_CHARACTERS
    for line in lines:
        if len(line) < remaining:
            fitting_lines.append(line)
            remaining -= len(line) + 1
    return "\n".join(fitting_lines) + "\n"
