"""One vocabulary of columns: what an id ends with says the unit, and one thing has one word in all tools."""

from collections.abc import Iterator

import pytest

from tb_profile_plugin.tools import all_tools
from tb_profile_plugin.tools.answers.answer import Column

TIMES = ("us", "ms", "ps")
RATES = ("gb_per_s", "gib_per_s", "gflop_per_s", "tflop_per_s", "gtranscendental_per_s")
OTHER_WORDS = ("occurrences", "num_", "number_of_", "gigabytes", "bandwidth", "per_second", "percentage", "fraction")
"""For `count`, `…_per_s` and `share`."""


def columns() -> Iterator[tuple[str, Column]]:
    for tool in all_tools().values():
        for column in (*tool.facts, *(column for table in tool.tables for column in table.columns)):
            yield f"{tool.name}.{column.id}", column


def test_a_time_says_its_unit_in_its_id() -> None:
    for name, column in columns():
        ends = [unit for unit in TIMES if column.id.endswith(f"_{unit}")]
        assert ends == ([column.unit] if column.unit in TIMES else []), name


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_one_thing_has_one_word(word: str) -> None:
    assert [name for name, column in columns() if column.id.startswith(word) or f"_{word}" in column.id] == []


def test_rates_are_of_few_units() -> None:
    rates = [(name, column) for name, column in columns() if "per_s" in column.id.replace("per_step", "")]
    assert len(rates) > 20
    for name, column in rates:
        assert column.id.endswith(RATES), name


def test_a_column_of_one_id_has_one_unit_in_all_tools() -> None:
    units: dict[str, set[str]] = {}
    for _, column in columns():
        if column.kind == "number":
            units.setdefault(column.id, set()).add(column.unit)
    # Bytes of traffic are counted by 1000, bytes of memory by 1024.
    assert {id for id, several in units.items() if len(several) > 1} <= {"bytes"}
