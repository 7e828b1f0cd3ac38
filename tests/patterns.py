"""The package's patterns, how each is asked, and texts on which it could take long."""

import ast
import gc
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import tb_profile_plugin
from tb_profile_plugin.model.names import kernel_table
from tb_profile_plugin.runtime.regex import _LazyPattern

ANYWHERE = "search"
"""How a pattern is asked that begins anew at each place: the costliest way."""
_AT_BEGIN = ("match", "fullmatch")
_METHODS = (*_AT_BEGIN, ANYWHERE, "sub", "subn", "findall", "finditer")

CLASSES = ("a", "Z", "0", "_", " ", "/", ".", ":", "(", "<", "$", "=", "\n", "é", "aZ0_", "a/", "a.", "a:", "a ", "0-")
"""Repeated, these are names of each class of letters, and of words with what stands between words."""


def modules() -> list[ModuleType]:
    """All of the package."""
    found = pkgutil.walk_packages(tb_profile_plugin.__path__, "tb_profile_plugin.")
    return [import_module(each.name) for each in found if not each.name.endswith("__main__")]


def patterns() -> dict[tuple[Any, int], set[str]]:
    """By pattern and flags how it is asked: all that modules make, tables hold, and that stand in calls of ``re``."""
    found: dict[tuple[Any, int], set[str]] = {}
    ways: dict[int, set[str]] = {}
    homes: dict[int, set[str]] = {}
    for module in modules():
        loops: set[str] = set()
        # A method is called, or handed on to what calls it.
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            method = node.func if isinstance(node, ast.Call) else node
            if isinstance(method, ast.Attribute) and method.attr in _METHODS:
                asked = _named(module, method.value)
                if isinstance(asked, _LazyPattern):
                    ways.setdefault(id(asked), set()).add(method.attr)
                elif asked is None:
                    loops.add(method.attr)
                elif isinstance(node, ast.Call) and asked is re:
                    if isinstance(text := getattr(node.args[0], "value", None), str | bytes):
                        found.setdefault((text, 0), set()).add(method.attr)
        homes |= {id(each): loops for each in _late(list(vars(module).values())) if id(each) not in homes}
    # What is frozen is not listed.
    gc.unfreeze()
    objects = gc.get_objects()
    gc.freeze()
    for each in objects:
        if type(each) is _LazyPattern:
            pattern, flags = each._arguments
            asked = ways.get(id(each)) or homes.get(id(each)) or {ANYWHERE}
            found.setdefault((pattern, int(flags)), set()).update(asked)
    tables: list[tuple[str, int]] = [(rule.pattern, 0) for rule in kernel_table.RULES]
    tables += [(pattern, int(re.IGNORECASE)) for pattern, _ in kernel_table.DTYPES]
    tables += [(pattern, 0) for pattern, _ in (*kernel_table.GENERATIONS, *kernel_table.LAYOUT_CHANGES)]
    for table in tables:
        found.setdefault(table, set()).add(ANYWHERE)
    return found


def _late(value: Any) -> Iterator[_LazyPattern]:
    """The patterns among a module's values, in tables, too."""
    if isinstance(value, _LazyPattern):
        yield value
    elif isinstance(value, dict):
        yield from _late(list(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _late(each)


def way(asked: set[str]) -> str:
    """The costliest of the ways."""
    return ANYWHERE if asked - set(_AT_BEGIN) else "match" if "match" in asked else "fullmatch"


def _named(module: ModuleType, node: ast.expr) -> Any:
    """What a name, or a name of another module, stands for in a module."""
    if isinstance(node, ast.Name):
        return getattr(module, node.id, None)
    if isinstance(node, ast.Attribute):
        return getattr(_named(module, node.value), node.attr, None)
    return None


def parts(pattern: str, flags: int) -> set[tuple[str, str]]:
    """(begin, what follows again and again) of texts that a pattern reads far, and then gives up."""
    tree = _parser.parse(pattern, flags)
    whole = _example(tree)
    found = {("", each) for each in (*CLASSES, whole, whole[:-1], whole[:-1] + "~")} | set(_repeated(tree, ""))
    return {(begin, part) for begin, part in found if part}


def _repeated(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    for node in tree:
        code, value = node
        if code in _REPEATS:
            if value[1] > 1:
                part = _example(value[2])
                yield from ((before, part), ("", before + part))
            yield from _repeated(value[2], before)
        else:
            for inside in _inside(code, value):
                yield from _repeated(inside, before)
        before += _example([node])


_REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, *filter(None, [getattr(codes, "POSSESSIVE_REPEAT", None)])}
_ASSERTS = (codes.ASSERT, codes.ASSERT_NOT)


def _inside(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN or code in _ASSERTS:
        return [value[-1]]
    return [value] if code is getattr(codes, "ATOMIC_GROUP", None) else []


def _example(tree: Any) -> str:
    """A text that is matched, but for what looks around."""
    told = ""
    for code, value in tree:
        if code is codes.LITERAL:
            told += chr(value)
        elif code is codes.ANY:
            told += "z"
        elif code in (codes.IN, codes.NOT_LITERAL):
            told += _letter([(codes.NEGATE, None), (codes.LITERAL, value)] if code is codes.NOT_LITERAL else value)
        elif code in _REPEATS:
            told += _example(value[2]) * max(1, value[0])
        elif code not in _ASSERTS:
            told += "".join(map(_example, _inside(code, value)[:1]))
    return told


def _letter(members: Any) -> str:
    if members[0][0] is codes.NEGATE:
        return next((each for each in "az0 /_~" if not any(_is(each, *member) for member in members[1:])), "\x7f")
    letters = (*"az0 ", *map(chr, range(256)))
    return next((each for each in letters if any(_is(each, *member) for member in members)), "")


def _is(letter: str, code: Any, value: Any) -> bool:
    if code is codes.LITERAL:
        return letter == chr(value)
    if code is codes.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    negated = "NOT" in str(value)
    plain = getattr(codes, str(value).replace("NOT_", ""))
    classes = {codes.CATEGORY_DIGIT: letter.isdigit(), codes.CATEGORY_SPACE: letter.isspace()}
    return classes.get(plain, letter.isalnum() or letter == "_") != negated
