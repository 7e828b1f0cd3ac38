"""What strangers and their machines find at the root: workflows call what exists, and say what pyproject.toml says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tb_profile_plugin import __version__
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime import jit

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = sorted(path for path in ROOT.glob("*.md") if path.name != "README.md")
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def read(path: str | Path) -> Any:
    # `on` is a word to GitHub, and true to YAML 1.1: only its text is asked for here.
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


WORKFLOWS = {path.stem: read(path) for path in (ROOT / ".github/workflows").glob("*.yml")}
STEPS = [step for workflow in WORKFLOWS.values() for job in workflow["jobs"].values() for step in job.get("steps", ())]
COMMANDS = [step["run"] for step in STEPS if "run" in step]


def test_workflows_call_what_exists() -> None:
    called = {word for command in COMMANDS for word in command.split() if re.match(r"(scripts|\.ci|tests)/", word)}
    assert {"scripts/build", "scripts/release.py", ".ci/run"} <= called
    assert [each for each in called if not (ROOT / each).exists()] == []
    started = {command.split()[0] for command in COMMANDS} & called
    assert [each for each in started if not os.access(ROOT / each, os.X_OK)] == []
    local = [job["uses"] for workflow in WORKFLOWS.values() for job in workflow["jobs"].values() if "uses" in job]
    assert local and [each for each in local if not (ROOT / each).is_file()] == []


def test_what_they_use_is_named_by_its_major_version() -> None:
    used = {step["uses"] for step in STEPS if "uses" in step}
    assert [each for each in used if not re.fullmatch(r"actions/[a-z-]+@v\d+|pypa/[a-z-]+@release/v\d+", each)] == []


def test_they_may_read_and_one_job_each_may_publish() -> None:
    assert [each["permissions"] for each in WORKFLOWS.values()] == [{"contents": "read"}] * len(WORKFLOWS)
    more = {
        f"{name}/{job}": told["permissions"]
        for name, workflow in WORKFLOWS.items()
        for job, told in workflow["jobs"].items()
        if "permissions" in told
    }
    assert more == {"release/publish": {"id-token": "write"}, "release/announce": {"contents": "write"}}


def test_all_pythons_that_are_promised_are_tested() -> None:
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"])
    promised = [each[1] for each in found if each]
    assert WORKFLOWS["test"]["jobs"]["platforms"]["strategy"]["matrix"]["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"
    matrices = (ROOT / "scripts/matrices").read_text(encoding="utf-8")
    assert set(promised) == set(re.findall(r"^[\w-]+ (3\.\d+) ", matrices, re.MULTILINE))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python did not know -P")
@pytest.mark.skipif(jit.way != "native", reason="there is no library of kernels")
def test_what_is_asked_of_an_installed_wheel_holds_here() -> None:
    (command,) = (each for each in COMMANDS if each.startswith("python -P -c "))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, *shlex.split(command)[1:]], env=environment).returncode == 0


def released(command: str, tag: str) -> subprocess.CompletedProcess[str]:
    """What the release's command does where this tag was pushed."""
    environment = {**os.environ, "GITHUB_REF_NAME": tag, "DOCS": "https://docs.example/tree"}
    return subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="workflows speak bash")
def test_a_release_is_of_the_version_of_its_tag() -> None:
    (command,) = (step["run"] for step in WORKFLOWS["release"]["jobs"]["version"]["steps"] if "run" in step)
    assert released(command, f"v{__version__}").returncode == 0
    for tag in (__version__, f"v{__version__}.1", "v", "main"):
        refused = released(command, tag)
        assert refused.returncode == 1 and f"The tag {tag} is not v{__version__}" in refused.stderr


@pytest.mark.skipif(not shutil.which("bash"), reason="workflows speak bash")
def test_its_notes_are_the_newest_section_of_the_changelog() -> None:
    steps = WORKFLOWS["release"]["jobs"]["announce"]["steps"]
    (command,) = (step["run"] for step in steps if step.get("run", "").endswith(" > notes.md"))
    notes = released(command.removesuffix(" > notes.md"), f"v{__version__}").stdout
    changelog = (ROOT / "tb_profile_plugin/docs/changelog.md").read_text(encoding="utf-8")
    newest = changelog.split("\n## ")[1].removeprefix(f"{__version__}\n").strip()
    assert len(notes.splitlines()) == len(newest.splitlines()) and notes.splitlines()[0] == newest.splitlines()[0]
    assert "](https://docs.example/tree/why.md)" in notes and not re.search(r"\]\((?!https:)", notes)


@pytest.mark.parametrize("path", [*PAGES, *FORMS], ids=lambda path: path.name)
def test_pages_and_forms_name_verbs_and_files_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for command in re.findall(r"`tb-profile ([a-z][^`]*)`", text):
        assert main._parser().parse_args(shlex.split(command)).verb
    links = re.findall(r"\]\((?!https?:|#)([^)#]*)", text)
    files = re.findall(r"`((?:scripts|tb_profile_plugin|tests)/[\w./-]+)", text)
    assert [each for each in (*links, *files) if not (ROOT / each).exists()] == []


def test_forms_have_what_github_asks_for() -> None:
    assert {path.stem for path in FORMS} == {"bug", "diagnosis", "feature"}
    for form in map(read, FORMS):
        assert form["name"] and form["description"] and form["labels"]
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids)) and all(isinstance(each, str) for each in ids)
    bug, diagnosis = (next(path for path in FORMS if path.stem == name).read_text() for name in ("bug", "diagnosis"))
    assert "tb-profile doctor" in bug and "--redact" in diagnosis


def test_a_commit_is_looked_at_by_the_projects_own_tools() -> None:
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    check = (ROOT / "scripts/check").read_text(encoding="utf-8")
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].replace(" --force-exclude", "") in check


def test_folders_that_are_kept_up_to_date_have_what_is_pinned() -> None:
    pinned = {"github-actions": ".github/workflows", "pip": "pyproject.toml", "npm": "package-lock.json"}
    updates = read(".github/dependabot.yml")["updates"]
    found = {each["package-ecosystem"]: each["directory"].strip("/") for each in updates}
    assert found.keys() == pinned.keys()
    assert [name for name, folder in found.items() if not (ROOT / folder / pinned[name]).exists()] == []


def test_a_citation_says_what_the_project_says() -> None:
    citation = read("CITATION.cff")
    told = {key: citation[key] for key in ("title", "license", "keywords", "authors")}
    assert told == {key: PROJECT["name" if key == "title" else key] for key in told}
    assert citation["cff-version"] == "1.2.0" and citation["message"] and "version" not in citation
