"""A tool of another distribution: found, listed, answered, drawn, and its code counts for the cache."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
CAPTURE = TESTS / "traces/keras_fit"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which the example is installed, as pip would leave it."""
    folder = tmp_path / "site"
    shutil.copytree(TESTS / "example_tool/example_tool", folder / "example_tool")
    facts = folder / "example_tool-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: example-tool\nVersion: 1.0\n")
    entry = "[tb_profile_plugin.tools]\nlongest_event = example_tool.longest:longest_event\n"
    (facts / "entry_points.txt").write_text(entry + "broken = example_tool.nosuch:tool\n")
    return folder


def tb_profile(site: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(site), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tb_profile_plugin", *arguments]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_a_tool_like_ours(site: Path) -> None:
    listed = tb_profile(site, "tools", str(CAPTURE))
    assert "longest_event: Which event took longest?" in listed
    assert "overview_page:" in listed
    answer = json.loads(tb_profile(site, "tool", "longest_event", str(CAPTURE), "--format", "named"))
    assert answer["headline"]["text"].endswith("took longest.")
    names, times = (column["values"] for column in answer["tables"]["events"]["columns"])
    assert names and times == sorted(times, reverse=True)
    # It has no old shape: scripts get the named answer.
    assert json.loads(tb_profile(site, "tool", "longest_event", str(CAPTURE))) == answer


def test_it_is_found_in_an_archive_too(site: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", site))
    assert "longest_event: Which event took longest?" in tb_profile(archive, "tools", str(CAPTURE))


def test_a_change_of_its_code_counts_for_the_cache(site: Path) -> None:
    before = json.loads(tb_profile(site, "tool", "longest_event", str(CAPTURE), "--format", "named"))
    source = site / "example_tool/longest.py"
    source.write_text(source.read_text().replace("took longest", "was the longest of all"))
    after = json.loads(tb_profile(site, "tool", "longest_event", str(CAPTURE), "--format", "named"))
    assert after["headline"]["text"] == before["headline"]["text"].replace("took longest", "was the longest of all")


def test_its_page_comes_from_our_server(site: Path) -> None:
    program = (
        "from werkzeug.test import Client\n"
        "from tb_profile_plugin.serve import App\n"
        "from tb_profile_plugin.store import Logdir\n"
        f"client = Client(App(Logdir({str(CAPTURE)!r})))\n"
        "run = client.get('/sessions').get_json()['sessions'][0]['run']\n"
        "(tool,) = [each for each in client.get('/tools', query_string={'run': run}).get_json() if each['page']]\n"
        "page = client.get('/' + tool['page'])\n"
        "print(tool['name'], page.status_code, page.content_type, b'export default' in page.data)\n"
        "print(client.get('/tool_page?tag=overview_page').status_code)\n"
    )
    path = os.pathsep.join([str(site), str(TESTS.parent)])
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n")[:2] == ["longest_event 200 text/javascript; charset=utf-8 True", "404"], done.stderr
