"""Compare: is this session faster than another one, by how much, why, and is that noise?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from ..analysis.compare.causes import causes
from ..analysis.compare.engine import Comparison, OpRow
from ..analysis.compare.engine import compare as compared
from ..analysis.compare.load import digest_of_session
from ..analysis.compare.match import TIERS
from ..analysis.compare.side import Side, Sides, side
from ..analysis.compare.verdict import Hosts, Verdict, verdict
from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.digest.digest import NEEDS, host_labels
from ..model.host import Host
from ..model.session import Session
from ..runtime.problems import Problem, ProblemError
from .answers.answer import Answer, Column, Headline, Level, Table, by_column, by_field, time_column
from .answers.tool import STEP_EVENT, Param, tool
from .columns.steps import CHOICE

_LEVELS: dict[str, Level] = {"slower": "bad", "faster": "ok", "same": "info"}


_SIDES = (
    time_column("base_ps", "Base", "Mean over the steps that count."),
    time_column("new_ps", "New", "Mean over the steps that count."),
    Column("delta_ps", "Difference", unit="ps", doc="How much longer the new side takes.", signed=True),
    time_column("low_ps", "At least", "Begin of the interval of 95 % of the difference; blank where nothing tells it."),
    time_column("high_ps", "At most", "Its end."),
)

_FACTS = (
    Column("base", "Base", "string", doc="The session that is compared with; blank where none was chosen."),
    Column("code", "Verdict", "string", doc="slower, faster, same, unclear, or incomparable."),
    Column("certainty", "Certainty", "string", doc="shown, probable, or none."),
    Column("change", "Change", unit="share", doc="How much longer steps take, from begin to begin."),
    Column("low", "At least", unit="share", doc="Begin of the interval of 95 %."),
    Column("high", "At most", unit="share", doc="Its end."),
    Column("least", "Could be told", unit="share", doc="The smallest change that would be told in 4 of 5 cases."),
    time_column("base_ps", "Base", "From step to step, mean over the steps that count."),
    time_column("new_ps", "New", "From step to step, mean over the steps that count."),
    Column("matched_base", "Matched of the base", unit="share", doc="Time in ops found on both sides with certainty."),
    Column("matched_new", "Matched of the new side", unit="share", doc="The same of the new side."),
)

_REASONS = Table("reasons", "Why", (Column("text", "Why", "string"), Column("part", "Part", "string")))

_DIFFERS = Table(
    "differs",
    "What differs",
    (
        Column("label", "What", "string"),
        Column("base", "Base", "string"),
        Column("new", "New", "string"),
        Column("text", "What it means", "string"),
        Column("grade", "Grade", "string", doc="stops, question, host, note, or same."),
    ),
    doc="Facts of the two recordings, before any figure.",
)

_PARTS = Table(
    "parts",
    "From the base's step to the new one's",
    (Column("id", "Id", "string"), Column("label", "Part", "string"), *_SIDES),
    doc="What steps are spent on; the differences sum to that of the steps, exactly.",
)

_OPS = Table(
    "ops",
    "Ops",
    (
        Column("name", "Op", "string", doc="Both names, if they differ."),
        Column("label", "Part", "string"),
        *_SIDES,
        Column("marked", "Marked", "boolean", doc="Whether it is more than chance, and enough to matter."),
        Column("match", "Match", "string", doc=f"By what it was found on both sides: {', '.join(TIERS)}."),
        time_column("by_count_ps", "By count", "What of the difference comes from running more often."),
        time_column("by_length_ps", "By length", "What of it comes from taking longer each time."),
        Column("base_launches", "Runs, base", doc="Executions per step."),
        Column("new_launches", "Runs, new", doc="Executions per step."),
        time_column("base_total_ps", "In all, base", "Over all streams, hidden or not; does not sum."),
        time_column("new_total_ps", "In all, new", "Over all streams, hidden or not; does not sum."),
        Column("kernels", "Kernels", "string", doc="Where it runs by other kernels than before."),
        Column("detail", "Of", "string", doc="Its program, type, origin, shape and source."),
    ),
    doc="Each moment of a step belongs to one op; the differences sum to that of the steps, exactly.",
    paged=True,
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        Column("side", "Side", "string"),
        Column("place", "Place", doc="In order of time, from 0."),
        Column("number", "Step", doc="As the program counts."),
        time_column("time_ps", "Time", "From its begin to the next one's."),
        Column("reason", "Left out", "string", doc="Why it does not count; blank where it does."),
    ),
)

_CAUSES = Table(
    "causes",
    "Causes",
    (
        Column("id", "Id", "string"),
        Column("label", "Cause", "string"),
        time_column("base_ps", "Base", "Per step, by the diagnosis of Why."),
        time_column("new_ps", "New", "Per step, by the diagnosis of Why."),
        Column("delta_ps", "Difference", unit="ps", doc="Per step.", signed=True),
    ),
    doc="The diagnoses of both sides.",
)


_MEMORY = Table(
    "memory",
    "Memory",
    (
        Column("allocator", "Allocator", "string"),
        Column("base_peak", "Peak, base", unit="iB", doc="Most that was in use within a capture, of all of the side."),
        Column("new_peak", "Peak, new", unit="iB", doc="The same of the new side."),
        Column("delta_peak", "Δ Peak", unit="iB", doc="How much more the new side needs.", signed=True),
        Column("base_growth", "Growth, base", unit="iB", doc="In use at the end beyond the begin; the most of a side."),
        Column("new_growth", "Growth, new", unit="iB", doc="The same of the new side."),
    ),
    doc="What each allocator reported, the largest over hosts.",
)


ITEMS = (
    Param(
        "base_items", "1", "What a step of the base works through, such as its batch: times are per item.", kind="count"
    ),
    Param("new_items", "1", "The same of the new side.", kind="count"),
)


@tool(
    "Comparison",
    group="Compare",
    order=70,
    params=[
        Param("base", "", "The session to compare with.", kind="session"),
        Param("bases", "", "More captures of the base, by a pattern of names such as main-*.", kind="sessions"),
        Param("news", "", "More captures of the new side, by a pattern of names.", kind="sessions"),
        *ITEMS,
        CHOICE,
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_REASONS, _DIFFERS, _PARTS, _OPS, _STEPS, _CAUSES, _MEMORY),
    needs=NEEDS,
)
def compare(
    session: Session,
    hosts: Sequence[Host],
    base: str,
    bases: str,
    news: str,
    base_items: int,
    new_items: int,
    steps: str,
    step_event: str,
) -> Answer:
    """Is this session faster than another one, by how much, why, and is that noise?"""
    if not base:
        return Answer(headline=Headline("Choose a session to compare this one with.", "unknown"))
    host = hosts[0].name if len(hosts) == 1 < len(session.hosts) else ""
    sides = [session.beside(base), *_named(session, bases)], [session, *_named(session, news)]
    both = {member.name for member in sides[0]} & {member.name for member in sides[1]}
    if both and (bases or news):
        message = f"{min(both)} is on both sides."
        raise ProblemError(Problem("both_sides", message, "Choose patterns that tell the sides apart."))
    before, after = (
        _side(sessions, host, steps, step_event, items)
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
            "differs": by_column(_DIFFERS, ((f.label, f.base, f.new, f.text, f.grade) for f in comparison.facts)),
            "parts": by_column(_PARTS, ((row.id, LABELS[row.id], *_difference(row)) for row in comparison.parts)),
            "ops": by_column(_OPS, map(_op, comparison.ops)),
            "steps": by_column(_STEPS, _steps(comparison.sides)),
            "causes": by_field(_CAUSES, causes(comparison.sides)),
            "memory": by_column(_MEMORY, _memory(comparison.sides)),
        },
        Headline(judgement.text, _level(judgement), doubt=" ".join(judgement.doubts)),
    )


def _named(session: Session, pattern: str) -> list[Session]:
    """The sessions of the logdir with such names."""
    if not (pattern and session.neighbours):
        return []
    names = [neighbour.name for neighbour in session.neighbours.sessions() if fnmatchcase(neighbour.name, pattern)]
    if not names:
        raise ProblemError(Problem("unknown_run", f"No session is named like {pattern!r}.", "Try main-* or *."), 404)
    return [session.beside(name) for name in names]


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
    change = None if comparison.stopped else comparison.judged
    return {
        "base": base,
        "code": judgement.code,
        "certainty": judgement.certainty,
        "change": change and change.estimate,
        "low": change and change.low,
        "high": change and change.high,
        "least": change and change.least,
        "base_ps": _ps(comparison.whole.base),
        "new_ps": _ps(comparison.whole.new),
        "matched_base": comparison.matched[0],
        "matched_new": comparison.matched[1],
    }


def _ps(time: Fraction) -> int:
    return round(time)


def _difference(row: Any) -> tuple[Any, ...]:
    one = row.difference
    return _ps(one.base), _ps(one.new), _ps(one.delta), one.low and round(one.low), one.high and round(one.high)


def _op(row: OpRow) -> tuple[Any, ...]:
    return (
        row.name,
        LABELS[row.part],
        *_difference(row),
        row.marked,
        None if row.rest else TIERS[row.tier],
        _ps(row.by_count),
        _ps(row.by_length),
        float(row.base_launches),
        float(row.new_launches),
        _ps(row.base_total),
        _ps(row.new_total),
        f"{row.base_kernels} → {row.new_kernels}" if row.other_kernel else None,
        row.detail or None,
    )


def _steps(sides: Sides) -> Iterator[tuple[Any, ...]]:
    for name, this_side in zip(("base", "new"), sides, strict=True):
        steps = this_side.digests[0].steps
        for index, ps in enumerate(steps.ps):
            yield name, index, steps.number[index], ps, steps.reason[index] or None
