"""The command ``tb-profile``: 0 for an answer, 1 for a problem (told on stderr), 2 for a wrong call.

Verbs that judge end with codes of their own, see `budgets`.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import io
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from ..runtime.messages import ENGLISH, Message, best_language, localized, translated, use_language
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import JOIN, LANGUAGE, MEMORY_LIMIT, read
from ..runtime.terminal import Parser, log_to_stderr, padded, say, translate_argparse, warn
from ..runtime.version import __version__
from . import (
    answers,
    check_command,
    compare_command,
    completion,
    export_commands,
    hang_command,
    options,
    output,
    sql_command,
)

logger = logging.getLogger(__name__)

_USAGE_CODES = frozenset(
    "usage unknown_tool unknown_option bad_option bad_address bad_run no_table bad_query bad_config".split()
)
"""Codes of problems with the call itself, which end with exit code 2."""
_PROGRAM_FORMATS = frozenset({"json", "named", "csv", "xprof", "legacy", "sarif", "junit"})
"""Formats that programs read, whose texts are English by default."""
_DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LEGACY_FORMATS = ("xprof", "legacy")
"""Two words for the existing plugin's format; scripts written before 0.2 use the second."""


def run() -> NoReturn:
    """Run `main` as a process, which ends without taking its memory apart: that is a tenth of a small answer's time."""
    codes: list[int] = []
    # Registered first, it runs last: threads, workers' pools and temporary folders have ended in order by then.
    atexit.register(_leave, codes)
    codes.append(main())
    sys.exit(codes[0])


def _leave(codes: list[int]) -> None:
    """End the process at once with the code, if there is one and all that was printed could be written."""
    with suppress(OSError, ValueError):
        for code in codes:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code."""
    # numpy's OpenBLAS starts a thread for each processor when it is imported; nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Most objects live until the answer, and then the process ends: garbage is collected seldom.
    gc.set_threshold(200_000)
    if sys.stdout is None or sys.stderr is None:
        # Closed by the caller with `>&-`: then output is dropped.
        sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))
    log_to_stderr()
    translate_argparse()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A console that lacks a character shows a replacement, instead of an error.
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    with use_language(_language(_language_option(words))):
        args = _parser().parse_args(words)
    with use_language(_language(getattr(args, "lang", ""), getattr(args, "format", ""))):
        return _exit_code(args)


def _language_option(words: Sequence[str]) -> str:
    """The value of ``--lang`` anywhere in the call, since help and errors are printed before it is parsed."""
    code = ""
    for word, next_word in pairwise([*words, ""]):
        if word == "--lang":
            code = next_word
        elif word.startswith("--lang="):
            code = word.removeprefix("--lang=")
    return code


def _language(option: str, output_format: str = "") -> str:
    """The language asked for; else English for formats that programs read, and the system's language on terminals."""
    if option:
        return option
    if output_format in _PROGRAM_FORMATS:
        return ENGLISH
    names = [read(LANGUAGE)]
    if sys.stdout.isatty():
        names += [read(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    return best_language([name for name in names if name][:1])


def _exit_code(args: argparse.Namespace) -> int:
    try:
        if getattr(args, "memory_limit", 0):
            # In the environment, where the processes of an executor find it, too.
            os.environ[MEMORY_LIMIT] = str(args.memory_limit)
        if getattr(args, "join", ""):
            os.environ[JOIN] = args.join
        code: int | None = args.verb(args)
        sys.stdout.flush()
    except ProblemError as error:
        warn(f"tb-profile: {error.problem}")
        return 2 if error.problem.code in _USAGE_CODES else 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader, e.g. head, has enough; the interpreter's own flush at exit must not complain either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        elif error.filename is None and error.errno in _DISK_FULL_ERRORS:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            text = localized(
                "Standard output cannot be written: {reason}. Free some space, or write elsewhere.",
                reason=str(error.strerror),
            )
            warn(f"tb-profile: {text}")
        else:
            warn(f"tb-profile: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception:
        logger.exception("This is a bug in tb-profile; please report it.")
        return 1
    return code or 0


def _parser() -> Parser:
    return Parser(
        _declare_verbs, prog="tb-profile", description="Analyze profiler captures of TensorFlow, JAX and PyTorch."
    )


def _declare_verbs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = parser.add_subparsers(title=localized("verbs"), metavar="VERB", required=True)

    verbs.add_parser("serve", help="serve the pages of a logdir without TensorBoard", options=_serve_options)
    verbs.add_parser(
        "capture", help="capture running programs through their profiler servers", options=_capture_options
    )
    verbs.add_parser("doctor", help="check what prevents captures on this machine", options=_doctor_options)
    verbs.add_parser("sessions", help="list the sessions of a logdir, newest first", options=_sessions_options)
    verbs.add_parser("tools", help="list the tools and whether they have data for a session", options=_tools_options)
    verbs.add_parser("tool", help="print the answer of a tool as JSON", options=_tool_options)
    verbs.add_parser("why", help="explain step time and what would shorten it", options=_why_options)
    compare_command.add(verbs)
    check_command.add(verbs)
    hang_command.add(verbs)
    sql_command.add(verbs)
    export_commands.add(verbs)
    verbs.add_parser("cache", help="show the size of the cache, or clear it", options=_cache_options)
    completion.add(parser, verbs)


def _serve_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("logdir", metavar="LOGDIR", help="folder of captures, or name:path,name:path for several")
    verb.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    verb.add_argument(
        "--port", type=options.port, default=6007, help="port to listen on; 0 picks a free one (default: %(default)s)"
    )
    verb.add_argument("--hide-capture", action="store_true", help="hide the page's capture dialog")
    verb.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="also answer requests under this host name, e.g. a proxy's; repeatable",
    )
    options.add_work(verb)
    options.add_join(verb)
    verb.set_defaults(verb=_serve)


def _capture_options(verb: argparse.ArgumentParser) -> None:
    from ..capture import cli

    cli.declare(verb)


def _doctor_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("target", metavar="LOGDIR|ADDRESS", nargs="?", help="logdir or profiler servers to check as well")
    verb.set_defaults(verb=_doctor)


def _sessions_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("logdir", metavar="LOGDIR", help="folder of captures, or name:path,name:path for several")
    verb.set_defaults(verb=_sessions)


def _tools_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.set_defaults(verb=_tools)


def _tool_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", metavar="NAME", help="name of a tool, as `tb-profile tools` lists it")
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.add_argument("--host", default="", help="show only this host of the session (default: all, or the first)")
    verb.add_argument(
        "-o",
        dest="options",
        metavar="KEY=VALUE",
        action="append",
        type=_option,
        default=[],
        help="option of the tool; repeatable",
    )
    verb.add_argument(
        "--format",
        choices=("named", "csv", "xprof", "legacy"),
        default="named",
        help="named: tables and facts; csv: one table; xprof: the format of the xprof plugin (default: %(default)s)",
    )
    verb.add_argument("--table", default="", help="table for csv (default: the first)")
    verb.add_argument("--out", metavar="FILE", type=Path, help="write to this file instead of standard output")
    options.add_work(verb)
    verb.set_defaults(verb=_tool)


def _why_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.add_argument("--host", default="", help="show only this host of the session (default: all)")
    verb.add_argument("--op", default="", help="estimate the step time if this op took another time")
    verb.add_argument("--factor", type=float, default=0.5, help="factor for the time of --op (default: %(default)s)")
    options.add_output(verb, "text", "markdown", "json")
    options.add_steps(verb)
    verb.set_defaults(verb=_why)


def _cache_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", choices=("show", "clear"))
    verb.set_defaults(verb=_cache)


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(
            localized("{text} is not of the form {form}", text=repr(text), form="KEY=VALUE")
        )
    return key, value


def _serve(args: argparse.Namespace) -> None:
    from ..serve.standalone import BindAddress, serve

    address = BindAddress(args.host, args.port, args.allow_host)
    serve(args.logdir, address, say, args.hide_capture, not args.no_cache, args.executor)


def _doctor(args: argparse.Namespace) -> None:
    from ..capture import doctor
    from ..store import Logdir

    problems = doctor.machine_findings()
    target = args.target
    if target and ":" in target and not os.path.exists(target) and "/" not in target.removeprefix("grpc://"):
        problems += doctor.server_findings(target)
    elif target:
        survey = Logdir(target).survey()
        problems += doctor.logdir_findings(survey.searched, survey.captures, survey.event_files, survey.near_misses)
    marks = {"info": Message("ok"), "warning": Message("note"), "error": Message("BAD")}
    for problem in problems:
        say(f"{padded(translated(marks[problem.severity]), 4)}  {problem}")
    bad = sum(problem.severity == "error" for problem in problems)
    if bad:
        raise problem_error(
            "doctor",
            Message("{bad} of {count} checks failed.", bad=bad, count=len(problems)),
            Message("Follow the remedies above."),
        )


def _sessions(args: argparse.Namespace) -> None:
    from ..store import Logdir

    survey = Logdir(args.logdir).survey()
    for stored in survey.sessions:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(stored.modified))
        parts = " " + localized("of {parts}", parts=", ".join(stored.parts)) if stored.parts else ""
        say(f"{when}  {stored.size / 1e6:9.2f} MB  {stored.name}  ({', '.join(stored.hosts)}){parts}")
    if not survey.sessions:
        for miss in survey.near_misses:
            path, _, reason = miss.partition(": ")
            if path in survey.searched:
                raise problem_error(
                    "no_logdir",
                    Message("The folder cannot be searched: {reason}.", reason=reason),
                    Message("Name a folder."),
                    path,
                )
        warn(Message("No sessions in {searched}.", searched=", ".join(survey.searched)))
        for miss in survey.near_misses:
            warn(f"  {miss}")


def _tools(args: argparse.Namespace) -> None:
    stored = answers.stored_session(args.session)
    from .. import tools
    from ..api import Capture

    session, needs = Capture(stored), tools.precheck()
    for tool in tools.all_tools().values():
        unavailable = tool.unavailable(session, needs)
        say(f"{tool.name}: {localized(tool.doc or tool.title).splitlines()[0]}")
        for param in tool.params:
            choices = f" ({', '.join(param.choices)})" if param.choices else ""
            say(f"    -o {param.name}={param.default}  {localized(param.doc)}{choices}")
        if unavailable:
            say(f"    {localized('nothing to show: {problem}', problem=str(unavailable))}")


def _why(args: argparse.Namespace) -> None:
    if args.op:
        _why_scaled(args)
        return
    from ..export.report import why

    steps = {name: value for name in ("steps", "step_event") if (value := getattr(args, name))}
    answer = answers.answer_data(answers.stored_session(args.session), args, {"why": steps})["why"]
    output.write_as(
        args,
        text=lambda: f"{why.text(answer)}\n",
        markdown=lambda: why.markdown(answer),
        json=lambda: output.json_line(why.as_json(answer)),
    )


def _why_scaled(args: argparse.Namespace) -> None:
    stored = answers.stored_session(args.session)
    from ..api import Capture

    scaled = Capture(stored).scaled(
        args.op, args.factor, args.host, steps=args.steps or "typical", step_event=args.step_event
    )
    is_json = args.format == "json"
    output.write(args.out, output.json_line(scaled.as_json()) if is_json else f"{translated(scaled.sentence.text)}\n")


def _tool(args: argparse.Namespace) -> None:
    if any(name == "host" for name, _ in args.options):
        raise problem_error("unknown_option", "The host is not an option of the tool.", "Name it with --host.")
    tool_options, stored = {args.name: dict(args.options)}, answers.stored_session(args.session)
    if args.format == "csv":
        output.write(args.out, _csv(answers.answer_data(stored, args, tool_options)[args.name], args.table))
        return
    body = answers.answer_bodies(stored, args, tool_options, args.format in _LEGACY_FORMATS)[args.name]
    with output.open_output(args.out) as file:
        file.write(body + b"\n")


def _csv(answer: Any, name: str) -> str:
    """A table of an answer as CSV, the first by default; raises `ProblemError` where there is no such table."""
    from ..tools.answers import csv
    from ..tools.answers.answer import table_id

    tables = answer.get("tables", {}) if isinstance(answer, dict) else {}
    return "".join(csv.table_lines(tables[table_id(tables, name)]))


def _cache(args: argparse.Namespace) -> None:
    from ..store import cache

    if args.action == "clear":
        say(Message("Deleted {megabytes} MB.", megabytes=f"{cache.clear() / 1e6:.1f}"))
        return
    labels = {"files": Message("downloaded captures"), "results": Message("results of tools")}
    say(Message("{folder}, at most {size}:", folder=str(cache.folder()), size=f"{cache.limit() / 2**30:.1f} GiB"))
    for kind, (count, size) in cache.usage().items():
        say(f"{count:8} {localized('{what}, {megabytes} MB', what=labels[kind], megabytes=f'{size / 1e6:.1f}')}")


if __name__ == "__main__":
    sys.exit(main())
