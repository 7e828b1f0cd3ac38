import gc
import gzip
import json
import logging
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse, create_environ

from tb_profile_plugin import __version__, compat, tools
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store import logdir as logdir_module

RUN = "train/r 1+ü"


class Thing:
    """Can be watched."""


def get(client: Client, route: str, **query: str) -> TestResponse:
    return client.get(route, query_string=query)


def problem(response: TestResponse) -> tuple[int, str]:
    body = response.get_json()
    assert [name for name in body if name != "messages"] == ["code", "message", "remedy", "where", "severity"]
    return response.status_code, body["code"]


def test_sessions_and_what_was_searched(client: Client, tmp_path: Path) -> None:
    answer = get(client, "/sessions").get_json()
    assert answer["searched"] == [answer["logdir"]] == [str(tmp_path)]
    assert answer["found"] == {"event_files": 0, "captures": 3, "near_misses": [], "dumps": []}
    entries = {entry["run"]: entry for entry in answer["sessions"]}
    assert set(entries) == {RUN, "single"}
    assert entries[RUN]["hosts"] == ["a", "b"]
    assert entries[RUN]["size"] == 2
    assert entries[RUN]["facts"] is None
    assert entries[RUN]["modified"] == pytest.approx((tmp_path / "plugins").stat().st_mtime, abs=60)


def test_facts_are_filled_in_once_known(client: Client) -> None:
    entry = get(client, "/session", run=RUN).get_json()
    assert entry["facts"] == {"device": "CPU", "steps": 3}
    assert [found["code"] for found in entry["problems"]] == ["note"]
    listed = get(client, "/sessions").get_json()["sessions"]
    assert {each["run"]: each["facts"] for each in listed} == {RUN: entry["facts"], "single": None}


def test_an_unreadable_session_still_answers(client: Client, put: Callable[[str], Path], tmp_path: Path) -> None:
    put("plugins/profile/broken/bad.xplane.pb")
    entry = get(Client(App(Logdir(str(tmp_path)))), "/session", run="broken").get_json()
    assert entry["facts"] is None
    assert [found["code"] for found in entry["problems"]] == ["note", "truncated"]


def test_tools_say_what_they_take_and_why_not(client: Client) -> None:
    answer = {entry["name"]: entry for entry in get(client, "/tools", run=RUN).get_json()}
    assert list(answer) == ["echo", "one", "slow", "broken", "absent"]
    assert answer["echo"]["params"] == [
        {"name": "size", "default": "small", "doc": "How large.", "choices": ["small", "large"], "kind": "text"}
        | {"candidates": ""}
    ]
    assert answer["echo"]["unavailable"] is None
    assert answer["one"]["all_hosts"] is False
    assert answer["absent"]["unavailable"]["code"] == "no_gpu"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({}, {"hosts": ["a", "b"], "size": "small"}),
        ({"host": "ALL_HOSTS"}, {"hosts": ["a", "b"], "size": "small"}),
        ({"host": "b", "size": "large"}, {"hosts": ["b"], "size": "large"}),
        ({"hosts": "b"}, {"hosts": ["b"], "size": "small"}),
        ({"hosts": "b,a"}, {"hosts": ["a", "b"], "size": "small"}),
        ({"tag": "echo@", "tqx": "out:json", "use_saved_result": "false"}, {"hosts": ["a", "b"], "size": "small"}),
    ],
)
def test_data(client: Client, query: dict[str, str], answer: dict[str, Any]) -> None:
    assert get(client, "/data", **{"run": RUN, "tag": "echo", **query}).get_json() == {"run": RUN, **answer}


@pytest.mark.parametrize(
    ("route", "query", "status", "code"),
    [
        ("/data", {}, 400, "missing_parameter"),
        ("/data", {"run": "r1", "tag": "echo"}, 404, "unknown_run"),
        ("/data", {"run": "../../etc/passwd", "tag": "echo"}, 404, "unknown_run"),
        ("/data", {"run": RUN, "tag": "none"}, 404, "unknown_tool"),
        ("/data", {"run": RUN, "tag": "echo", "host": "c"}, 404, "unknown_host"),
        ("/data", {"run": RUN, "tag": "echo", "hosts": "a,c"}, 400, "some_hosts"),
        ("/data", {"run": RUN, "tag": "echo", "size": "huge"}, 400, "bad_option"),
        ("/data", {"run": RUN, "tag": "echo", "color": "red"}, 400, "unknown_option"),
        ("/data", {"session_path": "/etc", "tag": "echo"}, 403, "paths_refused"),
        ("/data_csv", {"run": RUN, "tag": "echo"}, 422, "no_table"),
        ("/session", {"run": "none"}, 404, "unknown_run"),
        ("/tools", {}, 400, "missing_parameter"),
        ("/progress", {"run": "none"}, 404, "unknown_run"),
        ("/run_tools", {}, 400, "missing_parameter"),
        ("/nothing", {}, 404, "no_such_route"),
        ("/static/../plugin.py", {}, 404, "no_such_file"),
        ("/static/%2e%2e/%2e%2e/plugin.py", {}, 404, "no_such_file"),
        ("/static//etc/passwd", {}, 404, "no_such_file"),
        ("/capture_profile", {"service_addr": "localhost:6009"}, 405, "method"),
    ],
)
def test_what_is_wrong_is_a_problem(client: Client, route: str, query: dict[str, str], status: int, code: str) -> None:
    assert problem(get(client, route, **query)) == (status, code)


def test_only_reading_is_answered(client: Client) -> None:
    for route in ["/data", "/capture/state", "/"]:
        assert problem(client.post(route)) == (405, "method")
    assert client.head("/runs").status_code == 200


def test_a_bug_is_told_without_its_details(client: Client, fakes: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = get(client, "/data", run=RUN, tag="broken")
    assert problem(response) == (500, "internal")
    assert "42" not in response.text
    assert "the secret is 42" in caplog.text
    get(client, "/data", run=RUN, tag="broken")
    assert fakes.calls == ["broken", "broken"]


def test_compressed_only_where_accepted(client: Client) -> None:
    plain = get(client, "/data", run=RUN, tag="slow")
    assert plain.content_encoding is None
    for accepted, encoding in [("gzip, br", "gzip"), ("*", "gzip"), ("identity", None), ("gzip;q=0", None)]:
        response = client.get("/data", query_string={"run": RUN, "tag": "slow"}, headers={"Accept-Encoding": accepted})
        assert response.content_encoding == encoding
        body = gzip.decompress(response.data) if encoding else response.data
        assert body == plain.data
        assert response.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["Cache-Control"] == "no-store"
    assert plain.headers["X-Content-Type-Options"] == "nosniff"
    assert plain.headers["Content-Type"] == "application/json"


def test_one_computation_however_many_ask(client: Client, fakes: Any) -> None:
    fakes.hold.clear()
    answers: list[int] = []

    def ask() -> None:
        answers.append(get(client, "/data", run=RUN, tag="slow").status_code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert fakes.entered.wait(10)
    progress = get(client, "/progress", run=RUN).get_json()
    assert (progress["busy"], progress["computing"]) == (True, ["slow"])
    assert [host["host"] for host in progress["hosts"]] == ["a", "b"]
    assert get(client, "/progress", run="single").get_json()["busy"] is False
    fakes.hold.set()
    for thread in threads:
        thread.join(10)
    assert answers == [200] * 8
    assert fakes.calls == ["slow"]
    assert get(client, "/progress", run=RUN).get_json()["busy"] is False


@pytest.fixture
def attentive(tmp_path: Path, fakes: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Sees at once what changes on disk, and keeps nothing there."""
    monkeypatch.setattr(logdir_module, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir_module, "_RESCAN_SHARE", 0)
    return Client(App(Logdir(str(tmp_path)), keep=False))


def test_a_replaced_file_is_read_anew(attentive: Client, fakes: Any, put: Callable[[str], Path]) -> None:
    client = attentive
    file = put("plugins/profile/single/vm.xplane.pb")
    for _ in range(2):
        get(client, "/data", run="single", tag="echo")
    facts = file.stat()
    file.write_bytes(b"longer")
    get(client, "/sessions")
    get(client, "/data", run="single", tag="echo")
    assert fakes.calls == ["echo", "echo"]
    # The results of the first one were dropped with it.
    file.write_bytes(b"x")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    get(client, "/sessions")
    get(client, "/data", run="single", tag="echo")
    assert len(fakes.calls) == 3


def test_what_is_found_of_a_file_after_it_was_replaced_is_not_kept(
    attentive: Client, fakes: Any, put: Callable[[str], Path]
) -> None:
    file = put("plugins/profile/single/vm.xplane.pb")
    facts = file.stat()
    fakes.hold.clear()
    asking = threading.Thread(target=get, args=(attentive, "/data"), kwargs={"run": "single", "tag": "slow"})
    asking.start()
    assert fakes.entered.wait(10)
    file.write_bytes(b"longer")
    get(attentive, "/data", run="single", tag="echo")
    fakes.hold.set()
    asking.join(10)
    file.write_bytes(b"x")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    get(attentive, "/data", run="single", tag="slow")
    assert fakes.calls == ["slow", "echo", "slow"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("/data?run=single&tag=echo", 200),
        ("/data?run=single&tag=broken", 500),
        ("/data?run=single&tag=echo&host=none", 404),
        ("/data?run=none&tag=echo", 404),
        ("/none", 404),
    ],
)
def test_a_request_is_forgotten_as_soon_as_it_is_answered(
    tmp_path: Path, fakes: Any, put: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, query: str, status: int
) -> None:
    put("plugins/profile/single/vm.xplane.pb")
    # pytest keeps what is logged, errors with it.
    monkeypatch.setattr(logging.getLogger("tb_profile_plugin.serve.dispatch"), "disabled", True)
    app, told = App(Logdir(str(tmp_path)), keep=False), []
    environ = create_environ(query)
    request = environ["of the request"] = Thing()
    left = weakref.ref(request)
    gc.collect()
    gc.disable()
    try:
        b"".join(app(environ, lambda said, *more: told.append(int(said.split()[0]))))  # type: ignore[arg-type]
        del environ, request
        assert told == [status]
        assert left() is None
    finally:
        gc.enable()


def test_routes_of_the_older_plugin(client: Client) -> None:
    assert get(client, "/runs").get_json() == [RUN, "single"]
    assert get(client, "/run_tools", run=RUN).get_json() == ["echo", "one", "slow", "broken"]
    assert get(client, "/run_tools", run="none").get_json() == []
    assert get(client, "/hosts", run="single", tag="echo").get_json() == [{"hostname": "vm"}]
    hosts = [entry["hostname"] for entry in get(client, "/hosts", run=RUN, tag="echo").get_json()]
    assert hosts == ["ALL_HOSTS", "a", "b"]
    assert get(client, "/hosts", run=RUN, tag="one").get_json() == [{"hostname": "a"}, {"hostname": "b"}]
    assert get(client, "/hosts", run="none", tag="one").get_json() == []
    assert get(client, "/module_list", run=RUN).text == "jit_init(2),jit_step(6)"
    assert get(client, "/module_list", run="single").text == "NO_MODULE"
    assert get(client, "/config").get_json()["hideCaptureProfileButton"] is False
    version = get(client, "/version")
    assert (version.text, version.mimetype) == (__version__, "text/plain")


def test_the_first_table_as_csv(client: Client) -> None:
    response = get(client, "/data_csv", run=RUN, tag="one", host="a")
    assert response.mimetype == "text/csv"
    assert response.text == '"Op, name","ms"\r\n"a",1.0\r\n"b ""c""",2.5\r\n'
    assert response.headers["Content-Disposition"].startswith("attachment; filename")
    assert "/" not in response.headers["Content-Disposition"]


def test_scripts_ask_for_csv_as_they_did(client: Client) -> None:
    plain = get(client, "/data_csv", run=RUN, tag="one", host="a")
    for tqx in ("out:csv", "reqId:7; out:csv;"):
        asked = get(client, "/data", run=RUN, tag="one", host="a", tqx=tqx)
        assert (asked.mimetype, asked.data) == ("text/csv", plain.data)
    assert problem(get(client, "/data", run=RUN, tag="echo", tqx="out:csv")) == (422, "no_table")
    assert get(client, "/data", run=RUN, tag="one", host="a", tqx="out:json").mimetype == "application/json"


def test_tools_answer_by_their_older_names(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tools.get(compat.NEW_NAMES["tensorflow_stats"]).name == "framework_op_stats"
    monkeypatch.setitem(compat.NEW_NAMES, "first_name", "one")
    for tag in ("first_name", "first_name^"):
        assert get(client, "/data", run=RUN, tag=tag, host="a").get_json() == (
            get(client, "/data", run=RUN, tag="one", host="a").get_json()
        )
        assert (
            get(client, "/hosts", run=RUN, tag=tag).get_json() == get(client, "/hosts", run=RUN, tag="one").get_json()
        )


def test_below_a_prefix(tmp_path: Path, fakes: Any, put: Callable[[str], Path]) -> None:
    put("plugins/profile/r1/vm.xplane.pb")
    client = Client(App(Logdir(str(tmp_path)), "/data/plugin/profile"))
    assert json.loads(client.get("/data/plugin/profile/runs").data) == ["r1"]
    assert client.get("/data/plugin/profile/").status_code in (200, 500)
