"""The pages to begin with: their code records steps, and their commands are there."""

import argparse
import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from frameworks import ENVIRONMENT, Python, python

import tb_profile_plugin
from tb_profile_plugin.cli import main

__all__ = ["python"]

DOCS = Path(tb_profile_plugin.__file__).parent / "docs"
SESSIONS = {"tensorflow": ("logs/keras", "logs/loop"), "jax": ("logs/loop",), "pytorch": ("logs/loop",)}


def blocks(page: str, language: str) -> str:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def recorded(interpreter: str, page: str, folder: Path) -> None:
    """What a page's code records there, answered."""
    command = [interpreter, "-c", blocks(page, "python")]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    for session in SESSIONS[page]:
        answer = tb_profile_plugin.open(folder / session).tool("why")
        assert answer["facts"]["steps_kept"]["value"] >= 3, session
        assert answer["headline"]["level"] != "unknown"


@pytest.mark.parametrize("page", SESSIONS)
def test_code_and_commands_are_well_formed(page: str) -> None:
    ast.parse(blocks(page, "python"))
    lines = blocks(page, "sh").splitlines()
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    lines += re.findall(r"`(tb-profile [^`]+)`", text)
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("tb-profile ")]
    assert len(commands) >= 2
    for verb, *arguments in commands:
        options = {argument for argument in arguments if argument.startswith("--")}
        assert options <= options_of(verb), (verb, options)


def options_of(verb: str) -> set[str]:
    """Of one of the command's verbs, which must be there."""
    parser = main._parser()
    parser.declare()
    verbs = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    verbs[verb].declare()
    return {option for action in verbs[verb]._actions for option in action.option_strings}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["tensorflow", "jax"])
def test_the_code_records_steps(page: str, python: Python, tmp_path: Path) -> None:
    recorded(python, page, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed here")
def test_the_code_for_pytorch_records_steps(tmp_path: Path) -> None:
    recorded(sys.executable, "pytorch", tmp_path)
