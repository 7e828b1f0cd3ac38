"""A session's tables beside those of a baseline: rows are matched, and each figure gets the difference.

Rows are matched as ops are in a comparison; what makes two sessions incomparable there leaves differences blank here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...analysis.compare.engine import compare
from ...analysis.compare.facts import HOST, QUESTION, STOPS, Fact
from ...analysis.compare.load import digest_of_session
from ...analysis.compare.match import EXACT, NONE, TIER_LABELS, OpPair, op_pairs
from ...analysis.compare.side import Side, side_of_digests
from ...analysis.digest.identity import stem_of_program
from ...analysis.digest.record import DigestOp
from ...analysis.steps.choice_names import TYPICAL
from ...analysis.steps.step_coverage import captured_steps
from ...model.host import HostWithSteps
from ...model.session import Session
from ...runtime.messages import Message, listed, message, sentences
from ...runtime.problems import Problem, ProblemError, problem_error
from ...runtime.records import NamedTuple
from .answer import Answer, Column, Keyed, Table, TableValues
from .stacks import PROGRAM_ID
from .step_counterparts import counterparts

NEW, GONE = "new", "gone"
_SessionHosts = tuple[Session, Sequence[HostWithSteps]]
"""A session, and those of its hosts that are shown."""


class Baseline(NamedTuple):
    """The session that another one's answer is compared with."""

    name: str
    """Name of a session of the same logdir."""
    hosts_of: Callable[[Session], Sequence[HostWithSteps]]
    """The hosts of it that are shown; raises `ProblemError` where it has nothing to show."""
    answer_of: Callable[[Session, Sequence[HostWithSteps]], Answer]
    """The tool's function, with the same options."""


class _StepCounts(NamedTuple):
    """How many steps either capture holds: sums over a capture are divided by that before they are compared."""

    base: float
    new: float


def with_differences(
    answer: Answer,
    tables: Sequence[Table],
    new: _SessionHosts,
    baseline: Baseline,
    options: Mapping[str, Any],
    facts: Sequence[Column],
) -> tuple[Answer, Sequence[Table]]:
    """The answer and its tables' declarations, with the baseline's figures and the differences from them.

    Both as they were, with a note on why, where the baseline cannot be read.
    """
    session, hosts = new
    try:
        if baseline.name == session.name:
            raise problem_error("same_session", "The baseline is this session itself.", "Choose another session.")
        base_session = session.neighbour(baseline.name)
        base_hosts = baseline.hosts_of(base_session)
        base_answer = baseline.answer_of(base_session, base_hosts)
        doubts = _doubts((base_session, base_hosts), new, options)
    except ProblemError as error:
        problem = error.problem
        text = sentences(
            Message("Nothing is comparable with the baseline {session}.", session=baseline.name), problem.message
        )
        note = Problem("no_baseline", text, problem.remedy, problem.where, "warning")
        return replace(answer, notes=[*answer.notes, note]), tables
    comparable = not any(fact.grade == STOPS for fact in doubts)
    counts = _StepCounts(captured_steps(base_hosts), captured_steps(hosts)) if comparable else None
    table_values = {
        table.id: _compared_values(table, answer.tables.get(table.id, {}), base_answer.tables.get(table.id, {}), counts)
        for table in tables
        if table.keyed
    }
    all_facts = {**answer.facts, **_base_facts(facts, answer.facts, base_answer.facts, comparable)}
    answer = Answer(all_facts, {**answer.tables, **table_values}, answer.headline, [*answer.notes, *map(_note, doubts)])
    return answer, [_with_step_counts(table.with_baseline, counts) for table in tables]


def _base_facts(
    facts: Sequence[Column], new: Mapping[str, Any], base: Mapping[str, Any], comparable: bool
) -> dict[str, Any]:
    """The baseline's values, ``base_…``, and the differences, ``delta_…``, of the facts that are compared."""
    values: dict[str, Any] = {}
    for id in (fact.id for fact in facts if fact.compared):
        new_value, base_value = new.get(id), base.get(id)
        values |= {f"base_{id}": base_value, f"delta_{id}": None}
        if comparable and new_value is not None and base_value is not None:
            values[f"delta_{id}"] = new_value - base_value
    return values


def _doubts(base: _SessionHosts, new: _SessionHosts, options: Mapping[str, Any]) -> list[Fact]:
    """The facts in which the sessions differ and that speak against comparing them."""
    steps = str(options.get("steps", TYPICAL))

    def side_of(session: Session, hosts: Sequence[HostWithSteps]) -> Side:
        host = hosts[0].name if len(hosts) == 1 < len(session.hosts) else ""
        return side_of_digests([(session.name, digest_of_session(session, host, hosts[0].step_event, steps))])

    return [fact for fact in compare(side_of(*base), side_of(*new)).facts if fact.grade in (STOPS, QUESTION, HOST)]


def _note(fact: Fact) -> Problem:
    text = sentences(
        "Not comparable with the baseline." if fact.grade == STOPS else "",
        fact.text,
        Message(
            "{label}: {base} in the baseline, {new} here.", label=message(fact.label), base=fact.base, new=fact.new
        ),
    )
    return Problem(f"baseline_{fact.id}", text, "Open Compare for all differences.", "", "warning")


def _with_step_counts(table: Table, counts: _StepCounts | None) -> Table:
    """The declaration, in which differences per step say how many steps they cover."""
    if not (table.keyed and counts):
        return table
    text = Message("{new} steps here, {base} in the baseline.", new=f"{counts.new:.4g}", base=f"{counts.base:.4g}")
    ids = {f"delta_{id}" for id in table.keyed.sums}
    columns = (
        replace(column, doc=sentences(column.doc, text)) if column.id in ids else column for column in table.columns
    )
    return table._replace(columns=tuple(columns))


def _compared_values(
    table: Table, new: TableValues, base: TableValues, counts: _StepCounts | None
) -> dict[str, list[Any]]:
    """The values with the baseline's beside them; rows that only the baseline has stand at the end."""
    keyed = table.keyed
    assert keyed, "only keyed tables are compared"
    if keyed.step:
        return _compared_steps(table, keyed, new, base, bool(counts))
    base_ops, new_ops = _ops(keyed, base), _ops(keyed, new)
    pairs = op_pairs(list(enumerate(base_ops)), list(enumerate(new_ops)))
    if keyed.only_largest:
        pairs = [pair for pair in pairs if pair.tier != NONE]
    gone = sorted(row for pair in pairs if not pair.new for row, _ in pair.base)
    values = {
        id: [*cells, *(base[id][row] if id in keyed.columns else None for row in gone)]
        for id, cells in _all_columns(table, new, len(new_ops)).items()
    }
    match_texts: list[str | None] = [None] * len(new_ops) + [GONE] * len(gone)
    for pair in pairs:
        for row, text in _match_texts(pair, new_ops):
            match_texts[row] = text
    values["match"] = match_texts
    for id in (*keyed.sums, *keyed.means):
        divisors = counts if id in keyed.sums else counts and _StepCounts(1.0, 1.0)
        base_cells, new_cells = base.get(id, [None] * len(base_ops)), new.get(id, [None] * len(new_ops))
        values[f"base_{id}"], values[f"delta_{id}"] = _base_and_delta(pairs, gone, base_cells, new_cells, divisors)
    if keyed.parent:
        _nest_gone_rows(keyed.parent, values, base, pairs, gone)
    return values


def _compared_steps(
    table: Table, keyed: Keyed, new: TableValues, base: TableValues, comparable: bool
) -> dict[str, list[Any]]:
    """Columns of a table of steps with those of the baseline, in which rows that only the baseline has do not stand."""
    rows = counterparts(keyed, new, base)
    values = {id: [*cells] for id, cells in _all_columns(table, new, len(rows)).items()}
    values["match"] = [row.text for row in rows]
    for id in keyed.means:
        base_cells = [row.mean(base.get(id, ())) for row in rows]
        values[f"base_{id}"] = base_cells
        values[f"delta_{id}"] = [
            new_value - base_value if comparable and new_value is not None and base_value is not None else None
            for new_value, base_value in zip(values[id], base_cells, strict=True)
        ]
    return values


def _all_columns(table: Table, values: TableValues, row_count: int) -> dict[str, Sequence[Any]]:
    return {column.id: values.get(column.id, [None] * row_count) for column in table.columns}


def _ops(keyed: Keyed, values: TableValues) -> list[DigestOp]:
    """The rows as ops, which `op_pairs` matches."""

    def text(id: str, row: int) -> str:
        value = values[id][row] if id and id in values else None
        return "" if value is None else str(value)

    parents = _parent_names(keyed, values)
    ops = []
    for row in range(len(values.get(keyed.name, ()))):
        scope = "\n".join([*(text(id, row) for id in keyed.within), *parents[row]])
        name, kind, origin = _without_id(keyed, text(keyed.name, row)), text(keyed.type, row), text(keyed.origin, row)
        module = stem_of_program(text(keyed.module, row))
        shape, source = text(keyed.shape, row), text(keyed.source, row)
        ops.append(
            DigestOp(
                part=scope,
                side="",
                name=name,
                type=kind,
                module=module,
                origin=origin,
                shape=shape,
                source=source,
                sum_ps=0,
                variance=None,
                launches=0,
                total_ps=0,
            )
        )
    return ops


def _parent_names(keyed: Keyed, values: TableValues) -> list[list[str]]:
    """By row of a tree the names of the rows that enclose it, the outermost last; none in a plain table."""
    names = values.get(keyed.name, ())
    if not keyed.parent:
        return [[] for _ in names]
    row_by_id = {id: row for row, id in enumerate(values["id"])}
    parents: list[list[str]] = []
    for parent_id in values[keyed.parent]:
        parent = row_by_id.get(parent_id, -1)
        # Parents stand before the rows that they enclose.
        parents.append([] if parent < 0 else [_without_id(keyed, str(names[parent])), *parents[parent]])
    return parents


def _without_id(keyed: Keyed, name: str) -> str:
    """Rows of a tree may be programs, whose names end with ids that change from run to run."""
    return PROGRAM_ID.sub("", name) if keyed.parent else name


def _match_texts(pair: OpPair, new_ops: Sequence[DigestOp]) -> Iterator[tuple[int, str | None]]:
    """(row, text) for the rows of this session in a pair; where several were matched, the first has their sum."""
    if not pair.new:
        return
    if pair.tier == NONE:
        yield from ((row, NEW) for row, _ in pair.new)
        return
    texts: list[str] = [] if pair.tier == EXACT else [TIER_LABELS[pair.tier]]
    if len(pair.base) > 1:
        texts.append(Message("{count} of the baseline together", count=len(pair.base)))
    if len(pair.new) > 1:
        texts.append(Message("{count} here together", count=len(pair.new)))
    first_row = pair.new[0][0]
    yield first_row, listed(texts) or None
    for row, _ in pair.new[1:]:
        yield row, Message("counted with {op}", op=new_ops[first_row].name)


def _base_and_delta(
    pairs: Sequence[OpPair], gone: Sequence[int], base: Sequence[Any], new: Sequence[Any], divisors: _StepCounts | None
) -> tuple[list[Any], list[Any]]:
    """The baseline's figure and the difference, by row; both None for rows that are counted with another one.

    The last rows are those that are gone. No difference is known without ``divisors``.
    """
    base_cells: list[Any] = [None] * (len(new) + len(gone))
    delta_cells: list[Any] = [None] * (len(new) + len(gone))

    def set_cells(row: int, base_value: Any, new_value: Any) -> None:
        base_cells[row] = base_value
        if divisors and not (base_value is None and new_value is None):
            delta_cells[row] = (new_value or 0) / divisors.new - (base_value or 0) / divisors.base

    for pair in pairs:
        if pair.new and pair.tier == NONE:
            for row, _ in pair.new:
                set_cells(row, None, new[row])
        elif pair.new:
            set_cells(pair.new[0][0], _sum(base, pair.base), _sum(new, pair.new))
    for row, base_row in enumerate(gone, len(new)):
        set_cells(row, base[base_row], None)
    return base_cells, delta_cells


def _sum(values: Sequence[Any], ops: Sequence[tuple[int, DigestOp]]) -> Any:
    """The sum over the ops' rows; None where nothing of it is known."""
    summands = [values[row] for row, _ in ops if values[row] is not None]
    return sum(summands) if summands else None


def _nest_gone_rows(
    parent: str, values: dict[str, list[Any]], base: TableValues, pairs: Sequence[OpPair], gone: Sequence[int]
) -> None:
    """Give the rows of a tree that are gone ids of their own, and as parents the rows that match the baseline's."""
    ids = values["id"]
    first_gone = len(ids) - len(gone)
    id_by_base_id = {base["id"][row]: ids[pair.new[0][0]] for pair in pairs if pair.new for row, _ in pair.base}
    for row, base_row in enumerate(gone, first_gone):
        id_by_base_id[base["id"][base_row]] = ids[row] = row
    for row, base_row in enumerate(gone, first_gone):
        values[parent][row] = id_by_base_id.get(base[parent][base_row])
        for id in ("depth", "kind"):
            values[id][row] = base[id][base_row]
