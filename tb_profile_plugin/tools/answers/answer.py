"""What a tool answers: named tables and facts, each column and fact declared with its type, unit and meaning.

A tool declares `Table` and `Column` beside its function, which returns an `Answer` of plain values under their ids;
`answer_json` puts both together as the JSON that pages and scripts read. Unknown values are None, never a filler.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from ...analysis.finding import HeadlineLevel
from ...runtime.messages import Message, message, message_data, messages_by_name
from ...runtime.problems import Problem, problem_error
from ...runtime.records import NamedTuple, record

Json = Any
"""Plain data as ``json.dumps`` takes it."""
TableValues = Mapping[str, Sequence[Any]]
"""Values of a table by column id."""

Kind = Literal["number", "string", "boolean"]


@record
class Column:
    """Declaration of a table's column, or of a fact."""

    id: str
    label: str
    kind: Kind = "number"
    unit: str = ""
    """``ms``, ``us``, ``share`` (0–1), ``percent`` (0–100), ``bytes`` (by 1000), ``iB`` (by 1024) … or empty."""
    doc: str = ""
    """What the figure is, its formula, its source; pages show it on hover."""
    depends: tuple[str, ...] = ()
    """Aspects of a capture that it rests on, e.g. `runtime.problems.AVERAGE`: findings that affect them mark it."""
    signed: bool = False
    """Whether it is a difference, which pages show with its sign."""
    translated: bool = False
    """Whether its values are texts of this package, which catalogues translate, rather than names of the program."""
    compared: bool = False
    """Whether it is a fact that is shown with the baseline's value and the difference beside it."""
    dtype: str = "int64"
    """Type of numbers and booleans in a data frame, as numpy names it; answers do not say it."""


class Keyed(NamedTuple):
    """How a table's rows are found again in a baseline's table, and which of their figures are compared.

    Each text is a column's id. Those from ``name`` to ``source`` tell what `analysis.compare.match` matches ops by;
    they are empty where the table has no such column.
    """

    name: str
    type: str = ""
    module: str = ""
    origin: str = ""
    shape: str = ""
    source: str = ""
    within: tuple[str, ...] = ()
    """Further columns that must be equal in both sessions, such as the device that an op ran on."""
    display_name: str = ""
    """The column that pages show as a row's name, where that is not ``name``."""
    sums: tuple[str, ...] = ()
    """Columns of sums over the capture, which are compared per step."""
    means: tuple[str, ...] = ()
    """Columns of means over steps, which are compared as they are."""
    only_largest: bool = False
    """Whether small rows are left out of the table: then a row that is missing in a session is not known to be 0."""
    parent: str = ""
    """For a tree, the column that holds the ``id`` of the enclosing row."""
    step: str = ""
    """For a table of steps, the column that says which step a row is. The name tells the rows of one step apart, and a
    column ``left_out`` says why averages leave a row out; see `tools.answers.step_counterparts`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Ids of the columns that identify a row; rows that only the baseline has have values in these alone."""
        ids = (self.name, self.display_name, self.type, self.module, self.origin, self.shape, self.source, *self.within)
        return tuple(dict.fromkeys(id for id in ids if id))


class Weight(NamedTuple):
    """A measure by which the rows of a flame graph get their width."""

    id: str
    label: str
    self_column: str
    """Column of a row's weight without the rows nested in it."""
    total_column: str = ""
    """Column of a further weight, which includes nested rows; what is the row's own of it is added."""


class Stacks(NamedTuple):
    """How the rows of a table nest, so that they can be drawn as a flame graph. Columns are told by their ids."""

    name: str
    """Column of names; without a ``parent`` column these are paths: ``outer/inner``."""
    weights: tuple[Weight, ...]
    unit: str
    """Unit of the weights: ``us`` or ``iB``."""
    parent: str = ""
    """Column with the ``id`` of the enclosing row, which stands before it: then only innermost rows have weights."""
    leaf: str = ""
    """Column of one more level below each row, such as its source line."""
    calls: str = "count"
    """Column of the number of calls."""
    excluded: tuple[str, str] | None = None
    """(column, text): rows with that text are left out."""
    per_step: bool = False
    """Whether weights are sums over the capture, which are divided by its steps before they are compared."""


class Table(NamedTuple):
    """Declaration of a table."""

    id: str
    label: str
    columns: tuple[Column, ...]
    doc: str = ""
    paged: bool = False
    """Whether pages only show it row by row: where it is long they get its first rows, and others when scrolling."""
    keyed: Keyed | None = None
    """How its rows are matched with a baseline's; with that it gets columns of differences, see `with_baseline`."""
    stacks: Stacks | None = None
    """How its rows nest, where they can be drawn as a flame graph."""

    @property
    def with_baseline(self) -> Table:
        """The table with the columns that it has beside a baseline: two more after each that is compared."""
        if not self.keyed:
            return self
        columns: list[Column] = []
        for column in self.columns:
            columns.append(column)
            if column.id in (*self.keyed.sums, *self.keyed.means):
                columns += _baseline_columns(column, column.id in self.keyed.sums)
            if column.id == (self.keyed.display_name or self.keyed.name):
                columns.append(_STEP_MATCH_COLUMN if self.keyed.step else _MATCH_COLUMN)
        return self._replace(columns=tuple(columns))


_MATCH_COLUMN = Column(
    "match", "Match", "string", doc="How the row was matched with the baseline; new, or gone if only one side has it."
)
_STEP_MATCH_COLUMN = Column(
    "match",
    "Compared with",
    "string",
    doc="The baseline's step or average that the row is compared with; blank for the same step and worker.",
)


def facts_with_baseline(facts: Sequence[Column]) -> list[Column]:
    """The facts with those that they have beside a baseline: its value and the difference of each compared one."""
    return [column for fact in facts for column in (fact, *(_baseline_columns(fact, False) if fact.compared else ()))]


def _baseline_columns(column: Column, per_step: bool) -> tuple[Column, Column]:
    """The column of the baseline's figures, ``base_…``, and that of the differences from them, ``delta_…``."""
    label = message(column.label)
    base = replace(
        column, id=f"base_{column.id}", label=Message("{label}, base", label=label), doc="Value of the baseline."
    )
    if per_step:
        doc = "This session's value minus the baseline's, per step; blank if not comparable."
        label = Message("Δ {label} per step", label=label)
    else:
        doc = "This session's value minus the baseline's; blank if not comparable."
        label = Message("Δ {label}", label=label)
    return base, replace(column, id=f"delta_{column.id}", label=label, doc=doc, signed=True)


class Headline(NamedTuple):
    """The page's answer in one sentence."""

    text: str
    level: HeadlineLevel
    tool: str = ""
    """Name of the tool that shows more; empty for none."""
    doubt: str = ""
    """Why the sentence may be wrong; empty where nothing speaks against it."""
    code: str = ""
    """The sentence's code in `analysis.diagnosis.catalogue`, for scripts; empty for sentences of single tools."""


@record
class Answer:
    """What a tool worked out, as plain values under the ids that it declares."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """Values by the fact's id; those that are missing are unknown."""
    tables: Mapping[str, TableValues] = field(default_factory=dict)
    """Values by the table's and the column's id, all columns of a table equally long; a missing column is unknown in
    every row."""
    headline: Headline | None = None
    notes: Sequence[Problem] = ()
    """What the reader must know before trusting the figures."""


def number(
    id: str, label: str, unit: str = "", doc: str = "", *depends: str, signed: bool = False, compared: bool = False
) -> Column:
    """Declaration of a column, or a fact, of numbers; of whole ones if the unit is ``ps``."""
    return Column(id, label, "number", unit, doc, depends, signed=signed, compared=compared)


def real(id: str, label: str, unit: str = "", doc: str = "") -> Column:
    """Declaration of a data frame's column of numbers that need not be whole."""
    return Column(id, label, "number", unit, doc, dtype="float64")


def text(id: str, label: str, doc: str = "", *depends: str, translated: bool = False) -> Column:
    """Declaration of a column, or a fact, of texts."""
    return Column(id, label, "string", "", doc, depends, translated=translated)


def flag(id: str, label: str, doc: str = "", *depends: str) -> Column:
    """Declaration of a column, or a fact, of booleans."""
    return Column(id, label, "boolean", "", doc, depends, dtype="bool")


def by_column(table: Table, rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Values by column id, as an `Answer` takes them, from rows with one cell for each of the table's columns."""
    columns: list[list[Any]] = [[] for _ in table.columns]
    for row in rows:
        for cells, value in zip(columns, row, strict=True):
            cells.append(value)
    return {column.id: cells for column, cells in zip(table.columns, columns, strict=True)}


def by_id(table: Table, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Values by column id, as an `Answer` takes them, from rows with a value under each column's id; raises KeyError
    for rows with other ids.
    """
    ids = {column.id for column in table.columns}
    if unknown := [row.keys() ^ ids for row in rows if row.keys() != ids]:
        raise KeyError(f"{table.id}: {', '.join(sorted(unknown[0]))}")
    return {column.id: [row[column.id] for row in rows] for column in table.columns}


def by_field(table: Table, rows: Sequence[object]) -> dict[str, Sequence[Any]]:
    """Values by column id, as an `Answer` takes them, from objects with a field of each column's id."""
    return {column.id: [getattr(row, column.id) for row in rows] for column in table.columns}


def ratio(part: float | None, total: float | None) -> float | None:
    """``part / total``; None where either is unknown or the total is 0."""
    return part / total if part is not None and total else None


def answer_json(tool: str, facts: Sequence[Column], tables: Sequence[Table], answer: Answer) -> dict[str, Json]:
    """The answer with its declarations, as JSON data; raises KeyError for an id that is not declared."""
    unknown = {*answer.facts} - {fact.id for fact in facts} | {*answer.tables} - {table.id for table in tables}
    if unknown:
        raise KeyError(f"{tool} declares no {', '.join(sorted(unknown))}")
    return {
        "tool": tool,
        "headline": _headline_json(answer.headline) if answer.headline else None,
        "facts": {fact.id: _fact_json(fact, answer.facts.get(fact.id)) for fact in facts},
        "tables": {table.id: table_json(table, answer.tables.get(table.id, {})) for table in tables},
        "notes": [note.as_json() for note in answer.notes],
    }


def table_json(table: Table, values: Mapping[str, Sequence[Any]]) -> dict[str, Json]:
    """A table with its declarations, as JSON data; raises KeyError where values and declarations do not fit."""
    unknown = {*values} - {column.id for column in table.columns}
    lengths = {len(column) for column in values.values()}
    if unknown or len(lengths) > 1:
        raise KeyError(f"{table.id}: no columns {sorted(unknown)}, or columns of lengths {sorted(lengths)}")
    rows = lengths.pop() if lengths else 0
    columns = [
        _declaration(column) | {"id": column.id, "values": cells} | ({} if table.paged else _messages_of_cells(cells))
        for column in table.columns
        for cells in [_json_values(values.get(column.id, [None] * rows), column)]
    ]
    return {"label": message(table.label), "doc": message(table.doc), "rows": rows, "columns": columns}


def table_id(tables: Mapping[str, Json], name: str) -> str:
    """The id that is asked for, or the first table's if none is; raises `ProblemError` where there is no such table."""
    id = name or next(iter(tables), "")
    if id in tables:
        return id
    if not tables:
        raise problem_error("no_table", "The answer has no tables.")
    sentence = Message("The answer has no table {table}.", table=repr(id))
    raise problem_error("no_table", sentence, Message("Tables: {tables}.", tables=", ".join(tables)))


def _headline_json(headline: Headline) -> dict[str, Json]:
    texts = {"text": message(headline.text), "doubt": message(headline.doubt)}
    return headline._asdict() | texts | messages_by_name(texts)


def _fact_json(fact: Column, value: Any) -> dict[str, Json]:
    (value,) = _json_values([value], fact)
    message_json = message_data(value)
    return _declaration(fact) | {"value": value} | ({"message": message_json} if message_json else {})


def _messages_of_cells(cells: Sequence[Any]) -> dict[str, Json]:
    """The ``messages`` of a column, row by row, where some cells are made of a message with arguments; else nothing."""
    if not any(issubclass(cell_type, Message) for cell_type in {*map(type, cells)}):
        return {}
    messages = [message_data(cell) for cell in cells]
    return {"messages": messages} if any(messages) else {}


def _declaration(column: Column) -> dict[str, Json]:
    return {
        "label": message(column.label),
        "kind": column.kind,
        "unit": column.unit,
        "doc": message(column.doc),
        "depends": list(column.depends),
    } | ({"signed": True} if column.signed else {})


def _json_values(values: Sequence[Any], column: Column) -> list[Json]:
    """The values as JSON has them: plain numbers, and None for those that are not finite."""
    kind = column.kind
    if column.translated:
        messages = {value: Message(value) for value in {*values} if value and not isinstance(value, Message)}
        return [value if isinstance(value, Message) else messages.get(value, value) for value in values]
    if kind != "number":
        cell_type = str if kind == "string" else bool
        return [value if value is None or isinstance(value, cell_type) else cell_type(value) for value in values]
    plain = [value.item() if type(value) not in _PLAIN_TYPES and hasattr(value, "item") else value for value in values]
    # The sum is not finite where a number is not; to look at each takes longer.
    if math.isfinite(sum(filter(None, plain))):
        return plain
    return [None if value is None or not math.isfinite(value) else value for value in plain]


_PLAIN_TYPES = (int, float, type(None))
