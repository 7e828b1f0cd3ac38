"""Times, sizes, shares and counts as people write them: ``12 ms``, ``6 GiB``, ``5%``, ``410``, ``+3%``."""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.messages import Message
from ..runtime.regex import regex
from ..runtime.units import duration, memory

TIME, BYTES, SHARE, COUNT = "time", "bytes", "share", "count"
"""Kinds of quantities."""
_KIND_AND_FACTOR = {
    "": (COUNT, 1.0),
    "%": (SHARE, 0.01),
    "ps": (TIME, 1.0),
    "ns": (TIME, 1e3),
    "us": (TIME, 1e6),
    "µs": (TIME, 1e6),
    "ms": (TIME, 1e9),
    "s": (TIME, 1e12),
    "B": (BYTES, 1.0),
    "KiB": (BYTES, 2.0**10),
    "MiB": (BYTES, 2.0**20),
    "GiB": (BYTES, 2.0**30),
    "kB": (BYTES, 1e3),
    "MB": (BYTES, 1e6),
    "GB": (BYTES, 1e9),
}
_QUANTITY = regex(r"([+-]?)([0-9]{1,15}(?:\.[0-9]{1,9})?) *([A-Za-zµ%]{0,3})")


@dataclass(frozen=True)
class Quantity:
    """A limit."""

    value: float
    """In ps, bytes, a share of 1, or a count."""
    kind: str
    """`TIME`, `BYTES`, `SHARE` or `COUNT`."""
    signed: bool
    """Whether it was written with a sign, as changes are."""

    @staticmethod
    def of(text: str) -> Quantity:
        """The quantity that a text states; raises ValueError where it states none."""
        match = _QUANTITY.fullmatch(text.strip())
        if not match or match[3] not in _KIND_AND_FACTOR:
            raise ValueError(f"{text!r} is not a limit such as 12 ms, 6 GiB, 5% or +3%")
        kind, factor = _KIND_AND_FACTOR[match[3]]
        return Quantity(float(match[2]) * factor * (-1 if match[1] == "-" else 1), kind, bool(match[1]))


def quantity_text(value: float, kind: str) -> str:
    """A value of a kind for people: ``12 ms``, ``5 %``."""
    if kind == TIME:
        return f"{'−' if value < 0 else ''}{duration(abs(value))}"
    if kind == BYTES:
        return f"{'−' if value < 0 else ''}{memory(abs(value))}"
    if kind == SHARE:
        return Message("{percent}", percent=value)
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
