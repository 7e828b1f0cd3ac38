"""Options that several verbs take: declared here once, with how their texts are read."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..runtime.messages import Message, localized
from ..runtime.problems import ProblemError
from ..runtime.settings import JOIN, MEMORY_LIMIT

SESSION = Message("logdir (its newest session), run folder or single file (*.xplane.pb, *.pt.trace.json)")
"""Help of an argument that names a session."""


def add_output(verb: argparse.ArgumentParser, *formats: str) -> None:
    """Let a verb take one of these ``--format``, of which the first is the default, and ``--out``."""
    verb.add_argument("--format", choices=formats, default=formats[0], help="output format (default: %(default)s)")
    verb.add_argument("--out", metavar="FILE", type=Path, help="write to this file instead of standard output")


def add_work(verb: argparse.ArgumentParser) -> None:
    """Let a verb that works out answers take the options for that: cache, memory limit, executor."""
    verb.add_argument("--no-cache", action="store_true", help="do not use the result cache")
    add_memory_limit(verb)
    add_executor(verb)


def add_steps(verb: argparse.ArgumentParser) -> None:
    """Let a verb take ``--steps`` and ``--step-event``, which choose the steps that figures cover, and `add_work`."""
    verb.add_argument("--steps", default="", help="steps to cover: typical (the default), all, or a range such as 5-20")
    verb.add_argument("--step-event", default="", help="name of the events that are steps")
    add_work(verb)


def add_memory_limit(verb: argparse.ArgumentParser) -> None:
    """Let a verb take ``--memory-limit``."""
    verb.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=size,
        default=0,
        help=Message(
            "memory for one capture (default: all); on a server, also for decoded captures (default: 3G). "
            "Same as {variable}",
            variable=MEMORY_LIMIT,
        ),
    )


def add_executor(verb: argparse.ArgumentParser) -> None:
    """Let a verb take ``--executor``."""
    verb.add_argument(
        "--executor",
        metavar="SPEC",
        type=_executor,
        default="",
        help="workers for a session's hosts: threads, processes, e.g. processes:4, or dask://scheduler:8786 "
        "(default: processes for many hosts, else threads)",
    )


def add_join(verb: argparse.ArgumentParser) -> None:
    """Let a verb take ``--join``."""
    verb.add_argument(
        "--join",
        metavar="PATTERNS",
        default="",
        help=Message(
            "sessions whose names match are one, e.g. 'job7/*'; never joins none (default: by names and times). "
            "Same as {variable}",
            variable=JOIN,
        ),
    )


def add_key(verb: argparse.ArgumentParser) -> None:
    """Let a verb that redacts take ``--key``."""
    verb.add_argument(
        "--key",
        metavar="FILE",
        type=Path,
        help="private file that maps pseudonyms to names; existing entries are reused",
    )


def _executor(text: str) -> str:
    if not text:
        return ""
    from ..runtime.executors import parse_spec

    try:
        return parse_spec(text).string
    except ProblemError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def count(text: str) -> int:
    """An option's number of rows, seconds or the like: 1 to 1,000,000."""
    if not (text.isdecimal() and len(text) < 8 and 1 <= int(text) <= 1_000_000):
        raise argparse.ArgumentTypeError(localized("{text} is not a number from 1 to 1000000", text=text))
    return int(text)


def port(text: str) -> int:
    """An option's port."""
    number = int(text)
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(localized("{port} is not a port: use 0 to 65535", port=text))
    return number


def size(text: str) -> int:
    """An option's size, such as ``8G``, in bytes."""
    from ..runtime.memory import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
