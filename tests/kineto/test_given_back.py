"""What was read of a file loses its memory, but for what is still needed; and the record is the same."""

from __future__ import annotations

import json
import mmap
import sys

import numpy as np
import pytest

from tb_profile_plugin.formats.kineto import record
from tb_profile_plugin.runtime import memory
from tb_profile_plugin.runtime.arrays import Array


def trace(count: int) -> bytes:
    """Events of which some bring a name, an argument or a text that was not there before, all through the file."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "add" if i % 5000 else f'new "{i}"',
            "pid": 1,
            "tid": i % 3,
            "ts": i,
            "dur": 0.5,
            "args": {"External id": i, "shape": [1, 2], ("late" if i > count // 2 else "soon"): f"text {i // 9000}"},
        }
        for i in range(count)
    ]
    return json.dumps({"before": "text", "traceEvents": events, "behind": ["text"]}).encode()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep what is given back until they need it")
def test_record_is_the_same_when_memory_is_given_back() -> None:
    data = trace(60_000)
    mapped = mmap.mmap(-1, len(data), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapped[:] = data
    expected, made = (record.read(buffer, "", lambda phase, fraction: None) for buffer in (data, mapped))
    assert made.header == expected.header == {"before": "text", "behind": ["text"]}
    for name in (*record._COLUMNS.keys() - {"counts"}, "first", "pool", "pool_offset"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name), name)
    blocks = np.frombuffer(mapped[: len(data) // memory.BLOCK * memory.BLOCK], np.uint8).reshape(-1, memory.BLOCK)
    is_empty: Array = np.logical_not(blocks.any(axis=1))
    assert is_empty.mean() > 0.5
    assert not is_empty[0]
