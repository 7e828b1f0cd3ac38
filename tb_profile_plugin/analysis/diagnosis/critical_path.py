"""The critical path of the typical step, over all hosts, and what contradicts itself in the record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.host import HostWithSteps
from ...runtime.records import NamedTuple
from ..activity.states import STATES
from ..steps.typical_times import Typical
from ..steps.what_if import paths

_MOST_NAMES = 20


class PathShare(NamedTuple):
    """What the critical path is made of: by state, and by name where there is one."""

    state: str
    name: str
    per_step_ps: float
    """Mean over the typical steps whose path is known."""
    share: float
    """Share of the path, 0–1."""
    steps: float
    """Share of these steps on whose path it is."""


class PathFigures(NamedTuple):
    """Means over hosts."""

    by_state: list[PathShare]
    by_name: list[PathShare]
    """The longest."""
    switches: float | None
    """How often a step's path goes from the host to a device, or back; None without steps."""
    violations: int
    """Edges left out, since the record contradicts itself there."""


def path_figures(hosts: Sequence[HostWithSteps], typical: Typical) -> PathFigures:
    """The path of the steps that count."""
    states: dict[tuple[str, str], list[float]] = {}
    names: dict[tuple[str, str], list[float]] = {}
    path_ps, switches, violations, host_count = 0.0, [], 0, 0
    for host in hosts:
        path = paths(host)
        if path is None:
            continue
        violations += path.violations
        numbers = host.steps.number
        is_typical = np.isin(numbers[path.steps], typical.steps.number[typical.choice.selected])
        if not is_typical.any():
            continue
        host_count += 1
        path_ps += float(path.path_ps[is_typical].sum(axis=1).mean())
        switches.append(float(path.switches[is_typical].mean()))
        for target, keys, times in (
            (states, [(state, "") for state in STATES], path.path_ps[is_typical]),
            (names, path.names, path.name_ps[is_typical]),
        ):
            for key, column in zip(keys, times.T, strict=True):
                target.setdefault(key, []).extend((float(column.mean()), float((column > 0).mean())))
    return PathFigures(
        _rows(states, path_ps, host_count),
        _rows(names, path_ps, host_count)[:_MOST_NAMES],
        float(np.mean(switches)) if switches else None,
        violations,
    )


def _rows(times: dict[tuple[str, str], list[float]], path_ps: float, hosts: int) -> list[PathShare]:
    rows = [
        PathShare(*key, sum(figures[::2]) / hosts, sum(figures[::2]) / path_ps, sum(figures[1::2]) / hosts)
        for key, figures in times.items()
        if sum(figures[::2])
    ]
    return sorted(rows, key=lambda row: -row.per_step_ps)
