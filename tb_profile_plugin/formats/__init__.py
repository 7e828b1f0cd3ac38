"""Formats of captures: which there are, and a reader for each, from bytes to columns."""
