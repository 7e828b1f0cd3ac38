"""The JSON Schema of what the server answers, with each tool's declared names; the pages' types come from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from .answer import Column, Kind, Level, Table, facts_against
from .tool import Tool

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_VALUE: Schema = {"type": ["string", "number", "boolean", "null"]}
_NAMES: Schema = {"type": "array", "items": _TEXT}


def schema(tools: Mapping[str, Tool]) -> Schema:
    """The whole schema; ``$defs`` holds one definition for each kind of answer and each tool."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers",
        "description": "What the server answers, by kind of answer and by tool.",
        "$defs": SHAPES | {_title(name): _tool(tool) for name, tool in tools.items() if not tool.streamed},
    }


def _object(doc: str, properties: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "description": doc,
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list(of: str) -> Schema:
    return {"type": "array", "items": _ref(of)}


def _map(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _or_null(of: Schema) -> Schema:
    return {"anyOf": [of, {"type": "null"}]}


def _says(of: Schema, doc: str) -> Schema:
    return of | {"description": doc}


_DECLARED = {
    "label": _TEXT,
    "kind": {"enum": list(get_args(Kind))},
    "unit": _TEXT,
    "doc": _says(_TEXT, "What the figure is, its formula, its source."),
    "depends": _says(_NAMES, "What of a capture it rests on; findings that affect it make it doubtful."),
    "signed": _says(_FLAG, "Whether it is a difference, which is shown with its sign; missing where it is not."),
}
_PROBLEM = {
    "code": _TEXT,
    "message": _TEXT,
    "remedy": _TEXT,
    "where": _TEXT,
    "severity": {"enum": ["error", "warning", "info"]},
    "affects": _says(_NAMES, "What of the capture it makes doubtful, as figures say what they depend on."),
}
_ENTRY = {
    "run": _TEXT,
    "folder": _TEXT,
    "modified": _says(_NUMBER, "Seconds since the epoch."),
    "hosts": _NAMES,
    "size": _says(_INTEGER, "Bytes."),
    "facts": _or_null(_ref("SessionFacts")),
    "parts": _says(_NAMES, "Names of the sessions that it was joined of, which it answers to, too; empty for most."),
}

SHAPES: Schema = {
    "Problem": _object("What went wrong or what to know, and what to do about it.", _PROBLEM, ["affects"]),
    "Column": _object(
        "A column of a table with its values; what is unknown is null.",
        {"id": _TEXT} | _DECLARED | {"values": {"type": "array", "items": _VALUE}, "summary": _ref("Summary")},
        ["summary", "signed"],
    ),
    "Summary": _object(
        "What a page must know of all values of a column where it has only those of the first rows.",
        {
            "largest": _says(_NUMBER, "Of the numbers, whatever their sign."),
            "whole": _says(_FLAG, "Whether all of them are whole numbers."),
            "known": _says(_FLAG, "Whether anything is known in it: neither null, nor an empty text, nor false."),
            "choices": _says(
                {"type": "array", "items": _object("A value, as a text.", {"value": _TEXT, "rows": _INTEGER})},
                "How often each text or truth occurs, the most frequent first; none where there are too many.",
            ),
        },
    ),
    "Fact": _object("A single figure; null where it is unknown.", _DECLARED | {"value": _VALUE}, ["signed"]),
    "Table": _object(
        "A table, column by column.", {"label": _TEXT, "doc": _TEXT, "rows": _INTEGER, "columns": _list("Column")}
    ),
    "Headline": _object(
        "The answer in one sentence.",
        {
            "text": _TEXT,
            "level": {"enum": list(get_args(Level))},
            "tool": _says(_TEXT, "The tool that shows more; empty for none."),
            "doubt": _says(_TEXT, "Why the sentence may be wrong; empty where nothing speaks against it."),
            "code": _says(_TEXT, "Of a sentence of the diagnosis, for scripts; empty for others."),
        },
    ),
    "Answer": _object(
        "What a tool answers.",
        {
            "tool": _TEXT,
            "headline": _or_null(_ref("Headline")),
            "facts": _map(_ref("Fact")),
            "tables": _map(_ref("Table")),
            "notes": _list("Problem"),
        },
    ),
    "Param": _object(
        "An option of a tool.",
        {
            "name": _TEXT,
            "default": _TEXT,
            "doc": _TEXT,
            "choices": _NAMES,
            "kind": {"enum": ["text", "count", "session", "baseline", "sessions"]},
            "candidates": _says(
                _TEXT, "Where the answer lists values worth choosing: table.column; empty for nowhere."
            ),
        },
    ),
    "ToolEntry": _object(
        "A tool, as the route tools lists it.",
        {
            "name": _TEXT,
            "title": _TEXT,
            "doc": _TEXT,
            "group": _says(_TEXT, "The heading in the navigation under which it stands."),
            "order": _INTEGER,
            "shown_on": _says(_TEXT, "The tool whose page shows its answer, too; empty where it has its own page."),
            "all_hosts": _says(_FLAG, "Whether hosts can be shown together; otherwise one is chosen."),
            "streamed": _says(_FLAG, "Whether its data is more than a page should hold."),
            "params": _list("Param"),
            "page": _says(_TEXT, "Address of the module that draws it; empty where the pages know how."),
            "unavailable": _says(_or_null(_ref("Problem")), "Why it has nothing to show; null where it has."),
        },
    ),
    "SessionFacts": _object(
        "What a session holds.",
        {"device": _TEXT, "steps": _INTEGER, "duration_ms": _NUMBER, "events": _INTEGER},
    ),
    "SessionEntry": _object("A session, as the route sessions lists it.", _ENTRY),
    "SessionDetails": _object(
        "A session with what is known of it.",
        _ENTRY
        | {
            "recorded": _says(
                _map(_map(_INTEGER)), "The tracer levels that were in effect, by host; of hosts that say."
            ),
            "problems": _list("Problem"),
        },
    ),
    "SessionList": _object(
        "All sessions of a logdir.",
        {
            "logdir": _TEXT,
            "searched": _NAMES,
            "found": _object(
                "What else lies there.", {"event_files": _INTEGER, "captures": _INTEGER, "near_misses": _NAMES}
            ),
            "sessions": _list("SessionEntry"),
        },
    ),
    "Scaled": _object(
        "The typical step with one op of the devices faster or slower, in ps.",
        {
            "op_ps": _says(_INTEGER, "What the op takes of a step, as recorded."),
            "period_ps": _says(_INTEGER, "From step to step, as recorded."),
            "gain_ps": _says({"type": "integer"}, "What that would be shorter, at most; negative where longer."),
            "text": _TEXT,
        },
    ),
    "Contents": _object(
        "What a host's capture tells about the machines and people it comes from.",
        {
            "host": _TEXT,
            "alias": _says(_TEXT, "What the host is called where it is redacted."),
            "size": _says(_INTEGER, "Bytes."),
            "recorded_ns": _says(_INTEGER, "Since the epoch; 0 where the capture does not say."),
            "hosts": _NAMES,
            "users": _NAMES,
            "addresses": _NAMES,
            "source_stats": _INTEGER,
            "programs": _NAMES,
            "events": _INTEGER,
            "file": _says(_TEXT, "What the file as it is is called where it is given away."),
            "kept": _says(_TEXT, "Why it is not redacted; empty where it can be."),
        },
    ),
    "Progress": _object(
        "What is being worked out for a session.",
        {
            "busy": _FLAG,
            "hosts": {
                "type": "array",
                "items": _object("One of them.", {"host": _TEXT, "phase": _TEXT, "fraction": _NUMBER}),
            },
            "computing": _says(_NAMES, "Names of tools."),
        },
    ),
}


def _title(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _tool(tool: Tool) -> Schema:
    """The answer of a tool, with the names of its facts, tables and columns."""
    declared = facts_against(tool.facts)
    optional = [fact.id for fact in declared if fact not in tool.facts]
    facts = _object("Its facts.", {fact.id: _says(_ref("Fact"), _description(fact)) for fact in declared}, optional)
    tables = _object("Its tables.", {table.id: _table(table) for table in tool.tables})
    answer = SHAPES["Answer"]["properties"] | {"tool": {"const": tool.name}, "facts": facts, "tables": tables}
    return _object(tool.doc.splitlines()[0], answer)


def _table(table: Table) -> Schema:
    ids = [column.id for column in table.against.columns]
    column = SHAPES["Column"]["properties"] | {"id": {"enum": ids}}
    columns = {
        "type": "array",
        "items": _object("; ".join(map(_description, table.columns)), column, ["summary", "signed"]),
    }
    return _object(table.doc or table.label, SHAPES["Table"]["properties"] | {"columns": columns})


def _description(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit else ""
    return f"{column.id}{unit}: {column.doc or column.label}"
