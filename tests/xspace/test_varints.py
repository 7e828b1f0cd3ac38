"""Varints of every length, at every distance from the end of the buffer, equal those read bit by bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tb_profile_plugin.formats import protobuf
from tb_profile_plugin.formats.columns.pool import varint
from tb_profile_plugin.formats.xspace import wire


def _read(content: bytes, end: int) -> tuple[int, int]:
    """The value, of whose bits the lowest 64 count, and where it ends; -1 where it is cut or longer than ten bytes."""
    value = 0
    for position, byte in enumerate(content[: min(end, 10)]):
        value |= (byte & 127) << 7 * position
        if byte < 128:
            return (value + (1 << 63)) % (1 << 64) - (1 << 63), position + 1
    return 0, -1


@pytest.mark.parametrize("size", range(1, 13))
def test_a_varint_is_read_whatever_follows_it(size: int) -> None:
    dice = random.Random(size)
    for _ in range(20):
        content = bytes([*(dice.randrange(128, 256) for _ in range(size - 1)), dice.randrange(128)])
        for room in (0, 1, 2, 7, 8, 9, 20):
            buffer = np.frombuffer(content + bytes(dice.randrange(256) for _ in range(room)), np.uint8)
            for end in {size - 1, size, len(buffer)}:
                value, after = varint(buffer, 0, end)
                assert (after, value if after >= 0 else 0) == _read(content, end)[::-1]


def test_ids_of_ten_bytes_are_read_and_their_events_counted() -> None:
    """Ids by chance, as tf.data's, whose highest bits are set: as negative numbers."""
    ids = [-1, -(2**63), 2**63 - 1, 2**56, 2**62 + 5, -4109821101469758689]
    stats = b"".join(protobuf.message(4, protobuf.number(1, 1) + protobuf.number(4, id)) for id in ids)
    times = protobuf.number(2, 1 << 32) + protobuf.number(3, 5)
    buffer = np.frombuffer(protobuf.message(4, protobuf.number(1, 1) + times + stats), np.uint8)
    begins, ends = np.zeros(1, np.int64), np.array([len(buffer)])
    head, spans = np.zeros((1, 8), np.int64), np.zeros((1, 4), np.int64)
    wire.count_lines(buffer, begins, ends, head, spans)
    assert head[0].tolist() == [0, 0, 0, 0, 1, len(ids), 0, wire.NO_DAMAGE]
    read, at = [], len(buffer) - len(stats)
    while at < len(buffer):
        stop = at + 2 + int(buffer[at + 1])
        read.append(varint(buffer, at + 5, stop)[0])
        at = stop
    assert read == ids
