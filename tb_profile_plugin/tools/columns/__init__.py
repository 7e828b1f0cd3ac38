"""Columns, facts and options that several tools share, each declared once."""
