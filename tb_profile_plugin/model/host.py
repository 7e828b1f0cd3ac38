"""One host of a capture: its planes by role, its steps; computed once, shared by all tools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..problems import Problem
from ..xspace import Plane, XSpace, hlo
from . import steps as step_rules
from .steps import Steps
from .trace import Trace, is_derived

Result = TypeVar("Result")
Array = np.ndarray[Any, Any]


class Host:
    """What one host's capture holds, in the field's terms."""

    def __init__(self, name: str, space: XSpace):
        self.name = name
        """As the file names it."""
        self.space = space
        self._lock = threading.RLock()
        self._memory: dict[Any, Any] = {}

    @cached_property
    def cpu(self) -> Plane | None:
        """The plane of the host's threads."""
        return self.space.plane("/host:CPU")

    @cached_property
    def gpus(self) -> list[Plane]:
        """All GPU planes, those without events too."""
        return self.space.prefixed("/device:GPU:")

    @cached_property
    def tpus(self) -> list[Plane]:
        """TensorCore planes of TPUs."""
        return [p for p in self.space.prefixed("/device:TPU:") if p.name.removeprefix("/device:TPU:").isdigit()]

    @cached_property
    def devices(self) -> list[Plane]:
        """Planes of devices that recorded events: a plane without lines is no device data."""
        return [plane for plane in self.gpus or self.tpus if len(plane.events)]

    @cached_property
    def hostname(self) -> str:
        """As the capture itself names its host."""
        return self.space.hostnames[0] if self.space.hostnames else "localhost"

    @cached_property
    def trace(self) -> Trace:
        """All events with nesting and links."""
        return Trace(self.space)

    @cached_property
    def modules(self) -> dict[int, hlo.Module]:
        """XLA programs by id."""
        return hlo.modules(self.space)

    @property
    def steps(self) -> Steps:
        """The steps by the best rule that finds any."""
        return self.steps_named("")

    def steps_named(self, event: str) -> Steps:
        """The steps by events of that name; by the best rule where it is empty."""
        return self.once(("steps", event), lambda: step_rules.find(self.trace, event))

    @cached_property
    def window(self) -> tuple[int, int]:
        """Begin and end of everything recorded, ps."""
        if not len(self.trace):
            return 0, 0
        return int(self.trace.begin.min()), int(self.trace.end.max())

    @property
    def problems(self) -> list[Problem]:
        """What the capture itself says went wrong, and what could not be read."""
        found = list(self.space.problems)
        found += [_explained(text, self.name, "error") for text in dict.fromkeys(self.space.errors)]
        found += [_explained(text, self.name, "warning") for text in dict.fromkeys(self.space.warnings)]
        return found

    def once(self, key: Any, compute: Callable[[], Result]) -> Result:
        """The result of ``compute``, computed at most once per key however many threads ask."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = compute()
            result: Result = self._memory[key]
            return result

    def stream_lines(self, plane: Plane) -> Array:
        """int64[k]: lines of a device that hold its own record, not what was derived from it."""
        derived = is_derived(plane.lines.id)
        return np.flatnonzero(~derived)


_REMEDIES = {
    "libcupti": (
        "TensorFlow could not load CUPTI: add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH, "
        "and check with `ldconfig -p | grep libcupti`."
    ),
    "INSUFFICIENT_PRIVILEGES": (
        "The driver lets only administrators profile: load it with NVreg_RestrictProfilingToAdminUsers=0, "
        "or run the container with --cap-add SYS_ADMIN (or --privileged)."
    ),
}


def _explained(text: str, host: str, severity: str) -> Problem:
    remedy = next((advice for key, advice in _REMEDIES.items() if key in text), "")
    return Problem("reported_by_profiler", text, remedy, host, severity)
