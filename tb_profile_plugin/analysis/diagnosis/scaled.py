"""What the typical step would last if one op took another time: the replay behind the slider of the page Why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model.events.intervals import union
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.messages import Message
from ...runtime.problems import problem_error
from ...runtime.records import NamedTuple
from ..activity.devices.device_work import device_work
from ..activity.replay.replay import Scenario
from ..labels.label_texts import event_label
from ..steps.host_account import host_account
from ..steps.step_time import StepTimes, slowest_steps
from ..steps.typical_times import typical_windows
from ..steps.what_if import lengths, replayed_graph, replayed_windows
from .catalogue import Sentence

_NEGLIGIBLE_SHARE = 0.005
"""A change by less than this share of the step is told as none."""
MOST = 10.0
"""An op that takes more times as long is another program."""


class Scaled(NamedTuple):
    """The typical step with one op changed. Times are ps, means over hosts and the steps that count."""

    op_ps: float
    """How long a device runs the op in a step, as recorded; whatever else runs meanwhile, and no moment counts twice.
    Devices are added up.
    """
    period_ps: float
    """From step to step, as recorded."""
    gain_ps: float
    """What that would be shorter, at most; negative where it would be longer."""
    sentence: Sentence

    def as_json(self) -> dict[str, Any]:
        """As the route answers it."""
        times = {"op_ps": self.op_ps, "period_ps": self.period_ps, "gain_ps": self.gain_ps}
        return {name: round(ps) for name, ps in times.items()} | {"text": self.sentence.text}


def scaled(hosts: Sequence[HostWithSteps], op: str, factor: float, wanted: str = "typical") -> Scaled:
    """The step where events take ``factor`` (0 to `MOST`) times their time; ``op`` is their name as `why` has it.

    Raises `ProblemError` (422) for a factor beyond that, and (404) where no device has an event of that name.
    """
    if not 0 <= factor <= MOST:
        remedy = Message("Give a number from 0 to {most}, such as 0.5 for half the time.", most=f"{MOST:.0f}")
        raise problem_error(
            "bad_option", Message("factor={factor} is out of range.", factor=f"{factor:g}"), remedy, status=422
        )
    steps = slowest_steps(hosts, wanted)
    host_times = [_host_times(host, steps, op, factor) for host in hosts]
    if not any(times.events for times in host_times):
        remedy = Message("Choose a name of work of a device from the table names of the tool why.")
        raise problem_error(
            "no_such_op", Message("No device has an event of the name {op}.", op=repr(op)), remedy, status=404
        )
    _, op_ps, period_ps, gain_ps = np.mean(host_times, axis=0).tolist()
    gain_ps = 0.0 if abs(gain_ps) < _NEGLIGIBLE_SHARE * period_ps else gain_ps
    facts = {
        "name": op,
        "factor": f"{factor:g}",
        "op_ps": round(op_ps),
        "step_ps": round(period_ps),
        "time_ps": round(period_ps - gain_ps),
    }
    if not gain_ps:
        return Scaled(op_ps, period_ps, gain_ps, Sentence("scaled.same", facts))
    code = "scaled.shorter" if gain_ps > 0 else "scaled.longer"
    return Scaled(op_ps, period_ps, gain_ps, Sentence(code, facts | {"share": abs(gain_ps) / period_ps}))


class _HostTimes(NamedTuple):
    """The typical step of one host, as fields of `Scaled`."""

    events: int
    """How many have the op's name."""
    op_ps: float
    period_ps: float
    gain_ps: float


def _host_times(host: HostWithSteps, steps: StepTimes, op: str, factor: float) -> _HostTimes:
    events = _device_events(host, op)
    if replayed_graph(host) is None:
        return _HostTimes(len(events), 0.0, 0.0, 0.0)
    edges = host_account(host).edges
    time = _time_by_window(host, events, edges)
    rows = replayed_windows(host)
    op_ps = typical_windows(host, steps).of_replayed(rows).period_ps(time[rows])
    period_ps = typical_windows(host, steps).period_ps(np.diff(edges))
    gain_ps = gain_of_events(host, events, factor, steps)
    # A step after an unusual one begins earlier where that takes less: this is no gain of its own.
    return _HostTimes(len(events), op_ps, period_ps, min(gain_ps, (1 - factor) * op_ps) if factor < 1 else gain_ps)


def _time_by_window(host: Host, events: Array, edges: Array) -> Array:
    """float64[windows] ps: how long devices run any of these events, by the window in which that begins."""
    time = np.zeros(len(edges) - 1)
    for work in device_work(host):
        rows = np.flatnonzero(np.isin(work.event, events))
        # Threads of a pool work for an op of the CPU at once, and after its own event.
        begin, end = union(work.begin[rows], work.end[rows])
        window = (np.searchsorted(edges, begin, "right") - 1).clip(0, len(edges) - 2)
        time += np.bincount(window, end - begin, len(edges) - 1)
    return time


def gain_of_events(host: HostWithSteps, events: Array, factor: float, steps: StepTimes) -> float:
    """ps that a step is shorter, in the long run, if these events of a host's devices take so many times as long."""
    before, after = lengths(host, [Scenario(), Scenario(events=events, factor=factor)])
    windows = typical_windows(host, steps).of_replayed(replayed_windows(host))
    return windows.gain_ps(before, after)


def _device_events(host: Host, op: str) -> Array:
    """int64[k]: the events of devices with that label, see `event_label`."""
    is_named_so = np.zeros(len(host.trace.names), bool)
    is_named_so[_names_by_label(host).get(op, [])] = True
    events = [work.event[is_named_so[host.trace.name_of[work.event]]] for work in device_work(host)]
    return np.concatenate([np.empty(0, np.int64), *events])


@per_host
def _names_by_label(host: Host) -> dict[str, list[int]]:
    """By label the trace's names that devices' events have."""
    names_by_label: dict[str, list[int]] = {}
    names = [host.trace.name_of[work.event] for work in device_work(host)]
    for row in distinct(np.concatenate([np.empty(0, np.int64), *names])).tolist():
        names_by_label.setdefault(event_label(host.trace.names[row]), []).append(row)
    return names_by_label
