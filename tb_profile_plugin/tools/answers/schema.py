"""The JSON Schema of what the server answers, with each tool's declared names; the pages' types come from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from ...analysis.finding import HeadlineLevel
from .answer import Column, Kind, Table, facts_with_baseline
from .tool import Tool

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_CELL: Schema = {"type": ["string", "number", "boolean", "null"]}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def schema(tools: Mapping[str, Tool]) -> Schema:
    """The whole schema; ``$defs`` holds one definition for each kind of answer and each tool."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers",
        "description": "Answers of the server, by kind and by tool.",
        "$defs": SHAPES | {_pascal_case(name): _tool_answer(tool) for name, tool in tools.items() if not tool.streamed},
    }


def _object(doc: str, properties: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "description": doc,
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": _ref(name)}


def _map_of(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _with_doc(schema: Schema, doc: str) -> Schema:
    return schema | {"description": doc}


_DECLARATION = {
    "label": _TEXT,
    "kind": {"enum": list(get_args(Kind))},
    "unit": _TEXT,
    "doc": _with_doc(_TEXT, "Explanation of the figure: its meaning and source."),
    "depends": _with_doc(
        _TEXTS, "Aspects of the capture that the figure depends on; findings that affect them make it doubtful."
    ),
    "signed": _with_doc(_FLAG, "Whether the figure is a difference, shown with its sign; missing if it is not."),
}
_MESSAGES = _with_doc(_map_of(_ref("Message")), "Messages behind the texts, by field; missing if none has arguments.")
_PROBLEM = {
    "code": _TEXT,
    "message": _TEXT,
    "remedy": _TEXT,
    "where": _TEXT,
    "severity": {"enum": ["error", "warning", "info"]},
    "affects": _with_doc(_TEXTS, "Aspects of the capture that the finding makes doubtful, in the terms of depends."),
    "messages": _MESSAGES,
}
_OPTIONAL = ("summary", "signed", "messages")
"""What few columns have."""
_SESSION_ENTRY = {
    "run": _TEXT,
    "folder": _TEXT,
    "modified": _with_doc(_NUMBER, "Seconds since the epoch."),
    "hosts": _TEXTS,
    "size": _with_doc(_INTEGER, "Bytes."),
    "facts": _nullable(_ref("SessionFacts")),
    "parts": _with_doc(_TEXTS, "Names of the sessions that it was joined from; it answers to these names, too."),
}

SHAPES: Schema = {
    "Message": _object(
        "Text with arguments, the same in every language.",
        {
            "template": _with_doc(
                _TEXT, "English template with the arguments' names in braces; key of the catalogues."
            ),
            "arguments": _with_doc(
                {"type": "object", "additionalProperties": True},
                "Arguments by name: numbers, pairs, names of the program, and further messages.",
            ),
        },
    ),
    "ColumnMessages": _with_doc(
        {"type": "array", "items": _nullable(_ref("Message"))},
        "Messages behind a column's values, row by row; missing if none has arguments.",
    ),
    "Problem": _object("Problem or note, and what to do about it.", _PROBLEM, ["affects", "messages"]),
    "Column": _object(
        "Column of a table with its values; null means unknown.",
        {"id": _TEXT}
        | _DECLARATION
        | {"values": {"type": "array", "items": _CELL}, "messages": _ref("ColumnMessages"), "summary": _ref("Summary")},
        _OPTIONAL,
    ),
    "Summary": _object(
        "Summary of all values of a column, for pages that hold only its first rows.",
        {
            "largest": _with_doc(_NUMBER, "Largest absolute value of the numbers."),
            "whole": _with_doc(_FLAG, "Whether all numbers are whole."),
            "known": _with_doc(_FLAG, "Whether the column holds a value other than null, an empty text and false."),
            "choices": _with_doc(
                {"type": "array", "items": _object("A value, as a text.", {"value": _TEXT, "rows": _INTEGER})},
                "Distinct texts or booleans with their counts, the most frequent first; none if there are too many.",
            ),
        },
    ),
    "Fact": _object(
        "Single figure; null if unknown.",
        _DECLARATION | {"value": _CELL, "message": _ref("Message")},
        ["signed", "message"],
    ),
    "Table": _object(
        "A table, column by column.", {"label": _TEXT, "doc": _TEXT, "rows": _INTEGER, "columns": _list_of("Column")}
    ),
    "Headline": _object(
        "The answer in one sentence.",
        {
            "text": _TEXT,
            "level": {"enum": list(get_args(HeadlineLevel))},
            "tool": _with_doc(_TEXT, "Tool that shows more; empty for none."),
            "doubt": _with_doc(_TEXT, "Reason to doubt the sentence; empty if there is none."),
            "code": _with_doc(_TEXT, "Code of a diagnosis sentence, for scripts; else empty."),
            "messages": _MESSAGES,
        },
        ["messages"],
    ),
    "Answer": _object(
        "Answer of a tool.",
        {
            "tool": _TEXT,
            "headline": _nullable(_ref("Headline")),
            "facts": _map_of(_ref("Fact")),
            "tables": _map_of(_ref("Table")),
            "notes": _list_of("Problem"),
        },
    ),
    "Param": _object(
        "An option of a tool.",
        {
            "name": _TEXT,
            "default": _TEXT,
            "doc": _TEXT,
            "choices": _TEXTS,
            "kind": {"enum": ["text", "count", "session", "baseline", "sessions"]},
            "candidates": _with_doc(
                _TEXT, "Column that lists sensible values, as table.column; empty if there is none."
            ),
        },
    ),
    "ToolEntry": _object(
        "Tool, as the route tools lists it.",
        {
            "name": _TEXT,
            "title": _TEXT,
            "doc": _TEXT,
            "group": _with_doc(_TEXT, "Group of the tool in the navigation, the same in every language."),
            "heading": _with_doc(_TEXT, "Group's heading, in the reader's language."),
            "order": _INTEGER,
            "shown_on": _with_doc(_TEXT, "Tool whose page also shows this answer; empty if it has its own page."),
            "all_hosts": _with_doc(_FLAG, "Whether all hosts can be shown together; else one is chosen."),
            "streamed": _with_doc(_FLAG, "Whether its data is too large for a page."),
            "params": _list_of("Param"),
            "page": _with_doc(_TEXT, "Address of the module that draws the tool; empty for built-in pages."),
            "unavailable": _with_doc(
                _nullable(_ref("Problem")), "Reason why the tool has nothing to show; null if it has something."
            ),
        },
    ),
    "SessionFacts": _object(
        "Contents of a session.", {"device": _TEXT, "steps": _INTEGER, "duration_ms": _NUMBER, "events": _INTEGER}
    ),
    "SessionEntry": _object("Session, as the route sessions lists it.", _SESSION_ENTRY),
    "SessionDetails": _object(
        "Session with its known facts.",
        _SESSION_ENTRY
        | {
            "recorded": _with_doc(_map_of(_map_of(_INTEGER)), "Tracer levels in effect, by host, as far as recorded."),
            "problems": _list_of("Problem"),
        },
    ),
    "SessionList": _object(
        "All sessions of a logdir.",
        {
            "logdir": _TEXT,
            "searched": _TEXTS,
            "found": _object(
                "Other contents of the logdir.",
                {
                    "event_files": _INTEGER,
                    "captures": _INTEGER,
                    "near_misses": _TEXTS,
                    "dumps": _with_doc(_TEXTS, "Folders with dumps of PyTorch's flight recorder, for the route hang."),
                },
            ),
            "sessions": _list_of("SessionEntry"),
        },
    ),
    "Scaled": _object(
        "Typical step with one device op faster or slower, in ps.",
        {
            "op_ps": _with_doc(
                _INTEGER, "Recorded time per step in which a device runs the op, whatever else it runs then."
            ),
            "period_ps": _with_doc(_INTEGER, "Recorded time from step to step."),
            "gain_ps": _with_doc(
                {"type": "integer"}, "Upper bound of the time saved from step to step; negative if it is longer."
            ),
            "text": _TEXT,
        },
    ),
    "Contents": _object(
        "Information in a host's capture about machines and people.",
        {
            "host": _TEXT,
            "alias": _with_doc(_TEXT, "Name of the host in the redacted capture."),
            "size": _with_doc(_INTEGER, "Bytes."),
            "recorded_ns": _with_doc(_INTEGER, "Time since the epoch; 0 if not recorded."),
            "hosts": _TEXTS,
            "users": _TEXTS,
            "addresses": _TEXTS,
            "source_stats": _INTEGER,
            "programs": _TEXTS,
            "events": _INTEGER,
            "file": _with_doc(_TEXT, "File name when shared without redaction."),
            "kept": _with_doc(_TEXT, "Reason why it cannot be redacted; empty if it can."),
        },
    ),
    "Progress": _object(
        "Computations in progress for a session.",
        {
            "busy": _FLAG,
            "hosts": {
                "type": "array",
                "items": _object("Computation in progress.", {"host": _TEXT, "phase": _TEXT, "fraction": _NUMBER}),
            },
            "computing": _with_doc(_TEXTS, "Names of tools."),
        },
    ),
}


def _pascal_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _tool_answer(tool: Tool) -> Schema:
    """The answer of a tool, with the names of its facts, tables and columns."""
    columns = facts_with_baseline(tool.facts)
    optional = [fact.id for fact in columns if fact not in tool.facts]
    facts = _object("Its facts.", {fact.id: _with_doc(_ref("Fact"), _description(fact)) for fact in columns}, optional)
    tables = _object("Its tables.", {table.id: _tool_table(table) for table in tool.tables})
    answer = SHAPES["Answer"]["properties"] | {"tool": {"const": tool.name}, "facts": facts, "tables": tables}
    return _object(tool.doc.splitlines()[0], answer)


def _tool_table(table: Table) -> Schema:
    ids = [column.id for column in table.with_baseline.columns]
    column = SHAPES["Column"]["properties"] | {"id": {"enum": ids}}
    columns = {"type": "array", "items": _object("; ".join(map(_description, table.columns)), column, _OPTIONAL)}
    return _object(table.doc or table.label, SHAPES["Table"]["properties"] | {"columns": columns})


def _description(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit else ""
    return f"{column.id}{unit}: {column.doc or column.label}"
