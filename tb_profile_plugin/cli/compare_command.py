"""The verbs ``compare`` and ``trend``, and ``hang``: which rank holds the others up, from dumps of all ranks."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ..budgets.sides import digest_of_source, share, sides
from ..runtime.messages import Message, localized
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import DEFAULT_THRESHOLD
from ..runtime.terminal import warn
from . import check_command
from .options import add_output, add_steps, count
from .output import json_line, write_as

if TYPE_CHECKING:
    from ..analysis.digest.record import Digest

_HANG_EXIT_CODES = {"nothing": 0, "hang": 3, "not_judged": 4}
"""Exit codes of ``hang`` by outcome; 1 and 2 are those of all verbs."""


def add(verbs: Any) -> None:
    """Add the verbs to the command's parser."""
    verbs.add_parser(
        "compare", help="compare two sides: which is faster, by how much, and why", options=_compare_options
    )
    verbs.add_parser("trend", help="find out since when steps are slower in a logdir, and why", options=_trend_options)
    check_command.add(verbs)
    verbs.add_parser(
        "hang",
        help="find the rank that blocks the others, from dumps of PyTorch's flight recorder",
        epilog="Exit codes: 0 nothing found, 1 no dump can be read, 3 ranks diverge or wait, 4 dumps are missing.",
        options=_hang_options,
    )


def _compare_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "sessions",
        metavar="SESSION",
        nargs="*",
        help="base and new: logdir (its newest session), run folder, capture, digest or report; "
        "#steps=10-40 chooses steps",
    )
    verb.add_argument("--base", metavar="SESSION", nargs="+", default=[], help="captures of the base")
    verb.add_argument("--new", metavar="SESSION", nargs="+", default=[], help="captures of the new side")
    verb.add_argument(
        "--items", metavar="A=N,B=M", type=_items, default=(1, 1), help="items per step of both sides, e.g. batch sizes"
    )
    verb.add_argument(
        "--top", metavar="N", type=count, default=15, help="number of ops in text output (default: %(default)s)"
    )
    _verdict_options(verb)
    verb.set_defaults(verb=_compare)


def _verdict_options(verb: argparse.ArgumentParser) -> None:
    """What counts as a change, which steps are read how, and where the verdict goes."""
    verb.add_argument(
        "--threshold",
        metavar="SHARE",
        type=share,
        default=DEFAULT_THRESHOLD,
        help="smallest change that matters (default: 1%%)",
    )
    add_output(verb, "text", "markdown", "json")
    add_steps(verb)


def _trend_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("logdir", metavar="LOGDIR", help="folder of captures, or name:path,name:path for several")
    verb.add_argument("--match", metavar="GLOB", default="*", help="pattern of session names (default: all)")
    _verdict_options(verb)
    verb.set_defaults(verb=_trend)


def _hang_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("folder", metavar="DIR", help="folder with the dumps of all ranks, e.g. nccl_trace_rank_0")
    add_output(verb, "text", "markdown", "html", "json")
    verb.set_defaults(verb=_hang)


def _items(text: str) -> tuple[int, int]:
    """Items per step of base and new side from ``A=256,B=512``, in any order, 1 for what is not named."""
    items = {"A": 1, "B": 1}
    seen_sides = set()
    for part in text.upper().split(","):
        side, _, number = part.partition("=")
        try:
            items[side] = int(number)
        except ValueError as error:
            raise _items_error(text) from error
        if side in seen_sides:
            raise _items_error(text)
        seen_sides.add(side)
    if len(items) > 2 or min(items.values()) < 1:
        raise _items_error(text)
    return items["A"], items["B"]


def _items_error(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        localized("{text} is not of the form {form}", text=repr(text), form="A=256,B=512")
    )


def _compare(args: argparse.Namespace) -> int:
    from ..analysis.compare.engine import compare
    from ..analysis.compare.verdict import verdict
    from ..export.report import compare as report

    if bool(args.sessions) == bool(args.base or args.new) or (args.sessions and len(args.sessions) != 2):
        raise problem_error("usage", "Name two sessions, or some with --base and some with --new.")
    if not args.sessions and not (args.base and args.new):
        raise problem_error("usage", "Name sessions with --base and with --new.")
    paths = (args.base, args.new) if args.base else ([args.sessions[0]], [args.sessions[1]])
    base, new = sides(args, paths, args.items)
    comparison = compare(base, new)
    judgement = verdict(comparison, args.threshold)
    write_as(
        args,
        text=lambda: report.text(comparison, judgement, args.top),
        markdown=lambda: report.markdown(comparison, judgement),
        json=lambda: json_line(report.as_json(comparison, judgement)),
    )
    return 0


def _trend(args: argparse.Namespace) -> int:
    from ..analysis.compare.trend import trends
    from ..export.report import trend as report

    program_trends = trends(_digests(args), args.match == "*", args.threshold)
    write_as(
        args,
        text=lambda: report.text(program_trends),
        markdown=lambda: report.markdown(program_trends),
        json=lambda: json_line(report.as_json(program_trends)),
    )
    return 0


def _digests(args: argparse.Namespace) -> list[tuple[str, Digest]]:
    from ..analysis.compare.load import Source
    from ..store import Logdir
    from ..store.result_cache import ResultCache

    cache = ResultCache(not args.no_cache)
    sessions = [
        session for session in reversed(Logdir(args.logdir).survey().sessions) if fnmatchcase(session.name, args.match)
    ]
    if not sessions:
        message = (
            Message("There is no session here.") if args.match == "*" else Message("No session matches this pattern.")
        )
        raise problem_error("no_sessions", message, where=args.logdir, status=404)
    digests = []
    for stored in sessions:
        source = Source(stored.name, stored, None, "", args.step_event, args.steps or "typical")
        try:
            digests.append((stored.name, digest_of_source(source, cache, args.executor)))
        except ProblemError as error:
            warn(Message("Left out {session}: {problem}", session=stored.name, problem=str(error.problem)))
    if not digests:
        raise problem_error("no_sessions", "No session can be read.", where=args.logdir)
    return digests


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
    return _HANG_EXIT_CODES[analysis.verdict.outcome]
