"""XLA programs that a capture carries, each read as columns when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....runtime.regex import regex
from ...columns import pool, vocabulary
from ...columns.kinds import BYTES, TEXT
from ...columns.tables import XSpace

if TYPE_CHECKING:
    from .module import Module

__all__ = ["PROGRAMS", "modules", "program_text", "signed"]

PROGRAMS = 10_000
"""Programs that are read at most: the first ones."""
_PROGRAM = regex(r"\((\d{1,20})\)$")
"""The id of a program at the end of a name."""


def modules(space: XSpace) -> dict[int, Module]:
    """The programs in the capture's ``/host:metadata`` plane by program id (bits of an int64); the first of an id wins.

    The id stands in a stat, else in the name, else it is the entry's key.
    """
    modules: dict[int, Module] = {}
    plane = space.plane(vocabulary.METADATA)
    if plane is None:
        return modules
    # What reads programs is as large as what reads all else, and most captures hold none.
    from .module import Module

    ids = plane.metadata_stat(vocabulary.PROGRAM_ID)
    program_of = dict(zip(ids.owner.tolist(), ids.numbers.tolist(), strict=True))
    for stat in ("Hlo Proto", "HLO Proto"):
        column = plane.metadata_stat(stat)
        for owner, row in zip(column.owner.tolist(), column.row.tolist(), strict=True):
            name_id = _id_in_name(plane.names[owner])
            program_id = program_of.get(owner, int(plane.metadata.key[owner]) if name_id is None else name_id)
            if column.stats.kind[row] in (TEXT, BYTES):
                begin, end = pool.payload(column.stats.buffer, np.int64(column.stats.value[row]))
                if end > begin:
                    modules.setdefault(program_id, Module(column.stats.buffer[begin:end], program_id))
            if len(modules) == PROGRAMS:
                return modules
    return modules


def _id_in_name(name: str) -> int | None:
    """The program id in a name like ``jit_step(6)``, as the bits of an int64; None where there is none."""
    match = _PROGRAM.search(name)
    return signed(int(match[1])) if match else None


def signed(program_id: int) -> int:
    """A program id as the bits of an int64: writers differ in how they take the highest bit."""
    return (program_id + (1 << 63)) % (1 << 64) - (1 << 63)


def program_text(program_id: int) -> str:
    """The id of an XLA program as an unsigned number, as XLA writes it; empty for -1, which is unknown."""
    return "" if program_id == -1 else str(program_id % (1 << 64))
