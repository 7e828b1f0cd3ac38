"""Decodes damaged captures and looks at everything; run by test_damage.py.

Ends with an error for a crash, a read out of bounds, or damage that no `Problem` tells about.
"""

import re
import sys
from contextlib import suppress
from pathlib import Path

import draw
import numpy as np
from everything import ask_every_tool
from mutations import Mutator

from tb_profile_plugin.export import redact
from tb_profile_plugin.export.pseudonyms import Pseudonyms
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.formats.xspace import wire
from tb_profile_plugin.runtime.problems import ProblemError

DRAWN = draw.space(
    """
/host:CPU {process_id=7}
  python | train[0,900]{_r=1, step_num=s} IteratorGetNext[10,20]{x=&ref} model/MatMul:MatMul[100,300] Launch[110,5]{c=1}
  pool   | ThreadpoolListener::StartRegion[5,0]{_ct=15, _c=9u} Iterator::Root::Map[6,3]{id=4, y=0.5} ?[20,2]
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=7, memory_size=17179869184u}
  Stream #13(Compute) | gemm[120,80]{c=1, tf_op='model/MatMul:MatMul', kernel_details='regs:32 grid:1,1,1'}
  Steps | 0[0,900]{group_id=s}
error: Failed to load libcupti
hostname: h
""",
    steps=3,
)
BYTE = re.compile(r"at byte ([\d,]+) of ([\d,]+)")


def look(data: bytes, deeply: bool = False) -> XSpace:
    """Decode and touch all that is lazy; with ``deeply`` ask every tool too."""
    space = xspace.decode(data, "fuzz")
    for problem in space.problems:
        place = BYTE.search(problem.message)
        if place:
            offset, size = (int(number.replace(",", "")) for number in place.groups())
            assert 0 <= offset <= size == len(data), problem
    for plane in space.planes:
        assert len(plane.display_names) == len(plane.metadata)
        assert len(plane.metadata.blob.all) == len(plane.metadata)
        plane.facts()
        for event in range(0, len(plane.events), 1 + len(plane.events) // 4):
            plane.event_facts(event)
        for name in ("tf_op", "correlation_id", "x", "y"):
            column = plane.stat(name)
            assert len(column.strings) == len(column.numbers)
    if deeply:
        ask_every_tool(space)
        with suppress(ProblemError):
            shared = xspace.decode(redact.redacted(data, "fuzz", {"fuzz": "host-1"}, Pseudonyms(b"key")))
            assert [len(plane.events) for plane in shared.planes] == [len(plane.events) for plane in space.planes]
            assert not any(problem.code == "damaged_capture" for problem in shared.problems)
    return space


def cut(data: bytes, every: int) -> None:
    """At every byte, or at one in so many: what was cut is told, except where the rest happens to be whole messages."""
    whole = set(boundaries(data))
    for size in range(0, len(data), every):
        space = look(data[:size], deeply=size % 97 == 0)
        assert space.problems or size in whole, f"nothing told about a cut at {size}"


def boundaries(data: bytes) -> list[int]:
    """Where a message at the top ends."""
    rows, _ = wire.fields(np.frombuffer(data, np.uint8), 0, len(data))
    return [0, *rows[:, 4].tolist()]


def mutate(data: bytes, rounds: int, seed: int) -> None:
    mutator = Mutator(data, seed)
    for number in range(rounds):
        look(mutator(), deeply=number % 5 == 0)


def main(seed: str, every: str, *paths: str) -> None:
    """One in ``every`` cuts and changes."""
    captures = [DRAWN.SerializeToString(), *(Path(path).read_bytes() for path in paths)]
    for data in captures:
        look(data, deeply=True)
        if len(data) < 20_000:
            cut(data, int(every))
        mutate(data, (600 if len(data) < 100_000 else 150) // int(every), int(seed))
    print("survived")


if __name__ == "__main__":
    main(*sys.argv[1:])
