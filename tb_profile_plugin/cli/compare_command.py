"""The verbs ``compare`` and ``trend``."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ..budgets.sides import digest_of_source, share, sides
from ..runtime.messages import Message, localized
from ..runtime.problems import ProblemError, problem_error
from ..runtime.settings import DEFAULT_THRESHOLD
from ..runtime.terminal import warn
from .options import add_output, add_steps, count
from .output import json_line, write_as

if TYPE_CHECKING:
    from ..analysis.digest.record import Digest


def add(verbs: Any) -> None:
    """Add the verbs to the command's parser."""
    verbs.add_parser(
        "compare", help="compare two sides: which is faster, by how much, and why", options=_compare_options
    )
    verbs.add_parser("trend", help="find out since when steps are slower in a logdir, and why", options=_trend_options)


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


def _items(text: str) -> tuple[int, int]:
    """Items per step of base and new side from ``A=256,B=512``, in any order, 1 for what is not named."""
    pairs = [part.partition("=") for part in text.upper().split(",")]
    try:
        items = {side: int(number) for side, _, number in pairs}
    except ValueError as error:
        raise _items_error(text) from error
    if len(items) < len(pairs) or not items.keys() <= {"A", "B"} or min(items.values()) < 1:
        raise _items_error(text)
    return items.get("A", 1), items.get("B", 1)


def _items_error(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        localized("{text} is not of the form {form}", text=repr(text), form="A=256,B=512")
    )


def _compare(args: argparse.Namespace) -> int:
    from ..analysis.compare.engine import compare
    from ..analysis.compare.verdict import verdict
    from ..export.report import compare as report

    base, new = sides(args, _paths_of_sides(args), args.items)
    comparison = compare(base, new)
    judgement = verdict(comparison, args.threshold)
    write_as(
        args,
        text=lambda: report.text(comparison, judgement, args.top),
        markdown=lambda: report.markdown(comparison, judgement),
        json=lambda: json_line(report.as_json(comparison, judgement)),
    )
    return 0


def _paths_of_sides(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Of the base and of the new side, named by place or by option."""
    by_option = args.base or args.new
    if not by_option and len(args.sessions) == 2:
        base, new = args.sessions
        return [base], [new]
    if args.sessions or not by_option:
        raise problem_error("usage", "Name two sessions, or some with --base and some with --new.")
    if not (args.base and args.new):
        raise problem_error("usage", "Name sessions with --base and with --new.")
    return args.base, args.new


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
    from ..analysis.steps.choice_names import TYPICAL
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
        source = Source(stored.name, stored, digest=None, step_event=args.step_event, steps=args.steps or TYPICAL)
        try:
            digests.append((stored.name, digest_of_source(source, cache, args.executor)))
        except ProblemError as error:
            warn(Message("Left out {session}: {problem}", session=stored.name, problem=str(error.problem)))
    if not digests:
        raise problem_error("no_sessions", "No session can be read.", where=args.logdir, status=404)
    return digests
