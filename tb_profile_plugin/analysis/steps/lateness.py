"""Which worker comes last to collectives, and what it did meanwhile that the others did not."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...model.ranks import labels
from ...runtime.arrays import Array
from ...runtime.units import duration
from ..activity.communication import collectives
from ..activity.late_peers import LatePeers
from ..activity.partition import time_in_windows
from ..activity.states import CATEGORIES, CATEGORY_OF_STATE, STATES, State
from .device_timeline import timeline
from .host_account import figures

_COMMUNICATION = next(category for category in CATEGORIES if category.id == "communication").states
_UNKNOWN = (State.UNEXPLAINED, State.UNRECORDED)
_NOTABLE = 0.2
"""Share of what a worker makes others wait, from which on a state is told as what it spends more on."""
_MOSTLY = 0.5
"""A name that makes up so much of what a worker spends in a state stands for it."""
_PERSISTENT, _ROTATES = 0.6, 0.8
"""Shares: of the waiting that one worker causes; and of the collectives whose late worker follows the one before it."""
_LONG = 0.1
"""Only collectives that keep others waiting for so much of the longest wait tell the pattern."""

Pattern = Literal["persistent", "rotating", "random"]


class Lateness(NamedTuple):
    """How often a worker came last to collectives, what that cost, and why; times in ps."""

    worker: str
    host: str
    last: int
    of: int
    caused_ps: int
    """How long the worker that came first waited for this one, where it came last."""
    waited_ps: int
    """How long this one waited itself."""
    more: State | None
    """Where it came last, it had spent most more time than the others in this since the collective before."""
    more_ps: int
    """How much more, than the others' mean; 0 where it spent no more in anything."""
    name: str
    """What most of that state is on this worker, by name; empty where nothing is."""


@per_host(keep=True)
def between_collectives(host: Host) -> tuple[Array, Array]:
    """(event, ps): int64[n], numbers of the collectives in the host's trace, ascending; and int64[n, states], what was
    done from the end of the device's collective before, or from the first event on, until each began.
    """
    tables = [table for table in collectives(host) if len(table.event)]
    if not tables:
        return np.empty(0, np.int64), np.empty((0, len(STATES)), np.int64)
    begin, event = (
        np.concatenate([column(table) for table in tables]).astype(np.int64)
        for column in (attrgetter("begin"), attrgetter("event"))
    )
    since = np.concatenate([np.append(host.window[0], np.maximum.accumulate(table.end)[:-1]) for table in tables])
    line = timeline(host)
    ps = time_in_windows(np.minimum(since, begin), begin, line.edges, line.state, len(STATES))
    order = np.argsort(event, kind="stable")
    return event[order], ps[order]


def lateness(hosts: Sequence[Host], peers: LatePeers) -> list[Lateness]:
    """Each worker, who cost the others most first."""
    label, late, longest = labels(hosts), peers.late, peers.waiting_ps.max(axis=1)
    spent = np.stack([_spent(host, peers.event[:, index]) for index, host in enumerate(hosts)], axis=1)
    group_size = peers.is_member.sum(axis=1)
    answer = []
    for index, host in enumerate(hosts):
        is_last = late == index
        waits = is_last & (longest > 0)
        state, more = _more(spent[waits], group_size[waits], index)
        counts = (
            int(is_last.sum()),
            int(peers.is_member[:, index].sum()),
            int(longest[is_last].sum()),
            int(peers.waiting_ps[:, index].sum()),
        )
        name = _name(host, state) if state is not None else ""
        answer.append(Lateness(label[host.name], host.name, *counts, state, more, name))
    return sorted(answer, key=lambda worker: (-worker.caused_ps, worker.worker))


def pattern(peers: LatePeers) -> Pattern | None:
    """Whether it is one worker of a group that comes late, each in its turn, or any; None where nobody waits."""
    longest = peers.waiting_ps.max(axis=1)
    if not longest.any():
        return None
    is_long = longest >= _LONG * longest.max()
    longest, late, is_member = longest[is_long], peers.late[is_long], peers.is_member[is_long]
    groups, group_of = np.unique(is_member, axis=0, return_inverse=True)
    position = is_member.cumsum(axis=1)[np.arange(len(late)), late] - 1
    most_ps, followers, in_turn = 0.0, 0, 0
    for group, size in enumerate(groups.sum(axis=1).tolist()):
        in_group = group_of.reshape(-1) == group
        most_ps += np.bincount(position[in_group], longest[in_group]).max()
        distances = np.bincount(np.diff(position[in_group]) % size, minlength=size)
        followers, in_turn = followers + int(distances.sum()), in_turn + int(distances[1:].max())
    if most_ps >= _PERSISTENT * longest.sum():
        return "persistent"
    return "rotating" if in_turn and in_turn >= _ROTATES * followers else "random"


def sentence(peers: LatePeers, late: Sequence[Lateness]) -> str:
    """Who comes last, what that costs the others, and what it does meanwhile; empty where nobody waits."""
    how = pattern(peers)
    if how is None:
        return ""
    waited = duration(int(peers.waiting_ps.max(axis=1).sum()))
    if how == "rotating":
        return f"Workers are late in turn; they wait {waited} for one another in {len(peers.late)} collectives."
    if how == "random":
        return f"No worker is late more often than others; they wait {waited} in {len(peers.late)} collectives."
    worst = late[0]
    others = (
        f"{worst.worker} is last in {worst.last} of {worst.of} collectives; others wait {duration(worst.caused_ps)}."
    )
    if worst.more is None or worst.more in _UNKNOWN or worst.more_ps < _NOTABLE * worst.caused_ps:
        return others
    name = f" ({worst.name})" if worst.name else ""
    return f"{others} It spends {duration(worst.more_ps)} more than others in {category_label(worst.more)}{name}."


def _spent(host: Host, events: Array) -> Array:
    """int64[k, states] ps: before each of these collectives, by number; 0 where that is -1."""
    numbers, ps = between_collectives(host)
    answer = np.zeros((len(events), len(STATES)), np.int64)
    answer[events >= 0] = ps[np.searchsorted(numbers, events[events >= 0])]
    return answer


def _more(spent: Array, group_size: Array, index: int) -> tuple[State | None, int]:
    """(state, ps): in what one host exceeds the mean of its group's others most.

    ``spent`` is int64[n, hosts, states] ps, 0 for hosts that are not in a collective's group.
    """
    of_host = spent[:, index]
    more = (of_host - (spent.sum(axis=1) - of_host) / (group_size[:, None] - 1)).sum(axis=0)
    more[list(_COMMUNICATION)] = 0
    most = int(more.argmax())
    return (State(most), round(float(more[most]))) if more[most] > 0 else (None, 0)


def _name(host: Host, state: State) -> str:
    """What most of a state is by name, over the whole capture of a host."""
    times = figures(host).name_ps.sum(axis=0).tolist()
    state_names = [(ps, name) for (of, name), ps in zip(figures(host).names, times, strict=True) if of == STATES[state]]
    ps, name = max(state_names, default=(0, ""))
    return name if ps > _MOSTLY * sum(ps for ps, _ in state_names) else ""


def category_label(state: State) -> str:
    """What the pages call the state's category."""
    return CATEGORIES[CATEGORY_OF_STATE[state]].label
