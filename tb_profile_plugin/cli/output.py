"""Where verbs write: texts and bytes to ``--out`` or standard output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..runtime.messages import Message
from ..runtime.problems import problem_error


def json_line(data: object) -> str:
    """Plain data as a line of JSON."""
    import json

    return f"{json.dumps(data, allow_nan=False)}\n"


def write_as(args: argparse.Namespace, **formats: Callable[[], str]) -> None:
    """Write the text of the format in ``--format`` to ``--out``."""
    write(args.out, formats[args.format]())


def write(path: Path | None, text: str) -> None:
    """Write a text to that file or standard output; raises `ProblemError` where it cannot be written."""
    with open_output(path) as file:
        file.write(text.encode("utf-8", "replace"))


@contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """That file or standard output, open for writing; raises `ProblemError` where the file cannot be written."""
    if not path:
        yield sys.stdout.buffer
        return
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        remedy = (
            Message("Name another file; the file there is incomplete.")
            if path.is_file()
            else Message("Name another file.")
        )
        raise problem_error(
            "unwritable", Message("The file cannot be written: {reason}.", reason=error.strerror), remedy, str(path)
        ) from error
