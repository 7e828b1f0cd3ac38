"""Moved to `tools.answers`."""
