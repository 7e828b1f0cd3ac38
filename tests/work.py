"""How much work the tools do for one capture, in counts that no machine changes: run to rewrite tests/work.json.

Bytes decoded, elements that kernels walk over for each tool in a process that knows nothing of the capture yet, and
how many kernels Python calls.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import tb_profile_plugin
from tb_profile_plugin.api import Capture
from tb_profile_plugin.formats.xspace import wire
from tb_profile_plugin.formats.xspace.wire_tables import LineMessages
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.timeline.tiles import timeline
from tb_profile_plugin.tools import all_tools

TESTS = Path(__file__).resolve().parent
CAPTURE = TESTS / "traces/keras_fit/plugins/profile/run/host.xplane.pb"
COUNTS = TESTS / "work.json"
SIZE = CAPTURE.stat().st_size
"""An array of that length is the file itself, in which kernels look things up."""
CHUNKED = ("count_lines", "fill_lines")
"""Kernels of the decoder that get runs of lines, as many as there are processors: what they walk over are bytes."""


def measured() -> dict[str, Any]:
    """All counts."""
    work: dict[str, Callable[[Any], object]] = {
        name: partial(Capture.tool, name=name) for name, tool in all_tools().items() if not tool.streamed
    }
    work["first view of the timeline"] = view
    for item in work.values():
        run(item)
    kernels = [(module, name, kernel) for module in modules() for name, kernel in vars(module).items()]
    kernels = [entry for entry in kernels if hasattr(entry[2], "py_func")]
    counter = Walked()
    # Compiled kernels call each other directly: what is replaced here is only what Python calls.
    for module, name, kernel in kernels:
        setattr(module, name, counter.watch(name, kernel))
    found = {}
    for name, item in work.items():
        counter.walked.clear()
        run(item)
        found[name] = dict(sorted(counter.walked.items()))
    events = sum(len(plane.events) for plane in tb_profile_plugin.open(CAPTURE).select()[0].space.planes)
    return {"bytes": SIZE, "events": events, "kernels called": len(counter.called), "walked": found}


def run(work: Callable[[Any], object]) -> None:
    """Something that this capture holds nothing for does what it can."""
    with suppress(ProblemError):
        work(tb_profile_plugin.open(CAPTURE))


def view(capture: Any) -> None:
    """All lanes at the width of a page."""
    (host,) = capture.select()
    drawn_timeline = timeline(host)
    begin, end = host.window
    drawn_timeline.slices([(lane, 0) for lane in range(len(drawn_timeline.lanes))], begin, end, 1600)


def modules() -> list[ModuleType]:
    """Those of the package that are in use."""
    return [module for name, module in sys.modules.items() if name.startswith("tb_profile_plugin")]


class Walked:
    """Counts what kernels are given to walk over."""

    def __init__(self) -> None:
        self.walked: Counter[str] = Counter()
        self.called: set[str] = set()
        self._lock = threading.Lock()

    def watch(self, name: str, kernel: Any) -> Callable[..., object]:
        """The kernel, watched."""
        decodes = kernel.py_func.__module__ == wire.__name__

        def watched(*arguments: Any) -> object:
            if name in CHUNKED:
                lines = next((item for item in arguments if isinstance(item, LineMessages)), None)
                begin, end = (lines.begin, lines.end) if lines else arguments[1:3]
                size = int((end - begin).sum())
            else:
                items = [item for each in arguments for item in (each if isinstance(each, tuple) else (each,))]
                columns = [item for item in items if isinstance(item, np.ndarray) and len(item) != SIZE]
                size = max(map(len, columns), default=0)
            with self._lock:
                self.called.add(name)
                if not decodes:
                    self.walked["elements"] += size
                elif name in CHUNKED:
                    self.walked["bytes of lines"] += size
            return kernel(*arguments)

        return watched


if __name__ == "__main__":
    text = json.dumps(measured(), indent=2) + "\n"
    sys.stdout.write(text) if "--print" in sys.argv else COUNTS.write_text(text)
