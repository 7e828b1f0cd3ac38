"""What a backend decided for an instruction: JSON, or attributes as MLIR writes them (``{heads = 16 : i64, …}``)."""

from __future__ import annotations

import json
from typing import Any

from ....runtime.regex import regex

_ATTRIBUTE = regex(r"\b(\w+)\s*=\s*(\"[^\"]*\"|[-\w.+]+)")
_MOST_CHARACTERS = 1 << 20


def parsed(text: str) -> dict[str, Any]:
    """The configuration as a dictionary; empty for a text that is neither, or longer than a mebibyte."""
    if not text or len(text) > _MOST_CHARACTERS:
        return {}
    try:
        config = json.loads(text)
        return config if isinstance(config, dict) else {}
    except (ValueError, RecursionError):
        attributes = _ATTRIBUTE.findall(text)
        return {name: value.strip('"') if (n := integer(value)) is None else n for name, value in attributes}


def nested(config: dict[str, Any], *path: str) -> dict[str, Any]:
    """The dictionary under these keys, from the outside in; empty where there is none."""
    value: Any = config
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def numbers(config: dict[str, Any], key: str) -> list[int]:
    """The integers of the list under a key, without what is none; JSON of protobufs writes them as texts."""
    entries = config.get(key)
    return [number for number in map(integer, entries if isinstance(entries, list) else []) if number is not None]


def integer(value: Any) -> int | None:
    """An integer, which may be written as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return int(value)
    except ValueError:
        return None
