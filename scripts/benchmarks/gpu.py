"""Kernel statistics and memory profile of a million events each, against what decoding those captures takes."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tb_profile_plugin
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.runtime.protos import message

Array = np.ndarray[Any, Any]

COUNT = 1_000_000
ROUNDS = 5
INT, REF = 4, 7
"""Kinds of values in an XStat."""


def main() -> None:
    """Print medians of processor time; the tool answers when the steps are known, as other tools need them, too."""
    with tempfile.TemporaryDirectory() as folder:
        for tool, make in (("kernel_stats", kernels), ("memory_profile", allocations)):
            path = Path(folder, f"{tool}.xplane.pb")
            path.write_bytes(make())
            rounds = [measured(path, tool) for _ in range(ROUNDS + 1)][1:]
            decode, answer = (statistics.median(column) for column in zip(*rounds, strict=True))
            size = path.stat().st_size / 1e6
            print(
                f"{tool}: {COUNT:,} events, {size:.0f} MB: decoded in {decode:.2f} s, answered in {answer:.2f} s more"
            )
            print(f"  {answer / decode:.2f} times what decoding takes (at most 2)")


def measured(path: Path, tool: str) -> tuple[float, float]:
    """Processor time in seconds of decoding, and of the tool's answer after that."""
    capture = tb_profile_plugin.open(path)
    decode = spent(capture.select)
    for host in capture.select():
        assert len(host.steps)
    return decode, spent(lambda: capture.xprof(tool))


def spent(work: Callable[[], Any]) -> float:
    """Processor time of the work in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def kernels() -> bytes:
    """Kernels of 2000 names, 500 sizes and 3000 ops, one after the other on one stream."""
    stats = ["kernel_details", "tf_op", "correlation_id", "program_id"]
    sizes = [f"regs:{i % 200} static_shared:{i} dynamic_shared:0 grid:{i},1,1 block:128,1,1" for i in range(500)]
    ops = [f"model/layer_{i}/MatMul:MatMul" for i in range(3000)]
    op = np.random.default_rng(1).integers(0, len(ops), COUNT)
    first = len(stats) + 1
    values = [(1, REF, first + op % len(sizes)), (2, REF, first + len(sizes) + op)]
    values += [(3, INT, np.arange(COUNT) + 1), (4, INT, np.full(COUNT, 77))]
    names = [f"sm80_xmma_gemm_bf16bf16_{i}" for i in range(2000)]
    stream = events(op % 2000 + 1, np.arange(COUNT) * 10_000, 5_000, values)
    return host_plane(COUNT * 10_000, [], []) + plane("/device:GPU:0", names, [*stats, *sizes, *ops], [stream])


def allocations() -> bytes:
    """Allocations and deallocations in turn at a thousand addresses, for 3000 ops."""
    names = ["allocator_name", "bytes_allocated", "bytes_available", "requested_bytes", "allocation_bytes", "addr"]
    names += ["tf_op", "region_type", "data_type"]
    ops = [f"model/layer_{i}/MatMul" for i in range(3000)]
    random = np.random.default_rng(1)
    slot = np.arange(COUNT) % 1000
    allocates = (np.arange(COUNT) // 1000) % 2 == 0
    size = (slot + 1) * 256
    heap = np.cumsum(np.where(allocates, size, -size))
    first = len(names) + 1
    values = [(1, REF, np.full(COUNT, first)), (2, INT, heap), (3, INT, 10**10 - heap), (4, INT, size), (5, INT, size)]
    values += [(6, INT, 140_000_000_000_000 + slot * 4096), (7, REF, first + 2 + random.integers(0, len(ops), COUNT))]
    values += [(8, REF, np.full(COUNT, first + 1)), (9, INT, np.ones(COUNT, np.int64))]
    pool = events(np.where(allocates, 1, 2), np.arange(COUNT) * 10_000, 100, values)
    return host_plane(COUNT * 10_000, [*names, "GPU_0_bfc", "output", *ops], [pool])


def host_plane(length: int, stats: Sequence[str], lines: Sequence[bytes]) -> bytes:
    """The host with 50 marked steps and the given lines."""
    steps = np.arange(50)
    marks = [(len(stats) + 1, INT, np.ones(50, np.int64)), (len(stats) + 2, INT, steps)]
    line = events(np.full(50, 3), steps * (length // 50), length // 50 - 1000, marks)
    names = ["MemoryAllocation", "MemoryDeallocation", "train"]
    return plane("/host:CPU", names, [*stats, "_r", "step_num"], [*lines, line])


def plane(name: str, names: Sequence[str], stats: Sequence[str], lines: Sequence[bytes]) -> bytes:
    """An XPlane as a field of an XSpace; lines are their events' bytes."""
    head = message("tensorflow.profiler.XSpace")().planes.add(name=name)
    for table, texts in ((head.event_metadata, names), (head.stat_metadata, stats)):
        for i, text in enumerate(texts, 1):
            table[i].id, table[i].name = i, text
    body = head.SerializeToString() + b"".join(field(3, line) for line in lines)
    return field(1, body)


def events(name: Array, offset: Array, duration: int, stats: Sequence[tuple[int, int, Array]]) -> bytes:
    """XEvents as fields of an XLine, all of the same length in bytes, so that they are columns of a matrix."""
    count = len(name)
    parts = [b"\x08", padded(name, 2), b"\x10", padded(offset, 8), b"\x18", padded(np.full(count, duration), 5)]
    for key, kind, value in stats:
        parts += [b"\x22\x0d\x08", padded(np.full(count, key), 3), bytes([kind << 3]), padded(value, 8)]
    columns: list[Any] = [
        np.tile(np.frombuffer(part, np.uint8), (count, 1)) if isinstance(part, bytes) else part for part in parts
    ]
    body = np.concatenate(columns, axis=1)
    head = np.tile(np.frombuffer(b"\x22", np.uint8), (count, 1))
    return np.concatenate([head, padded(np.full(count, body.shape[1]), 2), body], axis=1).tobytes()


def padded(values: Array, width: int) -> Array:
    """Varints that all take ``width`` bytes."""
    shifts = 7 * np.arange(width, dtype=np.uint64)
    digits = (values.astype(np.uint64)[:, None] >> shifts) & np.uint64(127)
    digits[:, :-1] |= np.uint64(128)
    return digits.astype(np.uint8)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("makes its own captures and takes no file")
    main()
