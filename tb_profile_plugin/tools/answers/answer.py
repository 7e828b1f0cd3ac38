"""What a tool answers: named tables and facts, each column and fact declared with its type, unit and meaning.

A tool declares `Table` and `Column` beside its function, which returns an `Answer` of plain values under those names;
`named` puts both together as the JSON that pages and scripts read. Unknown values are None, never a filler.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ...runtime.messages import Message, message, message_data, messages_by_name
from ...runtime.problems import Problem, problem_error

Json = Any
"""Plain data as ``json.dumps`` takes it."""

Kind = Literal["number", "string", "boolean"]
Level = Literal["ok", "info", "warn", "bad", "unknown"]


@dataclass(frozen=True)
class Column:
    """A column of a table, or a fact: what it holds, in which unit, how it comes about, and what it depends on."""

    id: str
    label: str
    kind: Kind = "number"
    unit: str = ""
    """``ms``, ``us``, ``share`` (0–1), ``percent`` (0–100), ``bytes`` (by 1000), ``iB`` (by 1024) … or empty."""
    doc: str = ""
    """What the figure is, its formula, its source; pages show it on hover."""
    depends: tuple[str, ...] = ()
    """What of a capture it rests on, e.g. `runtime.problems.AVERAGE`: findings that affect that mark the figure."""
    signed: bool = False
    """Whether it is a difference, which pages show with its sign."""
    texts: bool = False
    """Whether its values are words of ours, which catalogues translate, rather than names of the program."""
    compared: bool = False
    """Whether it is a fact that gets that of a baseline, and the difference, beside it."""


class Keyed(NamedTuple):
    """What the rows of a table are known by, so that they are found in another session's table, too.

    The first fields are ids of columns that say of an op what `analysis.compare.match` matches by; empty ones are not
    known.
    """

    name: str
    type: str = ""
    module: str = ""
    origin: str = ""
    shape: str = ""
    source: str = ""
    within: tuple[str, ...] = ()
    """Columns that must be equal, such as the place where an op ran."""
    called: str = ""
    """Column by which rows are called where that is not the name."""
    sums: tuple[str, ...] = ()
    """Columns that are compared, per step, because they are sums over the capture."""
    means: tuple[str, ...] = ()
    """Columns that are compared as they are, because they are means over steps."""
    largest: bool = False
    """Whether small rows are left out of the table: then one that is missing on a side is not known to be 0 there."""
    parent: str = ""
    """Of a tree: the column that holds the ``id`` of the row around it."""
    step: str = ""
    """Of a table of steps: the column that says which step a row is. The name tells the rows of one step apart, and a
    column ``left_out`` says which of them averages do not go over; see `tools.answers.samples`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that tell rows apart, which a row that is only in the other session has, too."""
        named = (self.name, self.called, self.type, self.module, self.origin, self.shape, self.source)
        return tuple(dict.fromkeys(id for id in (*named, *self.within) if id))


class Weight(NamedTuple):
    """What rows can be weighed by."""

    id: str
    label: str
    own: str
    """Column of what a row has without the rows within it."""
    nested: str = ""
    """Column of more that it has, with the rows within it."""


class Stacks(NamedTuple):
    """How the rows of a table lie within each other."""

    name: str
    """Column of names; without a ``parent``, what is around a row stands before slashes in its name."""
    weights: tuple[Weight, ...]
    unit: str
    """Of the weights: ``us`` or ``iB``."""
    parent: str = ""
    """Column with the ``id`` of the row around, which stands before it: only the innermost rows weigh something."""
    leaf: str = ""
    """Column of what is within each row, such as its source line."""
    calls: str = "count"
    """Column of how often it was called."""
    without: tuple[str, str] | None = None
    """Column and text of rows that count for nothing."""
    per_step: bool = False
    """Whether weights are sums over the capture, which grow with the steps that it holds."""


class Table(NamedTuple):
    """A table that a tool declares."""

    id: str
    label: str
    columns: tuple[Column, ...]
    doc: str = ""
    paged: bool = False
    """Whether pages show it row by row and nothing else: of very many rows they get a part, and more as they go."""
    keyed: Keyed | None = None
    """What its rows are known by; with that it gets columns of differences from a baseline, see `against`."""
    stacks: Stacks | None = None
    """How its rows lie within each other, where they can be drawn as a flame graph."""

    @property
    def against(self) -> Table:
        """With the columns that it has beside a baseline: each figure that is compared is followed by the base's."""
        if not self.keyed:
            return self
        columns: list[Column] = []
        for column in self.columns:
            columns.append(column)
            if column.id in (*self.keyed.sums, *self.keyed.means):
                columns += _compared(column, column.id in self.keyed.sums)
            if column.id == (self.keyed.called or self.keyed.name):
                columns.append(_STEP_MATCH if self.keyed.step else _MATCH)
        return self._replace(columns=tuple(columns))


_MATCH = Column(
    "match", "Match", "string", doc="How the row was matched with the baseline; new, or gone if only one side has it."
)
_STEP_MATCH = Column(
    "match",
    "Compared with",
    "string",
    doc="The baseline's step or average that the row is compared with; blank for the same step and worker.",
)


def facts_against(facts: Sequence[Column]) -> list[Column]:
    """With those that they have beside a baseline."""
    return [column for fact in facts for column in (fact, *(_compared(fact, False) if fact.compared else ()))]


def _compared(column: Column, per_step: bool) -> tuple[Column, Column]:
    """The baseline's figure, and the difference from it."""
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
    level: Level
    tool: str = ""
    """The tool that shows more; empty for none."""
    doubt: str = ""
    """Why the sentence may be wrong; empty where nothing speaks against it."""
    code: str = ""
    """Of the sentence, for scripts: see `analysis.diagnosis.catalogue`; empty for sentences of single tools."""


@dataclass(frozen=True)
class Answer:
    """What a tool worked out, as plain values under the names that it declares."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """Values by fact; those that are missing are unknown."""
    tables: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    """Values by table and column, all columns of a table equally long; a missing column is unknown in every row."""
    headline: Headline | None = None
    notes: Sequence[Problem] = ()
    """What the reader must know before trusting the figures."""


def time_column(id: str, label: str, doc: str = "", *depends: str, compared: bool = False) -> Column:
    """A column, or a fact, in whole picoseconds."""
    return Column(id, label, unit="ps", doc=doc, depends=depends, compared=compared)


def by_column(table: Table, rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows in the order of the table's columns, as an `Answer` takes them."""
    values: list[list[Any]] = [[] for _ in table.columns]
    for row in rows:
        for column, value in zip(values, row, strict=True):
            column.append(value)
    return {column.id: cells for column, cells in zip(table.columns, values, strict=True)}


def by_field(table: Table, rows: Sequence[object]) -> dict[str, Sequence[Any]]:
    """Of objects whose fields are named as the table's columns, as an `Answer` takes them."""
    return {column.id: [getattr(row, column.id) for row in rows] for column in table.columns}


def named(tool: str, facts: Sequence[Column], tables: Sequence[Table], answer: Answer) -> dict[str, Json]:
    """The answer as JSON data with its declarations; raises KeyError for a name that is not declared."""
    unknown = {*answer.facts} - {fact.id for fact in facts} | {*answer.tables} - {table.id for table in tables}
    if unknown:
        raise KeyError(f"{tool} declares no {', '.join(sorted(unknown))}")
    return {
        "tool": tool,
        "headline": _headline(answer.headline) if answer.headline else None,
        "facts": {fact.id: _fact(fact, answer.facts.get(fact.id)) for fact in facts},
        "tables": {table.id: named_table(table, answer.tables.get(table.id, {})) for table in tables},
        "notes": [note.as_json() for note in answer.notes],
    }


def named_table(table: Table, values: Mapping[str, Sequence[Any]]) -> dict[str, Json]:
    """A declared table with its values as JSON data; raises KeyError where they do not fit each other."""
    unknown = {*values} - {column.id for column in table.columns}
    lengths = {len(column) for column in values.values()}
    if unknown or len(lengths) > 1:
        raise KeyError(f"{table.id}: no columns {sorted(unknown)}, or columns of lengths {sorted(lengths)}")
    rows = lengths.pop() if lengths else 0
    columns = [
        _declared(column) | {"id": column.id, "values": cells} | ({} if table.paged else _messages(cells))
        for column in table.columns
        for cells in [_values(values.get(column.id, [None] * rows), column)]
    ]
    return {"label": message(table.label), "doc": message(table.doc), "rows": rows, "columns": columns}


def table_id(tables: Mapping[str, Json], name: str) -> str:
    """That name, or with none the first table's; raises `ProblemError` where a named answer has no such table."""
    wanted = name or next(iter(tables), "")
    if wanted in tables:
        return wanted
    if not tables:
        raise problem_error("no_table", "The answer has no tables.")
    message = Message("The answer has no table {table}.", table=repr(wanted))
    raise problem_error("no_table", message, Message("Tables: {tables}.", tables=", ".join(tables)))


def _headline(headline: Headline) -> dict[str, Json]:
    texts = {"text": message(headline.text), "doubt": message(headline.doubt)}
    return headline._asdict() | texts | messages_by_name(texts)


def _fact(fact: Column, value: Any) -> dict[str, Json]:
    (value,) = _values([value], fact)
    data = message_data(value)
    return _declared(fact) | {"value": value} | ({"message": data} if data else {})


def _messages(cells: Sequence[Any]) -> dict[str, Json]:
    """What the cells with arguments are made of, row by row; nothing where there are none."""
    if not any(issubclass(kind, Message) for kind in {*map(type, cells)}):
        return {}
    data = [message_data(cell) for cell in cells]
    return {"messages": data} if any(data) else {}


def _declared(column: Column) -> dict[str, Json]:
    return {
        "label": message(column.label),
        "kind": column.kind,
        "unit": column.unit,
        "doc": message(column.doc),
        "depends": list(column.depends),
    } | ({"signed": True} if column.signed else {})


def _values(values: Sequence[Any], column: Column) -> list[Json]:
    """As JSON has them: numbers that are none become None."""
    kind = column.kind
    if column.texts:
        messages = {text: Message(text) for text in {*values} if text and not isinstance(text, Message)}
        return [value if isinstance(value, Message) else messages.get(value, value) for value in values]
    if kind != "number":
        wanted, convert = {"string": (str, str), "boolean": (bool, bool)}[kind]
        return [value if value is None or isinstance(value, wanted) else convert(value) for value in values]
    plain = [value.item() if type(value) not in _PLAIN and hasattr(value, "item") else value for value in values]
    # One that is not finite makes the sum so; to look at each takes longer.
    if math.isfinite(sum(filter(None, plain))):
        return plain
    return [None if value is None or not math.isfinite(value) else value for value in plain]


_PLAIN = (int, float, type(None))
