"""Compare: is this session faster than another one, by how much, why, and is that noise?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..analysis.compare.causes import causes
from ..analysis.compare.engine import Comparison, Difference, OpRow
from ..analysis.compare.engine import compare as compare_sides
from ..analysis.compare.likely_base import likely_base
from ..analysis.compare.load import digest_of_session
from ..analysis.compare.match import TIER_LABELS
from ..analysis.compare.side import Side, Sides, side_of_digests
from ..analysis.compare.verdict import ComparisonVerdict, verdict
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.digest.digest import NEEDS, host_labels
from ..analysis.digest.record import NOTHING
from ..analysis.finding import HeadlineLevel
from ..model.host import HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, message, sentences
from ..runtime.problems import problem_error
from .answers.answer import Answer, Headline, Table, by_column, by_field, flag, number, text
from .answers.tool import STEP_EVENT, Param, tool
from .columns.steps import STEPS_PARAM

_LEVELS: dict[str, HeadlineLevel] = {"slower": "bad", "faster": "ok", "same": "info"}
"""Levels of headlines by verdict."""

_DIFFERENCE_COLUMNS = (
    number("base_ps", "Base", "ps", "Mean over the base's counted steps."),
    number("new_ps", "New", "ps", "Mean over the new side's counted steps."),
    number("delta_ps", "Difference", "ps", "Time that the new side takes more; negative if less.", signed=True),
    number("low_ps", "Lower bound", "ps", "Lower end of the difference's 95 % interval; blank if unknown."),
    number("high_ps", "Upper bound", "ps", "Upper end of the difference's 95 % interval; blank if unknown."),
)

_FACTS = (
    text("base", "Base", "Session to compare with; blank if none was chosen."),
    text(
        "likely_base",
        "Likely base",
        "Last session before this one that ran the same program; blank if a base was chosen or none is known.",
    ),
    text("code", "Verdict", "Verdict: slower, faster, same, unclear or incomparable."),
    text("certainty", "Certainty", "Certainty of the verdict: shown, probable or none."),
    number("change", "Change", "share", "Relative change of the time from step to step."),
    number("low", "Lower bound", "share", "Lower end of the change's 95 % interval."),
    number("high", "Upper bound", "share", "Upper end of the change's 95 % interval."),
    number("least", "Smallest detectable change", "share", "Smallest change that these captures show in 4 of 5 cases."),
    number("base_ps", "Base", "ps", "Mean time from step to step of the base."),
    number("new_ps", "New", "ps", "Mean time from step to step of the new side."),
    number(
        "matched_base",
        "Matched in the base",
        "share",
        "Share of the base's time in ops found on both sides with certainty.",
    ),
    number(
        "matched_new",
        "Matched in the new side",
        "share",
        "Share of the new side's time in ops found on both sides with certainty.",
    ),
)

_REASONS = Table("reasons", "Why", (text("text", "Why"), text("part", "Part")))

_RECORDINGS = Table(
    "differs",
    "Differences between the recordings",
    (
        text("label", "What", translated=True),
        text("base", "Base"),
        text("new", "New"),
        text("text", "Consequence"),
        text("grade", "Grade", "Weight of the difference: stops, question, host, note or same."),
    ),
    doc="Facts about the two recordings.",
)

_PARTS = Table(
    "parts",
    "From the base's step to the new one's",
    (text("id", "Id"), text("label", "Part", translated=True), *_DIFFERENCE_COLUMNS),
    doc="Where steps spend time; the differences sum to that of the steps.",
)

_OPS = Table(
    "ops",
    "Ops",
    (
        text("name", "Op", "Name of the op; both names if they differ."),
        text("part", "Part id", "Id of the part, for scripts and links."),
        text("label", "Part", translated=True),
        *_DIFFERENCE_COLUMNS,
        flag("marked", "Marked", "Whether the difference exceeds chance and matters."),
        text("match", "Match", f"How the op was matched: {', '.join(TIER_LABELS)}."),
        number("by_count_ps", "By count", "ps", "Part of the difference that comes from the number of runs."),
        number("by_length_ps", "By length", "ps", "Part of the difference that comes from the length of a run."),
        number("base_launches", "Runs, base", doc="Executions per step of the base."),
        number("new_launches", "Runs, new", doc="Executions per step of the new side."),
        number("base_total_ps", "Total, base", "ps", "Time per step over all streams, overlapped or not."),
        number("new_total_ps", "Total, new", "ps", "Time per step over all streams, overlapped or not."),
        text("kernels", "Kernels", "Kernels of both sides, if they differ."),
        text("detail", "Of", "Program, type, origin, shape and source of the op."),
    ),
    doc="Ops of both sides. Each moment of a step belongs to one op, so differences sum to the steps'.",
    paged=True,
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        text("side", "Side"),
        number("place", "Place", doc="Position of the step in time, from 0."),
        number("number", "Step", doc="Number that the program gives the step."),
        number("time_ps", "Time", "ps", "Time from the step's start to the start of the next."),
        text("reason", "Left out", "Why the comparison leaves the step out; else blank."),
    ),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        text("id", "Id"),
        text("label", "Cause", translated=True),
        number("base_ps", "Base", "ps", "Time per step of the base, from its diagnosis."),
        number("new_ps", "New", "ps", "Time per step of the new side, from its diagnosis."),
        number("delta_ps", "Difference", "ps", "Difference per step.", signed=True),
    ),
    doc="Causes that the diagnosis finds on both sides.",
)


_MEMORY = Table(
    "memory",
    "Memory",
    (
        text("allocator", "Allocator"),
        number("base_peak", "Peak, base", "iB", "Most memory in use, over the captures of the base."),
        number("new_peak", "Peak, new", "iB", "Most memory in use, over the captures of the new side."),
        number("delta_peak", "Δ Peak", "iB", "Memory that the new side needs more; negative if less.", signed=True),
        number(
            "base_growth",
            "Growth, base",
            "iB",
            "Growth of memory from start to end of a capture; largest of the base's captures.",
        ),
        number(
            "new_growth",
            "Growth, new",
            "iB",
            "Growth of memory from start to end of a capture; largest of the new side's captures.",
        ),
    ),
    doc="Memory that the allocators report, the largest over hosts.",
)


ITEMS = (
    Param(
        "base_items", "1", "Items per step of the base, such as its batch size; times are then per item.", kind="count"
    ),
    Param("new_items", "1", "Items per step of the new side, such as its batch size.", kind="count"),
)


@tool(
    "Comparison",
    group="Compare",
    order=70,
    params=[
        Param("base", "", "Session to compare with.", kind="session"),
        Param("bases", "", "Further captures of the base: a pattern of names, such as main-*.", kind="sessions"),
        Param("news", "", "Further captures of the new side: a pattern of names.", kind="sessions"),
        *ITEMS,
        STEPS_PARAM,
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_REASONS, _RECORDINGS, _PARTS, _OPS, _STEPS, _CAUSES, _MEMORY),
    needs=NEEDS,
)
def compare(  # noqa: PLR0913 - its options
    session: Session,
    hosts: Sequence[HostWithSteps],
    base: str,
    bases: str,
    news: str,
    base_items: int,
    new_items: int,
    steps: str,
) -> Answer:
    """Is this session faster than another one, by how much, why, and is that noise?"""
    if not base:
        likely = likely_base(session, hosts[0].step_event, steps)
        return Answer({"likely_base": likely}, headline=Headline("Choose a session to compare with.", "unknown"))
    host = hosts[0].name if len(hosts) == 1 < len(session.hosts) else ""
    base_sessions = [session.neighbour(base), *_sessions_like(session, bases)]
    new_sessions = [session, *_sessions_like(session, news)]
    on_both_sides = {member.name for member in base_sessions} & {member.name for member in new_sessions}
    if on_both_sides and (bases or news):
        message = Message("{session} is on both sides.", session=min(on_both_sides))
        raise problem_error("both_sides", message, "Choose patterns that separate the sides.")
    return comparison_answer(
        _compare_side(base_sessions, host, steps, hosts[0].step_event, base_items),
        _compare_side(new_sessions, host, steps, hosts[0].step_event, new_items),
        base_hosts=host_names(*base_sessions),
        new_hosts=host_names(*new_sessions),
    )


def host_names(*sessions: Session) -> dict[str, str]:
    """Names of a session's hosts by their labels in its digest; none of several sessions, whose hosts may differ."""
    return {label: name for name, label in host_labels(sessions[0].hosts).items()} if len(sessions) == 1 else {}


def comparison_answer(base: Side, new: Side, *, base_hosts: Mapping[str, str], new_hosts: Mapping[str, str]) -> Answer:
    """The answer for two sides, of sessions or of files of digests; with names of hosts by their labels in digests."""
    comparison = compare_sides(base, new)
    judgement = verdict(comparison, hosts=(base_hosts, new_hosts))
    return Answer(
        _fact_values(comparison, judgement, base.names[0]),
        {
            "reasons": by_column(
                _REASONS, zip(judgement.reasons, (id for id in judgement.why if ":" not in id), strict=True)
            ),
            "differs": by_column(
                _RECORDINGS, ((*map(message, (f.label, f.base, f.new, f.text)), f.grade) for f in comparison.facts)
            ),
            "parts": by_column(
                _PARTS,
                ((row.id, message(LABELS[row.id]), *_difference_cells(row.difference)) for row in comparison.parts),
            ),
            "ops": by_column(_OPS, map(_op_row, comparison.ops)),
            "steps": by_column(_STEPS, _step_rows(comparison.sides)),
            "causes": by_field(_CAUSES, causes(comparison.sides)),
            "memory": by_column(_MEMORY, _memory_rows(comparison.sides)),
        },
        Headline(judgement.text, _level(judgement), doubt=sentences(*judgement.doubts) if judgement.doubts else ""),
    )


def _sessions_like(session: Session, pattern: str) -> list[Session]:
    """The sessions of the logdir whose names match; raises `ProblemError` (404) where none does."""
    if not (pattern and session.neighbours):
        return []
    names = [neighbour.name for neighbour in session.neighbours.sessions() if fnmatchcase(neighbour.name, pattern)]
    if not names:
        raise problem_error(
            "unknown_run",
            Message("No session matches {pattern}.", pattern=repr(pattern)),
            "Try main-* or *.",
            status=404,
        )
    return [session.neighbour(name) for name in names]


def _compare_side(sessions: Sequence[Session], host: str, steps: str, step_event: str, items: int) -> Side:
    hosts = [host if host in session.hosts else "" for session in sessions]
    digests = [
        (session.name, digest_of_session(session, host, step_event, steps))
        for session, host in zip(sessions, hosts, strict=True)
    ]
    return side_of_digests(digests, items)


def _memory_rows(sides: Sides) -> Iterator[tuple[Any, ...]]:
    def peak_and_growth(side: Side, allocator: str) -> tuple[int | None, int | None]:
        rows = [row for digest in side.digests for row in digest.memory if row.allocator == allocator]
        peak = max((row.peak_bytes for row in rows), default=None)
        return peak, max((row.growth_bytes for row in rows), default=None)

    for name in sorted({row.allocator for side in sides for digest in side.digests for row in digest.memory}):
        base_peak, base_growth = peak_and_growth(sides.base, name)
        new_peak, new_growth = peak_and_growth(sides.new, name)
        delta = None if base_peak is None or new_peak is None else new_peak - base_peak
        yield name, base_peak, new_peak, delta, base_growth, new_growth


def _level(judgement: ComparisonVerdict) -> HeadlineLevel:
    if (judgement.code, judgement.certainty) == ("slower", "probable"):
        return "warn"
    return _LEVELS.get(judgement.code, "unknown")


def _fact_values(comparison: Comparison, judgement: ComparisonVerdict, base: str) -> dict[str, Any]:
    change = None if comparison.blocking_fact else comparison.deciding_change
    return {
        "base": base,
        "code": judgement.code,
        "certainty": judgement.certainty,
        "change": change and change.estimate,
        "low": change and change.low,
        "high": change and change.high,
        "least": change and change.least_detectable,
        "base_ps": round(comparison.step_difference.base),
        "new_ps": round(comparison.step_difference.new),
        "matched_base": comparison.matched_shares[0],
        "matched_new": comparison.matched_shares[1],
    }


def _difference_cells(difference: Difference) -> tuple[Any, ...]:
    """The cells of `_DIFFERENCE_COLUMNS`."""
    low, high = difference.low and round(difference.low), difference.high and round(difference.high)
    return round(difference.base), round(difference.new), round(difference.delta), low, high


def _op_row(row: OpRow) -> tuple[Any, ...]:
    return (
        # Digests from the cache hold it as a plain text, which is not translated.
        NOTHING if row.name == NOTHING else row.name,
        row.part,
        LABELS[row.part],
        *_difference_cells(row.difference),
        row.is_marked,
        None if row.is_others else TIER_LABELS[row.tier],
        round(row.by_count),
        round(row.by_length),
        float(row.base.launches),
        float(row.new.launches),
        round(row.base.total),
        round(row.new.total),
        f"{row.base.kernels} → {row.new.kernels}" if row.has_other_kernel else None,
        row.detail or None,
    )


def _step_rows(sides: Sides) -> Iterator[tuple[Any, ...]]:
    for name, side in zip(("base", "new"), sides, strict=True):
        steps = side.digests[0].steps
        for index, ps in enumerate(steps.ps):
            yield name, index, steps.number[index], ps, steps.reason[index] or None
