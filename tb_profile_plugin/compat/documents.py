"""An answer that is a file instead of JSON."""

from __future__ import annotations

from typing import NamedTuple


class Document(NamedTuple):
    """What some of the existing plugin's questions are answered with instead of JSON."""

    body: bytes
    ending: str
    """Of a file that it would be: ``txt``, ``dot``, ``pb`` …"""
