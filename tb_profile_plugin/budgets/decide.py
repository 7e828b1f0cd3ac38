"""Decides whether sessions keep their budgets: one is broken only if that is proven, never by an estimate."""

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
from .measure import Figure, change_of, metric_of, share_of, value_of
from .metrics import Metric
from .quantity import SHARE, TIME, quantity_text

State = Literal["met", "broken", "unclear", "unjudged"]
OK, BROKEN, UNJUDGED = 0, 3, 4
"""Exit codes besides 1 for a problem and 2 for a wrong call."""
_PROVING_CAPTURES = 4
"""With so many captures of one side, which tell how runs differ, one of the other is enough."""
_MOST_UNCORRECTED = 5
"""With more budgets of times, Holm's correction keeps chance from breaking one."""
_NO_BASELINE = Message("there is no baseline")
_MACHINE_FACTS = ("device", "devices", "hosts")
"""Ids of facts that must be the same for times to be compared."""


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
    """Ends of the interval around the value; None where it has none."""
    limit: float | None = None
    kind: str = ""
    """What ``value``, its interval, ``limit`` and ``tells`` are: a kind of `quantity`."""
    tells: float | None = None
    """The least change that these runs would show; None for what is no change of a time."""

    @property
    def fails(self) -> bool:
        """Whether it fails the check: a limit that is broken, other than one that only warns."""
        return self.state == "broken" and self.budget.severity == ERROR

    @property
    def enforceable(self) -> bool:
        """Whether these runs could show that the budget is met, if nothing had changed."""
        return self.tells is None or self.limit is None or self.tells <= abs(self.limit)

    @property
    def is_beyond_limit(self) -> bool:
        """Whether the estimate is beyond the limit, proven or not."""
        if self.value is None or self.limit is None:
            return False
        return self.value < self.limit if metric_of(self.budget.metric).higher else self.value > self.limit


@dataclass(frozen=True)
class _Case:
    """A budget with what the sides have of its metric."""

    budget: Budget
    measured: Figure | None
    """None where it is not judged."""
    limit: float
    """In the unit of ``measured``."""
    why_unjudged: str = ""
    """Empty where it is judged."""

    @property
    def metric(self) -> Metric:
        """The budget's metric."""
        return metric_of(self.budget.metric)

    @property
    def varies(self) -> bool:
        """Whether it is judged by an interval."""
        return self.metric.exact is None


def decide(config: Config, new: Side, base: Side | None, missing_passes: bool = False) -> list[Outcome]:
    """What became of each budget; ``base`` is None where there is no baseline.

    Raises `ProblemError` for a budget that cannot be.
    """
    run_variation = max([new, *([base] if base else [])], key=lambda side: len(side.digests)).run_variation
    cases = [_case(budget, config, new, base, run_variation) for budget in config.budgets]
    varying_cases = [case for case in cases if case.varies and not case.why_unjudged]
    levels = _levels(varying_cases, config.alpha)
    better = "more --rounds" if base and Sides(base, new).interleaved_pairs else "tb-profile check --ab"
    outcomes = []
    for case in cases:
        passes = case.why_unjudged == _NO_BASELINE and missing_passes
        outcomes.append(_outcome(case, levels.get(id(case), config.alpha / 2), passes, better))
    return (
        outcomes
        if _has_enough_captures(config, new, base)
        else [_unclear_unless_proven(outcome, config) for outcome in outcomes]
    )


def _case(budget: Budget, config: Config, new: Side, base: Side | None, run_variation: RunVariation | None) -> _Case:
    limit = budget.max or budget.max_change
    assert limit, "a budget has one of both"
    is_timed = metric_of(budget.metric).exact is None
    fewest = min(new.step_counts)
    if is_timed and fewest < config.min_steps:
        return _Case(
            budget,
            None,
            limit.value,
            Message("only {count} steps count, but min-steps is {least}", count=fewest, least=config.min_steps),
        )
    if budget.max:
        is_share = limit.kind == SHARE and metric_of(budget.metric).kind == TIME
        measured = share_of(budget.metric, new) if is_share else value_of(budget.metric, new)
    elif base is None:
        return _Case(budget, None, limit.value, _NO_BASELINE)
    else:
        blocking_fact = next(
            (fact for fact in facts(Sides(base, new)) if fact.grade == STOPS or fact.id in _MACHINE_FACTS), None
        )
        if blocking_fact and is_timed:
            why = Message(
                "the baseline is not comparable ({label}: {base} and {new})",
                label=message(blocking_fact.label),
                base=blocking_fact.base,
                new=blocking_fact.new,
            )
            return _Case(budget, None, limit.value, why)
        measured = change_of(budget.metric, base, new, limit.kind == SHARE, run_variation)
    if measured is None:
        return _Case(budget, None, limit.value, Message("the capture does not contain it"))
    if measured.kind != limit.kind and not (limit.value == 0 and not is_timed):
        text = Message(
            "{metric} is a {kind}, but its limit is a {limit_kind}.",
            metric=budget.metric,
            kind=measured.kind,
            limit_kind=limit.kind,
        )
        raise problem_error("bad_config", text)
    return _Case(budget, measured, limit.value)


def _levels(cases: Sequence[_Case], alpha: float) -> dict[int, float]:
    """The one-sided level of each noisy case, so that all together break by chance as seldom as one."""
    if len(cases) <= _MOST_UNCORRECTED:
        return {}
    ranked = sorted(cases, key=lambda case: _p_value(case))
    return {id(case): alpha / 2 / (len(ranked) - rank) for rank, case in enumerate(ranked)}


def _p_value(case: _Case) -> float:
    """How likely a value as large would be if the limit were met exactly."""
    distance, spread = _distance(case)
    if spread is None:
        return 1.0
    error, freedom = spread
    return float(distance <= 0) if not error else above(distance / error, freedom)


def _distance(case: _Case) -> tuple[float, tuple[float, float] | None]:
    """(by how much the value is beyond the limit, its spread); both of logarithms where the interval is."""
    measured = case.measured
    assert measured, "a case that is judged is measured"
    if measured.logarithm is not None:
        distance = measured.logarithm - math.log1p(case.limit)
    else:
        distance = measured.value - case.limit
    return -distance if case.metric.higher else distance, measured.spread


def _outcome(case: _Case, level: float, passes: bool, better: str) -> Outcome:
    """The outcome with one-sided ``level``; ``passes`` what is not judged; ``better`` advises what would tell more."""
    budget, measured = case.budget, case.measured
    if case.why_unjudged or measured is None:
        text = Message("{metric}: not judged, since {why}.", metric=_metric_label(budget), why=case.why_unjudged)
        return Outcome(budget, "met" if passes else "unjudged", text, limit=case.limit)
    low, high = _interval(measured, level)
    if low is not None and not budget.is_of_change:
        low = max(low, 0.0)  # Only a change can be negative.
    tells = _least_detectable(case, measured, level)
    state, text = _state_and_text(case, measured, low, high)
    outcome = Outcome(
        budget, state, text, value=measured.value, low=low, high=high, limit=case.limit, kind=measured.kind, tells=tells
    )
    if state != "unclear" or tells is None or outcome.enforceable:
        return outcome
    advice = Message(
        "These runs show {least} or more, and cannot enforce {limit}. Use {better}, or limit counts such as launches.",
        least=quantity_text(tells, measured.kind),
        limit=quantity_text(case.limit, measured.kind),
        better=better,
    )
    return replace(outcome, text=sentences(text, advice))


def _state_and_text(case: _Case, measured: Figure, low: float | None, high: float | None) -> tuple[State, Message]:
    """State and sentence of a budget by the interval from ``low`` to ``high``; of an exact metric by its value."""
    higher, limit = case.metric.higher, case.limit
    value_and_limit = {
        "metric": _metric_label(case.budget),
        "value": quantity_text(measured.value, measured.kind),
        "limit": quantity_text(limit, measured.kind),
    }
    if not case.varies:
        is_broken = measured.value < limit if higher else measured.value > limit
        text = Message("{metric} is {value}; the limit is {limit}.", **value_and_limit)
        return "broken" if is_broken else "met", text
    if low is None or high is None:
        text = Message(
            "{metric} is {value}; the limit is {limit}. There are too few steps to judge it.", **value_and_limit
        )
        return "unclear", text
    ends = {"low": quantity_text(low, measured.kind), "high": quantity_text(high, measured.kind)}
    arguments = {**value_and_limit, **ends, "side": "least" if higher else "most"}
    if high < limit if higher else low > limit:
        text = Message(
            "{metric} is {value} ({low} to {high}), {side, select, least {less} other {more}} than {limit}.",
            **arguments,
        )
        return "broken", text
    if low >= limit if higher else high <= limit:
        text = Message(
            "{metric} is {value} ({low} to {high}), {side, select, least {at least} other {at most}} {limit}.",
            **arguments,
        )
        return "met", text
    text = Message(
        "{metric} is {value} ({low} to {high}); whether it is {side, select, least {at least} other {at most}} {limit} "
        "is unclear.",
        **arguments,
    )
    return "unclear", text


def _metric_label(budget: Budget) -> str:
    return Message("The change of {metric}", metric=budget.metric) if budget.is_of_change else budget.metric


def _least_detectable(case: _Case, measured: Figure, level: float) -> float | None:
    """`Outcome.tells`: half of the interval around no change at all."""
    if not case.budget.is_of_change or measured.spread is None:
        return None
    unchanged = replace(measured, value=0.0, logarithm=None if measured.logarithm is None else 0.0)
    return _interval(unchanged, level)[1]


def _interval(measured: Figure, level: float) -> tuple[float | None, float | None]:
    """(low, high) with so much chance, ``level``, beyond either end; None where nothing tells how it varies."""
    if measured.spread is None:
        return None, None
    error, freedom = measured.spread
    half_width = quantile(1 - level, freedom) * error if error else 0.0
    if measured.logarithm is not None:
        return math.expm1(measured.logarithm - half_width), math.expm1(measured.logarithm + half_width)
    return measured.value - half_width, measured.value + half_width


def _has_enough_captures(config: Config, new: Side, base: Side | None) -> bool:
    """Whether there are enough captures to prove a change of times."""
    counts = [len(side.digests) for side in (new, base) if side]
    return min(counts) >= config.min_captures or (min(counts) == 1 and max(counts) >= _PROVING_CAPTURES)


def _unclear_unless_proven(outcome: Outcome, config: Config) -> Outcome:
    """The outcome, but unclear for a broken limit of a change of times, since too few captures prove none."""
    if outcome.state != "broken" or not outcome.budget.is_of_change or metric_of(outcome.budget.metric).exact:
        return outcome
    needs = Message(
        "To prove it, {captures} captures a side, or {baselines} baselines, are needed.",
        captures=config.min_captures,
        baselines=_PROVING_CAPTURES,
    )
    return replace(outcome, state="unclear", text=sentences(outcome.text, needs))


def exit_code(outcomes: Sequence[Outcome], strict: bool = False) -> int:
    """0, `BROKEN` or `UNJUDGED`; what is unclear passes, but for estimates beyond their limits if ``strict``."""
    errors = [outcome for outcome in outcomes if outcome.budget.severity == ERROR]
    if any(
        outcome.state == "broken" or (strict and outcome.state == "unclear" and outcome.is_beyond_limit)
        for outcome in errors
    ):
        return BROKEN
    return UNJUDGED if any(outcome.state == "unjudged" for outcome in errors) else OK
