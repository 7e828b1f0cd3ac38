"""Opens damaged traces and looks at everything; run by test_damage.py."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everything import ask_every_tool, work_out
from torchtrace import BACKWARD, frame, launch, mark, memory, on_device, op, text

from tb_profile_plugin.formats import recognize
from tb_profile_plugin.runtime.problems import ProblemError

FORWARD: dict[str, Any] = {"Sequence number": 1, "Fwd thread id": 0, "Input Dims": [[2, 2], []]}
SIZE: dict[str, Any] = {"grid": [1, 2, 1], "block": [32, 1, 1], "registers per thread": 8, "shared memory": 4}
DRAWN = text(
    *(mark(f"ProfilerStep#{n}", 100 * n, 90) for n in range(2)),
    mark("enumerate(DataLoader)#x.__next__", 1, 5),
    frame("nn.Module: Net_0", 10, 60),
    frame("net.py(3): forward", 11, 50),
    op("aten::mm", 12, 20, **FORWARD),
    launch(1, 14),
    op("MmBackward0", 40, 9, BACKWARD, **{"Sequence number": 1, "Fwd thread id": 1}),
    launch(2, 41, tid=BACKWARD),
    on_device(1, 20, 9, "gemm", **SIZE),
    on_device(2, 45, 9, "ncclKernel_x", **{"Collective name": "a", "In msg nelems": 5}),
    on_device(0, 20, 60, "Stream Sync", "cuda_sync"),
    memory(512, 15, 64, 512),
    memory(-512, 30, 64, 0),
    distributedInfo={"rank": 1, "world_size": 2},
).encode()
SPLICES = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\x00", b"\xff", b"\\u", b"\\ud800", b"-", b"e", b"."),
    *(b"9" * 400, b"-1", b"1e999", b"1e-999", b"NaN", b"N/A", b"null", b"true", b"[" * 5000, b'{"a":' * 5000),
    *(b'"ts": -9223372036854775808,', b'"dur": 9223372036854775807,', b'"ts": 0,', b'"pid": "x",', b'"ph": "C",'),
    *(b'"args": 1,', b'"args": {"correlation": "x"},', b'"tid": -5,', b'"traceEvents": [', b'"cat": "kernel",'),
]


def damaged(data: bytes, rounds: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(rounds):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            at, size = chance.randrange(len(changed) + 1), chance.choice((0, 0, 1, 8, 200))
            changed[at : at + size] = chance.choice((b"", *SPLICES, bytes(changed[at // 2 : at // 2 + 40])))
        yield bytes(changed)


def look(data: bytes, deeply: bool) -> None:
    try:
        space = recognize.decode(data, "fuzz")
    except ProblemError:
        # So little of it is left that nothing tells what it was, which is said.
        return
    for plane in space.planes:
        plane.facts()
        assert len(plane.display_names) == len(plane.categories) == len(plane.metadata)
        for event in range(0, len(plane.events), 1 + len(plane.events) // 4):
            plane.event_facts(event)
    work_out(space)
    if deeply:
        ask_every_tool(space)


def main(seed: str, every: str, *paths: str) -> None:
    """One in ``every`` cuts and changes."""
    for data in (DRAWN, *(Path(path).read_bytes() for path in paths)):
        look(data, deeply=True)
        for size in range(0, len(data), (1 + len(data) // 3000) * int(every)):
            look(data[:size], deeply=size % 97 == 0)
        for number, changed in enumerate(damaged(data, (400 if len(data) < 100_000 else 40) // int(every), int(seed))):
            look(changed, deeply=number % 5 == 0)
    print("survived")


if __name__ == "__main__":
    main(*sys.argv[1:])
