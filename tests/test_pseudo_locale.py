"""Every text stands in a catalogue: where that sets texts in marks, no words of ours are left outside of them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

import draw
import drawn
import planted_hangs
import pytest
from hangs import Job

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.catalogues import texts_of_package
from tb_profile_plugin.cli import main
from tb_profile_plugin.runtime import messages

PARSER = main._parser()
PARSER.declare()
VERBS = next(action for action in PARSER._actions if isinstance(action, argparse._SubParsersAction)).choices
TRACE = Path(__file__).resolve().parent / "traces" / "jax_steps"
_SLOT = r"%(?:\(\w+\))?[sr]|\{\w+\}"
_CHOICE = r"\{\w+, (?:plural|select),(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"


class Marks(dict[str, str]):
    """A catalogue that sets the words of each text in marks, but not what is put into it."""

    def get(self, text: str, default: str | None = None) -> str | None:  # type: ignore[override]
        if text not in texts_of_package():
            return default
        parts = re.split(f"({_SLOT}|{_CHOICE})", text)
        return "".join(part if re.fullmatch(f"{_SLOT}|\\W*", part) else f"⟦{part}⟧" for part in parts)


def outside(text: str) -> str:
    """What stands in no marks, with a mark for each stretch that does."""
    while text != (text := re.sub(r"⟦[^⟦⟧]*⟧", "¦", text)):
        pass
    return text


def english(text: str) -> list[str]:
    """Two words or more of a sentence; not where a line of a stack trace is."""
    return re.findall(r"(?<!\d )\b(?!VERB)[A-Za-z]{2,} [a-z]{2,}.*", text)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command says outside of marks."""
    monkeypatch.setattr(messages, "_catalogue", lambda _: Marks())

    def said(*arguments: object) -> str:
        try:
            main.main([*map(str, arguments), "--lang", "ko"])
        except SystemExit:
            pass
        return outside("".join(capfd.readouterr()))

    return said


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_said_in_the_language_that_is_asked_for(verb: str, said: Callable[..., str]) -> None:
    """Left are names of options, of what they take, of variables and formats."""
    lines = said(verb, "--help").partition("¦:")[2].splitlines()
    named = r"(-\S+|\[?[A-Z_|=…,]+|\.{3}\]|\{\S+\}|\d\S*|[a-z/]+|[¦:,.)(JSON]+)"
    assert [line for line in lines if english(line) or not re.fullmatch(rf"(\s*{named})*", line)] == []


def test_verbs_are_said_in_the_language_that_is_asked_for(said: Callable[..., str]) -> None:
    lines = said("--help").splitlines()
    assert [line.split() for line in lines if line.split()[:1] and line.split()[0] in VERBS]
    assert english("\n".join(lines)) == []


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["nothing"], "VERB"),
        (["why"], "SESSION"),
        (["why", "x", "--frmat"], "--frmat"),
        (["why", "x", "--host"], "--host"),
        (["why", "x", "--factor", "a"], "'a'"),
        (["why", "x", "--format", "a"], "'a'"),
        (["why", "x", "--no-cache=1"], "'1'"),
        (["why", "x", "--memory-limit", "much"], "'much'"),
        (["why", "x", "--executor", "much"], "much"),
        (["tool", "x", "x", "-o", "a"], "'a'"),
        (["check", "x", "--ab", "a"], "--ab"),
        (["compare", "x", "x", "--items", "C=1"], "'C=1'"),
        (["compare", "x", "x", "--threshold", "2"], "'2'"),
        (["sql", "x", "--rows", "0"], "0"),
        (["serve", "x", "--port", "70000"], "70000"),
        (["summary", "x", "--budget", "1"], "1"),
        (["capture", "--duration", "1h"], "'1h'"),
        (["capture", "x", "y", "--retries", "11"], "11"),
    ],
)
def test_wrong_calls_are_told_in_the_language_that_is_asked_for(
    said: Callable[..., str], arguments: list[str], left: str
) -> None:
    told = said(*arguments).splitlines()[-1]
    assert left in told and "¦" in told
    assert english(told.removeprefix("tb-profile")) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["cache", "show"],
        ["cache", "clear"],
        ["doctor"],
        ["doctor", "localhost:1"],
        ["why", "none"],
        ["tool", "echo_nothing", TRACE],
        ["why", __file__],
        ["summary", TRACE, "--host", "none"],
        ["why", TRACE, "--op", "none"],
        ["why", TRACE, "--op", "dot_general"],
    ],
)
def test_what_verbs_tell_is_said_in_the_language_that_is_asked_for(
    arguments: list[str], said: Callable[..., str]
) -> None:
    text = said(*arguments)
    assert "¦" in text
    assert english(text) == []


@pytest.mark.parametrize("verb", [["why"], ["summary"], ["compare"], ["compare", "--format", "markdown"]])
@pytest.mark.parametrize("program", drawn.PROGRAMS)
def test_answers_are_said_in_the_language_that_is_asked_for(
    verb: list[str], program: str, said: Callable[..., str], tmp_path: Path
) -> None:
    """Left are figures, and names of the program that was drawn."""
    draw.session(tmp_path, host=drawn.PROGRAMS[program]())
    sessions = [tmp_path] * (2 if verb[0] == "compare" else 1)
    text = said(*verb, *sessions, "--no-cache")
    assert "¦" in text
    assert english(text) == []


def test_what_differs_between_captures_is_said_in_the_language_that_is_asked_for(
    said: Callable[..., str], tmp_path: Path
) -> None:
    for name in ("nvidia", "tpu"):
        draw.session(tmp_path / name, host=drawn.PROGRAMS[name]())
    draw.session(tmp_path / "no_steps", host=draw.space("/host:CPU\n  python | work[0,10]"))
    for new in ("tpu", "no_steps"):
        text = said("compare", tmp_path / "nvidia", tmp_path / new, "--no-cache")
        assert "¦" in text and " %" not in text
        assert english(text) == []


@pytest.mark.parametrize("fault", [planted_hangs.missing, planted_hangs.other_size, planted_hangs.no_receive])
@pytest.mark.parametrize("shape", ["text", "markdown"])
def test_hangs_are_said_in_the_language_that_is_asked_for(
    fault: Callable[[], Job], shape: str, said: Callable[..., str], tmp_path: Path
) -> None:
    text = said("hang", fault().write(tmp_path), "--format", shape)
    assert "¦" in text
    assert english(text) == []
