"""The verbs that hand on results: ``summary``, ``report``, ``export`` and ``mcp``; `guide_command` has two more."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime.messages import Message, listed, localized
from ..runtime.problems import problem_error
from ..runtime.terminal import say, warn
from . import answers, guide_command, options, output

if TYPE_CHECKING:
    from ..model.host import Host

_CALL_FORMATS = ("collapsed", "speedscope", "pprof")
"""Formats of merged calls."""
_TEXT_FORMATS = ("chrome", "collapsed", "speedscope")
"""Formats that a terminal shows."""


def add(verbs: Any) -> None:
    """Add the verbs to those of ``tb-profile``."""
    verbs.add_parser(
        "summary", help="summarize a session on one page, for a ticket or an assistant", options=_summary_options
    )
    verbs.add_parser("report", help="write a session's pages to one redacted HTML file", options=_report_options)
    verbs.add_parser("export", help="export the trace for ui.perfetto.dev or chrome://tracing", options=_export_options)
    verbs.add_parser(
        "mcp", help="serve a logdir's sessions to an assistant: MCP on standard input and output", options=_mcp_options
    )
    verbs.add_parser(
        "guide",
        help="print a guide to tb-profile's figures, for people and assistants",
        options=guide_command.declare_guide,
    )
    verbs.add_parser("skill", help="install the guide as a skill for assistants", options=guide_command.declare_skill)


def _summary_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.add_argument("--host", default="", help="show only this host of the session (default: all)")
    options.add_output(verb, "markdown", "json")
    verb.add_argument(
        "--budget", type=_token_budget, default=2000, help="maximum length in Markdown tokens (default: %(default)s)"
    )
    options.add_work(verb)
    verb.set_defaults(verb=_summary)


def _report_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write, e.g. report.html")
    verb.add_argument("--base", metavar="BASE", default="", help="earlier session, for a before/after report")
    verb.add_argument("--as-is", action="store_true", help="do not redact: keep names of hosts, users and sources")
    options.add_key(verb)
    verb.add_argument("--title", default="", help="title of the report, which is not redacted")
    verb.add_argument("--notes", metavar="FILE", type=Path, help="text to put below the title, which is not redacted")
    verb.add_argument(
        "--max-size",
        metavar="SIZE",
        type=options.size,
        default=4_000_000,
        help="maximum size of the report's data (default: 4M)",
    )
    options.add_memory_limit(verb)
    verb.set_defaults(verb=_report)


def _export_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=options.SESSION)
    verb.add_argument(
        "--format",
        choices=("chrome", "perfetto", "xplane", *_CALL_FORMATS),
        default="chrome",
        help="output format; xplane is the capture file of one host; collapsed, speedscope and pprof hold the calls of "
        "all threads, merged for flame graphs (default: %(default)s, JSON)",
    )
    verb.add_argument(
        "--weight",
        choices=("time", "device", "idle", "bytes"),
        default="time",
        help="for flame graphs: weigh calls by time, device time launched, idle time caused or bytes allocated "
        "(default: %(default)s)",
    )
    verb.add_argument("--host", default="", help="show only this host of the session (default: all)")
    verb.add_argument(
        "--redact",
        action="store_true",
        help="replace words by pseudonyms, except words of frameworks, compilers and kernels",
    )
    options.add_key(verb)
    verb.add_argument("--out", metavar="FILE", type=Path, help="write to this file instead of standard output")
    options.add_memory_limit(verb)
    verb.set_defaults(verb=_export)


def _mcp_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("logdir", metavar="LOGDIR", help="folder of captures, or name:path,name:path for several")
    verb.add_argument("--sql", action="store_true", help="allow SQL queries")
    options.add_memory_limit(verb)
    verb.set_defaults(verb=_mcp)


def _token_budget(text: str) -> int:
    if not (text.isdecimal() and 100 <= int(text) <= 100_000):
        raise argparse.ArgumentTypeError(localized("{text} is not a valid budget: use 100 to 100000", text=text))
    return int(text)


def _summary(args: argparse.Namespace) -> None:
    from ..export.report import summary

    stored = answers.stored_session(args.session)
    content = summary.summary(stored.name, answers.answer_data(stored, args, {name: {} for name in summary.TOOLS}))
    output.write_as(
        args, markdown=lambda: summary.markdown(content, args.budget), json=lambda: output.json_line(content)
    )


def _report(args: argparse.Namespace) -> None:
    if args.key and args.as_is:
        raise problem_error("usage", "--key needs a redacted report.", "Leave out --as-is or --key.")
    stored_sessions = [answers.stored_session(path) for path in (args.session, args.base) if path]
    from ..api import Capture
    from ..export.share import shared_pseudonyms
    from ..serve.report import report

    notes = args.notes.read_text(encoding="utf-8", errors="replace") if args.notes else ""
    session, *base = sessions = [Capture(stored_session) for stored_session in stored_sessions]
    pseudonyms = shared_pseudonyms(sessions, args.key) if args.key else None
    report_page = report(
        session,
        as_is=args.as_is,
        most_bytes=args.max_size,
        title=args.title,
        notes=notes,
        pseudonyms=pseudonyms,
        base=base[0] if base else None,
    )
    output.write(args.out, report_page.html)
    if pseudonyms:
        pseudonyms.write(args.key)
    redacted = (
        Message("Not redacted: it contains names of hosts, users and files.") if args.as_is else Message("Redacted.")
    )
    say(
        Message(
            "{file}: {megabytes} MB. {redacted} Pages: {titles}.",
            file=args.out,
            megabytes=f"{args.out.stat().st_size / 1e6:.1f}",
            redacted=redacted,
            titles=listed(report_page.titles),
        )
    )
    if report_page.left_out:
        warn(
            Message(
                "Left out because of their size: {titles}. Raise --max-size to include them.",
                titles=listed(report_page.left_out),
            )
        )


def _export(args: argparse.Namespace) -> None:
    if args.format not in _TEXT_FORMATS and not args.out and sys.stdout.isatty():
        remedy = Message("Name a file with --out, or pipe the output into another program.")
        raise problem_error("binary", Message("A terminal cannot display {format}.", format=args.format), remedy)
    if args.key and not args.redact:
        raise problem_error("usage", "--key needs --redact.", "Add --redact, or leave out --key.")
    stored = answers.stored_session(args.session)
    from ..api import Capture
    from ..export import share
    from ..timeline import chrome, one_clock, perfetto

    session = Capture(stored)
    pseudonyms = share.shared_pseudonyms([session], args.key) if args.key else None
    trace: Iterable[bytes | memoryview]
    if args.format == "xplane":
        trace = [share.capture(session, args.host, args.redact, pseudonyms)]
    else:
        hosts = share.redacted_hosts(session, args.host, pseudonyms) if args.redact else session.host_by_host(args.host)
        if args.format in _CALL_FORMATS:
            trace = [_merged_calls(args, session.name, hosts)]
        else:
            shifts = one_clock.shifts(session, args.host)
            if args.redact:
                shifts = {share.alias(session, name): shift_ps for name, shift_ps in shifts.items()}
            if args.format == "perfetto":
                trace = perfetto.pieces(hosts, shifts)
            else:
                trace = map(str.encode, chrome.pieces(hosts, shifts=shifts))
    with output.open_output(args.out) as file:
        file.writelines(trace)
    if pseudonyms:
        pseudonyms.write(args.key)


def _merged_calls(args: argparse.Namespace, title: str, hosts: Iterable[Host]) -> bytes:
    """The hosts' calls, merged, in one of `_CALL_FORMATS`; raises `ProblemError` where none has the weight."""
    from ..analysis.call_tree import combined_tree
    from ..export.call_trees import FORMATS, WeightedTree
    from ..timeline.calls import WEIGHTS, calls_of_threads

    tree = combined_tree([calls_of_threads(host, args.weight) for host in hosts])
    weight = WEIGHTS[args.weight]
    if not len(tree):
        text = Message("{weight} was not recorded.", weight=weight.label)
        raise problem_error("nothing_weighed", text, Message("Choose another --weight, such as time."))
    return FORMATS[args.format].write(WeightedTree(tree, title, *weight))


def _mcp(args: argparse.Namespace) -> None:
    if find_spec("mcp") is None:
        remedy = "pip install 'tb-profile-plugin[mcp]'"
        raise problem_error("no_mcp", "The package for the Model Context Protocol is not installed.", remedy)
    from . import mcp_server

    mcp_server.serve(args.logdir, with_sql=args.sql)
