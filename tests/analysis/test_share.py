"""Captures to give away: nothing of machines, people and source code is left in any format; the figures stay."""

import gzip
import json
from pathlib import Path
from typing import Any

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.cli import main

SECRETS = ["alice", "bob", "gpu-box", "corp.example", "10.1.2.3", "def train_step"]
TEXT = """
/host:CPU
  alice-thread | train[0,900]{_r=1, step_num=s} MatMul[100,300]{source_info='/home/alice/secret.py:3', tf_op=m}
               | load[500,9]{path='/home/alice/data/x', other='gs://alice/b', at=&source_ref, address=10.1.2.3}
  pool         | gpu-box.corp.example:work[5,3] C:\\\\Users\\\\alice\\\\run[10,2]
hostname: gpu-box.corp.example
error: gpu-box.corp.example: Failed to load libcupti
"""


def drawn() -> Any:
    """Bob is named by nothing but what is left out, and alone."""
    space = draw.space(TEXT + "warning: bob was here", steps=3)
    plane = space.planes[0]
    for key, name in ((90, "source_code"), (91, "Hlo Proto")):
        plane.stat_metadata[key].name = name
    plane.lines[0].events[0].stats.add(metadata_id=90, str_value="def train_step(x):")
    plane.lines[0].events[0].stats.add(metadata_id=91, bytes_value=b"def train_step in /home/bob/secret.py")
    return draw.program(space, 7, "jit_step", f="fusion/kLoop /home/alice/Relu:Relu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    session = draw.session(tmp_path, **{"gpu-box.corp.example_6009": drawn(), "other": drawn()})
    return Path(session.stored.folder)


@pytest.mark.parametrize("form", ["chrome", "perfetto", "xplane"])
def test_nothing_private_is_left(folder: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    arguments = ["export", str(folder), "--format", form, "--host", "gpu-box.corp.example_6009", "--out", str(out)]
    assert main.main(arguments) == 0
    assert b"alice" in out.read_bytes()
    assert main.main([*arguments, "--redact"]) == 0
    content = out.read_bytes()
    assert [secret for secret in SECRETS if secret.encode() in content] == []
    assert b"host-1" in content
    assert b"MatMul" in content


def test_figures_stay(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "shared.xplane.pb"
    assert (
        main.main(["export", str(folder), "--format", "xplane", "--host", "other", "--redact", "--out", str(out)]) == 0
    )
    before, after = (
        tb_profile_plugin.open(path).xprof("overview_page", **host)
        for path, host in [(folder, {"host": "other"}), (out, {})]
    )
    assert before[8]["rows"] == after[8]["rows"]


def test_all_hosts_at_once(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main.main(["export", str(folder), "--redact", "--out", str(out)]) == 0
    processes = [
        event["args"]["name"] for event in json.loads(out.read_text())["traceEvents"] if event["name"] == "process_name"
    ]
    assert {name.split()[0] for name in processes} == {"host-1", "host-2"}
    assert main.main(["export", str(folder), "--format", "xplane", "--redact"]) == 1
    assert "Choose a host with --host" in capsys.readouterr().err
    assert main.main(["export", str(folder), "--format", "xplane", "--redact", "--host", "none"]) == 1
    assert "no host" in capsys.readouterr().err


def test_the_capture_itself_is_copied_as_it_is(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    assert main.main(["export", str(folder), "--format", "xplane", "--host", "other", "--out", str(out)]) == 0
    assert out.read_bytes() == (folder / "other.xplane.pb").read_bytes()


def test_damage_cannot_be_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vm.xplane.pb.gz"
    path.write_bytes(gzip.compress(drawn().SerializeToString()[:-5]))
    assert main.main(["export", str(path), "--redact"]) == 1
    assert "damaged capture cannot be redacted" in capsys.readouterr().err
