"""Whether budgets are kept: broken only if it is proven, never by an estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..analysis.compare.change import RunVariation
from ..analysis.compare.facts import STOPS, facts
from ..analysis.compare.side import Side, Sides
from ..analysis.statistics import above, quantile
from ..runtime.messages import Message, message, sentences
from ..runtime.problems import problem_error
from .config import ERROR, Budget, Config
from .measure import Measured, change_of, metric_of, share_of, value_of
from .metrics import Metric
from .quantity import SHARE, TIME, written

State = Literal["met", "broken", "unclear", "unjudged"]
OK, BROKEN, UNJUDGED = 0, 3, 4
"""Exit codes besides 1 for a problem and 2 for a wrong call."""
_TELL_RUNS = 4
"""Captures of one side that tell how runs differ, so that one of the other can be judged."""
_FREE = 5
"""So many budgets of times are taken as they are; of more, Holm's way keeps chance from breaking one."""


@dataclass(frozen=True)
class Outcome:
    """What became of one budget."""

    budget: Budget
    state: State
    text: str
    """In a sentence."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    kind: str = ""
    tells: float | None = None
    """The least change that these runs would tell; None of what is no change of a time."""

    @property
    def enforceable(self) -> bool:
        """Whether these runs could keep the budget at all: without any change they would."""
        return self.tells is None or self.limit is None or self.tells <= abs(self.limit)

    @property
    def over(self) -> bool:
        """Whether the estimate is beyond the limit, proven or not."""
        if self.value is None or self.limit is None:
            return False
        return self.value < self.limit if metric_of(self.budget.metric).higher else self.value > self.limit


@dataclass(frozen=True)
class _Case:
    budget: Budget
    measured: Measured | None
    limit: float
    why: str = ""
    """Why it is not judged; empty where it is."""

    @property
    def metric(self) -> Metric:
        """What it is of."""
        return metric_of(self.budget.metric)

    @property
    def varies(self) -> bool:
        """Whether it is judged by an interval."""
        return self.metric.exact is None


def decide(config: Config, new: Side, base: Side | None, missing_passes: bool = False) -> list[Outcome]:
    """Of each budget; ``base`` is None where there is no baseline. Raises `ProblemError` for one that cannot be."""
    runs = max([new, *([base] if base else [])], key=lambda side: len(side.digests)).run_variation
    cases = [_case(budget, config, new, base, runs) for budget in config.budgets]
    noisy = [case for case in cases if case.varies and not case.why]
    levels = _levels(noisy, config.alpha)
    better = "more --rounds" if base and Sides(base, new).turns else "tb-profile check --ab"
    answer = []
    for case in cases:
        passes = case.why == _NO_BASELINE and missing_passes
        answer.append(_outcome(case, levels.get(id(case), config.alpha / 2), passes, better))
    return answer if _proves(config, new, base) else [_unclear_unless_proven(outcome, config) for outcome in answer]


_NO_BASELINE = Message("there is no baseline")


def _case(budget: Budget, config: Config, new: Side, base: Side | None, runs: RunVariation | None) -> _Case:
    limit = budget.max or budget.max_change
    assert limit, "a budget has one of both"
    timed = metric_of(budget.metric).exact is None
    fewest = min(new.step_counts)
    if timed and fewest < config.min_steps:
        return _Case(
            budget,
            None,
            limit.value,
            Message("only {count} steps count, but min-steps is {least}", count=fewest, least=config.min_steps),
        )
    if budget.max:
        relative = limit.kind == SHARE and metric_of(budget.metric).kind == TIME
        measured = share_of(budget.metric, new) if relative else value_of(budget.metric, new)
    elif base is None:
        return _Case(budget, None, limit.value, _NO_BASELINE)
    else:
        stopped = next((fact for fact in facts(Sides(base, new)) if fact.grade == STOPS or fact.id in _MACHINE), None)
        if stopped and timed:
            why = Message(
                "the baseline is not comparable ({label}: {base} and {new})",
                label=message(stopped.label),
                base=stopped.base,
                new=stopped.new,
            )
            return _Case(budget, None, limit.value, why)
        measured = change_of(budget.metric, base, new, limit.kind == SHARE, runs)
    if measured is None:
        return _Case(budget, None, limit.value, Message("the capture does not contain it"))
    if measured.kind != limit.kind and not (limit.value == 0 and not timed):
        text = Message(
            "{metric} is a {kind}, but its limit is a {limit_kind}.",
            metric=budget.metric,
            kind=measured.kind,
            limit_kind=limit.kind,
        )
        raise problem_error("bad_config", text)
    return _Case(budget, measured, limit.value)


_MACHINE = ("device", "devices", "hosts")


def _levels(cases: Sequence[_Case], alpha: float) -> dict[int, float]:
    """The one-sided level of each noisy case, so that all together break by chance as seldom as one."""
    if len(cases) <= _FREE:
        return {}
    ranked = sorted(cases, key=lambda case: _beyond(case))
    return {id(case): alpha / 2 / (len(ranked) - rank) for rank, case in enumerate(ranked)}


def _beyond(case: _Case) -> float:
    """How likely a value as large would be if the limit were met exactly."""
    distance, spread = _distance(case)
    if spread is None:
        return 1.0
    error, freedom = spread
    return float(distance <= 0) if not error else above(distance / error, freedom)


def _distance(case: _Case) -> tuple[float, tuple[float, float] | None]:
    measured = case.measured
    assert measured, "a case that is judged is measured"
    if measured.logarithm is not None:
        distance = measured.logarithm - math.log1p(case.limit)
    else:
        distance = measured.value - case.limit
    return -distance if case.metric.higher else distance, measured.spread


def _outcome(case: _Case, level: float, passes: bool, better: str) -> Outcome:
    budget, measured = case.budget, case.measured
    what = _what(budget)
    if case.why or measured is None:
        state: State = "met" if passes else "unjudged"
        return Outcome(
            budget, state, Message("{metric}: not judged, since {why}.", metric=what, why=case.why), limit=case.limit
        )
    value = written(measured.value, measured.kind)
    limit = written(case.limit, measured.kind)
    low, high = _interval(measured, level)
    if low is not None and not budget.max_change:
        low = max(low, 0.0)  # Only a change can be negative.
    tells = _tells(case, measured, level)
    figures = measured.value, low, high, case.limit, measured.kind, tells
    higher = case.metric.higher
    if not case.varies:
        over = measured.value < case.limit if higher else measured.value > case.limit
        text = Message("{metric} is {value}; the limit is {limit}.", metric=what, value=value, limit=limit)
        return Outcome(budget, "broken" if over else "met", text, *figures)
    if low is None or high is None:
        return Outcome(
            budget,
            "unclear",
            Message(
                "{metric} is {value}; the limit is {limit}. There are too few steps to judge it.",
                metric=what,
                value=value,
                limit=limit,
            ),
            *figures,
        )
    ends = {"low": written(low, measured.kind), "high": written(high, measured.kind)}
    arguments = {"metric": what, "value": value, **ends, "limit": limit, "side": "least" if higher else "most"}
    if high < case.limit if higher else low > case.limit:
        text = Message(
            "{metric} is {value} ({low} to {high}), {side, select, least {less} other {more}} than {limit}.",
            **arguments,
        )
        return Outcome(budget, "broken", text, *figures)
    if low >= case.limit if higher else high <= case.limit:
        text = Message(
            "{metric} is {value} ({low} to {high}), {side, select, least {at least} other {at most}} {limit}.",
            **arguments,
        )
        return Outcome(budget, "met", text, *figures)
    text = Message(
        "{metric} is {value} ({low} to {high}); whether it is {side, select, least {at least} other {at most}} {limit} "
        "is unclear.",
        **arguments,
    )
    unclear = Outcome(budget, "unclear", text, *figures)
    if tells is None or unclear.enforceable:
        return unclear
    reach = Message(
        "These runs show {least} or more, and cannot enforce {limit}. Use {better}, or limit counts such as launches.",
        least=written(tells, measured.kind),
        limit=limit,
        better=better,
    )
    return replace(unclear, text=sentences(unclear.text, reach))


def _what(budget: Budget) -> str:
    return Message("The change of {metric}", metric=budget.metric) if budget.max_change else budget.metric


def _tells(case: _Case, measured: Measured, level: float) -> float | None:
    """Half of the interval around no change at all."""
    if not case.budget.max_change or measured.spread is None:
        return None
    same = replace(measured, value=0.0, logarithm=None if measured.logarithm is None else 0.0)
    return _interval(same, level)[1]


def _interval(measured: Measured, level: float) -> tuple[float | None, float | None]:
    if measured.spread is None:
        return None, None
    error, freedom = measured.spread
    reach = quantile(1 - level, freedom) * error if error else 0.0
    if measured.logarithm is not None:
        return math.expm1(measured.logarithm - reach), math.expm1(measured.logarithm + reach)
    return measured.value - reach, measured.value + reach


def _proves(config: Config, new: Side, base: Side | None) -> bool:
    """Whether there are captures enough to prove a change of times."""
    counts = [len(side.digests) for side in (new, base) if side]
    return min(counts) >= config.min_captures or (min(counts) == 1 and max(counts) >= _TELL_RUNS)


def _unclear_unless_proven(one: Outcome, config: Config) -> Outcome:
    """The outcome, unclear where it would be a change of times that so few captures do not prove."""
    if one.state != "broken" or not one.budget.max_change or metric_of(one.budget.metric).exact:
        return one
    more = Message(
        "To prove it, {captures} captures a side, or {baselines} baselines, are needed.",
        captures=config.min_captures,
        baselines=_TELL_RUNS,
    )
    return replace(one, state="unclear", text=sentences(one.text, more))


def exit_code(outcomes: Sequence[Outcome], strict: bool = False) -> int:
    """0, `BROKEN` or `UNJUDGED`; what is unclear passes, but for estimates beyond their limits if ``strict``."""
    errors = [outcome for outcome in outcomes if outcome.budget.severity == ERROR]
    if any(outcome.state == "broken" or (strict and outcome.state == "unclear" and outcome.over) for outcome in errors):
        return BROKEN
    return UNJUDGED if any(outcome.state == "unjudged" for outcome in errors) else OK
