"""Sessions are joined and split on the server, by its own pages."""

from pathlib import Path

import pytest
from werkzeug.test import Client

from tb_profile_plugin.serve.app import App
from tb_profile_plugin.store import Logdir

OWN = {"X-TB-Profile": "1"}
"""Of requests that pages of the server send."""


@pytest.fixture
def client(tmp_path: Path) -> Client:
    for run, host in (("r1", "a"), ("r2", "b")):
        path = tmp_path / "plugins/profile" / run / f"{host}.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    return Client(App(Logdir(str(tmp_path))))


def listed(client: Client) -> dict[str, list[str]]:
    """Hosts by session."""
    return {entry["run"]: entry["hosts"] for entry in client.get("/sessions").get_json()["sessions"]}


def test_joining_and_splitting(client: Client) -> None:
    assert client.post("/join?run=r1&with=r2", headers=OWN).get_json() == {"run": "r1"}
    assert listed(client) == {"r1": ["a", "b"]}
    assert client.post("/split?run=r1", headers=OWN).get_json() == {"run": "r1"}
    assert listed(client) == {"r1": ["a"], "r2": ["b"]}


def test_unknown_sessions_and_other_sites_change_nothing(client: Client) -> None:
    assert client.post("/join?run=r1&with=none", headers=OWN).status_code == 404
    assert client.post("/join?run=r1&with=r2", headers=OWN | {"Origin": "http://elsewhere"}).status_code == 403
    assert listed(client) == {"r1": ["a"], "r2": ["b"]}
