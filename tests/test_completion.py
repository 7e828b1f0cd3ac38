"""Shells complete verbs, their options and the paths that they take."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tb_profile_plugin.cli import completion, main

BASH = shutil.which("bash") or ""


@pytest.mark.skipif(not BASH, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["expo"], ["export"]),
        (["export", "--red"], ["--redact"]),
        (["export", "--format", "pe"], ["perfetto"]),
        (["export", "captu"], ["captures"]),
        (["report", "captures", "--notes", "no"], ["notes.txt"]),
        (["capture", "--dur"], ["--duration"]),
    ],
)
def test_bash_completes_what_is_typed(typed: list[str], offered: list[str], tmp_path: Path) -> None:
    script = [sys.executable, "-m", "tb_profile_plugin", "--print-completion", "bash"]
    (tmp_path / "tb.bash").write_bytes(subprocess.run(script, check=True, capture_output=True).stdout)
    (tmp_path / "captures").mkdir()
    (tmp_path / "notes.txt").touch()
    words = " ".join(["tb-profile", *typed])
    asked = f'. ./tb.bash; COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _shtab_tb_profile; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run([BASH, "-c", asked], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == offered


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_each_shell_has_a_script(shell: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["--print-completion", shell])
    assert not ended.value.code
    assert b"--max-size" in capfdbinary.readouterr().out


def test_without_shtab_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(completion, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        main.main(["--print-completion", "bash"])
    assert ended.value.code == 1
    assert "pip install 'tb-profile-plugin[completion]'" in capsys.readouterr().err
