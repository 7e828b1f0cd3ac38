"""A history: sessions of one program in order of time, and the steps in it that are no noise.

The fit is piecewise constant by absolute deviations, which single odd runs do not move; how many pieces there are is
chosen by what each further one explains (Schwarz's criterion for absolute deviations).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise

from ...runtime.messages import Message
from ..digest.record import Digest
from ..statistics import mean
from .change import ALPHA, between_runs, p_of, welch
from .engine import compare
from .estimate import Estimate, of_steps
from .same_program import by_program, program_name
from .side import side
from .verdict import THRESHOLD, Verdict, verdict

_MOST_PIECES = 8
_CONFIRMED = 3
"""Sessions on each side of a step that are needed to report it."""
_OF_RUNS = 3.0
"""A step is as large as that many deviations between runs, at least."""
_LEAST_DEVIATION = 0.001
"""Differences between runs below that share are not looked for."""


@dataclass(frozen=True)
class Point:
    """One session."""

    name: str
    origin_ns: int
    """When it began by the clock of its host."""
    estimate: Estimate
    piece: int
    """Which piece of the fit it is in."""
    level: float
    """Of that piece: the median of its sessions' steps, in the estimates' unit."""

    @property
    def began(self) -> str | None:
        """In words, UTC; None where the capture does not say."""
        if not self.origin_ns:
            return None
        return datetime.fromtimestamp(self.origin_ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M")


@dataclass(frozen=True)
class Jump:
    """Where a history steps from one level to another."""

    at: int
    """Place of the first session of the new level."""
    change: float
    """As a share of the old level."""
    confirmed: bool
    """Whether there are sessions enough, and their levels differ by more than chance."""
    verdict: Verdict | None
    """Of the sessions before against those after; None where it is not confirmed."""


@dataclass(frozen=True)
class Trend:
    """See the module."""

    points: list[Point]
    jumps: list[Jump]
    deviation: float | None
    """Between runs, as a share; None with fewer than four sessions."""


def timed(sessions: Sequence[tuple[str, Digest]]) -> list[tuple[str, Digest, Estimate]]:
    """In order of time, each with its steps; sessions whose steps take no time are left out."""
    ordered = sorted(sessions, key=lambda session: int(session[1].facts["origin_ns"]))
    return [(name, digest, one) for name, digest in ordered if (one := of_steps(digest)).total]


def trend(sessions: Sequence[tuple[str, Digest]], threshold: float = THRESHOLD) -> Trend:
    """Of sessions of one program on one machine, those that `timed` has."""
    rows = timed(sessions)
    logs = [math.log(float(one.mean)) for _, _, one in rows]
    runs = between_runs([one for _, _, one in rows])
    deviation = runs.deviation if runs else 0.0
    enough = max(math.log1p(threshold), _OF_RUNS * deviation)
    edges = separate_edges(logs, pieces(logs, max(0.1 * deviation, _LEAST_DEVIATION)), enough)
    piece = [sum(edge <= i for edge in edges) - 1 for i in range(len(logs))]
    piece_medians = [math.exp(_median(logs[begin:end])) for begin, end in pairwise([*edges, len(logs)])]
    points = [
        Point(name, int(digest.facts["origin_ns"]), one, at, piece_medians[at])
        for (name, digest, one), at in zip(rows, piece, strict=True)
    ]
    bounds = [*edges, len(logs)]
    jumps = []
    for i in range(1, len(edges)):
        before, after = range(bounds[i - 1], bounds[i]), range(bounds[i], bounds[i + 1])
        jump = _jump([logs[k] for k in before], [logs[k] for k in after], bounds[i])
        if jump.confirmed:
            old, new = (side([(rows[k][0], rows[k][1]) for k in part]) for part in (before, after))
            jump = Jump(jump.at, jump.change, True, verdict(compare(old, new), threshold))
        jumps.append(jump)
    return Trend(points, jumps, runs.deviation if runs else None)


def trends(
    sessions: Sequence[tuple[str, Digest]], by_ops: bool = True, threshold: float = THRESHOLD
) -> list[tuple[str, Trend]]:
    """One for each program of the sessions, with its name; ``by_ops`` as in `by_program`."""
    return [(program_name(group[-1][1]), trend(group, threshold)) for group in by_program(sessions, by_ops)]


def separate_edges(values: Sequence[float], edges: Sequence[int], enough: float) -> list[int]:
    """The edges between pieces whose medians are so far apart; pieces that are not are one, the nearest first.

    A small piece of its own would hide that there are many sessions behind a step.
    """
    left = list(edges)
    while len(left) > 1:
        medians = [_median(values[begin:end]) for begin, end in pairwise([*left, len(values)])]
        sizes = [abs(after - before) for before, after in pairwise(medians)]
        if min(sizes) >= enough:
            break
        del left[sizes.index(min(sizes)) + 1]
    return left


def _jump(before: list[float], after: list[float], at: int) -> Jump:
    size = _median(after) - _median(before)
    enough = min(len(before), len(after)) >= _CONFIRMED
    sure = enough and p_of(mean(after) - mean(before), welch(before, after)) < ALPHA
    return Jump(at, math.expm1(size), sure, None)


def pieces(values: Sequence[float], least: float) -> list[int]:
    """Where pieces of a history begin, the first at 0; ``least`` is a deviation that needs no explanation."""
    n = len(values)
    if not n:
        return []
    cost = costs(values)
    best = [cost[0]]
    cut: list[list[int]] = [[0] * (n + 1)]
    # Of pieces that are points there is always one more that explains everything.
    for _ in range(1, min(_MOST_PIECES, n // _CONFIRMED)):
        row, where = [math.inf] * (n + 1), [0] * (n + 1)
        for end in range(len(best) + 1, n + 1):
            for begin in range(len(best), end):
                total = best[-1][begin] + cost[begin][end]
                if total < row[end]:
                    row[end], where[end] = total, begin
        best.append(row)
        cut.append(where)
    count = min(range(len(best)), key=lambda k: criterion(best[k][n], n, k + 1, least))
    edges, end = [], n
    for k in range(count, -1, -1):
        end = cut[k][end]
        edges.append(end)
    return edges[::-1]


def criterion(deviations: float, n: int, count: int, least: float) -> float:
    """Of so many pieces that leave this sum of absolute deviations; the smallest is best."""
    return 2 * n * math.log(max(least + deviations / n, 1e-12)) + (2 * count - 1) * math.log(n)


def costs(values: Sequence[float]) -> list[list[float]]:
    """``[begin][end]``: the sum of absolute deviations from the median of these values."""
    n = len(values)
    answer = [[0.0] * (n + 1) for _ in range(n)]
    for begin in range(n):
        lower: list[float] = []
        upper: list[float] = []
        sums = [0.0, 0.0]
        for end in range(begin, n):
            value = values[end]
            # The lower half is kept negated, so that its largest comes first.
            if not lower or value <= -lower[0]:
                heapq.heappush(lower, -value)
                sums[0] += value
            else:
                heapq.heappush(upper, value)
                sums[1] += value
            if len(lower) > len(upper) + 1:
                moved = -heapq.heappop(lower)
                heapq.heappush(upper, moved)
                sums = [sums[0] - moved, sums[1] + moved]
            elif len(upper) > len(lower):
                moved = heapq.heappop(upper)
                heapq.heappush(lower, -moved)
                sums = [sums[0] + moved, sums[1] - moved]
            middle = -lower[0]
            answer[begin][end + 1] = max(0.0, sums[1] - middle * len(upper) + middle * len(lower) - sums[0])
    return answer


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


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
    """A step of it in a sentence."""
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
