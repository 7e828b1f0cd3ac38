"""A second process answers from what the first one kept."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_profile_plugin.cli import main
from tb_profile_plugin.model import session
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir, cache

TRACES = Path(__file__).resolve().parent.parent / "traces"


def test_the_next_server_answers_from_the_cache(client: Client, fakes: Any, tmp_path: Path) -> None:
    query = {"run": "single", "tag": "echo"}
    first = client.get("/data", query_string=query).get_json()
    facts = client.get("/session", query_string={"run": "single"}).get_json()
    nothing = client.get("/tools", query_string={"run": "single"}).get_json()
    again = Client(App(Logdir(str(tmp_path))))
    assert again.get("/data", query_string=query).get_json() == first
    assert fakes.calls == ["echo"]
    (single,) = (each for each in again.get("/sessions").get_json()["sessions"] if each["run"] == "single")
    assert single["facts"] == facts["facts"] is not None
    assert again.get("/session", query_string={"run": "single"}).get_json() == facts
    assert again.get("/tools", query_string={"run": "single"}).get_json() == nothing
    apart = Client(App(Logdir(str(tmp_path)), keep=False))
    assert apart.get("/data", query_string=query).get_json() == first
    assert fakes.calls == ["echo", "echo"]


def test_what_lacks_a_host_is_not_kept(
    client: Client, fakes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.Session, "unreadable", ("vm",))
    for _ in range(2):
        Client(App(Logdir(str(tmp_path)))).get("/data", query_string={"run": "single", "tag": "echo"})
    assert fakes.calls == ["echo", "echo"]


def test_the_command_line_answers_from_the_cache(
    fakes: Any, put: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put("vm.xplane.pb")
    for more in ([], [], ["--no-cache"]):
        assert main.main(["tool", "echo", str(tmp_path), *more]) == 0
        assert json.loads(capsys.readouterr().out)["hosts"] == ["vm"]
    assert fakes.calls == ["echo", "echo"]
    assert main.main(["cache", "show"]) == 0
    assert "1 results of tools" in capsys.readouterr().out
    assert main.main(["cache", "clear"]) == 0
    assert main.main(["tool", "echo", str(tmp_path)]) == 0
    assert len(fakes.calls) == 3


def test_a_problem_is_not_kept(fakes: Any, put: Callable[[str], Path], tmp_path: Path) -> None:
    put("vm.xplane.pb")
    for _ in range(2):
        assert main.main(["tool", "echo", str(tmp_path), "-o", "size=huge"]) == 2
    assert cache.usage()["results"] == (0, 0)


def test_an_answer_from_the_cache_imports_little() -> None:
    capture = next(TRACES.glob("jax_steps/**/*.xplane.pb*"))
    assert main.main(["tool", "overview_page", str(capture), "--out", "/dev/null"]) == 0
    program = "import sys; from tb_profile_plugin.cli.main import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", program, "tool", "overview_page", str(capture)]
    answer, names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert json.loads(answer)["tool"] == "overview_page"
    modules = names.split()
    others = {"numba", "numpy", "werkzeug", "grpc", "importlib.metadata", "pickletools"}
    slow = {"_hashlib", "bz2", "concurrent.futures", "ctypes", "dataclasses", "datetime", "json", "lzma", "shutil"}
    assert (others | slow).isdisjoint(modules)
    own = [name for name in modules if name.startswith("tb_profile_plugin.")]
    assert len(own) <= 42


def test_an_answer_imports_only_what_its_capture_needs() -> None:
    capture = next(TRACES.glob("custom_loop/**/*.xplane.pb*"))
    program = "import sys; from tb_profile_plugin.cli.main import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", program, "tool", "overview_page", str(capture), "--no-cache"]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    own = {name.removeprefix("tb_profile_plugin.") for name in modules}
    assert "analysis.ops.op_costs" in own
    programs = {
        "analysis.ops.xla_costs",
        "analysis.xla.device_runs",
        "analysis.xla.cost",
        "analysis.xla.roofline",
        "formats.xspace.hlo.module",
    }
    others = {"analysis.steps.what_if", "analysis.ops.gpu_kernels", "capture.options", "formats.kineto.reader"}
    assert (programs | others).isdisjoint(own)


def test_an_answer_does_not_load_masked_arrays() -> None:
    capture = next(TRACES.glob("keras_fit/**/*.xplane.pb*"))
    program = (
        "import sys, numpy; before = set(sys.modules); from tb_profile_plugin.cli.main import main;"
        "main(sys.argv[1:]); print(*set(sys.modules) - before)"
    )
    command = [sys.executable, "-c", program, "tool", "overview_page", str(capture), "--no-cache"]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()
    # `numpy.unique` of one array loads them, a fifth of the time that numpy itself takes; `arrays.distinct` does not.
    assert "numpy.ma" not in modules
