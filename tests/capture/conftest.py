"""The servers of tests/profilers.py."""

from profilers import certificate, closed_port, fake, talker

__all__ = ["certificate", "closed_port", "fake", "talker"]
