"""The list of sessions is as new as the logdir and the cache are, and costs only what changed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_profile_plugin.serve import App, listing
from tb_profile_plugin.store import Logdir, cache, result_cache
from tb_profile_plugin.store import logdir as logdir_module
from tb_profile_plugin.store.result_cache import pack, to_json

COUNT = 200


@pytest.fixture(autouse=True)
def looking_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logdir_module, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir_module, "_RESCAN_SHARE", 0)
    monkeypatch.setattr(logdir_module, "_PATIENCE_S", None)


def facts(client: Client) -> dict[str, Any]:
    return {each["run"]: each["facts"] for each in client.get("/sessions").get_json()["sessions"]}


@pytest.mark.parametrize("keep", [True, False])
def test_facts_appear_as_soon_as_they_are_known(
    fakes: Any, put: Callable[[str], Path], tmp_path: Path, keep: bool
) -> None:
    path = put("plugins/profile/r1/vm.xplane.pb")
    put("plugins/profile/r2/vm.xplane.pb")
    client, other = (Client(App(Logdir(str(tmp_path)), keep=keep)) for _ in range(2))
    nothing = {"r1": None, "r2": None}
    assert facts(client) == facts(other) == nothing
    found = client.get("/session?run=r1").get_json()["facts"]
    assert found and facts(client) == {"r1": found, "r2": None}
    assert facts(other) == ({"r1": found, "r2": None} if keep else nothing)
    path.write_bytes(b"another one")
    assert facts(client) == facts(other) == nothing
    assert client.get("/session?run=r1").get_json()["facts"] == facts(client)["r1"] is not None


def test_only_what_changed_is_worked_out_anew(
    fakes: Any, put: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(COUNT):
        put(f"plugins/profile/r{number}/vm.xplane.pb")
    client = Client(App(Logdir(str(tmp_path))))
    client.get("/session?run=r7")
    assert len(facts(client)) == COUNT
    os.utime(cache.folder(), (1e9, 1e9))
    facts(client)
    done: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: done.append(name) or function(*arguments)

    monkeypatch.setattr(cache, "names", counted("names", cache.names))
    monkeypatch.setattr(cache, "entry_path", counted("place", cache.entry_path))
    monkeypatch.setattr(listing, "to_json", counted("json", to_json))
    monkeypatch.setattr(listing, "pack", counted("pack", pack))
    monkeypatch.setattr(result_cache, "_code_digest", counted("code", result_cache._code_digest))
    for _ in range(5):
        assert len(facts(client)) == COUNT
    assert done == []
    put("plugins/profile/new/vm.xplane.pb")
    assert len(facts(client)) == COUNT + 1
    assert sorted(done) == ["code", "json", "json", "names", "pack", "place"]
