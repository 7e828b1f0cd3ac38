"""What windows of a host would last without a cause, and what the critical path of its steps is made of."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...columns.codes import combine
from ...model.host import Host
from ...model.per_host import per_host
from ..idle.graph import Graph, graph
from ..idle.path import Path, critical_paths
from ..idle.replay import Scenario, replays
from ..idle.states import HOST_CAUSES, State
from .figures import figures
from .naming import shown
from .timeline import STATES

SCENARIOS: dict[str, tuple[State, ...]] = {
    "input": (State.INPUT,),
    "compile": (State.COMPILE,),
    "callback": (State.CALLBACK,),
    "pause": (State.PAUSE,),
    "sync": (State.SYNC,),
    "transfer": (State.TRANSFER,),
    "collective_host": (State.COLLECTIVE_HOST,),
    "allocator": (State.ALLOCATOR,),
    "python": (State.PYTHON,),
    "launch": (State.LAUNCH, State.LATENCY),
    "dispatch": (State.DISPATCH,),
    "latency": (State.LATENCY,),
    "between": (State.BETWEEN,),
    "exposed_collective": (State.EXPOSED_COLLECTIVE,),
    "exposed_copy": (State.EXPOSED_COPY,),
    "eager": (State.PYTHON, State.DISPATCH, State.LAUNCH, State.LATENCY, State.BETWEEN, State.TRANSFER),
    "host": (*HOST_CAUSES, State.LATENCY, State.BETWEEN),
}
"""What takes no time in each; ``eager`` is one program instead of many calls, ``host`` a host that is never late."""
_WORTH = 0.01
"""Share of the recorded time from which on it is worth replaying without a cause."""
_PATHS = 100
"""So many steps are walked back, evenly spread."""
_NAMES = 40


class Paths(NamedTuple):
    """Critical paths of one host's steps. Times are ps."""

    steps: Array
    """int64[k]: places of the steps that were walked back."""
    path_ps: Array
    """int64[k, states]: what their critical paths are made of; each row sums to the step."""
    names: list[tuple[str, str]]
    """State and name of what is longest on these paths."""
    name_ps: Array
    """int64[k, names]."""
    switches: Array
    """int64[k]: how often each path goes from the host to a device, or back."""
    violations: int
    """What contradicts itself in the record, and is left out."""


@per_host(keep=True)
def what_if(host: Host, step_event: str = "") -> dict[str, Array]:
    """By scenario int64[windows] ps: how long each window of `HostFigures` would last; empty without devices' work."""
    of, found = graph(host), figures(host, step_event)
    if of is None:
        return {}
    share = found.state_ps[1:-1].sum(axis=0) / max(int(found.edges[-2] - found.edges[1]), 1)
    tried = {
        name: Scenario(without=states)
        for name, states in SCENARIOS.items()
        if share[[int(state) for state in states]].sum() >= _WORTH
    }
    lengths = replays(host, of, found.edges[:-1], found.edges[1:], tried.values())
    return dict(zip(tried, lengths, strict=True))


@per_host(keep=True)
def paths(host: Host, step_event: str = "") -> Paths | None:
    """None where no device recorded anything."""
    of, found = graph(host), figures(host, step_event)
    if of is None:
        return None
    windows = np.arange(len(found.edges) - 1)[found.steps] if found.counted else np.arange(0)
    chosen = np.unique(np.linspace(0, len(windows) - 1, _PATHS).astype(np.int64)) if len(windows) else windows
    return Paths(chosen, *_paths(host, of, found.edges, windows[chosen]), of.violations)


def _by_name(host: Host, path: Path) -> Counter[tuple[str, str]]:
    """ps of a path by state and name, where an event tells it."""
    told = np.flatnonzero(path.event >= 0)
    name = host.trace.name_of[path.event[told]]
    example, kind = combine(path.state[told], name)
    times = np.zeros(len(example), np.int64)
    np.add.at(times, kind, (path.end - path.begin)[told])
    answer: Counter[tuple[str, str]] = Counter()
    for i, ps in zip(example.tolist(), times.tolist(), strict=True):
        answer[STATES[path.state[told[i]]], shown(host.trace.names[name[i]])] += ps
    return answer


def _paths(host: Host, of: Graph, edges: Array, windows: Array) -> tuple[Array, list[tuple[str, str]], Array, Array]:
    """(path_ps, names, name_ps, switches) of `Paths` for some windows."""
    states, switches = np.zeros((len(windows), len(State)), np.int64), np.zeros(len(windows), np.int64)
    times: list[Counter[tuple[str, str]]] = []
    for row, path in enumerate(critical_paths(host, of, edges[windows], edges[windows + 1])):
        states[row], switches[row] = path.ps(), path.switches
        times.append(_by_name(host, path))
    names = [name for name, _ in sum(times, Counter()).most_common(_NAMES)]
    by_name = np.array([[mine[name] for name in names] for mine in times], np.int64)
    return states, names, by_name.reshape(len(times), len(names)), switches
