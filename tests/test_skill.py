"""The skill for assistants: the guide behind a head that they choose it by, where they look for it."""

from pathlib import Path

import pytest

from tb_profile_plugin.cli import main
from tb_profile_plugin.cli.guide_command import GUIDE


def test_the_guide_is_installed_as_a_skill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, folder in (([], ".claude/skills"), (["mine"], "mine")):
        assert main.main(["skill", "install", *arguments]) == 0
        text = (tmp_path / folder / "tb-profile" / "SKILL.md").read_text(encoding="utf-8")
        _, head, guide = text.split("---\n", 2)
        told = dict(line.split(": ", 1) for line in head.splitlines())
        assert (
            told["name"] == "tb-profile"
            and 50 < len(told["description"]) < 1024
            and set(told) == {"name", "description"}
        )
        assert guide.strip() == GUIDE.read_text(encoding="utf-8").strip()
    assert "SKILL.md" in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    assert main.main(["skill", "install", "file"]) == 1
