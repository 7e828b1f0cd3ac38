"""Names of the package are words of the field, which a stranger guesses right (docs/glossary.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "tb_profile_plugin"
MODULES = sorted(PACKAGE.rglob("*.py"))
INSTEAD = {
    "alike": "what they share: of_same_program",
    "among": "is_among of a mask, else what is compared",
    "apart": "the distance, or what is separate",
    "asked": "args, request, question",
    "beside": "neighbour, or what lies there",
    "chosen": "selected, or the noun: selected_rows",
    "driven": "what is counted: device_count",
    "each": "the element: kernel, host, row",
    "found": "what was looked for: matches, transfers",
    "given": "where it comes from: by_user",
    "held": "what is there: live_buffers, outstanding",
    "kept": "selected, result_cache, typical_steps",
    "known": "is_known of a mask, else recognition, index",
    "lost": "what is missing: hosts_without_capture",
    "made": "what comes back: sorted_dag",
    "mine": "whose it is: host_rows",
    "place": "row, index, offset, position, path",
    "places": "rows, indices, offsets, positions, paths",
    "said": "text, message",
    "shown": "visible, text, display_name",
    "stretch": "interval",
    "stretches": "intervals",
    "taken": "what was taken: rows, bytes_used",
    "teller": "the event that tells: cause, strongest",
    "tellers": "the events that tell: rows_with_class",
    "theirs": "whose it is: peer_rows",
    "together": "sum, joined",
    "told": "text, labels, explanation",
    "until_then": "stack",
    "whole": "complete, total, integer",
}
"""A private word, and what to say instead."""
ALLOWED = {
    "is_among": "a mask",
    "is_known": "a mask, or a yes or no",
    "NOT_CHOSEN": "the code not_chosen of answers",
}
JSON_KEYS = {("export/share.py", "kept")}
"""Attributes that are written under their own names."""


def defined(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of all that a module names: variables, parameters, functions, classes, attributes, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((alias.asname, node.lineno) for alias in aliases if alias.asname)


def private_word(name: str) -> str:
    """The name if it is one, else its last word if that is one, else nothing."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    last = words.rpartition("_")[2]
    return words if words in INSTEAD else last if last in INSTEAD else ""


def private_names(path: str, source: str) -> list[str]:
    return [
        f"{path}:{line} {name}: {INSTEAD[word]}"
        for name, line in defined(ast.parse(source))
        if (word := private_word(name)) and name.strip("_") not in ALLOWED and (path, name) not in JSON_KEYS
    ]


def test_names_are_no_private_words() -> None:
    found = [
        name
        for path in MODULES
        for name in private_names(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_modules_are_not_called_by_private_words() -> None:
    assert [str(path) for path in MODULES if private_word(path.stem)] == []


@pytest.mark.parametrize(
    "source",
    [
        *("each = 1", "for each in a: pass", "[each for each in a]", "def f(host_kept): pass", "lambda told: told"),
        *(
            "class RowsShown: pass",
            "def _idle_stretches(): pass",
            "self._taken = 1",
            "_MOST_TOLD = 3",
            "import a as made",
        ),
        *("with a as until_then: pass", "class A:\n kept: int", "try: pass\nexcept A as lost: pass"),
        *("match a:\n case [*whole]: pass", "match a:\n case b as mine: pass", "if (place := 1): pass"),
    ],
)
def test_private_words_are_seen_wherever_names_are_given(source: str) -> None:
    assert len(private_names("a.py", source)) >= 1


@pytest.mark.parametrize(
    "source", ["a.kept", "f(kept=1)", "placement = 1", "is_known = 1", "reached = 1", "chosen_by = 1"]
)
def test_other_names_are_fine(source: str) -> None:
    assert private_names("a.py", source) == []
