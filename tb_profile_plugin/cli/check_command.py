"""The verb ``check``: budgets and baselines, with exit codes for continuous integration."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..budgets.sides import sides
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.settings import GITHUB_SUMMARY
from ..runtime.terminal import printable, say, warn
from .options import add_steps
from .output import json_line, open_output

if TYPE_CHECKING:
    from ..analysis.compare.side import Side
    from ..analysis.compare.verdict import ComparisonVerdict
    from ..analysis.digest.record import Digest
    from ..budgets.config import Config
    from ..budgets.decide import Outcome


def add(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verbs.add_parser("check", help="check performance budgets, against limits or a baseline", options=_check_options)


def _check_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("sessions", metavar="SESSION", nargs="*", help="sessions, digests or reports to check")
    verb.add_argument(
        "--baseline",
        metavar="SESSION",
        nargs="+",
        default=[],
        help="baseline: sessions, digests or reports (default: the configured folder)",
    )
    verb.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=Path("pyproject.toml"),
        help="configuration file (default: %(default)s)",
    )
    verb.add_argument("--strict", action="store_true", help="fail on inconclusive results above the limit")
    verb.add_argument(
        "--missing-baseline",
        choices=("fail", "pass"),
        default="fail",
        help="result without a baseline (default: %(default)s, exit code 4)",
    )
    verb.add_argument("--update-baseline", action="store_true", help="save the checked sessions as a baseline")
    verb.add_argument("--force", action="store_true", help="save the baseline even if a budget is exceeded")
    verb.add_argument("--no-names", action="store_true", help="store hashes instead of op names in baselines")
    verb.add_argument("--junit", metavar="FILE", type=Path)
    verb.add_argument("--markdown", metavar="FILE", type=Path)
    verb.add_argument("--json", metavar="FILE", type=Path)
    verb.add_argument("--github", action="store_true", help="write annotations and a summary for GitHub Actions")
    verb.add_argument("--init", action="store_true", help="print a configuration for a session")
    verb.add_argument(
        "--ab", metavar="COMMAND", nargs=2, help="run two commands in turns, and check the second against the first"
    )
    verb.add_argument("--rounds", metavar="N", type=int, default=4, help="runs of each command (default: %(default)s)")
    add_steps(verb)
    verb.set_defaults(verb=_check)


def _check(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from ..analysis.compare.engine import compare
    from ..analysis.compare.verdict import verdict
    from ..budgets.config import load
    from ..budgets.decide import BROKEN, decide, exit_code

    if bool(args.sessions) == bool(args.ab) or (args.ab and args.baseline):
        raise problem_error("usage", "Name sessions to check, or two commands with --ab.")
    if args.init:
        return _print_config(args)
    config = load(args.config)
    with ExitStack() as stack:
        new, base = _sides_of_commands(args, stack) if args.ab else _sides_of_sessions(args, config)
    new, base = replace(new, items=config.items_per_step), base and replace(base, items=config.items_per_step)
    outcomes = decide(config, new, base, args.missing_baseline == "pass")
    code = exit_code(outcomes, args.strict)
    _write_outcomes(args, config, outcomes, code, verdict(compare(base, new), config.threshold) if base else None)
    if args.update_baseline:
        if code == BROKEN and not args.force:
            warn(Message("The baseline was not updated, since a budget is exceeded. Use --force to update it."))
        else:
            _save_baseline(args, config, list(new.digests))
    return code


def _sides_of_commands(args: argparse.Namespace, stack: ExitStack) -> tuple[Side, Side | None]:
    """(new, base): captures of the two commands of ``--ab``, run in turns; the stack removes their folders."""
    import tempfile

    from ..budgets import interleave

    if args.rounds < 1:
        raise problem_error("usage", "--rounds must be at least 1.")
    root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tb-profile-ab-")))
    folders = interleave.capture_folders(args.ab, args.rounds, root, warn)
    base, new = sides(args, [[str(folder) for folder in side] for side in folders])
    return new, base


def _sides_of_sessions(args: argparse.Namespace, config: Config) -> tuple[Side, Side | None]:
    """(new, base): the sessions named, and those of ``--baseline`` or the configured folder, if any."""
    from ..analysis.compare.side import side_of_digests
    from ..budgets import baselines

    new, *bases = sides(args, [args.sessions, *([args.baseline] if args.baseline else [])])
    if bases or not config.baseline:
        return new, bases[0] if bases else None
    folder = baselines.folder(args.config.parent / config.baseline, config.name)
    baseline_digests = baselines.read(folder, new.digests[0])
    if not baseline_digests and baselines.has_baselines(folder):
        warn(Message("{folder} holds only baselines of other machines or programs.", folder=folder))
    return new, side_of_digests(baseline_digests) if baseline_digests else None


def _save_baseline(args: argparse.Namespace, config: Config, digests: list[Digest]) -> None:
    from ..budgets import baselines

    if not config.baseline:
        raise problem_error(
            "bad_config", 'The configuration names no folder of baselines. Add baseline = "perf/baselines".'
        )
    folder = baselines.folder(args.config.parent / config.baseline, config.name)
    baseline_digests = [baselines.without_names(digest) for digest in digests] if args.no_names else digests
    for path in baselines.write(folder, baseline_digests):
        warn(Message("Wrote {path}", path=path))


def _write_outcomes(
    args: argparse.Namespace, config: Config, outcomes: list[Outcome], code: int, verdict: ComparisonVerdict | None
) -> None:
    from ..budgets import output as reports

    files: tuple[tuple[Path | None, Callable[[], bytes]], ...] = (
        (args.junit, lambda: reports.junit(outcomes)),
        (args.markdown, lambda: reports.markdown(outcomes, config.name, verdict).encode("utf-8", "replace")),
        (args.json, lambda: json_line(reports.as_json(outcomes, code, verdict)).encode("utf-8", "replace")),
    )
    for path, content in files:
        if path:
            with open_output(path) as file:
                file.write(content())
    sys.stdout.write(reports.text(outcomes, verdict))
    if args.github:
        for line in reports.github(outcomes):
            say(line)
        summary_path = os.environ.get(GITHUB_SUMMARY)
        if summary_path:
            with open(summary_path, "a", encoding="utf-8", errors="replace") as file:
                file.write(reports.markdown(outcomes, config.name, verdict))


def _print_config(args: argparse.Namespace) -> int:
    """Print a configuration with limits from the session; none of times, whose noise one capture does not show."""
    import json

    from ..budgets.measure import value_of
    from ..budgets.quantity import BYTES, quantity_text

    (side,) = sides(args, [args.sessions])
    say("[tool.tb-profile.check]")
    say('baseline = "perf/baselines"')
    memories = sorted({memory.allocator for digest in side.digests for memory in digest.memory})
    for metric in ("launches", "compiles", "health.errors", *(f"memory.peak:{name}" for name in memories)):
        measured = value_of(metric, side)
        if measured:
            limit = quantity_text(measured.value * 1.02, BYTES) if measured.kind == BYTES else f"{measured.value:.0f}"
            for line in ("", "[[tool.tb-profile.check.budget]]", f"metric = {json.dumps(metric)}", f'max = "{limit}"'):
                sys.stdout.write(f"{printable(line)}\n")
    for line in ("", "[[tool.tb-profile.check.budget]]", 'metric = "step"', 'max-change = "+5%"'):
        say(line)
    return 0
