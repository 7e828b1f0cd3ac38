"""Compare: is this session faster than another one, by how much, why, and is that noise?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from ..analysis.compare.causes import causes
from ..analysis.compare.engine import Comparison, OpRow
from ..analysis.compare.engine import compare as compared
from ..analysis.compare.likely_base import likely_base
from ..analysis.compare.load import digest_of_session
from ..analysis.compare.match import TIERS
from ..analysis.compare.reasons import Hosts
from ..analysis.compare.side import Side, Sides, side
from ..analysis.compare.verdict import Verdict, verdict
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.digest.digest import NEEDS, host_labels
from ..analysis.digest.record import NOTHING
from ..model.host import HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, message, sentences
from ..runtime.problems import problem_error
from .answers.answer import Answer, Column, Headline, Level, Table, by_column, by_field, time_column
from .answers.tool import STEP_EVENT, Param, tool
from .columns.steps import CHOICE

_LEVELS: dict[str, Level] = {"slower": "bad", "faster": "ok", "same": "info"}


_SIDES = (
    time_column("base_ps", "Base", "Mean over the base's counted steps."),
    time_column("new_ps", "New", "Mean over the new side's counted steps."),
    Column(
        "delta_ps", "Difference", unit="ps", doc="Time that the new side takes more; negative if less.", signed=True
    ),
    time_column("low_ps", "Lower bound", "Lower end of the difference's 95 % interval; blank if unknown."),
    time_column("high_ps", "Upper bound", "Upper end of the difference's 95 % interval; blank if unknown."),
)

_FACTS = (
    Column("base", "Base", "string", doc="Session to compare with; blank if none was chosen."),
    Column(
        "likely_base",
        "Likely base",
        "string",
        doc="Last session before this one that ran the same program; blank if a base was chosen or none is known.",
    ),
    Column("code", "Verdict", "string", doc="Verdict: slower, faster, same, unclear or incomparable."),
    Column("certainty", "Certainty", "string", doc="Certainty of the verdict: shown, probable or none."),
    Column("change", "Change", unit="share", doc="Relative change of the time from step to step."),
    Column("low", "Lower bound", unit="share", doc="Lower end of the change's 95 % interval."),
    Column("high", "Upper bound", unit="share", doc="Upper end of the change's 95 % interval."),
    Column(
        "least",
        "Smallest detectable change",
        unit="share",
        doc="Smallest change that these captures show in 4 of 5 cases.",
    ),
    time_column("base_ps", "Base", "Mean time from step to step of the base."),
    time_column("new_ps", "New", "Mean time from step to step of the new side."),
    Column(
        "matched_base",
        "Matched in the base",
        unit="share",
        doc="Share of the base's time in ops found on both sides with certainty.",
    ),
    Column(
        "matched_new",
        "Matched in the new side",
        unit="share",
        doc="Share of the new side's time in ops found on both sides with certainty.",
    ),
)

_REASONS = Table("reasons", "Why", (Column("text", "Why", "string"), Column("part", "Part", "string")))

_DIFFERS = Table(
    "differs",
    "Differences between the recordings",
    (
        Column("label", "What", "string", texts=True),
        Column("base", "Base", "string"),
        Column("new", "New", "string"),
        Column("text", "Consequence", "string"),
        Column("grade", "Grade", "string", doc="Weight of the difference: stops, question, host, note or same."),
    ),
    doc="Facts about the two recordings.",
)

_PARTS = Table(
    "parts",
    "From the base's step to the new one's",
    (Column("id", "Id", "string"), Column("label", "Part", "string", texts=True), *_SIDES),
    doc="Where steps spend time; the differences sum to that of the steps.",
)

_OPS = Table(
    "ops",
    "Ops",
    (
        Column("name", "Op", "string", doc="Name of the op; both names if they differ."),
        Column("part", "Part id", "string", doc="Id of the part, for scripts and links."),
        Column("label", "Part", "string", texts=True),
        *_SIDES,
        Column("marked", "Marked", "boolean", doc="Whether the difference exceeds chance and matters."),
        Column("match", "Match", "string", doc=f"How the op was matched: {', '.join(TIERS)}."),
        time_column("by_count_ps", "By count", "Part of the difference that comes from the number of runs."),
        time_column("by_length_ps", "By length", "Part of the difference that comes from the length of a run."),
        Column("base_launches", "Runs, base", doc="Executions per step of the base."),
        Column("new_launches", "Runs, new", doc="Executions per step of the new side."),
        time_column("base_total_ps", "Total, base", "Time per step over all streams, overlapped or not."),
        time_column("new_total_ps", "Total, new", "Time per step over all streams, overlapped or not."),
        Column("kernels", "Kernels", "string", doc="Kernels of both sides, if they differ."),
        Column("detail", "Of", "string", doc="Program, type, origin, shape and source of the op."),
    ),
    doc="Ops of both sides. Each moment of a step belongs to one op, so differences sum to the steps'.",
    paged=True,
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        Column("side", "Side", "string"),
        Column("place", "Place", doc="Position of the step in time, from 0."),
        Column("number", "Step", doc="Number that the program gives the step."),
        time_column("time_ps", "Time", "Time from the step's start to the start of the next."),
        Column("reason", "Left out", "string", doc="Why the comparison leaves the step out; else blank."),
    ),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        Column("id", "Id", "string"),
        Column("label", "Cause", "string", texts=True),
        time_column("base_ps", "Base", "Time per step of the base, from its diagnosis."),
        time_column("new_ps", "New", "Time per step of the new side, from its diagnosis."),
        Column("delta_ps", "Difference", unit="ps", doc="Difference per step.", signed=True),
    ),
    doc="Causes that the diagnosis finds on both sides.",
)


_MEMORY = Table(
    "memory",
    "Memory",
    (
        Column("allocator", "Allocator", "string"),
        Column("base_peak", "Peak, base", unit="iB", doc="Most memory in use, over the captures of the base."),
        Column("new_peak", "Peak, new", unit="iB", doc="Most memory in use, over the captures of the new side."),
        Column(
            "delta_peak", "Δ Peak", unit="iB", doc="Memory that the new side needs more; negative if less.", signed=True
        ),
        Column(
            "base_growth",
            "Growth, base",
            unit="iB",
            doc="Growth of memory from start to end of a capture; largest of the base's captures.",
        ),
        Column(
            "new_growth",
            "Growth, new",
            unit="iB",
            doc="Growth of memory from start to end of a capture; largest of the new side's captures.",
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
        CHOICE,
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_REASONS, _DIFFERS, _PARTS, _OPS, _STEPS, _CAUSES, _MEMORY),
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
    sides = [session.neighbour(base), *_named(session, bases)], [session, *_named(session, news)]
    both = {member.name for member in sides[0]} & {member.name for member in sides[1]}
    if both and (bases or news):
        message = Message("{session} is on both sides.", session=min(both))
        raise problem_error("both_sides", message, "Choose patterns that separate the sides.")
    before, after = (
        _side(sessions, host, steps, hosts[0].step_event, items)
        for sessions, items in zip(sides, (base_items, new_items), strict=True)
    )
    return compared_sides(before, after, (hosts_of(*sides[0]), hosts_of(*sides[1])))


def hosts_of(*sessions: Session) -> dict[str, str]:
    """What the hosts that digests know by their places are called; nothing of several sessions, which may differ."""
    return {position: name for name, position in host_labels(sessions[0].hosts).items()} if len(sessions) == 1 else {}


def compared_sides(base: Side, new: Side, hosts: Hosts) -> Answer:
    """The answer for these, whatever they come from."""
    comparison = compared(base, new)
    judgement = verdict(comparison, hosts=hosts)
    return Answer(
        _facts(comparison, judgement, base.names[0]),
        {
            "reasons": by_column(
                _REASONS, zip(judgement.reasons, (id for id in judgement.why if ":" not in id), strict=True)
            ),
            "differs": by_column(
                _DIFFERS, ((*map(message, (f.label, f.base, f.new, f.text)), f.grade) for f in comparison.facts)
            ),
            "parts": by_column(
                _PARTS, ((row.id, message(LABELS[row.id]), *_difference(row)) for row in comparison.parts)
            ),
            "ops": by_column(_OPS, map(_op, comparison.ops)),
            "steps": by_column(_STEPS, _steps(comparison.sides)),
            "causes": by_field(_CAUSES, causes(comparison.sides)),
            "memory": by_column(_MEMORY, _memory(comparison.sides)),
        },
        Headline(judgement.text, _level(judgement), doubt=sentences(*judgement.doubts) if judgement.doubts else ""),
    )


def _named(session: Session, pattern: str) -> list[Session]:
    """The sessions of the logdir with such names."""
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


def _side(sessions: Sequence[Session], host: str, steps: str, step_event: str, items: int) -> Side:
    own = {session.name: host if host in session.hosts else "" for session in sessions}
    return side(
        [(session.name, digest_of_session(session, own[session.name], step_event, steps)) for session in sessions],
        items,
    )


def _memory(sides: Sides) -> Iterator[tuple[Any, ...]]:
    def most(this_side: Side, allocator: str) -> tuple[int | None, int | None]:
        rows = [row for digest in this_side.digests for row in digest.memory if row.allocator == allocator]
        peak = max((row.peak_bytes for row in rows), default=None)
        return peak, max((row.growth_bytes for row in rows), default=None)

    for name in sorted({row.allocator for this_side in sides for digest in this_side.digests for row in digest.memory}):
        base, new = most(sides.base, name), most(sides.new, name)
        delta = None if base[0] is None or new[0] is None else new[0] - base[0]
        yield name, base[0], new[0], delta, base[1], new[1]


def _level(judgement: Verdict) -> Level:
    return (
        "warn"
        if (judgement.code, judgement.certainty) == ("slower", "probable")
        else _LEVELS.get(judgement.code, "unknown")
    )


def _facts(comparison: Comparison, judgement: Verdict, base: str) -> dict[str, Any]:
    change = None if comparison.blocking_fact else comparison.deciding_change
    return {
        "base": base,
        "code": judgement.code,
        "certainty": judgement.certainty,
        "change": change and change.estimate,
        "low": change and change.low,
        "high": change and change.high,
        "least": change and change.least_detectable,
        "base_ps": _ps(comparison.step_difference.base),
        "new_ps": _ps(comparison.step_difference.new),
        "matched_base": comparison.matched_shares[0],
        "matched_new": comparison.matched_shares[1],
    }


def _ps(time: Fraction) -> int:
    return round(time)


def _difference(row: Any) -> tuple[Any, ...]:
    one = row.difference
    return _ps(one.base), _ps(one.new), _ps(one.delta), one.low and round(one.low), one.high and round(one.high)


def _op(row: OpRow) -> tuple[Any, ...]:
    return (
        # A digest from the cache has it as any name.
        NOTHING if row.name == NOTHING else row.name,
        row.part,
        LABELS[row.part],
        *_difference(row),
        row.is_marked,
        None if row.is_others else TIERS[row.tier],
        _ps(row.by_count),
        _ps(row.by_length),
        float(row.base.launches),
        float(row.new.launches),
        _ps(row.base.total),
        _ps(row.new.total),
        f"{row.base.kernels} → {row.new.kernels}" if row.has_other_kernel else None,
        row.detail or None,
    )


def _steps(sides: Sides) -> Iterator[tuple[Any, ...]]:
    for name, this_side in zip(("base", "new"), sides, strict=True):
        steps = this_side.digests[0].steps
        for index, ps in enumerate(steps.ps):
            yield name, index, steps.number[index], ps, steps.reason[index] or None
