"""Tables of very many rows: answered in part, then row by row as they are asked for, and all as a file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import draw
import drawn
import pytest
from werkzeug.test import Client

from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.tools.answers import rows as contract

MANY = contract.MOST_ROWS + 20
ASKED = {"run": "run", "tag": "kernel_stats"}
KERNELS = {**ASKED, "table": "kernels"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("many")
    draw.session(folder, vm=drawn.many_kernels(MANY))
    return Client(App(Logdir(str(folder))))


@pytest.fixture(scope="module")
def whole(client: Client) -> Any:
    return client.get("/answer", query_string=ASKED).get_json()["tables"]["kernels"]


def column(table: Any, id: str) -> list[Any]:
    (values,) = (each["values"] for each in table["columns"] if each["id"] == id)
    found: list[Any] = values
    return found


def get(client: Client, **query: Any) -> Any:
    return client.get("/rows", query_string={**KERNELS, **query}).get_json()


def test_a_page_gets_the_first_rows_and_what_it_must_know_of_all(client: Client, whole: Any) -> None:
    answer = client.get("/answer", query_string={**ASKED, "part": "1"}).get_json()
    table = answer["tables"]["kernels"]
    assert table["rows"] == whole["rows"] == MANY
    assert [each["values"] for each in table["columns"]] == [
        each["values"][: contract.FIRST_ROWS] for each in whole["columns"]
    ]
    summary = next(each["summary"] for each in table["columns"] if each["id"] == "total_us")
    assert summary["largest"] == max(column(whole, "total_us"))
    assert "summary" not in answer["tables"]["devices"]["columns"][0]


def test_short_tables_and_scripts_answers_are_whole(client: Client, tmp_path: Path) -> None:
    draw.session(tmp_path, vm=drawn.many_kernels(contract.MOST_ROWS))
    few = Client(App(Logdir(str(tmp_path))))
    assert few.get("/answer", query_string={**ASKED, "part": "1"}).data == few.get("/answer", query_string=ASKED).data
    assert len(client.get("/data", query_string=ASKED).get_json()["rows"]) == MANY


def test_rows_come_sorted_found_and_window_by_window(client: Client, whole: Any) -> None:
    names = column(whole, "kernel")
    first, second = (get(client, first=begin, count=40) for begin in (0, 40))
    assert column(first, "kernel") + column(second, "kernel") == names[:80]
    by_name = get(client, sort="-kernel", count=3)
    assert column(by_name, "kernel") == sorted(names, reverse=True)[:3]
    found = get(client, find="KERNEL_77", sort="total_us")
    assert found["rows"] == len([name for name in names if "kernel_77" in name]) == len(column(found, "kernel"))
    assert column(found, "total_us") == sorted(column(found, "total_us"))
    assert column(get(client, only=["kernel:kernel_7", "library:"]), "kernel") == ["kernel_7"]
    assert get(client, without="kernel:kernel_7")["rows"] == MANY - 1
    assert get(client, only="kernel:kernel_7", without="kernel:kernel_7")["rows"] == 0


def test_windows_have_bounds(client: Client) -> None:
    assert len(column(get(client), "kernel")) == len(column(get(client, count=10**9), "kernel")) == 2000
    assert column(get(client, first=10**11), "kernel") == column(get(client, count=-1), "kernel") == []
    assert len(column(get(client, first=-5, count=1), "kernel")) == 1
    assert get(client, sort="-kernel~" * 2000, count=1)["rows"] == MANY


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"first": "x"}, "bad_parameter"),
        ({"sort": "nosuch"}, "bad_parameter"),
        ({"only": "nosuch:1"}, "bad_parameter"),
        ({"find": "x" * 201}, "bad_parameter"),
        ({"only": ["kernel:x"] * 65}, "bad_parameter"),
        ({"table": "nosuch"}, "unknown_table"),
        ({"table": ""}, "missing_parameter"),
        ({"nosuch": "1"}, "unknown_option"),
        ({"tag": "trace_viewer"}, "no_table"),
    ],
)
def test_what_cannot_be_asked_is_said(client: Client, query: dict[str, Any], code: str) -> None:
    response = client.get("/rows", query_string={**KERNELS, **query})
    assert (response.status_code >= 400, response.get_json()["code"]) == (True, code)


def test_a_short_table_can_be_asked_for_as_well(client: Client) -> None:
    assert get(client, table="devices")["rows"] == 1


def test_a_file_holds_all_chosen_rows(client: Client, whole: Any) -> None:
    query = {**KERNELS, "sort": "kernel", "find": "kernel_4"}
    response = client.get("/rows_file", query_string=query)
    assert "kernel_stats_kernels.csv" in response.headers["Content-Disposition"]
    head, *rows = csv.reader(io.StringIO(response.text, newline=""))
    wanted = sorted(name for name in column(whole, "kernel") if "kernel_4" in name)
    assert head == [each["label"] for each in whole["columns"]] and [row[0] for row in rows] == wanted
    objects = json.loads(client.get("/rows_file", query_string={**query, "format": "json"}).text)
    assert [each["kernel"] for each in objects] == wanted and list(objects[0]) == [
        each["id"] for each in whole["columns"]
    ]
    everything = json.loads(client.get("/rows_file", query_string={**KERNELS, "format": "json"}).text)
    assert [list(each.values()) for each in everything] == [
        list(row) for row in zip(*(each["values"] for each in whole["columns"]), strict=True)
    ]
    refused = client.get("/rows_file", query_string={**KERNELS, "format": "xls"})
    assert (refused.status_code, refused.get_json()["code"]) == (400, "bad_parameter")
