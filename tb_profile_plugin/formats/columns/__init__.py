"""The neutral columns that every input format fills and every analysis reads."""

from .tables import Events, Lines, Plane, StatColumn, Stats, XSpace

__all__ = ["Events", "Lines", "Plane", "StatColumn", "Stats", "XSpace"]
