"""Moved to `budgets`."""
