"""What windows of a host would last without a cause, and what the critical path of its steps is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...formats.columns.codes import combine
from ...model.events.intervals import covered, union
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.records import NamedTuple
from ..activity.blocking_copies import copies_to_device
from ..activity.devices.device_work import device_work, host_work
from ..activity.replay.critical_path import Path, critical_paths
from ..activity.replay.graph import Graph, graph
from ..activity.replay.host_steps import host_steps
from ..activity.replay.replay import Lengths, Scenario, replays
from ..activity.states import HOST_CAUSES, STATES, State
from ..activity.thread_classes import activity
from ..labels.event_names import display_name
from ..labels.python_waits import waits_for_others
from .choice_names import CUT, WARM_UP
from .host_account import host_account
from .step_choice import choose

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
    "unrecorded": (State.UNRECORDED,),
    "launch": (State.LAUNCH, State.LATENCY),
    "dispatch": (State.DISPATCH,),
    "latency": (State.LATENCY,),
    "between": (State.BETWEEN,),
    "exposed_collective": (State.EXPOSED_COLLECTIVE, State.COLLECTIVE_HOST),
    "exposed_copy": (State.EXPOSED_COPY,),
    "eager": (
        *(State.PYTHON, State.UNRECORDED, State.DISPATCH, State.LAUNCH),
        *(State.LATENCY, State.BETWEEN, State.TRANSFER),
    ),
    "host": tuple(state for state in (*HOST_CAUSES, State.LATENCY, State.BETWEEN) if state != State.SYNC),
}
"""What takes no time in each; ``eager`` is one program instead of many calls, ``host`` a host that is never late, but
waits where the program says so; ``sync`` one that does not."""
_ALWAYS_REPLAYED = ("sync", "host")
"""Worth it also where no device is idle meanwhile: what waits keeps the host from running ahead."""
_LEAST_SHARE = 0.01
"""Share of the recorded time from which on it is worth replaying without a cause."""
_MOST_PATHS = 100
"""So many steps are walked back, evenly spread."""
_MOST_NAMES = 40
"""So many names are told apart, those that are longest on the paths."""
_MOST_EVENTS, _LEAST_STEPS = 1 << 18, 12
"""Where devices have more events, so many are replayed, of steps in the middle, but at least so many steps: what is
usual shows in some hundred steps as it does in thousands."""


class Paths(NamedTuple):
    """Critical paths of one host's steps. Times are ps."""

    steps: Array
    """int64[k]: rows of the steps that were walked back."""
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


class Gains(NamedTuple):
    """What windows of a host would last in the long run. Times are ps."""

    windows: Array
    """int64[w]: rows of `HostAccount` that were replayed, from the first step that does not warm up to the last."""
    idle_ps: Array
    """int64[w]: for how long the device that works longest does nothing but copy from the host, as recorded: such
    copies need nothing that devices compute, so that they can be made meanwhile."""
    waited_ps: Array
    """int64[w]: for how long the loop waits for devices, whether they work meanwhile or not: a host that does not wait
    saves no more, since all else that its thread does takes as long as before."""
    before: Lengths
    """With nothing changed."""
    after: dict[str, Lengths]
    """By scenario."""
    after_in_steps: dict[str, Lengths]
    """By scenario, if nothing changes between steps; only where something would."""


@per_host(keep=True)
def what_if(host: HostWithSteps) -> Gains | None:
    """What the windows of a host would last without causes; None without devices' work."""
    windows = replayed_windows(host)
    if replayed_graph(host) is None:
        return None
    state_ps = host_account(host).state_ps[windows]
    least_ps = _LEAST_SHARE * max(int(state_ps.sum()), 1)
    total_ps, gaps_ps = state_ps.sum(axis=0), state_ps[1::2].sum(axis=0)
    scenarios = {
        name: Scenario(without=states)
        for name, states in SCENARIOS.items()
        if name in _ALWAYS_REPLAYED or total_ps[list(states)].sum() >= least_ps
    }
    is_step = np.arange(len(windows)) % 2 == 0
    in_steps = {
        name: scenario._replace(windows=is_step)
        for name, scenario in scenarios.items()
        if (gaps_ps[list(SCENARIOS[name])] >= least_ps).any()
    }
    before, *after = lengths(host, [Scenario(), *scenarios.values(), *in_steps.values()])
    return Gains(
        windows,
        _idle_ps(host, windows),
        _waited_ps(host, windows),
        before,
        dict(zip(scenarios, after[: len(scenarios)], strict=True)),
        dict(zip(in_steps, after[len(scenarios) :], strict=True)),
    )


def _idle_ps(host: HostWithSteps, windows: Array) -> Array:
    """`Gains.idle_ps`."""
    begin, end = host_account(host).edges[windows], host_account(host).edges[windows + 1]
    busy_ps: list[Array] = []
    for work in host_work(host):
        rows = ~host.trace.are_named(work.event, copies_to_device)
        busy_ps.append(covered(begin, end, *union(work.begin[rows], work.end[rows])))
    idle_ps: Array = end - begin - max(busy_ps, key=np.sum)
    return idle_ps


def _waited_ps(host: HostWithSteps, windows: Array) -> Array:
    """`Gains.waited_ps`."""
    act, edges = activity(host), host_account(host).edges
    rows = np.arange(*act.first[act.loop : act.loop + 2].tolist()) if act.loop >= 0 else np.empty(0, np.int64)
    rows = rows[act.state[rows] == State.SYNC]
    rows = rows[~host.trace.are_named(act.event[rows], waits_for_others)]
    waited_ps: Array = covered(edges[windows], edges[windows + 1], *union(act.begin[rows], act.end[rows]))
    return waited_ps


@per_host
def replayed_windows(host: HostWithSteps) -> Array:
    """int64[w]: rows of `HostAccount` from the first step that does not warm up to the last step; where devices have
    very many events those in the middle.
    """
    account = host_account(host)
    windows = np.arange(len(account.edges) - 1)[account.steps.start : account.steps.stop]
    if not account.has_steps:
        return windows
    steps = host.steps
    rows = account.state_ps[account.steps]
    choice = choose(np.diff(account.edges)[account.steps], rows[:, int(State.COMPILE)], steps.complete, steps.number)
    first = next((index for index, reason in enumerate(choice.reason) if reason not in (WARM_UP, CUT)), 0)
    windows = windows[2 * first :]
    first_ps, end_ps = account.edges[[windows[0], windows[-1] + 1]]
    events = sum(int(np.diff(np.searchsorted(work.begin, (first_ps, end_ps)))[0]) for work in device_work(host))
    if events <= _MOST_EVENTS:
        return windows
    count = (len(windows) + 1) // 2
    replayed_count = min(max(int(count * _MOST_EVENTS / events), _LEAST_STEPS), count)
    start = (count - replayed_count) // 2
    return windows[2 * start : 2 * (start + replayed_count) - 1]


def replayed_graph(host: HostWithSteps) -> Graph | None:
    """The graph of everything, or of the replayed steps and the one before them; None where no device did anything."""
    edges, windows = _host_edges(host), replayed_windows(host)
    before = int(windows[0]) - 2
    if before >= host_account(host).steps.start and sum(map(len, device_work(host))) > _MOST_EVENTS:
        return graph(host, (int(edges[before]), int(edges[windows[-1] + 1])))
    return graph(host)


def _host_edges(host: HostWithSteps) -> Array:
    """int64[windows + 1] ps: `HostAccount.edges`, but of steps where the host begins and ends them."""
    account = host_account(host)
    edges = account.edges.copy()
    if account.has_steps:
        edges[account.steps.start : account.steps.stop + 1] = np.stack(host_steps(host), axis=1).reshape(-1)
    return edges


def lengths(host: HostWithSteps, scenarios: Sequence[Scenario]) -> list[Lengths]:
    """How long the windows that are replayed last, for each scenario; empty without devices' work.

    What was launched in a window on the host belongs to it.
    """
    host_graph, windows = replayed_graph(host), replayed_windows(host)
    edges = _host_edges(host)
    if host_graph is None:
        return []
    return list(replays(host, host_graph, edges[windows[0] : windows[-1] + 2], (len(windows) + 1) // 2, scenarios))


@per_host(keep=True)
def paths(host: HostWithSteps) -> Paths | None:
    """The critical paths of a host's steps; None where no device recorded anything."""
    host_graph, account = replayed_graph(host), host_account(host)
    if host_graph is None:
        return None
    step_windows = np.arange(len(account.edges) - 1 if account.has_steps else 0)[account.steps]
    if sum(map(len, device_work(host))) > _MOST_EVENTS:
        step_windows = step_windows[np.isin(step_windows, replayed_windows(host))]
    selected = step_windows
    if len(step_windows):
        selected = step_windows[distinct(np.linspace(0, len(step_windows) - 1, _MOST_PATHS).astype(np.int64))]
    steps = (selected - account.steps.start) // 2
    return Paths(steps, *_paths(host, host_graph, account.edges, selected), host_graph.violations)


def _ps_by_name(host: Host, path: Path) -> Counter[tuple[str, str]]:
    """ps of a path by state and name, where an event tells it."""
    rows = np.flatnonzero(path.event >= 0)
    name = host.trace.name_of[path.event[rows]]
    example, kind = combine(path.state[rows], name)
    times = np.zeros(len(example), np.int64)
    np.add.at(times, kind, (path.end - path.begin)[rows])
    ps_by_name: Counter[tuple[str, str]] = Counter()
    for i, ps in zip(example.tolist(), times.tolist(), strict=True):
        ps_by_name[STATES[path.state[rows[i]]], display_name(host.trace.names[name[i]])] += ps
    return ps_by_name


def _paths(
    host: Host, host_graph: Graph, edges: Array, windows: Array
) -> tuple[Array, list[tuple[str, str]], Array, Array]:
    """(path_ps, names, name_ps, switches) of `Paths` for some windows."""
    path_ps, switches = np.zeros((len(windows), len(State)), np.int64), np.zeros(len(windows), np.int64)
    times: list[Counter[tuple[str, str]]] = []
    for row, path in enumerate(critical_paths(host_graph, edges[windows], edges[windows + 1])):
        path_ps[row], switches[row] = path.ps(), path.switches(host_graph)
        times.append(_ps_by_name(host, path))
    names = [name for name, _ in sum(times, Counter()).most_common(_MOST_NAMES)]
    name_ps = np.array([[path_times[name] for name in names] for path_times in times], np.int64)
    return path_ps, names, name_ps.reshape(len(times), len(names)), switches
