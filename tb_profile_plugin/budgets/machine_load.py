"""The share of the machine that other processes take while one runs, since it changes times."""

from __future__ import annotations

import os
from pathlib import Path

from ..runtime.records import NamedTuple

_STAT = Path("/proc/stat")
_IDLE = (3, 4)
"""Among the kernel's times of all processors together: idle, and waiting for disks."""
_FIRST_GUEST = 8
"""From here on are times of guests, which user and nice already hold (proc(5))."""


class Load(NamedTuple):
    """Processors' time until now, in s."""

    busy: float
    """That of all processes, also of those of other virtual machines on these processors."""
    total: float
    own: float
    """That of processes that this one started and that have ended."""


def load_now() -> Load | None:
    """Times from /proc/stat; None where there is none (it is Linux's)."""
    try:
        all_processors = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        times = [int(number) for number in all_processors[:_FIRST_GUEST]]
    except (OSError, ValueError):
        return None
    per_second, own = os.sysconf("SC_CLK_TCK"), os.times()
    idle = sum(times[index] for index in _IDLE if index < len(times))
    total = sum(times)
    return Load((total - idle) / per_second, total / per_second, own.children_user + own.children_system)


def share_of_others(before: Load | None, after: Load | None) -> float | None:
    """The share of all processors that others had between two moments, 0–1; None where it is not known."""
    if not (before and after) or after.total <= before.total:
        return None
    others = (after.busy - before.busy) - (after.own - before.own)
    return max(0.0, others / (after.total - before.total))
