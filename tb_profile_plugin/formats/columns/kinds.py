"""Kinds of a stat's value."""

DOUBLE, UINT, INT, TEXT, BYTES, REF = 2, 3, 4, 5, 6, 7
"""The field numbers of XStat's oneof."""
NO_VALUE = 0
"""The kind of a stat that holds none."""
