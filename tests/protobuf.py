"""Protobuf messages of which tests have no description."""

from typing import Any


def fields(message: bytes) -> list[tuple[int, Any]]:
    """(number, value): a varint as a number, anything else as bytes."""
    found: list[tuple[int, Any]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            found.append((tag >> 3, varint()))
        else:
            size = varint() if tag & 7 == 2 else 8
            found.append((tag >> 3, message[at : at + size]))
            at += size
    return found
