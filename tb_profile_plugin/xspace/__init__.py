"""Bytes of an XSpace capture → columns."""

from .decode import decode, warm
from .tables import Events, Lines, Plane, StatColumn, Stats, XSpace

__all__ = ["Events", "Lines", "Plane", "StatColumn", "Stats", "XSpace", "decode", "warm"]
