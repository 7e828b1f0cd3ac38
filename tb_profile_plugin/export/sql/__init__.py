"""SQL over the tables of a capture, in a process that may do nothing else."""

DEFAULT_ROWS, DEFAULT_SECONDS = 10_000, 30
"""Limits of a query that states none."""
