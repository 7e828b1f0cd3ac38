"""Tables of very many rows: the same rows in the same order as the pages choose of small ones."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_profile_plugin.tools.answers.rows import FIRST_ROWS, MOST_ROWS, LongTable, RowQuery, split_long_tables

CASES = json.loads((Path(__file__).resolve().parents[1] / "rows.json").read_text(encoding="utf-8"))
"""A table and which rows of it are chosen; the pages are held to the same."""


def named(columns: list[dict[str, Any]]) -> dict[str, Any]:
    return {"label": "T", "doc": "", "rows": len(columns[0]["values"]), "columns": columns}


def query(case: dict[str, Any]) -> RowQuery:
    sort = [(part.lstrip("-"), part.startswith("-")) for part in case.get("sort", "").split("~") if part]
    pairs = {key: list(case.get(key, {}).items()) for key in ("only", "without")}
    return RowQuery(sort, case.get("find", ""), **pairs)


@pytest.mark.parametrize("case", CASES["choices"], ids=lambda case: case["why"])
def test_rows_are_chosen_and_sorted(case: dict[str, Any]) -> None:
    assert LongTable(named(CASES["columns"])).selected_rows(query(case)).tolist() == case["rows"]


def test_values_come_back_as_they_were() -> None:
    rows = LongTable(named(CASES["columns"]))
    places = np.array([9, 0, 2])
    assert rows.values(places) == [[column["values"][place] for place in places] for column in CASES["columns"]]


def test_a_part_tells_what_a_page_must_know_of_all_values() -> None:
    many = MOST_ROWS + 1
    columns: list[dict[str, Any]] = [
        {"id": "n", "kind": "number", "values": [*range(many - 1), -1.5 * many]},
        {"id": "whole", "kind": "number", "values": [None, *range(many - 1)]},
        {"id": "text", "kind": "string", "values": ["a"] * (many - 3) + [None, "b", "b"]},
        {"id": "empty", "kind": "string", "values": ["", None] * (many // 2) + [""]},
        {"id": "no", "kind": "boolean", "values": [False] * many},
        {"id": "names", "kind": "string", "values": [str(place) for place in range(many)]},
    ]
    short = named([{**column, "values": column["values"][:MOST_ROWS]} for column in columns])
    answer: dict[str, Any] = {"tool": "t", "tables": {"long": named(columns), "short": short, "whole": named(columns)}}
    part: Any
    part, long = split_long_tables(answer, ["long", "short"])
    assert set(long) == {"long"}
    assert part["tables"]["short"] is short and part["tables"]["whole"] is answer["tables"]["whole"]
    table = part["tables"]["long"]
    assert table["rows"] == many
    assert [column["values"] for column in table["columns"]] == [column["values"][:FIRST_ROWS] for column in columns]
    told = {column["id"]: column["summary"] for column in table["columns"]}
    assert told["n"] == {"largest": 1.5 * many, "whole": False, "known": True, "choices": []}
    assert told["whole"]["whole"] and not told["empty"]["known"] and not told["no"]["known"]
    assert [(each["value"], each["rows"]) for each in told["text"]["choices"]] == [("a", many - 3), ("b", 2), ("", 1)]
    assert told["no"]["choices"] == [{"value": "false", "rows": many}] and told["names"]["choices"] == []
