"""Tables as CSV: what the command line writes is what the answer holds, and nothing that a spreadsheet would run."""

import csv
import io
import json
from pathlib import Path

import pytest

import tb_profile_plugin
from tb_profile_plugin.cli import main
from tb_profile_plugin.tools.answers.csv import cell

TESTS = Path(__file__).resolve().parent.parent
CAPTURE = str(TESTS / "traces/keras_fit")


@pytest.mark.parametrize(("text", "written"), json.loads((TESTS / "csv_cells.json").read_text(encoding="utf-8")))
def test_texts_that_could_be_run_are_made_text(text: str, written: str) -> None:
    assert cell(text) == written


def test_the_command_line_writes_a_table(tmp_path: Path) -> None:
    out = tmp_path / "ops.csv"
    assert not main.main(
        ["tool", "framework_op_stats", CAPTURE, "--format", "csv", "--table", "types", "--out", str(out)]
    )
    head, *rows = csv.reader(io.StringIO(out.read_bytes().decode(), newline=""))
    table = tb_profile_plugin.open(CAPTURE).answer("framework_op_stats")["tables"]["types"]
    assert head == [column["label"] for column in table["columns"]]
    assert len(rows) == table["rows"] > 3
    (times,) = (column["values"] for column in table["columns"] if column["id"] == "self_us")
    assert [float(row[head.index("Self time")]) for row in rows] == times


def test_a_table_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["tool", "framework_op_stats", CAPTURE, "--format", "csv", "--table", "nosuch"]) == 2
    assert "ops, types" in capsys.readouterr().err
