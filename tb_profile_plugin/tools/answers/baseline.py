"""A session's tables held against those of a baseline: the same rows found in both, and each figure's difference.

Rows are matched as ops are in a comparison; what makes two sessions incomparable there leaves differences blank here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...analysis.compare.engine import compare
from ...analysis.compare.facts import HOST, QUESTION, STOPS, Fact
from ...analysis.compare.load import digest_of_session
from ...analysis.compare.match import EXACT, NONE, TIERS, OpPair, op_pairs
from ...analysis.compare.side import Side, side
from ...analysis.digest.identity import stem_of_program
from ...analysis.digest.record import DigestOp
from ...analysis.steps.step_choice import TYPICAL
from ...analysis.steps.step_evidence import captured_steps
from ...model.host import HostWithSteps
from ...model.session import Session
from ...runtime.messages import Message, listed, message, sentences
from ...runtime.problems import Problem, ProblemError, problem_error
from .answer import Answer, Column, Keyed, Table
from .samples import counterparts
from .stacks import PROGRAM_ID

NEW, GONE = "new", "gone"
_Values = Mapping[str, Sequence[Any]]


class Baseline(NamedTuple):
    """What is held against."""

    name: str
    """Of a session of the same logdir."""
    hosts: Callable[[Session], Sequence[HostWithSteps]]
    """Those of it that are shown; raises `ProblemError` where it has nothing to show."""
    ask: Callable[[Session, Sequence[HostWithSteps]], Answer]
    """The same question."""


class _Measure(NamedTuple):
    """What sums over either capture are divided by: steps that it holds."""

    base: float
    new: float


def against(
    answer: Answer,
    tables: Sequence[Table],
    sides: tuple[Session, Sequence[HostWithSteps]],
    base: Baseline,
    options: Mapping[str, Any],
    facts: Sequence[Column],
) -> tuple[Answer, Sequence[Table]]:
    """The answer, with the ``facts`` that are compared, and its tables with the differences from a baseline.

    As they were, with a note on why, where that is none.
    """
    session, hosts = sides
    try:
        if base.name == session.name:
            raise problem_error("same_session", "The baseline is this session itself.", "Choose another session.")
        other = session.neighbour(base.name)
        there = base.hosts(other)
        before = base.ask(other, there)
        doubts = _facts((other, there), sides, options)
    except ProblemError as error:
        about = error.problem
        text = sentences(
            Message("Nothing is comparable with the baseline {session}.", session=base.name), about.message
        )
        note = Problem("no_baseline", text, about.remedy, about.where, "warning")
        return replace(answer, notes=[*answer.notes, note]), tables
    measure = (
        None if any(fact.grade == STOPS for fact in doubts) else _Measure(captured_steps(there), captured_steps(hosts))
    )
    joined = {
        table.id: _joined(table, answer.tables.get(table.id, {}), before.tables.get(table.id, {}), measure)
        for table in tables
        if table.keyed
    }
    all_facts = {**answer.facts, **_of_facts(facts, answer.facts, before.facts, bool(measure))}
    answer = Answer(all_facts, {**answer.tables, **joined}, answer.headline, [*answer.notes, *map(_note, doubts)])
    return answer, [_with_step_counts(table.against, measure) for table in tables]


def _of_facts(
    facts: Sequence[Column], new: Mapping[str, Any], base: Mapping[str, Any], comparable: bool
) -> dict[str, Any]:
    """The base's values, and the differences."""
    values: dict[str, Any] = {}
    for id in (fact.id for fact in facts if fact.compared):
        own, before = new.get(id), base.get(id)
        values |= {f"base_{id}": before, f"delta_{id}": None}
        if comparable and own is not None and before is not None:
            values[f"delta_{id}"] = own - before
    return values


def _facts(
    base: tuple[Session, Sequence[HostWithSteps]],
    new: tuple[Session, Sequence[HostWithSteps]],
    options: Mapping[str, Any],
) -> list[Fact]:
    """What speaks against comparing."""
    steps = str(options.get("steps", TYPICAL))

    def digested(session: Session, hosts: Sequence[HostWithSteps]) -> Side:
        host = hosts[0].name if len(hosts) == 1 < len(session.hosts) else ""
        return side([(session.name, digest_of_session(session, host, hosts[0].step_event, steps))])

    return [fact for fact in compare(digested(*base), digested(*new)).facts if fact.grade in (STOPS, QUESTION, HOST)]


def _note(fact: Fact) -> Problem:
    text = sentences(
        "Not comparable with the baseline." if fact.grade == STOPS else "",
        fact.text,
        Message(
            "{label}: {base} in the baseline, {new} here.", label=message(fact.label), base=fact.base, new=fact.new
        ),
    )
    return Problem(f"baseline_{fact.id}", text, "Open Compare for all differences.", "", "warning")


def _with_step_counts(table: Table, measure: _Measure | None) -> Table:
    """Differences say over how many steps they are, once that is known."""
    if not (table.keyed and measure):
        return table
    many = Message("{new} steps here, {base} in the baseline.", new=f"{measure.new:.4g}", base=f"{measure.base:.4g}")
    sums = {f"delta_{id}" for id in table.keyed.sums}
    columns = (
        replace(column, doc=sentences(column.doc, many)) if column.id in sums else column for column in table.columns
    )
    return table._replace(columns=tuple(columns))


def _joined(table: Table, new: _Values, base: _Values, measure: _Measure | None) -> dict[str, list[Any]]:
    """The values with those of the base beside them; rows that only the base has stand at the end."""
    keyed = table.keyed
    assert keyed, "only keyed tables are joined"
    if keyed.step:
        return _sampled(table, new, base, measure)
    sides = [_rows(keyed, values) for values in (base, new)]
    pairs = op_pairs(*(list(enumerate(rows)) for rows in sides))
    many = len(sides[1])
    if keyed.largest:
        pairs = [pair for pair in pairs if pair.tier != NONE]
    gone = sorted(row for pair in pairs if not pair.new for row, _ in pair.base)
    match: list[str | None] = [None] * many + [GONE] * len(gone)
    answer = {
        id: [*values, *(base[id][row] if id in keyed.columns else None for row in gone)]
        for id, values in _filled(table, new, many).items()
    }
    for pair in pairs:
        for row, word in _words(pair, sides[1]):
            match[row] = word
    answer["match"] = match
    for id in (*keyed.sums, *keyed.means):
        scale = measure if id in keyed.sums else measure and _Measure(1.0, 1.0)
        figures = base.get(id, [None] * len(sides[0])), new.get(id, [None] * many)
        answer[f"base_{id}"], answer[f"delta_{id}"] = _compared(pairs, gone, figures, scale)
    if keyed.parent:
        _grown(keyed, answer, base, pairs, gone)
    return answer


def _sampled(table: Table, new: _Values, base: _Values, measure: _Measure | None) -> dict[str, list[Any]]:
    """The same of a table of steps, which has no rows that only the base has."""
    keyed = table.keyed
    assert keyed, "only keyed tables are joined"
    words, figures = counterparts(keyed, new, base)
    answer = {id: [*values] for id, values in _filled(table, new, len(words)).items()} | {"match": words}
    for id in keyed.means:
        before = figures(id)
        both = zip(answer[id], before, strict=True)
        answer[f"base_{id}"] = before
        answer[f"delta_{id}"] = [None if not measure or None in pair else pair[0] - pair[1] for pair in both]
    return answer


def _filled(table: Table, values: _Values, many: int) -> dict[str, Sequence[Any]]:
    return {column.id: values.get(column.id, [None] * many) for column in table.columns}


def _rows(keyed: Keyed, values: _Values) -> list[DigestOp]:
    """The rows as ops that can be matched."""
    many = len(values.get(keyed.name, ()))

    def text(id: str, row: int) -> str:
        value = values[id][row] if id and id in values else None
        return "" if value is None else str(value)

    above = _paths(keyed, values)
    rows = []
    for row in range(many):
        within = [*(text(id, row) for id in keyed.within), *above[row]]
        name, kind, origin = _bare(keyed, text(keyed.name, row)), text(keyed.type, row), text(keyed.origin, row)
        module = stem_of_program(text(keyed.module, row))
        shape, source = text(keyed.shape, row), text(keyed.source, row)
        rows.append(DigestOp("\n".join(within), "", name, kind, module, origin, shape, "", "", source, 0, None, 0, 0))
    return rows


def _paths(keyed: Keyed, values: _Values) -> list[list[str]]:
    """Of a tree, what is around each row, the outermost last; empty of a plain table."""
    names = values.get(keyed.name, ())
    if not keyed.parent:
        return [[] for _ in names]
    row_by_id = {id: row for row, id in enumerate(values["id"])}
    paths: list[list[str]] = []
    for parent in values[keyed.parent]:
        around = row_by_id.get(parent, -1)
        # Rows stand before their parts.
        paths.append([] if around < 0 else [_bare(keyed, str(names[around])), *paths[around]])
    return paths


def _bare(keyed: Keyed, name: str) -> str:
    """Rows of a tree may be programs, whose names end with numbers that change from run to run."""
    return PROGRAM_ID.sub("", name) if keyed.parent else name


def _words(pair: OpPair, rows: Sequence[DigestOp]) -> Iterator[tuple[int, str | None]]:
    """What is said of each row of this session: of several that are one the first has their figures together."""
    if not pair.new:
        return
    first = pair.new[0][0]
    if pair.tier == NONE:
        yield from ((row, NEW) for row, _ in pair.new)
        return
    words: list[str] = [] if pair.tier == EXACT else [TIERS[pair.tier]]
    if len(pair.base) > 1:
        words.append(Message("{count} of the baseline together", count=len(pair.base)))
    if len(pair.new) > 1:
        words.append(Message("{count} here together", count=len(pair.new)))
    yield first, listed(words) or None
    for row, _ in pair.new[1:]:
        yield row, Message("counted with {op}", op=rows[first].name)


def _compared(
    pairs: Sequence[OpPair], gone: Sequence[int], figures: tuple[Sequence[Any], Sequence[Any]], scale: _Measure | None
) -> tuple[list[Any], list[Any]]:
    """The base's figure and the difference by row; neither of rows that are counted with another one."""
    base, new = figures
    many = len(new)
    before: list[Any] = [None] * (many + len(gone))
    delta: list[Any] = list(before)

    def put(row: int, old: Any, own: Any) -> None:
        before[row] = old
        if scale and not (old is None and own is None):
            delta[row] = (own or 0) / scale.new - (old or 0) / scale.base

    for pair in pairs:
        if not pair.new:
            continue
        if pair.tier == NONE:
            for row, _ in pair.new:
                put(row, None, new[row])
        else:
            put(pair.new[0][0], _sum(base, pair.base), _sum(new, pair.new))
    for at, row in enumerate(gone):
        put(many + at, base[row], None)
    return before, delta


def _sum(values: Sequence[Any], rows: Sequence[tuple[int, DigestOp]]) -> Any:
    """None where nothing of it is known."""
    summands = [values[row] for row, _ in rows if values[row] is not None]
    return sum(summands) if summands else None


def _grown(
    keyed: Keyed, answer: dict[str, list[Any]], base: _Values, pairs: Sequence[OpPair], gone: Sequence[int]
) -> None:
    """Give the rows of a tree that are gone a place in it: within what their own parents became."""
    ids = answer["id"]
    many = len(ids) - len(gone)
    became = {base["id"][old]: ids[pair.new[0][0]] for pair in pairs if pair.new for old, _ in pair.base}
    for at, row in enumerate(gone):
        became[base["id"][row]] = ids[many + at] = many + at
    for at, row in enumerate(gone):
        answer[keyed.parent][many + at] = became.get(base[keyed.parent][row])
        for id in ("depth", "kind"):
            answer[id][many + at] = base[id][row]
