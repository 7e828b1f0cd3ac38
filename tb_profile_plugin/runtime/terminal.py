"""The one way to a person's terminal: whatever names of files, hosts, requests … hold is shown as text."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from .messages import LANGUAGES, localized, message, translated
from .regex import regex


def printable(text: object) -> str:
    """The text on one line: what Unicode calls printable as it is, any other character by its number.

    So nothing in it moves the cursor, begins a line, is an invisible mark or turns the direction of reading.
    """
    plain = str(translated(text))
    if plain.isprintable():
        return plain
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in plain
    )


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: two for each letter of Chinese, Japanese and Korean."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def padded(text: str, width: int) -> str:
    """The text filled up with spaces to ``width`` columns; to the left of it where that is below 0."""
    spaces = " " * (abs(width) - cells(text))
    return spaces + text if width < 0 else text + spaces


_PIECES = regex(
    r"\s+|[（「“]*(?:[\u3040-\u30ff\u4e00-\u9fff]|[^\s（「“\u3040-\u30ff\u4e00-\u9fff]+)[、。，；：）」”ー]*"
)
"""What a line does not break: words, and letters of Chinese and Japanese with the marks that stay beside them."""


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, unless a word is longer."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if cells(lines[-1] + piece) > width and lines[-1]:
            lines.append("")
        lines[-1] += piece if lines[-1] or not piece.isspace() else ""
    return [line.rstrip() for line in lines]


def say(text: object, to: TextIO | None = None) -> None:
    """Print one line, to standard output unless another stream is named."""
    print(printable(text), file=to or sys.stdout, flush=True)


def warn(text: object) -> None:
    """Print one line to standard error."""
    say(text, sys.stderr)


def show_progress(text: str) -> None:
    """Rewrite the line at the cursor where standard error is a terminal; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r{printable(text)}\x1b[K", end="", file=sys.stderr, flush=True)


def translate_argparse() -> None:
    """Let argparse say its own texts in the language of whoever asked: it looks these two functions up at each use."""
    vars(argparse).update(
        _=lambda text: text and localized(text),
        ngettext=lambda one, other, count: localized(one if count == 1 else other),
    )


class _Help(argparse.HelpFormatter):
    """Help in the language of whoever asked, with columns as a terminal shows them."""

    def __init__(self, prog: str):
        # argparse makes one for each option that is declared; by itself it would load what packs archives.
        super().__init__(prog, width=_columns() - 2)

    def add_text(self, text: str | None) -> None:
        super().add_text(text and translated(message(text)))

    def _get_help_string(self, action: argparse.Action) -> str:
        return str(translated(message(action.help or "")))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrapped(text, width - len(indent)))

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        prefix = localized("usage: ") if prefix is None else prefix
        as_wide = "_" * cells(prefix)
        return super()._format_usage(usage, actions, groups, as_wide).replace(as_wide, prefix, 1)


def _columns() -> int:
    """As `shutil.get_terminal_size` has it."""
    with suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", ""))) > 0:
            return columns
    with suppress(OSError, ValueError):
        if sys.__stdout__ and (columns := os.get_terminal_size(sys.__stdout__.fileno()).columns):
            return columns
    return 80


class Parser(argparse.ArgumentParser):
    """Help and errors in the language of whoever asked; names in wrong calls, which the shell may put in, are text.

    Options are declared when it is asked: of the parsers of all verbs one is.
    """

    def __init__(self, options: Callable[[argparse.ArgumentParser], None], **about: Any):
        """As `argparse.ArgumentParser`; ``options`` declares them, besides ``--help`` and ``--lang``."""
        super().__init__(formatter_class=_Help, add_help=False, **about)
        self._declare = options

    def declare(self) -> None:
        """Declare all options, and what they set."""
        about_help = localized("show this help message and exit")
        self.add_argument("-h", "--help", action="help", default=argparse.SUPPRESS, help=about_help)
        self.add_argument(
            "--lang",
            choices=tuple(LANGUAGES),
            default=argparse.SUPPRESS,
            help="language of texts (default: the system's)",
        )
        self._declare(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Declare the options, then as `argparse.ArgumentParser`."""
        self.declare()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong and exit with 2."""
        super().error(printable(message))


class LogFormatter(logging.Formatter):
    """Records as text; lines of tracebacks are indented, so that none can be taken for a record."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The record's own line."""
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        """The lines of a traceback."""
        return "\n".join(f"    {printable(line)}" for line in super().formatException(ei).split("\n"))


def log_to_stderr() -> None:
    """Let records of warnings and errors appear on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter("%(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler])
