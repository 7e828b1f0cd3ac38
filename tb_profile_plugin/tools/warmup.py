"""Compiles every kernel before the first person waits for it: all tools on a tiny capture of every kind of event."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import store
from ..contract.tool import Tool
from ..model.host import Host
from ..model.session import Session
from ..problems import ProblemError
from ..protos import message
from ..timeline.search import Pattern, search
from ..timeline.selection import Area, statistics
from ..timeline.tiles import timeline

_Row = tuple[str, int, int, dict[str, Any]]

_THREAD: tuple[_Row, ...] = (
    ("train", 0, 900, {"_r": 1, "step_num": 1}),
    ("EagerExecute", 10, 300, {"is_func": 0}),
    ("step", 20, 200, {"tf_function_call": "traced-nonXla", "tracing_count": 1, "_pt": 2, "_p": 7}),
    ("model/MatMul:MatMul", 30, 50, {}),
    ("Launch", 90, 5, {"correlation_id": 9, "device_id": 0}),
    ("MemoryAllocation", 100, 0, {"allocator_name": "bfc", "bytes_allocated": 64, "requested_bytes": 60, "addr": 5}),
    ("IteratorGetNextOp::DoCompute", 400, 100, {"id": 3, "iter_num": 0}),
    ("Iterator::Root::Prefetch", 410, 80, {"id": 1, "parent_id": 2}),
    ("PrefetchConsume", 420, 60, {"element_id": 4}),
)
_POOL: tuple[_Row, ...] = (
    ("ThreadpoolListener::StartRegion", 40, 0, {"_ct": 2, "_c": 7}),
    ("ExecutorState::Process", 50, 40, {"id": 3, "iter_num": 0}),
    ("ThreadpoolListener::StopRegion", 95, 0, {}),
    ("PrefetchProduce", 100, 90, {"element_id": 4}),
    ("Iterator::Root::Prefetch::Map", 110, 70, {"id": 2}),
)
_STREAM: tuple[_Row, ...] = (
    ("gemm", 120, 80, {"correlation_id": 9, "tf_op": "model/MatMul:MatMul", "kernel_details": "regs:8 grid:1,1,1"}),
    ("MemcpyH2D", 210, 20, {"correlation_id": 10, "memcpy_details": "size:64"}),
)


def warm(tools: Mapping[str, Tool], progress: Callable[[float], None]) -> None:
    """Run the tools once; where numba's cache on disk knows the kernels, they are only loaded.

    ``progress`` is called with the fraction that is done.
    """
    space = message("tensorflow.profiler.XSpace")()
    _add(space, "/host:CPU", {"python": _THREAD, "pool": _POOL})
    _add(space, "/device:GPU:0", {"Stream #7(Compute)": _STREAM})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.xplane.pb"
        path.write_bytes(space.SerializeToString())
        session = Session(store.resolve(path))
        for i, tool in enumerate(tools.values()):
            progress(i / len(tools))
            # A tool that this capture holds nothing for has compiled what it could.
            with suppress(ProblemError):
                if tool.streamed:
                    deque(tool.pieces(session), maxlen=0)
                else:
                    tool.run(session)
        _timeline(session.select()[0])


def _timeline(host: Host) -> None:
    """What the routes of the timeline need besides the tool."""
    shown = timeline(host)
    begin, end = host.window
    shown.slices([(place, 0) for place in range(len(shown.rows))], begin, end, 10)
    statistics(host, [Area(place) for place in range(len(shown.rows))], begin, end)
    search(host, Pattern("gemm"))


def _add(space: Any, name: str, lines: dict[str, tuple[_Row, ...]]) -> None:
    plane = space.planes.add(name=name)
    ids: dict[str, int] = {}
    for title, rows in lines.items():
        line = plane.lines.add(name=title, id=len(plane.lines))
        for event, begin, duration, stats in rows:
            key = ids.setdefault(event, len(ids) + 1)
            plane.event_metadata[key].name = event
            added = line.events.add(metadata_id=key, offset_ps=begin * 10**6, duration_ps=duration * 10**6)
            for stat, value in stats.items():
                key = ids.setdefault(stat, len(ids) + 1)
                plane.stat_metadata[key].name = stat
                kind = "str_value" if isinstance(value, str) else "int64_value"
                added.stats.add(metadata_id=key, **{kind: value})
