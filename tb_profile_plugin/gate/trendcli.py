"""The verb ``trend``: the sessions of a logdir as a history, and where it steps."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..problems import Problem, ProblemError
from ..terminal import out, warn
from .sessions import add_steps, loaded, share

if TYPE_CHECKING:
    from ..analysis.digest.record import Digest


def add(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser("trend", help="look back over a logdir's sessions: since when are steps slower, and why")
    verb.add_argument("logdir", metavar="LOGDIR", help="a folder, or name:path,name:path for several")
    verb.add_argument("--match", metavar="GLOB", default="*", help="only sessions of such names (default: all)")
    verb.add_argument("--threshold", metavar="SHARE", type=share, default=0.01, help="what matters (default: 1%%)")
    verb.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default: %(default)s")
    verb.add_argument("--out", metavar="FILE", type=Path, help="write there instead of to standard output")
    add_steps(verb)
    verb.set_defaults(verb=_trend)


def _trend(asked: argparse.Namespace) -> int:
    from ..compare.trend import trend
    from ..report import trend as report

    found = trend(_alike(_digests(asked)), asked.threshold)
    written: dict[str, Callable[[], str]] = {
        "text": lambda: report.text(found),
        "markdown": lambda: report.markdown(found),
        "json": lambda: f"{json.dumps(report.nested(found), allow_nan=False)}\n",
    }
    with out(asked.out) as file:
        file.write(written[asked.format]().encode("utf-8", "replace"))
    return 0


def _digests(asked: argparse.Namespace) -> list[tuple[str, Digest]]:
    from ..compare.load import Source
    from ..store import Logdir
    from ..store.kept import Kept

    kept = Kept(not asked.no_cache)
    sessions = [each for each in Logdir(asked.logdir).survey().sessions if fnmatchcase(each.name, asked.match)]
    if not sessions:
        raise ProblemError(Problem("no_sessions", "There is no session of such a name.", where=asked.logdir), 404)
    digests = []
    for stored in sessions:
        one = Source(stored.name, stored, None, "", asked.step_event, asked.steps or "typical")
        try:
            digests.append((stored.name, loaded(one, kept, asked.executor)))
        except ProblemError as error:
            warn(f"Left out {stored.name}: {error.problem}")
    if not digests:
        raise ProblemError(Problem("no_sessions", "None of the sessions can be read.", where=asked.logdir))
    return digests


def _alike(digests: list[tuple[str, Digest]]) -> list[tuple[str, Digest]]:
    """Those of the program and machine that most are of."""
    from .baselines import key

    keys = [key(digest) for _, digest in digests]
    (most, count), *_ = Counter(keys).most_common(1)
    if count < len(digests):
        warn(f"{len(digests) - count} of {len(digests)} sessions are left out: other devices, hosts or kinds of steps.")
    return [each for each, own in zip(digests, keys, strict=True) if own == most]
