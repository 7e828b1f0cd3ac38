"""Writes what every tool, the timeline and the decoder say of captures, as a digest each."""

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import tb_profile_plugin
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.runtime import jit
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline import chrome, perfetto
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.selection import LaneRows, statistics
from tb_profile_plugin.timeline.tiles import timeline
from tb_profile_plugin.tools import all_tools


def told(value: Any) -> str:
    """A digest of arrays, in whatever holds them, with their dtypes."""
    found = hashlib.sha256()
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, np.ndarray):
            found.update(f"{each.dtype}{each.shape}".encode() + each.tobytes())
        elif isinstance(each, tuple | list):
            pending += each
        elif hasattr(each, "__dataclass_fields__"):
            pending += [getattr(each, name) for name in each.__dataclass_fields__]
        else:
            found.update(repr(each).encode())
    return found.hexdigest()[:16]


def looked_at(host: HostWithSteps) -> Iterator[Any]:
    """All columns that are decoded, and what a timeline shows."""
    for plane in host.space.planes:
        events, stats = plane.events, plane.events.stats
        yield plane.lines.begin, events.line, events.name, events.begin, events.duration
        yield stats.first, stats.name, stats.kind, stats.value
    shown = timeline(host)
    places = range(len(shown.rows))
    for width in (50, 1600):
        yield shown.slices([(place, 0) for place in places], *host.window, width)
    yield [statistics(host, LaneRows(place), *host.window) for place in places]
    yield search(host, Pattern("a"))
    yield list(chrome.pieces([host])), list(perfetto.pieces([host]))


def answers(path: str) -> dict[str, str]:
    """By tool, or by number for all that the timeline stands on; a problem is its code."""
    capture = tb_profile_plugin.open(path)
    found = {}
    for name, tool in all_tools().items():
        with suppress(ProblemError):
            found[name] = told(tool.run(capture))
    for host in capture.select():
        found |= {f"{host.name} {number}": told(each) for number, each in enumerate(looked_at(host))}
    return found


if __name__ == "__main__":
    json.dump({"way": jit.way, "answers": {path: answers(path) for path in sys.argv[1:]}}, sys.stdout)
