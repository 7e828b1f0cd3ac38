"""Steps that are not like the typical one, and what made each of them so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...model.events.intervals import union
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import message
from ..activity.device_events import device_work
from ..activity.states import STATES, State
from ..steps.host_account import HostFigures, figures
from ..steps.step_choice import UNUSUAL, WARM_UP
from ..steps.step_time import StepTimes
from ..steps.typical import period
from ..steps.typical_times import NamedTime, Typical
from .catalogue import LABELS, Sentence
from .time_loss import WORK, TimeLoss

_MOST = 50
"""Unusual steps that are told one by one, the longest."""
_EARLY = 0.1
"""Share of the first step in which devices still do what was launched before the capture: then it does not warm up."""
_EXPLAINS, _MOSTLY = 0.2, 0.5
"""Shares of what a step takes more, from which on a name explains it, and a kind of time does."""

_FIRST_BATCH, _CALLED_AGAIN = 10, 0.5
"""A wait for input that is so many times the typical one is for workers that start, if steps ask for so much more than
they typically do: an epoch ends with a call that has no batch.
"""


class UnusualStep(NamedTuple):
    """A step that warms up, or is far longer or shorter than the typical one."""

    step_index: int
    """Among the steps in order."""
    step: str
    host: str
    reason: str
    """`typical.WARM_UP` or `typical.UNUSUAL`."""
    ps: int
    more_ps: int
    """Than the typical step; negative where it is shorter."""
    id: str
    """Of the state that made it so; empty where none explains it."""
    name: str
    why: Sentence
    more_calls: bool = False
    """Whether what has that name happens more often than in the typical step."""


def unusual_steps(hosts: Sequence[HostWithSteps], typical: Typical) -> list[UnusualStep]:
    """The steps in order; of very many the longest."""
    indices = typical.choice.left_out(WARM_UP, UNUSUAL)
    longest = indices[np.argsort(-typical.steps.duration_ps[indices], kind="stable")[:_MOST]]
    by_name = {host.name: host for host in hosts}
    usual = _usual(typical.steps, typical.choice.selected)
    return [
        _unusual_step(by_name[typical.steps.host[index]], typical, usual, index) for index in np.sort(longest).tolist()
    ]


def _usual(steps: StepTimes, typical_indices: Array) -> int:
    return round(float(steps.duration_ps[typical_indices].mean())) if len(typical_indices) else 0


def _unusual_step(host: HostWithSteps, typical: Typical, usual: int, index: int) -> UnusualStep:
    steps, host_figures = typical.steps, figures(host)
    own = np.flatnonzero(host.steps.begin == steps.begin[index])
    row = host_figures.name_ps[host_figures.steps][own[0]] if len(own) else np.zeros(len(host_figures.names), np.int64)
    mean = {(time.state, time.name): (time.step_ps, time.step_count) for time in typical.names}
    typically, counts = np.array([mean.get(key, (0.0, 0.0)) for key in host_figures.names]).reshape(-1, 2).T
    took = int(steps.duration_ps[index])
    more = took - usual
    reason = typical.choice.reason[index]
    facts = (index, steps.name[index], host.name, reason, took, more)
    differs = (row - typically) * np.sign(more)
    best = int(differs.argmax()) if len(differs) else -1
    if best < 0 or differs[best] < _EXPLAINS * abs(more):
        return UnusualStep(*facts, *_by_state(host_figures, typical, own, more))
    state, name = host_figures.names[best]
    code = "unusual.shorter" if more < 0 else "unusual.longer" if typically[best] else "unusual.new"
    why = Sentence(code, {"name": name, "more_ps": round(float(differs[best]))})
    count = int(host_figures.name_count[host_figures.steps][own[0], best])
    return UnusualStep(*facts, state, name, why, more_calls=count >= counts[best] + _CALLED_AGAIN)


def _by_state(host_figures: HostFigures, typical: Typical, own: Array, more: int) -> tuple[str, str, Sentence]:
    """(id, name, why) where no name explains a step: what kind of time does, if one is most of it."""
    row = host_figures.state_ps[host_figures.steps][own[0]] if len(own) else np.zeros(len(STATES), np.int64)
    differs = (row - typical.step_ps) * np.sign(more)
    best = int(differs.argmax())
    if differs[best] < _MOSTLY * abs(more):
        return "", "", Sentence("unusual.unknown")
    code = "unusual.shorter" if more < 0 else "unusual.longer"
    facts = {"name": message(LABELS[STATES[best]]), "more_ps": round(float(differs[best]))}
    return STATES[best], "", Sentence(code, facts)


def cause_of_unusual(typical: Typical, unusual: Sequence[UnusualStep]) -> TimeLoss | None:
    """What the longer ones cost each step on average; None without any."""
    longer = [step for step in unusual if step.reason == UNUSUAL and step.more_ps > 0]
    indices = typical.choice.left_out(UNUSUAL)
    usual = _usual(typical.steps, typical.choice.selected)
    indices = indices[typical.steps.duration_ps[indices] > usual]
    if not longer or not usual:
        return None
    many = len(typical.steps)
    took = typical.steps.duration_ps[indices]
    every = period(indices)
    names: dict[tuple[str, str], float] = {}
    for step in longer:
        own = min(step.why.arguments.get("more_ps", step.more_ps), step.more_ps)
        for key, ps in (((step.id, step.name), own), (("", ""), step.more_ps - own)):
            names[key] = names.get(key, 0.0) + ps / many
    loss = TimeLoss("unusual_steps", float((took - usual).sum()) / many)
    loss.names = [NamedTime(*key, ps, len(longer) / many, 0.0, 0.0) for key, ps in names.items() if ps]
    usual_work = sum(step.more_ps for step in longer if step.id == WORK and step.why.code == "unusual.longer")
    loss.varies = not every and usual_work >= _MOSTLY * sum(step.more_ps for step in longer)
    loss.first_batches = took.mean() - usual >= _FIRST_BATCH * float(typical.state_ps[State.INPUT])
    loss.first_batches &= 2 * sum(step.more_calls for step in longer) > len(longer)
    # Those that warm up count among all steps, but take no longer than the typical one.
    loss.of_ps = (
        usual + float((np.delete(typical.steps.duration_ps, typical.choice.left_out(WARM_UP)) - usual).sum()) / many
    )
    loss.arguments = {
        "count": len(indices),
        "steps": many,
        "factor": _times(float(took.mean()) / usual),
        "period": Sentence("period.every", {"count": every}) if every else Sentence("period.none"),
        "every": every,
    }
    return loss


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"


@per_host(keep=True)
def early_share(host: HostWithSteps) -> float:
    """Of the first step, 0–1: in which devices do work that was launched before the capture; 0 without steps."""
    steps = host.steps
    if not len(steps):
        return 0.0
    low, high = int(steps.begin[0]), int(steps.end[0])
    begun = 0
    for work in device_work(host):
        early = work.early != 0
        begin, end = union(work.begin[early], work.end[early])
        begun = max(begun, int((np.minimum(end, high) - np.maximum(begin, low)).clip(min=0).sum()))
    return begun / max(high - low, 1)


def cause_of_warm_up(typical: Typical, early: float) -> TimeLoss | None:
    """What the first steps cost more than the typical one, by all steps; None where none warms up.

    ``early`` is the share of the first step in which devices do work from before the capture: what takes long there
    may be what went before.
    """
    indices = typical.choice.left_out(WARM_UP)
    if early >= _EARLY:
        indices = indices[indices > 0]
    usual = _usual(typical.steps, typical.choice.selected)
    more = float((typical.steps.duration_ps[indices] - usual).sum())
    if not len(indices) or more <= 0:
        return None
    every = float(typical.steps.duration_ps.mean())
    return TimeLoss("warmup", more / len(typical.steps), arguments={"count": len(indices)}, of_ps=every)
