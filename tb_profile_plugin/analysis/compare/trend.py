"""A history: sessions of one program in order of time, and the jumps of their step times that are no noise.

The fit is piecewise constant by absolute deviations, which single odd runs do not move; how many pieces there are is
chosen by what each further one explains (Schwarz's criterion for absolute deviations).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import pairwise

from ...runtime.messages import Message
from ...runtime.records import record
from ...runtime.settings import DEFAULT_THRESHOLD
from ..digest.record import Digest
from ..statistics import mean, median
from .change import ALPHA, neighbour_variation, p_of, welch
from .engine import compare
from .estimate import Estimate, step_estimate
from .same_program import by_program, program_name
from .side import side_of_digests
from .verdict import ComparisonVerdict, verdict

_MOST_PIECES = 8
_CONFIRMING_SESSIONS = 3
"""Sessions on each side of a jump that are needed to confirm it."""
_LEAST_DEVIATIONS = 3.0
"""A jump is as large as that many deviations between runs, at least."""
_LEAST_DEVIATION = 0.001
"""Differences between runs below that share are not looked for."""


@record
class Point:
    """One session."""

    name: str
    origin_ns: int
    """When it began by the clock of its host."""
    estimate: Estimate
    piece: int
    """Index of the piece of the fit that it is in."""
    level: float
    """Level of that piece: the median of its sessions' steps, in the estimates' unit."""

    @property
    def began(self) -> str | None:
        """In words, UTC; None where the capture does not say."""
        if not self.origin_ns:
            return None
        return datetime.fromtimestamp(self.origin_ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M")


@record
class Jump:
    """Where a history goes from one level to another."""

    at: int
    """Index of the first session of the new level in `Trend.points`."""
    change: float
    """As a share of the old level."""
    confirmed: bool
    """Whether there are sessions enough, and their levels differ by more than chance."""
    verdict: ComparisonVerdict | None
    """Verdict on the sessions after it against those before; None where it is not confirmed."""


@record
class Trend:
    """Sessions in order of time, with the pieces of them that take equally long."""

    points: list[Point]
    jumps: list[Jump]
    deviation: float | None
    """Between runs, as a share; None with fewer than four sessions."""


def sessions_by_time(sessions: Sequence[tuple[str, Digest]]) -> list[tuple[str, Digest, Estimate]]:
    """(name, digest, what a step takes) in order of time; sessions whose steps take no time are left out."""
    by_time = sorted(sessions, key=lambda session: int(session[1].facts["origin_ns"]))
    return [(name, digest, estimate) for name, digest in by_time if (estimate := step_estimate(digest)).total]


def trend(sessions: Sequence[tuple[str, Digest]], threshold: float = DEFAULT_THRESHOLD) -> Trend:
    """The trend of sessions of one program and machine, those of `sessions_by_time`; ``threshold`` as in `verdict`."""
    rows = sessions_by_time(sessions)
    logs = [math.log(float(estimate.mean)) for _, _, estimate in rows]
    run_variation = neighbour_variation([estimate for _, _, estimate in rows])
    deviation = run_variation.deviation if run_variation else 0.0
    least_jump = max(math.log1p(threshold), _LEAST_DEVIATIONS * deviation)
    begins = separate_pieces(logs, pieces(logs, max(0.1 * deviation, _LEAST_DEVIATION)), least_jump)
    ranges = [range(begin, end) for begin, end in pairwise([*begins, len(logs)])]
    points = []
    for piece, rows_of_piece in enumerate(ranges):
        level = math.exp(median([logs[i] for i in rows_of_piece]))
        for name, digest, estimate in (rows[i] for i in rows_of_piece):
            points.append(Point(name, int(digest.facts["origin_ns"]), estimate, piece, level))
    jumps = []
    for before, after in pairwise(ranges):
        jump = _jump([logs[i] for i in before], [logs[i] for i in after], after.start)
        if jump.confirmed:
            old, new = (side_of_digests([rows[i][:2] for i in part]) for part in (before, after))
            jump = replace(jump, verdict=verdict(compare(old, new), threshold))
        jumps.append(jump)
    return Trend(points, jumps, run_variation.deviation if run_variation else None)


def trends(
    sessions: Sequence[tuple[str, Digest]], by_ops: bool = True, threshold: float = DEFAULT_THRESHOLD
) -> list[tuple[str, Trend]]:
    """One for each program of the sessions, with its name; ``by_ops`` as in `by_program`."""
    return [(program_name(group[-1][1]), trend(group, threshold)) for group in by_program(sessions, by_ops)]


def separate_pieces(values: Sequence[float], begins: Sequence[int], least_difference: float) -> list[int]:
    """The begins of pieces whose medians are so far apart; pieces that are not are joined, the nearest first.

    A small piece of its own would hide that there are many sessions behind a jump.
    """
    remaining = list(begins)
    while len(remaining) > 1:
        medians = [median(values[begin:end]) for begin, end in pairwise([*remaining, len(values)])]
        sizes = [abs(after - before) for before, after in pairwise(medians)]
        if min(sizes) >= least_difference:
            break
        del remaining[sizes.index(min(sizes)) + 1]
    return remaining


def _jump(before: list[float], after: list[float], first_row: int) -> Jump:
    """Between the logarithms of two pieces, the second of which begins at ``first_row``; without its verdict."""
    has_enough = min(len(before), len(after)) >= _CONFIRMING_SESSIONS
    is_sure = has_enough and p_of(mean(after) - mean(before), welch(before, after)) < ALPHA
    return Jump(first_row, math.expm1(median(after) - median(before)), is_sure, None)


def pieces(values: Sequence[float], least_deviation: float) -> list[int]:
    """Where pieces of a history begin, the first at 0; ``least_deviation`` is a deviation that needs no explanation."""
    n = len(values)
    if not n:
        return []
    cost = costs(values)
    # By count of pieces less 1, and by end: the least sum of deviations, and where the last piece begins.
    least_sums = [cost[0]]
    last_begin: list[list[int]] = [[0] * (n + 1)]
    # Of pieces that are points there is always one more that explains everything.
    for count in range(1, min(_MOST_PIECES, n // _CONFIRMING_SESSIONS)):
        sums, begins = [math.inf] * (n + 1), [0] * (n + 1)
        for end in range(count + 1, n + 1):
            for begin in range(count, end):
                total = least_sums[-1][begin] + cost[begin][end]
                if total < sums[end]:
                    sums[end], begins[end] = total, begin
        least_sums.append(sums)
        last_begin.append(begins)
    best_count = min(range(len(least_sums)), key=lambda k: criterion(least_sums[k][n], n, k + 1, least_deviation))
    piece_begins, end = [], n
    for k in range(best_count, -1, -1):
        end = last_begin[k][end]
        piece_begins.append(end)
    return piece_begins[::-1]


def criterion(deviations: float, n: int, pieces: int, least_deviation: float) -> float:
    """Criterion of so many ``pieces`` of ``n`` values that leave this sum of ``deviations``; the smallest is best."""
    return 2 * n * math.log(max(least_deviation + deviations / n, 1e-12)) + (2 * pieces - 1) * math.log(n)


def costs(values: Sequence[float]) -> list[list[float]]:
    """``[begin][end]``: the sum of absolute deviations of ``values[begin:end]`` from their median."""
    n = len(values)
    cost = [[0.0] * (n + 1) for _ in range(n)]
    for begin in range(n):
        lower: list[float] = []
        upper: list[float] = []
        lower_sum = upper_sum = 0.0
        for end in range(begin, n):
            value = values[end]
            # The lower half is kept negated, so that its largest comes first.
            if not lower or value <= -lower[0]:
                heapq.heappush(lower, -value)
                lower_sum += value
            else:
                heapq.heappush(upper, value)
                upper_sum += value
            if len(lower) > len(upper) + 1:
                middle = -heapq.heappop(lower)
                heapq.heappush(upper, middle)
                lower_sum, upper_sum = lower_sum - middle, upper_sum + middle
            elif len(upper) > len(lower):
                middle = heapq.heappop(upper)
                heapq.heappush(lower, -middle)
                lower_sum, upper_sum = lower_sum + middle, upper_sum - middle
            median = -lower[0]
            total = upper_sum - median * len(upper) + median * len(lower) - lower_sum
            cost[begin][end + 1] = max(0.0, total)
    return cost


def summary(trend: Trend) -> Message:
    """In a sentence."""
    count = len(trend.points)
    if trend.deviation is None:
        return Message(
            "{count, plural, one {# session} other {# sessions}}: too few to measure how runs vary.", count=count
        )
    confirmed = sum(jump.confirmed for jump in trend.jumps)
    if not confirmed:
        return Message(
            "{count} sessions, no level change; runs vary by {percent}.", count=count, percent=trend.deviation
        )
    return Message(
        "{count} sessions, {changes, plural, one {# level change} other {# level changes}}; runs vary by {percent}.",
        count=count,
        changes=confirmed,
        percent=trend.deviation,
    )


def jump_sentence(trend: Trend, jump: Jump) -> Message:
    """A jump of it in a sentence."""
    change = {"session": trend.points[jump.at].name, "sign": "+" if jump.change > 0 else "", "percent": jump.change}
    if not jump.verdict:
        return Message("Since {session}: {sign}{percent}, not yet confirmed.", **change)
    reasons = jump.verdict.reasons[:2]
    if not reasons:
        return Message("Since {session}: {sign}{percent}.", **change)
    if len(reasons) == 1:
        return Message("Since {session}: {sign}{percent}; {reason}.", **change, reason=reasons[0])
    return Message(
        "Since {session}: {sign}{percent}; {reason}; {other}.", **change, reason=reasons[0], other=reasons[1]
    )
