"""Which members and arguments of an event the scan knows by their names."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import U8, Int
from ...runtime.jit import jit
from .tokens import packed_letters, packed_text

_MEMBER_NAMES = tuple(packed_text(key) for key in ("cat", "name", "pid", "tid", "ts", "dur", "ph", "args"))
"""Names of an event's members that are read; a member's number is its index here. The first four are those
of `event_columns.CATEGORY` to ``TID``, the others follow."""
TS, DUR, PH, ARGS, OTHER_MEMBER = 4, 5, 6, 7, 8
_NOISE = (packed_text("Ev Idx"), packed_text("finishe"), packed_text("Record "))
"""Arguments that number or mark events for the profiler's own use, on nearly each of them: at most seven letters of
``Ev Idx``, ``finished`` and ``Record function id``."""
_NOISE_LENGTHS = (6, 8, 18)


@jit
def member_of_name(buf: U8, begin: Int, end: Int) -> Int:
    """Which of `_MEMBER_NAMES` a name is, or `OTHER_MEMBER`."""
    name = packed_letters(buf, begin, end)
    for member in range(len(_MEMBER_NAMES)):
        if name == _MEMBER_NAMES[member]:
            return np.int64(member)
    return np.int64(OTHER_MEMBER)


@jit
def is_noise(buf: U8, begin: Int, end: Int) -> bool:
    """Whether an argument's name is one of `_NOISE`."""
    for i in range(len(_NOISE)):
        if end - begin == _NOISE_LENGTHS[i] and packed_letters(buf, begin, min(begin + 7, end)) == _NOISE[i]:
            return True
    return False
