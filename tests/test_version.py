"""One version, from one place, wherever it is told; tests/test_packaging.py looks at the wheel."""

import json
import re
from pathlib import Path
from typing import Any

import draw
import pytest
from werkzeug.test import Client

from tb_profile_plugin import __version__
from tb_profile_plugin.cli import main, mcp_server
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

ROOT = Path(__file__).resolve().parent.parent


def test_the_changelog_begins_with_it() -> None:
    changelog = (ROOT / "tb_profile_plugin/docs/changelog.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", changelog, re.MULTILINE)[0] == __version__


def test_servers_tell_it(tmp_path: Path) -> None:
    client: Any = Client(App(Logdir(str(tmp_path))))
    assert client.get("/version").text == __version__
    assert mcp_server.server(Logdir(str(tmp_path)), with_sql=False).version == __version__


def test_what_is_handed_on_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "vm.xplane.pb"
    capture.write_bytes(draw.space("/host:CPU\n  python | step[0,100]").SerializeToString())
    assert main.main(["summary", str(capture), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["made_by"] == f"tb-profile-plugin {__version__}"
    report = tmp_path / "report.html"
    assert main.main(["report", str(capture), "--out", str(report)]) == 0
    assert f"tb-profile-plugin {__version__}" in report.read_text(encoding="utf-8")


def test_no_other_file_says_it() -> None:
    package = (path for path in (ROOT / "tb_profile_plugin").rglob("*.py") if path.name != "version.py")
    sources = [*package, ROOT / "pyproject.toml", ROOT / "hatch_build.py"]
    assert [path.name for path in sources if re.search(rf'"{re.escape(__version__)}"', path.read_text())] == []
