"""The verb ``hang``: which rank holds the others up, from dumps of all ranks."""

from __future__ import annotations

import argparse
from typing import Any

from ..runtime.terminal import warn
from .options import add_output
from .output import json_line, write_as

_EXIT_CODES = {"nothing": 0, "hang": 3, "not_judged": 4}
"""By outcome; 1 and 2 are those of all verbs."""


def add(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verbs.add_parser(
        "hang",
        help="find the rank that blocks the others, from dumps of PyTorch's flight recorder",
        epilog="Exit codes: 0 nothing found, 1 no dump can be read, 3 ranks diverge or wait, 4 dumps are missing.",
        options=_options,
    )


def _options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("folder", metavar="DIR", help="folder with the dumps of all ranks, e.g. nccl_trace_rank_0")
    add_output(verb, "text", "markdown", "html", "json")
    verb.set_defaults(verb=_hang)


def _hang(args: argparse.Namespace) -> int:
    from ..export.report import hang, hang_page
    from ..store import Logdir

    profiles = [session.name for session in Logdir(args.folder).survey().sessions]
    analysis = hang.analysis_of(args.folder, args.folder, profiles)
    write_as(
        args,
        text=lambda: hang.text(analysis),
        markdown=lambda: hang.markdown(analysis),
        html=lambda: hang_page.page(analysis),
        json=lambda: json_line(hang.as_json(analysis)),
    )
    for problem in analysis.problems:
        warn(problem)
    return _EXIT_CODES[analysis.verdict.outcome]
