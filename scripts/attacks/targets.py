"""Captures to attack with, and the sessions that a server under attack shows."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import draw
import evil
from mutations import varint

RUN, LARGE = "ordinary/run", "large/run"
"""Sessions: one as anybody's, one whose trace is a large answer."""
LARGE_BYTES = 20_000_000
"""Fewer than its trace has."""
FORMULAS = (
    *(
        '=HYPERLINK("x")',
        "+1",
        "-1+cmd",
        "@x",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\u00a0=1",
        "\uff1d1",
        "\uff0b1",
        "\uff0d1",
    ),
    *("\uff201", "\u200b=1", "\ufeff=1", "|calc"),
)
"""Names that some spreadsheet runs."""

_EVENTS = 250_000
_LONG_NAMES = 30
"""They take a search of the costliest kind a second."""
_SPACE = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} model/MatMul:MatMul[100,300] Launch[110,5]{c=1}
/device:GPU:0
  Stream #13(Compute) | gemm[120,80]{c=1, kernel_details='regs:8 grid:1,1,1', tf_op='model/MatMul:MatMul'}
"""


def small(steps: int = 3) -> Any:
    """A capture as anybody's, with a name to search in and some that a spreadsheet would run."""
    space = draw.space(_SPACE, steps=steps)
    for i, name in enumerate((evil.TEXT, *FORMULAS)):
        add(space, name, 500 + i)
    return space


def add(space: Any, name: str, key: int, **stats: str) -> None:
    """An event of that name, as an op of the host and as a kernel, with texts as its stats."""
    for plane in space.planes:
        plane.event_metadata[key].id, plane.event_metadata[key].name = key, name
        event = plane.lines[0].events.add(metadata_id=key, offset_ps=key * 10**6, duration_ps=10**6)
        for number, (stat, value) in enumerate({**stats, "kernel_details": "regs:8"}.items(), 900):
            plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, stat
            event.stats.add(metadata_id=number, str_value=value)


def make(logdir: Path) -> None:
    """Write the sessions `RUN` and `LARGE`."""
    draw.session(logdir / "ordinary", host=small())
    large = draw.space(_SPACE, steps=1)
    line = large.planes[0].lines[0]
    key = line.events[0].metadata_id
    for i in range(_EVENTS):
        line.events.add(metadata_id=key, offset_ps=(1000 + i) * 10**6, duration_ps=10**5)
    for i in range(_LONG_NAMES):
        add(large, "a" * 990 + str(i), 1000 + i)
    draw.session(logdir / "large", host=large)


def put(logdir: Path, run: str, name: str, content: bytes) -> Path:
    """A file in a session's folder."""
    folder = logdir / "plugins" / "profile" / run
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


_LONG = 100_000


def long_names(unit: str) -> bytes:
    """A capture in which names repeat these letters for 100 kB."""
    content: bytes = evil.with_long_names(unit, _LONG).SerializeToString()
    return content


def long_trace(unit: str) -> bytes:
    """The same as PyTorch's profiler writes it."""
    return evil.trace_with_long_names(unit, _LONG).encode()


def bombs() -> dict[str, bytes]:
    """Small compressed captures of very many parts of nothing, by what they hold."""
    planes = b"\x0a\x00"
    lines = b"\x1a\x00" * 3_000_000
    events = b"\x22\x00" * 8_000_000
    line = b"\x1a" + varint(len(events)) + events
    return {
        "100,000 empty planes": gzip.compress(planes * 100_000, mtime=0),
        "1,000,000 empty planes": gzip.compress(planes * 1_000_000, mtime=0),
        "3,000,000 empty lines": gzip.compress(b"\x0a" + varint(len(lines)) + lines, mtime=0),
        "8,000,000 empty events": gzip.compress(b"\x0a" + varint(len(line)) + line, mtime=0),
    }
