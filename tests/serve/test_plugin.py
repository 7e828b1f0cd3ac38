import logging
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tensorboard.backend.application import TensorBoardWSGI
from tensorboard.plugins import base_plugin
from werkzeug.test import Client

from tb_profile_plugin import plugin as plugin_module
from tb_profile_plugin.plugin import Loader, Plugin
from tb_profile_plugin.serve import responses

RUN = "plugins/profile/r1/vm.xplane.pb"


def load(logdir: str | None) -> Plugin:
    return Loader().load(base_plugin.TBContext(logdir=logdir, flags=Namespace(logdir=logdir, logdir_spec=None)))


def test_importing_needs_next_to_nothing() -> None:
    code = (
        "import sys; import tb_profile_plugin.plugin, tb_profile_plugin.serve;"
        "print([name for name in ('numba', 'numpy', 'grpc', 'tensorflow') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_who_lists_sessions_has_the_decoder_imported_meanwhile(tmp_path: Path) -> None:
    code = (
        "import sys, threading; from werkzeug.test import Client;"
        "from tb_profile_plugin.serve import App; from tb_profile_plugin.store import Logdir;"
        "client = Client(App(Logdir(sys.argv[1])));"
        "before = set(sys.modules); client.get('/sessions'); client.get('/sessions');"
        "[thread.join() for thread in threading.enumerate() if thread.name == 'imports'];"
        "print(*('numpy' in names for names in (before, sys.modules)), 'tb_profile_plugin.model.host' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False True True"


def test_the_tab_is_there_before_the_first_capture(tmp_path: Path) -> None:
    assert load(str(tmp_path)).is_active() is True
    assert load(None).is_active() is True
    assert Loader().load(base_plugin.TBContext()).is_active() is True


@pytest.mark.parametrize("flags", [{"logdir_spec": "a:{0},b:{0}/none"}, {"logdir": "{0}"}])
def test_the_logdir_is_taken_from_wherever_it_is_told(
    tmp_path: Path, put: Callable[[str], Path], flags: dict[str, str]
) -> None:
    put(RUN)
    values = {name: text.format(tmp_path) for name, text in flags.items()}
    context = base_plugin.TBContext(logdir="", flags=Namespace(**values))
    runs = Client(TensorBoardWSGI([Loader().load(context)])).get("/data/plugin/profile/runs")
    assert [name.rpartition("/")[2] for name in runs.get_json()][:1] == ["r1"]


def test_it_steps_aside_for_another_profile_plugin(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours = EntryPoint("tb_profile_plugin", "tb_profile_plugin.plugin:Loader", "tensorboard_plugins")
    other = EntryPoint("projector", "somewhere:Projector", "tensorboard_plugins")
    rival = EntryPoint("profile", "xprof.profile_plugin_loader:ProfilePluginLoader", "tensorboard_plugins")
    monkeypatch.setattr(plugin_module, "entry_points", lambda group: (ours, other))
    assert load("").plugin_name == "profile"
    assert caplog.messages == []
    monkeypatch.setattr(plugin_module, "entry_points", lambda group: (ours, other, rival))
    with caplog.at_level(logging.WARNING):
        plugin = load("")
    assert plugin.plugin_name == "tb_profile"
    assert plugin.frontend_metadata().tab_name != "Profile"
    assert len(caplog.messages) == 1 and "\n" not in caplog.messages[0]


def test_inside_tensorboards_application(
    tmp_path: Path, put: Callable[[str], Path], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another profile plugin may be installed beside this one.
    monkeypatch.setattr(plugin_module, "entry_points", lambda group: ())
    put(RUN)
    built = tmp_path / "built"
    (built / "static").mkdir(parents=True)
    for name in ["index.html", "index.js", "static/chart-a_B-123x.js"]:
        (built / name).write_text("x")
    monkeypatch.setattr(responses, "STATIC", built)
    client = Client(TensorBoardWSGI([load(str(tmp_path))], path_prefix="/a/b"))
    listing = client.get("/a/b/data/plugins_listing").get_json()
    assert listing["profile"]["enabled"] is True
    assert listing["profile"]["tab_name"] == "Profile"
    assert listing["profile"]["loading_mechanism"]["module_path"] == "/a/b/data/plugin/profile/index.js"
    for route in ["index.js", "index.html", "static/chart-a_B-123x.js", "sessions", "runs"]:
        for prefix in ["/a/b", "/a/b/experiment/x"]:
            assert client.get(f"{prefix}/data/plugin/profile/{route}").status_code == 200, route
    assert client.get("/a/b/data/plugin/profile/runs").get_json() == ["r1"]
    missing = client.get("/a/b/data/plugin/profile/none")
    assert (missing.status_code, missing.get_json()["code"]) == (404, "no_such_route")
    assert caplog.messages == [], "TensorBoard warns about responses that its next version will refuse"


def test_tensorboards_notice_that_a_profile_plugin_could_be_installed_is_not_loaded() -> None:
    from tensorboard.plugins.profile_redirect.profile_redirect_plugin import ProfileRedirectPluginLoader

    assert ProfileRedirectPluginLoader().load(base_plugin.TBContext()) is None
    assert "tensorboard_plugin_profile" not in sys.modules
