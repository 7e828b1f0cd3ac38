"""Whole captures in other formats, and a capture to hand on."""
