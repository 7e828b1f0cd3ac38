"""Figures as sentences have them."""

from __future__ import annotations

_TIMES = (("s", 1e12), ("ms", 1e9), ("µs", 1e6))
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def duration(ps: float) -> str:
    """A time in three significant digits, e.g. ``1.64 s``."""
    unit, size = next(((unit, size) for unit, size in _TIMES if abs(ps) >= size), _TIMES[-1])
    figure = ps / size
    return f"{figure:.{max(0, 2 - len(f'{abs(figure):.0f}') + 1)}f} {unit}"


def memory(size: float) -> str:
    """A size of memory in powers of 1024 and three significant digits, e.g. ``2.99 GiB``."""
    place = 0
    while size >= 1024 * 0.9995 and place < len(_SIZES) - 1:
        size, place = size / 1024, place + 1
    return f"{size:.{0 if place == 0 else max(0, 3 - len(f'{size:.0f}'))}f} {_SIZES[place]}"
