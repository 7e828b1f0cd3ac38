"""The verbs that hand on what was found: a summary, a report, answers to assistants, and the guide to reading them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..runtime.problems import Problem, ProblemError
from ..runtime.terminal import say, warn
from .guide import GUIDE
from .shared import SESSION, add_executor, add_key, add_memory_limit, answers, output, size, stored_at


def add(verbs: Any) -> None:
    """Add the verbs to those of ``tb-profile``."""
    verbs.add_parser(
        "summary",
        help="the most important about a session on a page, for a ticket or an assistant",
        options=_summary_options,
    )
    verbs.add_parser(
        "report",
        help="write the pages of a session into one HTML file, redacted, for a colleague",
        options=_report_options,
    )
    verbs.add_parser(
        "export", help="write the whole trace for ui.perfetto.dev or chrome://tracing", options=_export_options
    )
    verbs.add_parser(
        "mcp",
        help="answer an assistant about the sessions of a logdir: MCP on standard input and output",
        options=_mcp_options,
    )
    verbs.add_parser(
        "guide", help="how to read what tb-profile says, for people and assistants", options=_guide_options
    )
    verbs.add_parser("skill", help="install the guide as a skill for assistants", options=_skill_options)


def _summary_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=SESSION)
    verb.add_argument("--host", default="", help="only this host of the session (default: all)")
    verb.add_argument("--format", choices=("markdown", "json"), default="markdown", help="default: %(default)s")
    verb.add_argument("--budget", type=_tokens, default=2000, help="tokens of Markdown at most (default: %(default)s)")
    verb.add_argument("--out", metavar="FILE", type=Path, help="write there instead of to standard output")
    verb.add_argument("--no-cache", action="store_true", help="neither use nor keep earlier results")
    add_memory_limit(verb)
    add_executor(verb)
    verb.set_defaults(verb=_summary)


def _report_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=SESSION)
    verb.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file to write, e.g. report.html")
    verb.add_argument(
        "--base", metavar="BASE", default="", help="a session from before, for a report of before and after"
    )
    verb.add_argument("--as-is", action="store_true", help="with names of hosts and users, addresses and sources")
    add_key(verb)
    verb.add_argument("--title", default="", help="what stands above all, as it is given")
    verb.add_argument("--notes", metavar="FILE", type=Path, help="a text that stands below the title, as it is")
    verb.add_argument("--max-size", metavar="SIZE", type=size, default=4_000_000, help="of what it holds (default: 4M)")
    add_memory_limit(verb)
    verb.set_defaults(verb=_report)


def _export_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("session", metavar="SESSION", help=SESSION)
    verb.add_argument(
        "--format",
        choices=("chrome", "perfetto", "xplane"),
        default="chrome",
        help="xplane is the capture itself as its file is, of one host; default: %(default)s (JSON)",
    )
    verb.add_argument("--host", default="", help="only this host of the session (default: all)")
    verb.add_argument(
        "--redact",
        action="store_true",
        help="for strangers: words other than those of frameworks, compilers and kernels become pseudonyms",
    )
    add_key(verb)
    verb.add_argument("--out", metavar="FILE", type=Path, help="write there instead of to standard output")
    add_memory_limit(verb)
    verb.set_defaults(verb=_export)


def _mcp_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("logdir", metavar="LOGDIR", help="a folder, or name:path,name:path for several")
    verb.add_argument("--sql", action="store_true", help="let it ask with SQL, too")
    add_memory_limit(verb)
    verb.set_defaults(verb=_mcp)


def _guide_options(verb: argparse.ArgumentParser) -> None:
    verb.set_defaults(verb=_guide)


def _skill_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", choices=("install", "show"))
    verb.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        default=Path(".claude", "skills"),
        help="the assistant's folder of skills (default: %(default)s)",
    )
    verb.set_defaults(verb=_skill)


def _tokens(text: str) -> int:
    if not (text.isdecimal() and 100 <= int(text) <= 100_000):
        raise argparse.ArgumentTypeError(f"{text} is no budget: give 100 to 100000")
    return int(text)


def _summary(asked: argparse.Namespace) -> None:
    from ..export.report import summary

    stored = stored_at(asked.session)
    found = summary.summary(stored.name, answers(stored, asked, {name: {} for name in summary.QUESTIONS}))
    written = {
        "markdown": lambda: summary.markdown(found, asked.budget),
        "json": lambda: f"{json.dumps(found, allow_nan=False)}\n",
    }
    with output(asked.out) as file:
        file.write(written[asked.format]().encode("utf-8", "replace"))


def _report(asked: argparse.Namespace) -> None:
    if asked.key and asked.as_is:
        raise ProblemError(Problem("usage", "What is as it is has no key.", "Leave out --as-is, or --key."))
    stored = [stored_at(each) for each in (asked.session, asked.base) if each]
    from ..api import Capture
    from ..export.share import kept_names
    from ..serve.report import report

    notes = asked.notes.read_text(encoding="utf-8", errors="replace") if asked.notes else ""
    session, *base = sessions = [Capture(each) for each in stored]
    names = kept_names(sessions, asked.key) if asked.key else None
    made = report(session, asked.as_is, asked.max_size, asked.title, notes, names, *base)
    with output(asked.out) as file:
        file.write(made.html.encode("utf-8", "replace"))
    if names:
        names.write(asked.key)
    redacted = "Not redacted: names of hosts, users and files are in it." if asked.as_is else "Redacted."
    say(f"{asked.out}: {asked.out.stat().st_size / 1e6:.1f} MB. {redacted} It holds: {', '.join(made.titles)}.")
    if made.left_out:
        warn(f"Left out, because they are large: {', '.join(made.left_out)}. --max-size allows more.")


def _export(asked: argparse.Namespace) -> None:
    if asked.format != "chrome" and not asked.out and sys.stdout.isatty():
        remedy = "Name a file with --out, or let another program read it."
        raise ProblemError(Problem("binary", f"A terminal cannot show {asked.format}.", remedy))
    if asked.key and not asked.redact:
        raise ProblemError(Problem("usage", "Without --redact there is no key.", "Add --redact, or leave --key out."))
    stored = stored_at(asked.session)
    from ..api import Capture
    from ..export import share
    from ..timeline import chrome, perfetto

    session = Capture(stored)
    names = share.kept_names([session], asked.key) if asked.key else None
    trace: Iterable[bytes | memoryview]
    if asked.format == "xplane":
        trace = [share.capture(session, asked.host, asked.redact, names)]
    else:
        hosts = share.redacted(session, asked.host, names) if asked.redact else session.each(asked.host)
        trace = perfetto.pieces(hosts) if asked.format == "perfetto" else map(str.encode, chrome.pieces(hosts))
    with output(asked.out) as file:
        file.writelines(trace)
    if names:
        names.write(asked.key)


def _mcp(asked: argparse.Namespace) -> None:
    if find_spec("mcp") is None:
        remedy = "pip install 'tb-profile-plugin[mcp]'"
        raise ProblemError(Problem("no_mcp", "The package for the Model Context Protocol is not installed.", remedy))
    from . import mcp_server

    mcp_server.serve(asked.logdir, asked.sql)


def _guide(asked: argparse.Namespace) -> None:
    with output(None) as file:
        file.write(GUIDE.read_bytes())


_SKILL = """\
---
name: tb-profile
description: Says why training or inference steps of TensorFlow, JAX or PyTorch are slow, what would help, and \
whether a change made them faster, from profiler captures (*.xplane.pb, *.pt.trace.json). Use it where such captures, \
a TensorBoard logdir with profiles, or slow steps are spoken of.
---

"""
"""What assistants read before they choose it; the rest is the guide."""


def _skill(asked: argparse.Namespace) -> None:
    text = _SKILL.encode() + GUIDE.read_bytes()
    if asked.action == "show":
        with output(None) as file:
            file.write(text)
        return
    place = asked.folder / "tb-profile" / "SKILL.md"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = Problem(
            "unwritable", f"It cannot be made: {error.strerror}.", "Name another folder.", str(place.parent)
        )
        raise ProblemError(problem) from error
    with output(place) as file:
        file.write(text)
    say(f"Wrote {place}")
