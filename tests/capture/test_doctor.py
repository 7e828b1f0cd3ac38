from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tb_profile_plugin.capture import doctor
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime.problems import Problem

Output = pytest.CaptureFixture[str]


def codes(found: list[Problem]) -> dict[str, str]:
    return {problem.code: problem.severity for problem in found}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The system's files of a machine with a GPU."""
    driver = tmp_path / "proc/driver/nvidia"
    driver.mkdir(parents=True)
    (driver / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n")
    (driver / "params").write_text("ResmanDebugLevel: 1\nRmProfilingAdminOnly: 1\n")
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/status").write_text("Name:\tpython\nCapEff:\t00000000a80425fb\n")
    return tmp_path


@pytest.fixture(autouse=True)
def no_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_cupti_in_loader_cache", list)
    monkeypatch.setattr(doctor, "_cupti_in_wheels", list)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


def versions(monkeypatch: pytest.MonkeyPatch, **installed: str) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: installed.get(name.replace("-", "_"), ""))
    monkeypatch.setattr(metadata, "requires", lambda name: ["jaxlib<=0.10.2,>=0.10.2", "x; extra == 'gpu'"])


def test_a_machine_without_a_gpu(tmp_path: Path) -> None:
    found = codes(doctor.machine_findings(tmp_path))
    assert found["no_gpu"] == "info"
    assert found["tensorboard"] == "info"
    assert "no_cupti" not in found


def test_a_gpu_whose_counters_are_restricted(root: Path) -> None:
    found = doctor.machine_findings(root)
    assert codes(found)["restricted"] == "error"
    [problem] = [problem for problem in found if problem.code == "restricted"]
    assert "NVreg_RestrictProfilingToAdminUsers=0" in problem.remedy and "--cap-add=SYS_ADMIN" in problem.remedy
    assert "535.104" in " ".join(problem.message for problem in found)


def test_an_administrator_may_profile(root: Path) -> None:
    (root / "proc/self/status").write_text("CapEff:\t000001ffffffffff\n")
    assert codes(doctor.machine_findings(root))["counters"] == "info"


def test_libcupti(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(doctor.machine_findings(root))["no_cupti"] == "error"
    folder = root / "usr/local/cuda-12.2/extras/CUPTI/lib64"
    folder.mkdir(parents=True)
    (folder / "libcupti.so.12").touch()
    found = doctor.machine_findings(root)
    assert codes(found)["cupti_not_in_path"] == "error"
    assert any(f"LD_LIBRARY_PATH={folder}" in problem.remedy for problem in found)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere::{folder}")
    assert codes(doctor.machine_findings(root))["cupti"] == "info"


def test_a_driver_that_is_too_old(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(monkeypatch, nvidia_cuda_cupti="13.0.1", tensorboard="2.21.0")
    assert codes(doctor.machine_findings(root))["old_driver"] == "error"
    versions(monkeypatch, nvidia_cuda_cupti_cu12="12.4.1", tensorboard="2.21.0")
    assert "old_driver" not in codes(doctor.machine_findings(root))


def test_frameworks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(monkeypatch, tensorflow="2.21.0", tensorboard="2.21.0")
    found = codes(doctor.machine_findings(tmp_path))
    assert found["frameworks"] == "info" and found["options_dropped"] == "warning"
    versions(monkeypatch, jax="0.10.2", jaxlib="0.9.0")
    found = codes(doctor.machine_findings(tmp_path))
    assert found["versions"] == "warning" and "options_dropped" not in found
    assert found["no_tensorboard"] == "warning"
    versions(monkeypatch, jax="0.10.2", jaxlib="0.10.2", tensorboard="2.21.0")
    assert "versions" not in codes(doctor.machine_findings(tmp_path))


def test_a_remedy_breaks_no_bound_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = {
        "tensorflow": ["tensorboard<2.16,>=2.15", "protobuf<5,>=3.20", "protobuf>=9; extra == 'x'", "no requirement!"],
        "tb-profile-plugin": ["tensorboard>=2.15", "Protobuf>=4.25.8,!=5.26.*"],
    }
    monkeypatch.setattr(metadata, "requires", needs.get)
    have = {"tensorflow": "2.15.1", "tensorboard": "2.16.2", "protobuf": "5.29.0", "Protobuf": "5.29.0"}
    monkeypatch.setattr(doctor, "_version", lambda name: have.get(name, ""))
    found = {
        problem.message: problem.remedy for problem in doctor.machine_findings(tmp_path) if problem.code == "versions"
    }
    assert found == {
        "tensorflow needs tensorboard <2.16,>=2.15, but 2.16.2 is installed.": (
            'Run pip install "tensorboard<2.16,>=2.15".'
        ),
        "tensorflow needs protobuf <5,>=3.20, but 5.29.0 is installed.": (
            'Run pip install "protobuf!=5.26.*,<5,>=3.20,>=4.25.8".'
        ),
    }
    have["protobuf"] = have["Protobuf"] = "4.25.3"
    (told,) = [
        problem
        for problem in doctor.machine_findings(tmp_path)
        if problem.message.startswith("tb-profile-plugin needs")
    ]
    assert "protobuf" in told.remedy.lower() and "<5" in told.remedy


def test_another_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    entries = [
        EntryPoint("profile", "xprof.profile_plugin_loader:ProfilePluginLoader", "tensorboard_plugins"),
        EntryPoint("profile", "tb_profile_plugin.plugin:Loader", "tensorboard_plugins"),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: entries)
    assert [problem.code for problem in doctor.machine_findings(tmp_path)].count("rival") == 1


def test_a_logdir(tmp_path: Path, capsys: Output) -> None:
    assert main.main(["doctor", str(tmp_path / "none")]) == 1
    out = capsys.readouterr().out
    assert "The logdir does not exist." in out and "near" not in out
    run = tmp_path / "plugins/profile/r1"
    run.mkdir(parents=True)
    assert main.main(["doctor", str(tmp_path)]) == 0
    assert "No capture was found, but a near miss: a run folder without a *.xplane.pb." in capsys.readouterr().out
    (run / "vm.xplane.pb").write_bytes(b"x")
    assert main.main(["doctor", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "The logdir is writable." in out and "It holds 1 capture." in out
    assert main.main(["doctor", str(run / "vm.xplane.pb")]) == 1
    assert "The logdir is a file." in capsys.readouterr().out


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 2_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    [found, *_] = doctor.logdir_findings([str(tmp_path)], 1, 0, [])
    assert (found.code, found.message) == ("full", "Its disk is full: 2 MB are free.")


def test_event_files_without_a_capture_are_keras_default(tmp_path: Path) -> None:
    found = {each.code: each for each in doctor.logdir_findings([str(tmp_path)], 0, 2, [])}
    assert "profile_batch=(10, 20)" in found["no_profile_batch"].remedy
    assert "no_profile_batch" not in codes(list(doctor.logdir_findings([str(tmp_path)], 1, 2, [])))


def test_addresses(fake: Callable[..., Any], closed_port: int, capsys: Output) -> None:
    server = fake()
    assert main.main(["doctor", f"{server.address},localhost:{closed_port}"]) == 1
    answer = capsys.readouterr()
    assert f"A profiler answers. ({server.address})" in answer.out
    assert "Nothing listens there." in answer.out
    assert "checks failed" in answer.err
