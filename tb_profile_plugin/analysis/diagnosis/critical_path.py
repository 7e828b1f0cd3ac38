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
    steps_share: float
    """Share of these steps on whose path it is, 0–1."""


class _HostPart(NamedTuple):
    """What of a host's path has one state, or one name; see `PathShare`."""

    per_step_ps: float
    steps_share: float


class PathFigures(NamedTuple):
    """Means over the hosts of whose typical steps the path is known."""

    by_state: list[PathShare]
    by_name: list[PathShare]
    """The longest."""
    switches: float | None
    """How often a step's path goes from the host to a device, or back; None without steps."""
    violations: int
    """Edges left out, since the record contradicts itself there: the sum over all hosts whose paths are known."""


def path_figures(hosts: Sequence[HostWithSteps], typical: Typical) -> PathFigures:
    """The path of the steps that count."""
    states: dict[tuple[str, str], list[_HostPart]] = {}
    names: dict[tuple[str, str], list[_HostPart]] = {}
    path_ps, violations, switches = 0.0, 0, list[float]()
    for host in hosts:
        path = paths(host)
        if path is None:
            continue
        violations += path.violations
        numbers = host.steps.number
        is_typical = np.isin(numbers[path.steps], typical.steps.number[typical.choice.selected])
        if not is_typical.any():
            continue
        path_ps += float(path.path_ps[is_typical].sum(axis=1).mean())
        switches.append(float(path.switches[is_typical].mean()))
        for target, keys, times in (
            (states, [(state, "") for state in STATES], path.path_ps[is_typical]),
            (names, path.names, path.name_ps[is_typical]),
        ):
            for key, column in zip(keys, times.T, strict=True):
                part = _HostPart(float(column.mean()), float((column > 0).mean()))
                target.setdefault(key, []).append(part)
    return PathFigures(
        _rows(states, path_ps, len(switches)),
        _rows(names, path_ps, len(switches))[:_MOST_NAMES],
        float(np.mean(switches)) if switches else None,
        violations,
    )


def _rows(parts: dict[tuple[str, str], list[_HostPart]], path_ps: float, hosts: int) -> list[PathShare]:
    """The longest first; ``path_ps`` is the sum of all hosts' paths."""
    rows = []
    for key, parts_of_hosts in parts.items():
        ps = sum(part.per_step_ps for part in parts_of_hosts)
        if ps:
            steps_share = sum(part.steps_share for part in parts_of_hosts) / hosts
            rows.append(PathShare(*key, ps / hosts, ps / path_ps, steps_share))
    return sorted(rows, key=lambda row: -row.per_step_ps)
