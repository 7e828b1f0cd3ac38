"""The verb ``hang``: which rank holds the others up, from the flight-recorder dumps of all ranks."""

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
        options=_hang_options,
    )


def _hang_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("folder", metavar="DIR", help="folder with the dumps of all ranks, e.g. nccl_trace_rank_0")
    add_output(verb, "text", "markdown", "html", "json")
    verb.set_defaults(verb=_hang)


def _hang(args: argparse.Namespace) -> int:
    from ..analysis.hang.verdict import judge
    from ..export.report import hang, hang_page
    from ..store import Logdir, flight_recorder_dumps

    read = flight_recorder_dumps.read(args.folder)
    verdict = judge(read.dumps, not read.problems)
    profiles = [session.name for session in Logdir(args.folder).survey().sessions]
    findings = hang.HangAnalysis(args.folder, verdict, read.dumps, read.problems, profiles)
    write_as(
        args,
        text=lambda: hang.text(findings),
        markdown=lambda: hang.markdown(findings),
        html=lambda: hang_page.page(findings),
        json=lambda: json_line(hang.nested(findings)),
    )
    for problem in read.problems:
        warn(problem)
    return _EXIT_CODES[verdict.outcome]
