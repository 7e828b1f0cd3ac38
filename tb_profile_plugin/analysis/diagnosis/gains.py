"""What a step would be shorter without a cause, at most."""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.arrays import Array
from ..activity.states import HOST_CAUSES, STATES, WORK_STATES, State
from ..steps.typical_times import Typical
from .causes import HOST_LATE, states_named_between
from .program.facts import UNRECORDED_DEVICE
from .program.program_facts import ProgramFacts
from .time_loss import COMMUNICATION, NAMED_BY_TRACERS, UNUSED, WORK, TimeLoss

_NO_GAIN = (WORK, UNUSED, "unexplained", "before_capture", "not_recorded", "counted", "stream")
"""Causes that cannot go away, or of which that cannot be told."""
_EAGER, _INPUT, _STRAGGLER = "eager", "input", "late_peer"
_NO_WORK = 0.03
"""With less than this share of the period at work, no work was recorded."""
_NOTABLY_MORE, _MORE_OF_CAUSE = 0.005, 0.01
"""Shares of the period, and of what a cause takes, from which on a gain beyond that is no chance."""
_LITTLE_ALONE = 1 / 3
"""Share of its time that one of several ways of being late saves alone, below which that is little."""
_UNSEEN = 0.2
"""Share of the period by which a replay may differ from what was recorded."""
_SILENT = 0.02
"""Share of the host's time that was recorded, below which nothing tells what it waits for."""


def gain(loss: TimeLoss, typical: Typical) -> int | None:
    """ps that a step would be shorter without the cause, at most: replayed where it can be, else all of its time, and
    no less than that where it may be awaited unseen. Of work it is what a remedy found that does without.

    Of a cause of which the time between steps has another name, only what steps gain. None for `_NO_GAIN`, for input
    that takes cores from a CPU which computes meanwhile, where nothing was replayed, and where nothing was recorded of
    what the host does, since it may wait for anything then.
    """
    if typical.replayed is None:
        return None
    if loss.id == WORK and loss.remedy is not None and loss.remedy.most_ps is not None:
        return round(min(loss.remedy.most_ps, loss.ps))
    if loss.id in _NO_GAIN or (loss.shares_cores and sets_pace_of_compute(loss, typical)):
        return None
    if loss.id not in NAMED_BY_TRACERS and _host_is_silent(typical):
        return None
    if loss.costs_nothing:
        return round(loss.winnable_ps)
    scenario = {"retrace": "compile", "pauses": "between"}.get(loss.id, loss.id)
    replayed = typical.replayed.get(scenario)
    remedy_ps = loss.remedy.most_ps if loss.remedy is not None else None
    if replayed is None:
        # Work that workers share is not gone.
        return round(loss.ps if remedy_ps is None or loss.id != _STRAGGLER else min(loss.ps, remedy_ps))
    if loss.shares_cores and loss.id in HOST_LATE and _waits_unseen(typical):
        return round(loss.ps)
    covers_gaps = set(loss.states) <= set(states_named_between(typical))
    gain_ps = replayed.gain_ps if covers_gaps else replayed.step_gain_ps
    # A host's own replay does not know that a straggler would come as late without communication.
    beside_straggler = loss.id in COMMUNICATION and typical.late_peer is not None
    least_ps = loss.ps if loss.awaited_unseen else 0.0
    most_ps = loss.ps if beside_straggler else typical.steady_ps or typical.period_ps
    # Of input also what steps that do not wait are shorter than those that do, and what its remedy saves.
    bounds = (most_ps, loss.most_ps, remedy_ps if loss.id == _INPUT else None)
    most_ps = min(ps for ps in bounds if ps is not None)
    if loss.shares_cores:
        most_ps = min(most_ps, _idle_ps(loss, scenario, typical.state_ps if covers_gaps else typical.step_ps))
    gain_ps = min(max(gain_ps - loss.other_causes_ps, least_ps), most_ps)
    # A hair more than the cause takes needs a reason that nobody can give.
    return round(gain_ps if gains_more(gain_ps, loss, typical) else min(gain_ps, loss.ps))


def _waits_unseen(typical: Typical) -> bool:
    """Whether a replay does not know what steps wait for: it lasts shorter than they do, or keeps notable time that is
    not what remains of them without all that hosts do.
    """
    replays, period_ps, steady_ps = typical.replayed or {}, typical.period_ps, typical.steady_ps or 0.0
    host_gain_ps = replays["host"].gain_ps if "host" in replays else 0.0
    host_ps = _scenario_ps("host", typical)
    shortfall_ps = max(period_ps - steady_ps, steady_ps - host_gain_ps - (period_ps - host_ps))
    return shortfall_ps > _UNSEEN * period_ps


def _scenario_ps(scenario: str, typical: Typical) -> float:
    """ps of a step that the states take which a scenario does without."""
    # Only those need it who ask for replays.
    from ..steps.what_if import SCENARIOS

    return float(typical.state_ps[list(SCENARIOS[scenario])].sum())


def sets_pace_of_compute(loss: TimeLoss, typical: Typical) -> bool:
    """Whether steps compute for longer than they wait for input that sets the pace."""
    return loss.sets_pace and bool(typical.state_ps[State.COMPUTE] > loss.ps)


def _idle_ps(loss: TimeLoss, scenario: str, state_ps: Array) -> float:
    """ps of a step that a cause takes, and in which a CPU is idle for what ends with it; a host that waits for no
    result runs ahead with all that it does. ``state_ps`` (float64[states]) is the time of each state.
    """
    # Only those need it who ask for replays.
    from ..steps.what_if import SCENARIOS

    states = {*SCENARIOS[scenario], *(SCENARIOS["host"] if scenario == "sync" else ())}
    return max(loss.ps, float(state_ps[[*states]].sum()) - loss.other_causes_ps)


def gains_more(gain_ps: float, loss: TimeLoss, typical: Typical) -> bool:
    """Whether a step is notably shorter without a cause than by its time alone, since other waits end with it."""
    return gain_ps - loss.ps >= max(_NOTABLY_MORE * typical.period_ps, _MORE_OF_CAUSE * loss.ps)


def saves_little_alone(gain_ps: float, loss: TimeLoss, typical: Typical) -> bool:
    """Whether a way in which the host is late saves little of its time alone, and all ways together save at least
    theirs: without one of them the device waits for the next.
    """
    by_host = (typical.replayed or {}).get("host")
    if loss.id not in HOST_LATE or by_host is None or gain_ps >= _LITTLE_ALONE * loss.ps:
        return False
    return by_host.gain_ps >= max(_scenario_ps("host", typical), loss.ps)


def scenario_gains(losses: Sequence[tuple[TimeLoss, int | None]], typical: Typical) -> dict[str, float]:
    """ps that a step would be shorter in each scenario, at most: as replayed, but no less than without a cause alone
    that the scenario does without; of communication beside a straggler no more than lasts beyond the wait for it. Eager
    execution ends only where it is a cause.

    ``losses`` come with their `gain`.
    """
    if typical.replayed is None:
        return {}
    # Only those need it who ask for replays.
    from ..steps.what_if import SCENARIOS

    states_of_scenario = {id: {STATES[state] for state in states} for id, states in SCENARIOS.items()}
    own_gains = [(states_of_scenario.get(loss.id, set(loss.states)), own_ps or 0.0) for loss, own_ps in losses]
    gains = {}
    replays = dict(typical.replayed)
    if all(loss.id != _EAGER for loss, _ in losses):
        replays.pop(_EAGER, None)
    for id, replayed in replays.items():
        gain_ps, without = replayed.gain_ps, states_of_scenario[id]
        if id in COMMUNICATION and typical.late_peer is not None:
            beyond_wait_ps = _scenario_ps(id, typical) - typical.late_peer.waiting_ps
            gain_ps = min(gain_ps, beyond_wait_ps)
        if id == _INPUT:
            gain_ps = min([gain_ps, *(own_ps for loss, own_ps in losses if loss.id == _INPUT and own_ps is not None)])
        least_ps = max((own_ps for states, own_ps in own_gains if states and states <= without), default=0.0)
        gains[id] = max(gain_ps, least_ps)
    return gains


def works_elsewhere(program: ProgramFacts, typical: Typical) -> bool:
    """Whether what computes is a device of which nothing was recorded, so that it may be busy at any time."""
    works = typical.share(*WORK_STATES)
    return UNRECORDED_DEVICE in program.facts and works < _NO_WORK


def _host_is_silent(typical: Typical) -> bool:
    """Whether next to nothing was recorded of what the host does while devices are idle."""
    unrecorded = float(typical.state_ps[State.UNRECORDED])
    recorded = float(typical.state_ps[list(HOST_CAUSES)].sum()) - unrecorded
    return recorded <= _SILENT * unrecorded and unrecorded > 0
