"""Texts of the package that users may read: its string literals, without docstrings, patterns and lists of names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tb_profile_plugin
from tb_profile_plugin.runtime import messages

_ROOT = Path(tb_profile_plugin.__file__).parent
_AS_XPROF = "compat"
"""Its texts are those of another program, and stay as they are."""
_OF_PATTERNS = ("regex", "frozenset", "split")


class Text(NamedTuple):
    """A literal; what an f-string puts in is ``X``."""

    where: str
    words: str


def package_texts() -> Iterator[Text]:
    """Of two words and more, on one line: longer ones are code, styles or lists."""
    for path in sorted(_ROOT.rglob("*.py")):
        if _AS_XPROF not in path.parts:
            yield from _texts(path)


def _texts(path: Path) -> Iterator[Text]:
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        words = _words(node)
        if words is None:
            stack += _parts(node)
        elif len(words.split()) > 1 and "\n" not in words:
            yield Text(f"{path.relative_to(_ROOT)}:{getattr(node, 'lineno', 0)}", words)


def _longest(template: str) -> str:
    """What a message says with the longest form of each choice; any other text as it is."""
    if not re.search(r"\{\w+, (?:plural|select), ", template):
        return template
    return "".join(
        part if isinstance(part, str) else max(map(_longest, part.forms.values()), key=len, default="X")
        for part in messages._parts(template)
    )


def _parts(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []  # a docstring
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _OF_PATTERNS:
        return []
    return list(ast.iter_child_nodes(node))


def _words(node: Any) -> str | None:
    if isinstance(node, ast.Constant):
        return _longest(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None
