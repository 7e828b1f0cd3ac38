"""What verbs share: common options, the session at a path, its answers from the cache or worked out, and output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..runtime.messages import Message, localized, translated
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import JOIN, MEMORY_LIMIT, choose_kernels

if TYPE_CHECKING:
    from ..store import StoredSession
    from ..tools.answers.tool import Tool

SESSION = Message("logdir (its newest session), run folder or single file (*.xplane.pb, *.pt.trace.json)")
"""Help of an argument that names a session."""
GUIDE = Path(__file__).parent.with_name("docs") / "guide.md"
"""The guide to reading figures, for people and assistants."""


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


def stored_session(session: str) -> StoredSession:
    """The session at a path; to be asked before the decoder is imported, since its size decides how kernels run."""
    from ..store import resolve

    stored = resolve(session)
    choose_kernels(stored.size, any(file.path.suffix == ".gz" for file in stored.files))
    return stored


def answer_data(
    stored: StoredSession, args: argparse.Namespace, questions: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Tools' answers by name, as plain data; see `answer_bodies`."""
    import json

    return {name: json.loads(body) for name, body in answer_bodies(stored, args, questions).items()}


def answer_bodies(
    stored: StoredSession, args: argparse.Namespace, questions: Mapping[str, Mapping[str, str]], legacy: bool = False
) -> dict[str, bytes]:
    """Tools' answers as JSON, from the cache or worked out; ``questions`` are the options by tool.

    Where all are in the cache, nothing that decodes is imported.
    """
    from ..store.result_cache import LEGACY, NAMED, ResultCache, pack, question, to_json, unpack

    cache = ResultCache(not args.no_cache)
    keys = {
        name: question(name, args.host, options, LEGACY if legacy else NAMED) for name, options in questions.items()
    }
    bodies = {name: unpack(body) for name, cache_key in keys.items() if (body := cache.get(stored, *cache_key))}
    if len(bodies) == len(questions):
        return bodies
    from concurrent.futures import ThreadPoolExecutor

    from ..model.session import Session
    from ..runtime.executors import executor

    with closing(executor(args.executor)) as workers, ThreadPoolExecutor(1) as decoder:
        session = Session(stored, executor=workers)
        if len(stored.hosts) == 1:
            # Decoded while the analyses are imported; any problem is raised again where the host is used.
            decoder.submit(session.select)
        from .. import tools

        for name, options in questions.items():
            if name not in bodies:
                tool = tools.get(name)
                answer = _answering_function(tool, legacy)(session, args.host, **options)
                bodies[name] = to_json(answer if legacy else translated(answer))
                if cache.enabled and not (tool.streamed or session.unreadable):
                    cache.put(stored, pack(bodies[name]), *keys[name])
    return bodies


def _answering_function(tool: Tool, legacy: bool) -> Callable[..., object]:
    """The function that answers: the tool's, or that for the shape of the existing plugin."""
    if not legacy:
        return tool.run
    from .. import compat

    return partial(compat.answer, tool)


def json_line(data: object) -> str:
    """Plain data as a line of JSON."""
    import json

    return f"{json.dumps(data, allow_nan=False)}\n"


def write_as(args: argparse.Namespace, **formats: Callable[[], str]) -> None:
    """Write the text of the format in ``--format`` to ``--out``."""
    write(args.out, formats[args.format]())


def write(path: Path | None, text: str) -> None:
    """Write a text to that file or standard output; raises `ProblemError` where it cannot be written."""
    with output(path) as file:
        file.write(text.encode("utf-8", "replace"))


@contextmanager
def output(path: Path | None) -> Iterator[BinaryIO]:
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
