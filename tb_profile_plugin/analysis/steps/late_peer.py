"""The host that others wait for in the typical step, told without a common clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...model.host import HostWithSteps
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ..activity.states import STATES
from ..labels.calls_between import longest_call_only_in
from ..labels.label_texts import OF_PYTHON, without_ending
from ..statistics import quantile
from .host_account import HostAccount, host_account
from .step_choice import are_unusual, recurrence

_COMMUNICATION = [STATES.index("exposed_collective"), STATES.index("collective_host")]
_LEAST_WAITING = 0.02
"""Share of the period that hosts must wait for another before it is called late."""
_SURE_PROBABILITY = 0.9985
"""How probable it must be by the steps' waits, on one side: what all hosts are late by in turns is no straggler."""
_LIKELY_PROBABILITY, _ALONE = 0.95, 0.1
"""The same where a host does what the others do for at most such a share of the time, as one that saves checkpoints."""
_LEAST_TURNS, _LEAST_TURNS_WITH_WORK = 4, 3
"""So often a host is waited for at the same distance of steps, at least: three may be so by chance, unless it calls
then what it does not call in other steps.
"""


class LatePeer(NamedTuple):
    """The host that comes last to where all of them meet."""

    host: str
    waiting_ps: float
    """How long the others wait for it in the typical step, by their communication beyond its own."""
    state: str
    """What it does longer than they."""
    more_ps: float
    """By how much; with work of its own, what they wait for that."""
    every: int = 0
    """Every how many steps they wait for it, where they do not in those between; else 0."""
    own_work: str = ""
    """What it calls in these steps only, or alone among the hosts, where that is most of what they wait for."""


def late_peer(hosts: Sequence[HostWithSteps], times: Array, rows: Sequence[Array]) -> LatePeer | None:
    """The host that communicates least where others communicate notably longer, and surely so: they wait for it.

    ``times`` is float64[hosts, states] ps, in the typical step; ``rows`` are those of its steps by host, int64[steps],
    among the windows of `HostAccount`. Needs no common clock; equal to waits by the clock where all go on together.
    """
    if len(hosts) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    communication = times[:, _COMMUNICATION].sum(axis=1)
    last = int(communication.argmin())
    waiting_ps = float(np.delete(communication, last).mean() - communication[last])
    if waiting_ps <= _LEAST_WAITING * times.sum(axis=1).mean():
        return None
    communication_ps = [
        _communication_ps(host_account(host), windows) for host, windows in zip(hosts, rows, strict=True)
    ]
    waits = _waits(communication_ps, last)
    is_turn = _are_turns(waits, len(rows[0]))
    turns = int(is_turn.sum())
    own_work = _work_in_turns(hosts[last], rows[last], is_turn, waiting_ps) if turns >= _LEAST_TURNS_WITH_WORK else ""
    every = recurrence(rows[0][is_turn] // 2) if own_work or turns >= _LEAST_TURNS else 0
    excess_ps = times[last] - np.delete(times, last, axis=0).mean(axis=0)
    excess_ps[_COMMUNICATION] = 0.0
    largest = int(excess_ps.argmax())
    lone_work, lone_ps = _lone_work([*map(host_account, hosts)], rows, last, largest, waiting_ps)
    if not (every or own_work or _is_not_by_chance(waits, _LIKELY_PROBABILITY if lone_work else _SURE_PROBABILITY)):
        return None
    more_ps = waiting_ps if own_work else lone_ps if lone_work else float(excess_ps[largest])
    return LatePeer(hosts[last].name, waiting_ps, STATES[largest], more_ps, every, own_work or lone_work)


def _communication_ps(of_host: HostAccount, step_windows: Array) -> Array:
    """int64[steps]: how long a host communicates in each of its steps and until the next."""
    ps: Array = of_host.state_ps[:, _COMMUNICATION].sum(axis=1)
    ps[of_host.steps.stop :] = 0
    return ps[step_windows] + ps[step_windows + 1]


def _waits(by_step: Sequence[Array], last: int) -> Array | None:
    """float64[k] ps: how long others wait for a host in each step; None where steps are too few, or differ."""
    if len(by_step[0]) < 2 or len(set(map(len, by_step))) > 1:
        return None
    waits: Array = np.delete(np.stack(by_step), last, axis=0).mean(axis=0) - by_step[last]
    return waits


def _are_turns(waits: Array | None, steps: int) -> Array:
    """bool[steps]: in which others wait for a host, where few steps hold most of that; else none."""
    if waits is None:
        return np.zeros(steps, bool)
    is_long: Array = are_unusual(waits) & (waits > waits.mean())
    return is_long & bool(2 * waits[is_long].sum() >= np.abs(waits).sum())


def _work_in_turns(host: HostWithSteps, rows: Array, is_turn: Array, waiting_ps: float) -> str:
    """What a host calls only in its turns among the steps of these rows, if that is half of ``waiting_ps`` or more,
    else empty. Others may wait for it in the step after the one in which it does so.
    """
    first = host_account(host).steps.start
    for step_windows in (rows, rows - 2):
        indices = (step_windows - first) // 2
        call = longest_call_only_in(host, tuple(indices[is_turn].tolist()), tuple(indices[~is_turn].tolist()))
        if 2 * call.ps >= waiting_ps * len(rows):
            return call.name
    return ""


def _lone_work(
    hosts: Sequence[HostAccount], rows: Sequence[Array], last: int, state: int, waiting_ps: float
) -> tuple[str, float]:
    """(name, ps per step): the largest of the names of a state that the last host has nearly alone, if these are half
    of ``waiting_ps`` or more; else an empty name. ``rows`` are those of the steps by host.
    """
    own_times = _times_by_name(hosts[last], rows[last], (STATES[state],))
    times_by_host = [_times_by_name(hosts[i], rows[i], STATES) for i in range(len(hosts)) if i != last]
    lone_ps = {
        name: own.ps
        for name, own in own_times.items()
        if all(other[name].is_small_part_of(own) for other in times_by_host if name in other)
    }
    are_most = 2 * sum(lone_ps.values()) >= waiting_ps
    return max(lone_ps.items(), key=lambda item: item[1]) if are_most else ("", 0.0)


class _NameTime(NamedTuple):
    """What a host does under a name in its steps, each until the next one."""

    ps: float
    """Per step."""
    step_share: float
    """Of the steps that have the name."""

    def is_small_part_of(self, other: _NameTime) -> bool:
        """Whether it takes next to none of the other's time, in few of its steps: what all hosts do in each step takes
        one of them longer by chance.
        """
        return self.ps <= _ALONE * other.ps and self.step_share <= _ALONE * other.step_share


def _times_by_name(of_host: HostAccount, rows: Array, states: Collection[str]) -> dict[str, _NameTime]:
    """What a host does in these states in the steps of these rows, by name."""
    ps = of_host.name_ps[rows]
    has_pause = rows + 1 < of_host.steps.stop
    ps[has_pause] += of_host.name_ps[rows[has_pause] + 1]
    means, shares = ((values.sum(axis=0) / max(len(rows), 1)).tolist() for values in (ps, ps > 0))
    times: dict[str, _NameTime] = {}
    for (state, label), mean, share in zip(of_host.names, means, shares, strict=True):
        if state in states and label and mean:
            name = without_ending(label, OF_PYTHON)
            other = times.get(name, _NameTime(0.0, 0.0))
            times[name] = _NameTime(other.ps + mean, max(other.step_share, share))
    return times


def _is_not_by_chance(waits: Array | None, probability: float) -> bool:
    """Whether others wait for a host step after step, not by chance; so where steps are too few to tell, or differ."""
    if waits is None:
        return True
    return bool(waits.mean() * np.sqrt(len(waits)) >= quantile(probability, len(waits) - 1) * waits.std(ddof=1))
