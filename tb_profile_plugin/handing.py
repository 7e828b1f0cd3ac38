"""The verbs that hand on what was found: a summary, and the guide that says how to read it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .asking import SESSION, add_executor, add_memory_limit, answers, output, stored_at

GUIDE = Path(__file__).with_name("docs") / "guide.md"


def add(verbs: Any) -> None:
    """Add the verbs to those of ``tb-profile``."""
    verb = verbs.add_parser(
        "summary", help="the most important about a session on a page, for a ticket or an assistant"
    )
    verb.add_argument("session", metavar="SESSION", help=SESSION)
    verb.add_argument("--host", default="", help="only this host of the session (default: all)")
    verb.add_argument("--format", choices=("markdown", "json"), default="markdown", help="default: %(default)s")
    verb.add_argument("--budget", type=_tokens, default=2000, help="tokens of Markdown at most (default: %(default)s)")
    verb.add_argument("--out", metavar="FILE", type=Path, help="write there instead of to standard output")
    verb.add_argument("--no-cache", action="store_true", help="neither use nor keep earlier results")
    add_memory_limit(verb)
    add_executor(verb)
    verb.set_defaults(verb=_summary)

    verb = verbs.add_parser("guide", help="how to read what tb-profile says, for people and assistants")
    verb.set_defaults(verb=_guide)


def _tokens(text: str) -> int:
    if not (text.isdecimal() and 100 <= int(text) <= 100_000):
        raise argparse.ArgumentTypeError(f"{text} is no budget: give 100 to 100000")
    return int(text)


def _summary(asked: argparse.Namespace) -> None:
    from .report import summary

    stored = stored_at(asked.session)
    found = summary.summary(stored.name, answers(stored, asked, {name: {} for name in summary.QUESTIONS}))
    written = {
        "markdown": lambda: summary.markdown(found, asked.budget),
        "json": lambda: f"{json.dumps(found, allow_nan=False)}\n",
    }
    with output(asked.out) as file:
        file.write(written[asked.format]().encode("utf-8", "replace"))


def _guide(asked: argparse.Namespace) -> None:
    with output(None) as file:
        file.write(GUIDE.read_bytes())
