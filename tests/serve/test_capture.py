"""Captures over HTTP: who may start one, and what comes of it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from profilers import closed_port, fake
from werkzeug.test import Client, TestResponse

from tb_profile_plugin.model import profiler_options
from tb_profile_plugin.runtime.settings import HIDE_CAPTURE
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

__all__ = ["closed_port", "fake"]

Fakes = Callable[..., Any]
POSTED = ["/capture_profile", "/capture/start", "/capture/stop", "/capture/ping"]
OURS = {"X-TB-Profile": "1"}


@pytest.fixture
def empty(tmp_path: Path, fakes: Any) -> Client:
    """A server over a logdir without a session."""
    return Client(App(Logdir(str(tmp_path))))


def post(client: Client, route: str, headers: dict[str, str] = OURS, **form: Any) -> TestResponse:
    return client.post(route, data=form, headers=headers)


def problem(response: TestResponse) -> tuple[int, str, str]:
    body = response.get_json()
    return response.status_code, body["code"], body["where"]


def outcome(client: Client) -> dict[str, Any]:
    """The state of the capture, once it is over and listed."""
    for _ in range(200):
        job: dict[str, Any] = client.get("/capture/state").get_json()["job"]
        if job["phase"] == "failed" or job["session"]:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_a_capture_from_start_to_session(empty: Client, fake: Fakes, tmp_path: Path) -> None:
    server = fake()
    assert empty.get("/capture/state").get_json() == {"id": 0, "job": None}
    started = post(empty, "/capture/start", service_addr=server.address, duration=300, python_tracer_level=1, run="r1")
    assert started.get_json()["job"]["phase"] == "running"
    job = outcome(empty)
    assert (job["phase"], job["session"], job["problem"]) == ("done", "r1", None)
    assert [worker["state"] for worker in job["workers"]] == ["done"]
    assert empty.get("/sessions").get_json()["sessions"][0]["run"] == "r1"
    assert server.requests[0].opts.python_tracer_level == 1


def test_what_was_asked_is_compared_with_what_was_recorded(
    empty: Client, fake: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler_options, "levels", lambda host: {"host_tracer_level": 2, "python_tracer_level": 0})
    post(empty, "/capture/start", service_addr=fake().address, duration=100, python_tracer_level=1, run="r1")
    outcome(empty)
    entry = empty.get("/session?run=r1").get_json()
    assert [levels["host_tracer_level"] for levels in entry["recorded"].values()] == [2]
    [found] = [found for found in entry["problems"] if found["code"] == "not_as_asked"]
    assert "python tracer level was 0 instead of 1" in found["message"]


def test_one_at_a_time_and_stop(empty: Client, fake: Fakes) -> None:
    server = fake()
    post(empty, "/capture/start", service_addr=server.address, duration=60_000, run="r1")
    second = post(empty, "/capture/start", service_addr=server.address, run="r2")
    assert problem(second)[:2] == (409, "capturing")
    time.sleep(0.5)
    assert post(empty, "/capture/stop").get_json()["job"]["phase"] == "running"
    assert outcome(empty)["session"] == "r1"


def test_the_older_plugins_route(empty: Client, fake: Fakes, closed_port: int) -> None:
    server = fake()
    query = {"service_addr": f"grpc://{server.address}", "is_tpu_name": "false", "duration": "200", "num_retry": "3"}
    query |= {"worker_list": "", "host_tracer_level": "2", "device_tracer_level": "1", "python_tracer_level": "0"}
    answer = empty.post("/capture_profile", query_string={**query, "delay": "0"}, headers=OURS)
    assert answer.get_json()["result"] == "Capture profile successfully. Please refresh."
    query |= {"service_addr": "coordinator:1", "worker_list": f"localhost:{closed_port}", "num_retry": "0"}
    answer = empty.post("/capture_profile", query_string=query, headers=OURS)
    assert answer.status_code == 500
    assert "Nothing listens there." in answer.get_json()["error"]
    answer = empty.post("/capture_profile", headers=OURS)
    assert answer.status_code == 400 and answer.get_json()["error"].startswith("No address is given.")


def test_a_ping(empty: Client, fake: Fakes, closed_port: int) -> None:
    server = fake()
    answer = post(empty, "/capture/ping", service_addr=f"{server.address},localhost:{closed_port}").get_json()
    codes = [worker["problem"] and worker["problem"]["code"] for worker in answer["workers"]]
    assert codes == [None, "nothing_listens"]


@pytest.mark.parametrize("route", POSTED)
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_header"),
        ({**OURS, "Origin": "http://evil.example"}, "foreign_origin"),
        ({**OURS, "Origin": "null"}, "foreign_origin"),
        ({**OURS, "Origin": "null", "X-Forwarded-Host": ""}, "foreign_origin"),
        ({**OURS, "Origin": "http://localhost:9"}, "foreign_origin"),
        ({**OURS, "Sec-Fetch-Site": "cross-site"}, "foreign_origin"),
        ({**OURS, "Sec-Fetch-Site": "same-site", "Origin": "http://localhost"}, "foreign_origin"),
        ({**OURS, "Sec-Fetch-Site": "none"}, "foreign_origin"),
    ],
)
def test_pages_of_other_sites_are_refused(empty: Client, route: str, headers: dict[str, str], code: str) -> None:
    assert problem(post(empty, route, headers, service_addr="localhost:1"))[:2] == (403, code)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://hub.example", "X-Forwarded-Host": "hub.example"},
    ],
)
def test_our_own_pages_are_not(empty: Client, headers: dict[str, str]) -> None:
    assert problem(post(empty, "/capture/start", OURS | headers))[1] == "no_address"


@pytest.mark.parametrize("route", POSTED)
def test_looking_starts_nothing(empty: Client, route: str) -> None:
    for method in ("GET", "HEAD", "OPTIONS", "PUT"):
        answer = empty.open(route, method=method, query_string={"service_addr": "localhost:1"}, headers=OURS)
        assert answer.status_code == 405
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert empty.get("/capture/state").get_json()["job"] is None


@pytest.mark.parametrize(
    ("form", "code", "where"),
    [
        ({"service_addr": "http://localhost:1"}, "bad_address", "service_addr"),
        ({"service_addr": "localhost"}, "bad_address", "service_addr"),
        ({"service_addr": ",".join(f"h{n}:1" for n in range(300))}, "too_many_addresses", "service_addr"),
        ({"service_addr": "localhost:1", "duration": "0"}, "bad_option", "duration"),
        ({"service_addr": "localhost:1", "duration": "-1"}, "bad_option", "duration"),
        ({"service_addr": "localhost:1", "duration": "1000000000"}, "bad_option", "duration"),
        ({"service_addr": "localhost:1", "num_retry": "x"}, "bad_option", "num_retry"),
        ({"service_addr": "localhost:1", "host_tracer_level": "7"}, "bad_option", "host_tracer_level"),
        ({"service_addr": "localhost:1", "run": "../up"}, "bad_run", "run"),
        ({"service_addr": "localhost:1", "logdir": "/etc"}, "unknown_option", "logdir"),
    ],
)
def test_what_makes_no_capture_names_its_parameter(
    empty: Client, tmp_path: Path, form: dict[str, Any], code: str, where: str
) -> None:
    assert problem(post(empty, "/capture/start", **form)) == (400, code, where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("body", ["[1]", "{", "1", '"x"'])
def test_a_body_that_is_no_object(empty: Client, body: str) -> None:
    answer = empty.post("/capture/start", data=body, content_type="application/json", headers=OURS)
    assert problem(answer)[:2] == (400, "bad_body")


def test_a_body_that_is_too_large(empty: Client) -> None:
    large = json.dumps({"service_addr": "x" * (1 << 20)})
    for kind, body in [("application/json", large), ("application/x-www-form-urlencoded", f"run={large}")]:
        answer = empty.post("/capture/start", data=body, content_type=kind, headers=OURS)
        assert problem(answer)[:2] == (413, "too_large")


def test_captures_can_be_switched_off(tmp_path: Path, fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = Client(App(Logdir(str(tmp_path)), hide_capture=True))
    monkeypatch.setenv(HIDE_CAPTURE, "1")
    for client in (hidden, Client(App(Logdir(str(tmp_path))))):
        assert client.get("/config").get_json()["hideCaptureProfileButton"] is True
        for route in POSTED:
            assert problem(post(client, route, service_addr="localhost:1"))[:2] == (403, "capture_hidden")


def test_a_logdir_that_is_no_folder_here(fakes: Any, fake: Fakes) -> None:
    for spec in ("", "gs://bucket/logs"):
        answer = post(Client(App(Logdir(spec))), "/capture/start", service_addr="localhost:1")
        assert problem(answer)[:2] == (409, "no_logdir")


def test_doctor(empty: Client) -> None:
    found = {finding["code"]: finding["severity"] for finding in empty.get("/doctor").get_json()}
    assert found["writable"] == "info" and found["no_captures"] == "warning"
