"""tf.function calls: how often each was traced anew or ran eagerly, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..columns import vocabulary
from ..model.host import Host
from ..model.per_host import per_host
from .ops import nested_times

_MODES = {
    "eager": "eager",
    "concrete": "concrete",
    "traced-xla": "traced",
    "traced-nonXla": "traced",
    "notTraced-xla": "not traced",
    "notTraced-nonXla": "not traced",
}


@dataclass
class FunctionCalls:
    """Calls of one tf.function by how they ran."""

    name: str
    calls: dict[str, int] = field(default_factory=dict)
    self_ps: dict[str, int] = field(default_factory=dict)
    """Time without that of tf.functions called inside."""
    tracings: int = 0
    """How often the function had been traced by the end of the capture."""

    @property
    def expensive_percent(self) -> float:
        """Share of its time spent in calls that were traced or ran eagerly, 0–100."""
        whole = sum(self.self_ps.values())
        costly = self.self_ps.get("traced", 0) + self.self_ps.get("eager", 0)
        return 100.0 * costly / whole if whole else 0.0

    def add(self, other: FunctionCalls) -> None:
        """Take in the same function's calls on another host."""
        for mode, count in other.calls.items():
            self.calls[mode] = self.calls.get(mode, 0) + count
            self.self_ps[mode] = self.self_ps.get(mode, 0) + other.self_ps[mode]
        self.tracings = max(self.tracings, other.tracings)


def function_calls(hosts: Sequence[Host]) -> list[FunctionCalls]:
    """All tf.functions of the hosts, the most expensive share first."""
    found: dict[str, FunctionCalls] = {}
    for host in hosts:
        for name, one in calls_of_host(host).items():
            found.setdefault(name, FunctionCalls(name)).add(one)
    return sorted(found.values(), key=lambda calls: (-calls.expensive_percent, calls.name))


@per_host(keep=True)
def calls_of_host(host: Host) -> dict[str, FunctionCalls]:
    """The tf.functions of one host by name."""
    found: dict[str, FunctionCalls] = {}
    plane = host.cpu
    column = plane.stat(vocabulary.TF_FUNCTION_CALL) if plane else None
    if plane is None or column is None or not len(column):
        return found
    kinds: dict[tuple[str, str], int] = {}
    op = np.full(len(plane.events), -1, np.int32)
    for event, mode in zip(column.owner.tolist(), column.strings, strict=True):
        if mode in _MODES:
            key = (plane.names[plane.events.name[event]], _MODES[mode])
            op[event] = kinds.setdefault(key, len(kinds))
    figures, _ = nested_times(plane.lines.first_event, plane.events.begin, plane.events.end, op, len(kinds))
    for (name, mode), row in zip(kinds, figures.tolist(), strict=True):
        calls = found.setdefault(name, FunctionCalls(name))
        calls.calls[mode] = calls.calls.get(mode, 0) + row[0]
        calls.self_ps[mode] = calls.self_ps.get(mode, 0) + row[2]
    tracings = plane.stat(vocabulary.TRACING_COUNT)
    for event, count in zip(tracings.owner.tolist(), tracings.numbers.tolist(), strict=True):
        name = plane.names[plane.events.name[event]]
        if name in found:
            found[name].tracings = max(found[name].tracings, count)
    return found
