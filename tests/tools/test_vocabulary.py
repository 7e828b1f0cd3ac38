"""One word for one thing: columns that hold the same are called the same, whichever tool declares them."""

from collections import defaultdict

import pytest

from tb_profile_plugin.tools import all_tools
from tb_profile_plugin.tools.answers.answer import Column

LABELS = {
    "count": {"Count", "Transfers", "Times per step", "Calls"},
    "total_us": {"Total time"},
    "average_us": {"Average"},
    "shortest_us": {"Shortest"},
    "longest_us": {"Longest"},
    "self_us": {"Self time", "In XLA's ops"},
    "gb_per_s": {"GB/s"},
    "gib_per_s": {"GiB/s", "Memory GiB/s"},
}
"""How columns that many tables have are labelled; where there are two, the second says what it counts."""
INSTEAD = {
    "occurrences": "count",
    "executions": "count",
    "calls": "count",
    "num_calls": "count",
    "min_us": "shortest_us",
    "max_us": "longest_us",
    "mean_us": "average_us",
    "duration_us": "total_us",
    "gigabytes_per_second": "gb_per_s",
}
UNITS = {"_ps": "ps", "_us": "us", "_ms": "ms", "_share": "share", "_percent": "percent"}
"""Units by how ids end."""


def columns() -> list[tuple[str, Column]]:
    declared = [(f"{tool.name}.{fact.id}", fact) for tool in all_tools().values() for fact in tool.facts]
    for tool in all_tools().values():
        for table in tool.tables:
            declared += [(f"{tool.name}.{table.id}.{column.id}", column) for column in table.columns]
    return declared


@pytest.mark.parametrize("id", list(LABELS))
def test_a_column_is_labelled_alike_everywhere(id: str) -> None:
    labels = defaultdict(list)
    for where, column in columns():
        if column.id == id:
            labels[str(column.label)].append(where)
    assert labels and {*labels} <= LABELS[id], labels


def test_there_is_one_id_for_how_often_and_how_long() -> None:
    assert [(where, INSTEAD[column.id]) for where, column in columns() if column.id in INSTEAD] == []


def test_an_id_says_its_unit() -> None:
    ends = [(where, column) for where, column in columns() if column.kind == "number"]
    for suffix, unit in UNITS.items():
        assert [where for where, column in ends if column.id.endswith(suffix) and column.unit != unit] == []
    timed = [(where, column) for where, column in ends if column.unit in ("ps", "us", "ms")]
    assert [where for where, column in timed if not column.id.endswith(f"_{column.unit}")] == []
