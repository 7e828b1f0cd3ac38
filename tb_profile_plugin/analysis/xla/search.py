"""Instructions of XLA programs by name, or by words of their name, opcode, framework op or source line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import numpy as np

from ...formats.xspace.hlo.module import Module
from ...runtime import cancellation
from ...runtime.arrays import Bool

_MOST_COMPARED = 20_000
"""Names that are looked through for one like another."""


def instruction_named(module: Module, name: str) -> int:
    """The instruction of that name, in whatever case, else the result of the computation of that name; -1 for none."""
    bare_name = name.strip().removeprefix("%")
    row = module.row(bare_name)
    if row >= 0 or not bare_name:
        return row
    lower_name = bare_name.lower()
    row = next((i for i, candidate in enumerate(module.names) if candidate.lower() == lower_name), -1)
    computations = [computation.lower() for computation in module.computation_names]
    return int(module.roots[computations.index(lower_name)]) if row < 0 and lower_name in computations else row


def similar_names(module: Module, name: str) -> list[str]:
    """A few names of instructions that are written much like another."""
    return get_close_matches(name.strip().removeprefix("%"), module.names[:_MOST_COMPARED], 3, 0.6)


def search(modules: Iterable[Module], words: str, limit: int) -> list[tuple[Module, int]]:
    """Instructions in whose name, opcode, framework op or source line each word occurs, in whatever case."""
    lower_words = words.lower().split()
    matches: list[tuple[Module, int]] = []
    for module in modules if lower_words else ():
        cancellation.check()
        for row in _matching(module, lower_words):
            matches.append((module, row))
            if len(matches) >= limit:
                return matches
    return matches


def _matching(module: Module, words: list[str]) -> Iterator[int]:
    is_match = np.ones(len(module), np.bool_)
    for word in words:
        texts = zip(module.names, module.opcodes, module.op_names, strict=True)
        is_in_text = [word in f"{name}\n{opcode}\n{op}".lower() for name, opcode, op in texts]
        is_match &= np.array(is_in_text, np.bool_) | _has_in_source(module, word)
    return iter(np.flatnonzero(is_match).tolist())


def _has_in_source(module: Module, word: str) -> Bool:
    """bool[n]: instructions one of whose source lines has a word in it."""
    sources = module.sources
    frame_ids = [0] + [i + 1 for i, frame in enumerate(sources.frame_locations) if word in str(frame).lower()]
    locations = zip(sources.files, sources.lines, strict=True)
    is_in_stated = [bool(file) and word in f"{file}:{line}".lower() for file, line in locations]
    return np.array(is_in_stated, np.bool_) | (np.isin(sources.frames, frame_ids) & (sources.frames > 0))
