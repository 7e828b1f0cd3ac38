"""Steps that are not like the typical one, and what made each of them so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.events.intervals import union
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import message
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_MS
from ..activity.devices.device_work import device_work
from ..activity.states import STATES, State
from ..labels.label_texts import OF_PYTHON, without_ending
from ..steps.choice_names import UNUSUAL, WARM_UP
from ..steps.host_account import HostAccount, host_account
from ..steps.step_choice import recurrence
from ..steps.typical_times import NamedTime, Typical, typical_windows
from .catalogue import LABELS, Sentence
from .causes import HOST_LATE
from .time_loss import WORK, TimeLoss

_MOST = 50
"""So many unusual steps are listed, the longest."""
_NOTABLY = 0.1
"""Share of the typical step, by which a step is longer or shorter that is listed."""
_EARLY = 0.1
"""The first step does not warm up where devices do work from before the capture in this share of it."""
_FEW_OF, _HOLD = 4, 0.75
"""At most one of so many steps are few; of a loss they hold at least that share."""
_EXPLAINS, _MOSTLY = 0.2, 0.5
"""Shares of what a step takes longer, from which on a name explains that, and a state does."""
_OF_STEPS = ("compute", "exposed_collective", "exposed_copy", "dispatch", "launch", "python", "between")
"""States of what each step does by itself: neither what later steps reuse nor a wait for what else is done."""
_SLOW_FACTOR = 1.3
"""A first step that takes so many times as long as the typical one is slow: fewer happen by chance."""
_LEAST_TURNS = 4
"""So many steps in which the host takes longer for what it does in every step are no chance; work may be in any."""
_FIRST_BATCH, _CALLED_AGAIN = 10, 0.5
"""A wait for input of so many times the typical one is for workers that start, if steps ask for input so much more
often than they typically do: an epoch ends with a call that has no batch.
"""


class UnusualStep(NamedTuple):
    """A step that warms up, or is far longer or shorter than the typical one."""

    step_index: int
    """Among the steps in order."""
    step: str
    host: str
    reason: str
    """`choice_names.WARM_UP` or `choice_names.UNUSUAL`."""
    ps: int
    more_ps: int
    """Than the typical step; negative where it is shorter."""
    id: str
    """Id of the state that made it so; empty where none explains it."""
    name: str
    why: Sentence
    more_calls: bool = False
    """Whether what has that name happens more often than in the typical step."""

    @property
    def does_the_same(self) -> bool:
        """Whether what each step does takes longer in it, as often as in others: neither new work nor new memory."""
        return self.why.code == "unusual.longer" and not self.more_calls and self.id in _OF_STEPS


def unusual_steps(hosts: Sequence[HostWithSteps], typical: Typical) -> list[UnusualStep]:
    """The steps in order; of very many the longest. Those that warm up and are no longer than others are not among
    them.
    """
    indices = typical.choice.left_out(WARM_UP, UNUSUAL)
    typical_ps = _typical_ps(typical)
    more_ps = typical.steps.duration_ps[indices] - typical_ps
    warms_up = np.isin(indices, typical.choice.left_out(WARM_UP))
    indices = indices[np.where(warms_up, more_ps, np.abs(more_ps)) >= _NOTABLY * typical_ps]
    longest = indices[np.argsort(-typical.steps.duration_ps[indices], kind="stable")[:_MOST]]
    by_name = {host.name: host for host in hosts}
    return [
        _unusual_step(by_name[typical.steps.host[index]], typical, typical_ps, index)
        for index in np.sort(longest).tolist()
    ]


def _typical_ps(typical: Typical) -> int:
    """The mean duration of the steps that count; 0 without any."""
    selected = typical.choice.selected
    return round(float(typical.steps.duration_ps[selected].mean())) if len(selected) else 0


def _unusual_step(host: HostWithSteps, typical: Typical, typical_ps: int, index: int) -> UnusualStep:
    steps, account = typical.steps, host_account(host)
    rows = np.flatnonzero(host.steps.begin == steps.begin[index])
    name_ps = account.name_ps[account.steps][rows[0]] if len(rows) else np.zeros(len(account.names), np.int64)
    means = {(time.state, time.name): (time.step_ps, time.step_count) for time in typical.names}
    mean_ps, mean_counts = np.array([means.get(key, (0.0, 0.0)) for key in account.names]).reshape(-1, 2).T
    step_ps = int(steps.duration_ps[index])
    more_ps = step_ps - typical_ps
    reason = typical.choice.reason[index]
    facts = (index, steps.name[index], host.name, reason, step_ps, more_ps)
    differences = (name_ps - mean_ps) * np.sign(more_ps)
    best = int(differences.argmax()) if len(differences) else -1
    if best < 0 or differences[best] < _EXPLAINS * abs(more_ps):
        return UnusualStep(*facts, *_by_state(account, typical, rows, more_ps))
    state, name = account.names[best]
    name = without_ending(name, OF_PYTHON)
    code = "unusual.shorter" if more_ps < 0 else "unusual.longer" if mean_ps[best] else "unusual.new"
    why = Sentence(code, {"name": name, "more_ps": round(float(differences[best]))})
    count = int(account.name_count[account.steps][rows[0], best])
    return UnusualStep(*facts, state, name, why, more_calls=count >= mean_counts[best] + _CALLED_AGAIN)


def _by_state(account: HostAccount, typical: Typical, rows: Array, more_ps: int) -> tuple[str, str, Sentence]:
    """(id, name, why) where no name explains a step: by the state that is most of what it takes longer, if any is."""
    state_ps = account.state_ps[account.steps][rows[0]] if len(rows) else np.zeros(len(STATES), np.int64)
    differences = (state_ps - typical.step_ps) * np.sign(more_ps)
    best = int(differences.argmax())
    if differences[best] < _MOSTLY * abs(more_ps):
        return "", "", Sentence("unusual.unknown")
    code = "unusual.shorter" if more_ps < 0 else "unusual.longer"
    facts = {"name": message(LABELS[STATES[best]]), "more_ps": round(float(differences[best]))}
    return STATES[best], "", Sentence(code, facts)


def few_steps_sentence(loss: TimeLoss, host: HostWithSteps, typical: Typical) -> Sentence | None:
    """That few of the steps that count hold most of a loss of the only host; None where it is spread over more."""
    if not typical.has_steps or loss.id == WORK:
        return None
    states = [STATES.index(state) for state in loss.states]
    ps = host_account(host).state_ps[typical_windows(host, typical.steps).steps][:, states].sum(axis=1)
    count, total_ps = len(ps) // _FEW_OF, int(ps.sum())
    # Of states with several causes, and of time between steps, single steps tell little.
    if not count or not _HOLD * loss.ps <= total_ps / len(ps) <= loss.ps / _HOLD:
        return None
    cumulative_share = np.sort(ps)[::-1].cumsum() / total_ps
    count = int(np.searchsorted(cumulative_share, _HOLD)) + 1
    if count > len(ps) // _FEW_OF:
        return None
    return Sentence("few.steps", {"share": float(cumulative_share[count - 1]), "count": count, "steps_count": len(ps)})


def cause_of_unusual(typical: Typical, unusual: Sequence[UnusualStep]) -> TimeLoss | None:
    """What unusual steps that are longer cost each step on average; None without any."""
    longer = [step for step in unusual if step.reason == UNUSUAL and step.more_ps > 0]
    indices = typical.choice.left_out(UNUSUAL)
    typical_ps = _typical_ps(typical)
    indices = indices[typical.steps.duration_ps[indices] > typical_ps]
    if not longer or not typical_ps:
        return None
    step_count = len(typical.steps)
    longer_ps = typical.steps.duration_ps[indices]
    every = recurrence(indices)
    names: dict[tuple[str, str], float] = {}
    for step in longer:
        named_ps = min(step.why.arguments.get("more_ps", step.more_ps), step.more_ps)
        for key, ps in (((step.id, step.name), named_ps), (("", ""), step.more_ps - named_ps)):
            names[key] = names.get(key, 0.0) + ps / step_count
    loss = TimeLoss("unusual_steps", float((longer_ps - typical_ps).sum()) / step_count)
    loss.names = [NamedTime(*key, ps, len(longer) / step_count, 0.0, 0.0) for key, ps in names.items() if ps]
    by_chance = (WORK, *HOST_LATE, "sync") if len(longer) < _LEAST_TURNS else (WORK,)
    usual_ps = sum(step.more_ps for step in longer if step.id in by_chance and step.why.code == "unusual.longer")
    loss.varies = not every and usual_ps >= _MOSTLY * sum(step.more_ps for step in longer)
    loss.first_batches = longer_ps.mean() - typical_ps >= _FIRST_BATCH * float(typical.state_ps[State.INPUT])
    loss.first_batches &= 2 * sum(step.more_calls for step in longer) > len(longer)
    # Those that warm up count among all steps, but take no longer than the typical one.
    loss.base_ps = (
        typical_ps
        + float((np.delete(typical.steps.duration_ps, typical.choice.left_out(WARM_UP)) - typical_ps).sum())
        / step_count
    )
    loss.arguments = {
        "count": len(indices),
        "steps": step_count,
        "factor": _factor_text(float(longer_ps.mean()) / typical_ps),
        "period": Sentence("period.every", {"count": every}) if every else Sentence("period.none"),
        "every": every,
    }
    return loss


def _factor_text(factor: float) -> str:
    """Two digits, or whole numbers from 100 on."""
    return f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"


@per_host(keep=True)
def early_share(host: HostWithSteps) -> float:
    """Share of the first step, 0–1, in which devices do work that was launched before the capture; 0 without steps."""
    steps = host.steps
    if not len(steps):
        return 0.0
    low, high = int(steps.begin[0]), int(steps.end[0])
    early_ps = 0
    for work in device_work(host):
        is_early = work.launched_before_capture != 0
        begin, end = union(work.begin[is_early], work.end[is_early])
        early_ps = max(early_ps, int((np.minimum(end, high) - np.maximum(begin, low)).clip(min=0).sum()))
    return early_ps / max(high - low, 1)


def cause_of_warm_up(typical: Typical, unusual: Sequence[UnusualStep], early: float) -> TimeLoss | None:
    """What those of the ``unusual`` steps that warm up take longer than the typical one, per step; None where none is
    slow.

    ``early`` is `early_share`: where that is large, the first step may be long by what went before.
    """
    least_ps = (_SLOW_FACTOR - 1) * _typical_ps(typical)
    longer = [step for step in unusual if step.reason == WARM_UP and step.more_ps > least_ps]
    longer = [step for step in longer if step.step_index > 0 or early < _EARLY]
    more_ps = sum(step.more_ps for step in longer)
    if not longer:
        return None
    mean_ps = float(typical.steps.duration_ps.mean())
    arguments: dict[str, object] = {"count": len(longer)}
    if typical.steps.ms(State.COMPILE)[[step.step_index for step in longer]].sum() * PS_PER_MS >= _EXPLAINS * more_ps:
        arguments["compiles"] = True
    elif sum(step.more_ps for step in longer if step.does_the_same) >= _MOSTLY * more_ps:
        arguments["does_the_same"] = True
    return TimeLoss("warmup", more_ps / len(typical.steps), arguments=arguments, base_ps=mean_ps)
