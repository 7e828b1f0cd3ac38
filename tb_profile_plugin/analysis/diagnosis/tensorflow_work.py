"""What work of TensorFlow's ops is called: by the scope that a program, or a layer, made the ops in."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.framework import TENSORFLOW
from ...model.host import HostWithSteps
from ..activity.states import State
from ..ops.op_scopes import CONFUSION_MATRIX
from ..steps.host_account import figures
from ..steps.typical_times import Typical, typical_windows
from .program.facts import COMPARES_THRESHOLDS
from .program.program_facts import ProgramFacts
from .remedies.remedy import remedy
from .time_loss import MOSTLY, WORK, TimeLoss

_ALL = 0.999
"""Share of the compute that is all of it, but for rounding."""
_TELLS_MORE = 2
"""A scope that takes so many times as long as the ops of any type tells more than these do."""


def name_scopes(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> None:
    """Name what TensorFlow computes by the scope that takes most of it, where that tells more than types of ops; and
    say what metrics cost, where they take much.
    """
    if loss.id != WORK or program.framework != TENSORFLOW:
        return
    # What is computed between steps, and short ops, may have another cause.
    is_all = loss.ps >= _ALL * float(typical.state_ps[State.COMPUTE])
    times = _times(hosts, typical, is_all)
    name, ps = max(times.items(), key=lambda item: item[1], default=("", 0.0))
    most_of_type_ps = max((ps for _, ps, _ in loss.by_name()), default=0.0)
    is_of_steps = loss.ps >= _ALL * float(typical.step_ps[State.COMPUTE])
    if (is_all or is_of_steps) and ps >= MOSTLY * loss.ps and ps >= _TELLS_MORE * most_of_type_ps:
        loss.origins = [(name, ps)]
    if COMPARES_THRESHOLDS in program.facts:
        advice = remedy(TENSORFLOW, WORK, facts=frozenset({COMPARES_THRESHOLDS}))
        loss.remedy = advice._replace(most_ps=times.get(CONFUSION_MATRIX, 0.0))


def _times(hosts: Sequence[HostWithSteps], typical: Typical, between: bool) -> dict[str, float]:
    """By scope what it takes of the typical step, ps, also after it where ``between``: means over hosts."""
    times: dict[str, float] = {}
    for host in hosts:
        scopes, windows = figures(host).scopes, typical_windows(host, typical.steps)
        own = windows if between else windows._replace(between=windows.between[:0])
        for name in scopes.names:
            times[name] = times.get(name, 0.0) + own.period_ps(scopes.of(name)) / len(hosts)
    return times
