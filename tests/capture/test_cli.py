import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tb_profile_plugin.capture import address, cli, rpc, tpu
from tb_profile_plugin.capture.job import Job
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.messages import use_language
from tb_profile_plugin.runtime.problems import ProblemError

Fakes = Callable[..., Any]
Output = pytest.CaptureFixture[str]


def test_a_capture_says_where_it_lies_and_how_to_look_at_it(fake: Fakes, tmp_path: Path, capsys: Output) -> None:
    server, logdir = fake(), str(tmp_path)
    options = ["--duration", "0.2s", "--delay", "10ms", "--retries", "0", "--run", "r1"]
    levels = ["--host-tracer-level", "1", "--device-tracer-level", "0", "--python-tracer-level", "1"]
    assert main.main(["capture", server.address, logdir, *options, *levels]) == 0
    out = capsys.readouterr().out
    assert f"✓ {server.address}" in out
    assert str(tmp_path / "plugins/profile/r1") in out
    assert f"tb-profile serve {logdir}" in out and f"tensorboard --logdir {logdir}" in out
    [request] = server.requests
    opts = request.opts
    assert (opts.duration_ms, opts.host_tracer_level, opts.device_tracer_level, opts.python_tracer_level) == (
        200,
        1,
        0,
        1,
    )


def test_a_missing_worker_is_a_problem_though_the_rest_is_kept(
    fake: Fakes, closed_port: int, tmp_path: Path, capsys: Output
) -> None:
    places = f"{fake().address},localhost:{closed_port}"
    assert main.main(["capture", places, str(tmp_path), "--duration", "100ms", "--retries", "0"]) == 1
    answer = capsys.readouterr()
    assert f"✗ localhost:{closed_port}  Nothing listens there." in answer.out
    assert f"No capture came from localhost:{closed_port}" in answer.err
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 1


def test_a_space_stands_between_addresses_as_well_as_a_comma(fake: Fakes, tmp_path: Path) -> None:
    """A second address was a folder of its name, and the folder meant was left empty."""
    logdir = tmp_path / "logs"
    assert main.main(["capture", fake().address, fake().address, str(logdir), "--duration", "100ms"]) == 0
    assert len(list(logdir.rglob("*.xplane.pb"))) == 2


def test_what_hangs_is_not_told_to_capture_for_a_shorter_time(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc, "_ANSWER_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        assert main.main(["capture", place, str(tmp_path), "--retries", "0"]) == 1
    said = capsys.readouterr().err
    assert "A server listens there but did not answer" in said and "shorter" not in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "An ADDRESS is missing"),
        (["localhost:6009"], "A LOGDIR is missing"),
        (["localhost", "{}"], "names no port"),
        (["localhost:1", "{}", "--duration", "0"], "Duration cannot be 0"),
        (["localhost:1", "{}", "--duration", "1000000s"], "Duration cannot be"),
        (["localhost:1", "{}", "--host-tracer-level", "9"], "Host tracer level cannot be 9"),
        (["localhost:1", "{}", "--run", "a/b"], "cannot name a session"),
        (["localhost:{port}", "{}", "--retries", "0"], "Nothing listens there"),
        (["localhost:{port}", "--recorder", "start"], "Nothing listens there"),
        (["localhost:{port}", "--recorder", "snapshot"], "A LOGDIR is missing"),
        (["localhost:{port}", "localhost:6010"], "A LOGDIR is missing"),
        (["localhost:1", "{}", "--duration", "11m"], "Duration cannot be 660000"),
    ],
)
def test_what_is_wrong_is_told(
    arguments: list[str], told: str, closed_port: int, tmp_path: Path, capsys: Output
) -> None:
    logdir = tmp_path / "logs"
    filled = [argument.replace("{port}", str(closed_port)).replace("{}", str(logdir)) for argument in arguments]
    assert main.main(["capture", *filled]) == (1 if "Nothing listens" in told else 2)
    answer = capsys.readouterr()
    assert told in answer.err and "Traceback" not in answer.err
    assert not logdir.exists()


def test_the_flight_recorder(fake: Fakes, tmp_path: Path, capsys: Output) -> None:
    server = fake()
    assert main.main(["capture", server.address, "--recorder", "start"]) == 0
    assert server.recording
    assert main.main(["capture", server.address, str(tmp_path), "--recorder", "snapshot", "--run", "r1"]) == 0
    assert main.main(["capture", server.address, "--recorder", "stop"]) == 0
    assert not server.recording
    assert [path.name for path in tmp_path.rglob("*.pb")] == [f"localhost_{server.port}.xplane.pb"]


def test_a_demo_without_a_framework_says_what_to_install(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main.main(["capture", "--demo"]) == 1
    assert "pip install tensorflow" in capsys.readouterr().err
    assert main.main(["capture", "--demo", "--framework", "torch"]) == 1
    told = capsys.readouterr().err
    assert "has no torch" in told and "Install it: pip install torch." in told
    assert list(tmp_path.iterdir()) == []


def test_a_tpu_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def __init__(self, tpu: str):
            if tpu == "none":
                raise RuntimeError("no such TPU")

        def network_endpoints(self) -> list[dict[str, str]]:
            return [{"ipAddress": "10.0.0.1", "port": "8470"}, {"ipAddress": "10.0.0.2", "port": "8470"}]

    monkeypatch.setitem(sys.modules, "cloud_tpu_client", SimpleNamespace(Client=Client))
    assert tpu.resolve("pod") == address.parse("10.0.0.1:8466,10.0.0.2:8466")
    with pytest.raises(ProblemError, match="no such TPU"):
        tpu.resolve("none")


def test_a_tpu_without_its_package(capsys: Output, tmp_path: Path) -> None:
    assert main.main(["capture", "pod", str(tmp_path), "--tpu"]) == 1
    assert "pip install cloud-tpu-client" in capsys.readouterr().err


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Programs started meanwhile heed Ctrl+C even where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_was_recorded(fake: Fakes, tmp_path: Path) -> None:
    server = fake()
    command = [sys.executable, "-m", "tb_profile_plugin", "capture", server.address, str(tmp_path)]
    with subprocess.Popen([*command, "--duration", "60s"], stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr
        while not server.requests:
            time.sleep(0.05)
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        assert "the recording so far is saved" in program.stderr.read()
    assert program.returncode == 0
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 1


@pytest.mark.parametrize("second", ["stop", "wait"])
def test_ctrl_c_again_waits_for_nothing_whenever_it_comes(
    fake: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    """Also while profilers are still being told to stop, which takes as long as they do."""
    told: list[str] = []

    def call(name: str) -> None:
        told.append(name)
        if told in (["wait"], ["wait", "stop", "wait"]) or (second == name == "stop"):
            raise KeyboardInterrupt

    for name in ("wait", "stop", "give_up"):
        monkeypatch.setattr(Job, name, lambda *given, name=name: call(name))
    assert main.main(["capture", fake().address, str(tmp_path), "--duration", "0.1s"]) == 130
    assert told == ["wait", "stop", *(["wait"] if second == "wait" else []), "give_up"]


def test_progress_is_said_in_the_language_that_is_asked_for() -> None:
    options = {"duration_ms": 1000, "delay_ms": 0}
    state = {"options": options, "workers": [{"state": "waiting"}, {"state": "done"}, {"state": "done"}]}
    assert cli._progress_line(state, 0.5).endswith("0.5 s  1 waiting, 2 done")
    with use_language("zh"):
        assert cli._progress_line(state, 0.5).endswith("0.5 s  1 个正在等待、2 个已完成")
