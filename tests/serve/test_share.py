"""Giving a capture away: the server says what it tells, and sends it with or without that."""

import os
from pathlib import Path
from typing import Any

import draw
import pytest
from werkzeug.test import Client

from tb_profile_plugin.formats import xspace
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

SECRET = """
/host:CPU
  t | train[0,900]{_r=1, step_num=s, source_info='/home/alice/secret.py:3'} load[5,9]{path='/home/alice/x', at=10.1.2.3}
Task Environment {profile_start_time=1700000000000000000u}
hostname: gpu-box.corp.example
"""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    space = draw.program(draw.space(SECRET, steps=3), 7, "jit_step", f="fusion/Relu:Relu")
    draw.session(tmp_path, **{"gpu-box": space, "other": draw.space("/host:CPU\n  t | work[1,2]")})
    return Client(App(Logdir(str(tmp_path))))


def test_what_a_capture_tells(client: Client, tmp_path: Path) -> None:
    told: Any = client.get("/share?run=run&host=gpu-box").get_json()
    assert told == {
        "host": "gpu-box",
        "alias": "host-1",
        "size": os.path.getsize(tmp_path / "plugins/profile/run/gpu-box.xplane.pb"),
        "recorded_ns": 1_700_000_000_000_000_000,
        "hosts": ["gpu-box.corp.example"],
        "users": ["alice"],
        "addresses": ["10.1.2.3"],
        "source_stats": 3,
        "programs": ["jit_step"],
        "events": 6,
        "file": "gpu-box.xplane.pb",
        "kept": "",
    }
    nothing: Any = client.get("/share?run=run&host=other").get_json()
    for key in ("hosts", "users", "addresses", "source_stats", "programs", "recorded_ns"):
        assert not nothing[key], key


def test_the_file_as_it_is(client: Client, tmp_path: Path) -> None:
    answer = client.get("/share/capture?run=run&host=gpu-box&redact=0")
    assert answer.data == (tmp_path / "plugins/profile/run/gpu-box.xplane.pb").read_bytes()
    assert answer.headers["Content-Disposition"] == "attachment; filename=gpu-box.xplane.pb"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.content_length == len(answer.data)


def test_redacted_is_what_one_gets_unless_one_asks_otherwise(client: Client) -> None:
    answer = client.get("/share/capture?run=run&host=gpu-box")
    assert answer.headers["Content-Disposition"] == "attachment; filename=host-1.xplane.pb"
    assert [secret for secret in (b"alice", b"gpu-box", b"10.1.2.3", b".py") if secret in answer.data] == []
    assert xspace.decode(answer.data).hostnames == ["host-1"]


def test_a_report_tells_no_more(client: Client) -> None:
    answer = client.get("/share/report?run=run")
    assert answer.headers["Content-Disposition"] == "attachment; filename=report.html"
    assert answer.text.startswith("<!doctype html>") and "gpu-box" not in answer.text
    assert "Not redacted" in client.get("/share/report?run=run&redact=0").text
    for query, status in {"": 400, "run=none": 404, "run=run&redact=2": 400}.items():
        assert client.get(f"/share/report?{query}").status_code == status, query


def test_a_summary_is_markdown(client: Client) -> None:
    answer = client.get("/share/summary?run=run")
    assert answer.mimetype == "text/plain"
    assert answer.text.startswith("**Nothing computes for") and "### Causes and remedies" in answer.text
    assert client.get("/share/summary?run=run&steps=1-1").text != answer.text
    assert "### 원인" in client.get("/share/summary?run=run&lang=ko").text
    for query, status in {"": 400, "run=none": 404}.items():
        assert client.get(f"/share/summary?{query}").status_code == status, query


def test_nothing_is_written_and_nonsense_is_refused(client: Client, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for query in ("run=run", "run=run&redact=0"):
        assert client.get(f"/share/capture?{query}").status_code == 200
    assert sorted(tmp_path.rglob("*")) == before
    for query, status in {"": 400, "run=none": 404, "run=run&host=none": 404, "run=run&redact=2": 400}.items():
        assert client.get(f"/share/capture?{query}").status_code == status, query


def test_damage_is_told_and_not_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw.session(tmp_path, vm=draw.space(SECRET, steps=3).SerializeToString()[:-5])
    client = Client(App(Logdir(str(tmp_path))))
    told: Any = client.get("/share?run=run").get_json()
    assert told["kept"].startswith("This capture is damaged")
    assert client.get("/share/capture?run=run").status_code == 422


def test_hosts_whose_names_are_no_text(client: Client, tmp_path: Path) -> None:
    run = tmp_path / "plugins/profile/run"
    (run / "gpu-box.xplane.pb").rename(os.fsdecode(os.fsencode(run) + b"/gpu-\xff\xe9.xplane.pb"))
    (run / "other.xplane.pb").rename(os.fsdecode(os.fsencode(run) + b"/gpu-\xfe.xplane.pb"))
    listed: Any = Client(App(Logdir(str(tmp_path)))).get("/sessions").get_json()
    hosts = listed["sessions"][0]["hosts"]
    assert hosts == ["gpu-\\xfe", "gpu-\\xff\\xe9"]
    for host in hosts:
        for route in ("/share", "/share/capture", "/data"):
            answer = client.get(route, query_string={"run": "run", "host": host, "tag": "overview_page"})
            assert answer.status_code == 200, answer.text
