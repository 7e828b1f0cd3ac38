"""From times to causes: what makes the typical step as long as it is, the largest first, in sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.states import STATES, WORK_STATES, State
from ..labels.event_names import short_name
from ..labels.label_texts import HOST_MEMORY, OF_PYTHON, ON_CPU, without_ending
from ..steps.host_account import Interval
from ..steps.typical_times import LongPauses, NamedTime, Typical
from .catalogue import LABELS, Sentence, joined
from .cause_kinds import MOSTLY, OPTIMIZER, PAUSE
from .remedies.remedy import Remedy
from .time_loss import BY_ENDING, EVALUATION, WORK, TimeLoss

Confidence = Literal["high", "medium", "low"]

_WORK_STATES = tuple(STATES[state] for state in WORK_STATES)
"""States of devices at work, which keep their names between steps."""
_STATES_WITH_NAMES_BETWEEN = ("input", "compile", "callback", "pause", "sync", "collective_host", "transfer")
"""States that keep their names between steps if they take most of the time lost there; else it is `between_steps`."""
HOST_LATE = (
    "dispatch",
    "python",
    "unrecorded",
    "launch",
    "latency",
    "between",
    "allocator",
    "eager",
    "transfer",
    "cpu_ops",
)
"""Causes for which a device waits since its host launches too late."""
_MOST_PAUSE_KINDS = 3
"""So many kinds of pauses a sentence names."""
_SPLIT_CAUSES = ("dispatch", "eager", "python", "sync", "launch", "allocator")
"""Causes of which `BY_ENDING` makes parts causes of their own."""
_FUNCTION = regex(r" \(([^()/.]+)\.py:\d+\)$")
"""End of the name of a function, in a file outside libraries."""
_COMPILER = "ompil"
"""What all compilers' events have in their names, with either first letter."""
_CALL_CAUSES = ("dispatch", "launch", "python", "unrecorded")
"""Causes that are one, ``eager``, where the host dispatches many calls one by one."""
TINY_CALLS, _TINY_PS = 50, 100e6
"""So many calls in a step, of so little work each (100 µs), are ops run one by one …"""
_LEAST_ONE_BY_ONE = 0.7
"""Share of what the host loses, no more than that for each call, from which on calls in a row explain it."""
_TINY_PYTHON_PS = 20e6
"""… and so much Python for each (20 µs), or less than the calls themselves take, belongs to them; all of it, where one
call follows the other for most of the step, or for as long as all of that takes."""
_LONG_PYTHON_PS = 1e9
"""A function whose intervals last so long on average (1 ms) is code of its own, not what passes between calls."""
_COSTS_OF_OPS = ("eager", "dispatch")
"""Causes that short ops of a CPU are part of."""
_SILENT_STATES = (State.UNRECORDED, State.UNEXPLAINED, State.PYTHON)
"""In which moments without an event are: where Python is traced, these are Python's."""
_SHORT_PS, _MOSTLY_NAMED = 50e6, 0.9
"""Ops that last so long on average (50 µs) are not short, judged where those with names make up so much of the work."""
NAMES = 10
"""So many names are listed of each cause."""


class Cause(NamedTuple):
    """Why the typical step is as long as it is. Times are ps."""

    id: str
    per_step_ps: int
    share: float
    """Share of the time from step to step, 0–1; of the capture where no step was found."""
    gain_ps: int | None
    """What a step would be shorter without it, at most; None where that cannot be told."""
    confidence: Confidence
    """By how much of the period nothing explains."""
    then: str
    """Id of what limits the step then; empty where nothing else takes time."""
    sentence: Sentence
    remedy: Remedy
    names: Sequence[tuple[str, int, float]]
    """(name, ps per step, intervals per step) of what takes the time, the largest first."""
    evidence: Sequence[Interval]
    base_ps: float | None = None
    """What ``share`` is a share of: of causes of single steps the mean over all steps; None for the typical period."""

    @property
    def label(self) -> str:
        """Its name in a table."""
        return LABELS[self.id]


class DispatchedCalls(NamedTuple):
    """What a step dispatches, see `dispatched_calls`; the most of any host."""

    per_step: float
    one_by_one_share: float
    short_ops_ps: float = 0.0
    """ps per step of ops that are mostly their calls."""
    long_share: float = 0.0
    """Share of the time in typical steps of which nothing was recorded, 0–1, in intervals of 1 ms and more."""


def losses_by_cause(
    typical: Typical, calls: DispatchedCalls, is_unrecorded: bool, gap_cause: str = ""
) -> list[TimeLoss]:
    """The typical step's time by cause, `WORK` among them; they sum to the period.

    ``is_unrecorded`` says that a device is there of which nothing was recorded. Time between steps has the cause
    ``gap_cause`` if that is not empty, except for a state that is most of it and no work.
    """
    cause_ids = _cause_ids(typical, calls, is_unrecorded, gap_cause)
    losses: dict[str, TimeLoss] = {}
    for (state, between), id in cause_ids.items():
        loss = losses.setdefault(id, TimeLoss(id))
        index = STATES.index(state)
        ps = float((typical.between_ps if between else typical.step_ps)[index])
        loss.ps += ps
        loss.silent_ps += ps * (index in _SILENT_STATES)
        loss.states = (*loss.states, state)
    for id in {"between_steps", EVALUATION}.intersection(losses):
        losses[id].arguments = {"few": _long_pauses_sentence(typical.long_pauses)}
        losses[id].long_pauses = typical.long_pauses
    for loss in losses.values():
        named_times = [
            time for time in typical.names if loss.id in (cause_ids[time.state, False], cause_ids[time.state, True])
        ]
        loss.names = [_part_with_cause(time, cause_ids, loss.id) for time in named_times]
    _split_late_peer(losses, typical)
    names = {time.name for time in typical.names if time.state == "python"}
    for ending, id in BY_ENDING.items():
        _split_by_ending(losses, ending, id)
    for loss in losses.values():
        loss.names = [time._replace(name=without_ending(time.name, OF_PYTHON)) for time in loss.names]
    if "python" in losses:
        largest = next((name for name, _, _ in losses["python"].by_name()), "")
        losses["python"].dispatches_ops = _is_of_program(largest) and largest + OF_PYTHON not in names
    if "eager" in losses:
        silent_ps = float(typical.step_ps[State.UNRECORDED])
        _limit_eager(losses, silent_ps, calls.long_share * silent_ps)
    for id in losses.keys() & _COSTS_OF_OPS:
        losses[id].ops_ps = min(calls.short_ops_ps, losses[id].ps)
    if PAUSE in losses:
        _explain_pauses(losses[PAUSE], typical)
    return [loss for loss in losses.values() if loss.ps > 0]


def _cause_ids(
    typical: Typical, calls: DispatchedCalls, is_unrecorded: bool, gap_cause: str
) -> dict[tuple[str, bool], str]:
    """The cause of each state's time, by (state, whether it lies between steps)."""
    gap_cause = gap_cause or ("between_steps" if _works_in_few_pauses(typical) else "")
    states_between = states_named_between(typical)
    cause_ids = {}
    for index, state in enumerate(STATES):
        between_id = state if state in states_between else "between_steps"
        is_most = 2 * typical.between_ps[index] > typical.between_ps.sum() and state not in _WORK_STATES
        if gap_cause and (gap_cause == EVALUATION or not is_most):
            between_id = gap_cause
        for between, id in ((False, state), (True, between_id)):
            cause_ids[state, between] = _refined(id, typical, calls, is_unrecorded)
    return cause_ids


def _works_in_few_pauses(typical: Typical) -> bool:
    """Whether most of the time between steps is work of few parts, such as an evaluation: no work of each step."""
    work_ps = float(typical.between_ps[[*WORK_STATES]].sum())
    return typical.long_pauses is not None and 2 * work_ps > float(typical.between_ps.sum())


def _explain_pauses(pause: TimeLoss, typical: Typical) -> None:
    """Say what pauses are for, as far as names tell, and how often they come where most of them lie between steps."""
    between = 2 * sum(time.between_ps for time in pause.names) > pause.ps
    pause.long_pauses = typical.long_pauses if between else None
    kinds = [Sentence(f"pause.{kind}") for kind in pause.kinds[:_MOST_PAUSE_KINDS]]
    pause.arguments = {"few": _long_pauses_sentence(pause.long_pauses)} | ({"parts": joined(kinds)} if kinds else {})


def name_pauses(losses: Sequence[TimeLoss]) -> None:
    """Call what passes between one op of a CPU and the next pauses, where ops are not short: threads did not run."""
    work = next((loss for loss in losses if loss.id == WORK), TimeLoss(WORK))
    named_ps, count = sum(ps for _, ps, _ in work.by_name()), sum(count for _, _, count in work.by_name())
    are_long = named_ps >= _MOSTLY_NAMED * work.ps and named_ps >= _SHORT_PS * count > 0
    for loss in losses:
        if loss.id == "between" and are_long:
            loss.id = "pauses"


def _long_pauses_sentence(long: LongPauses | None) -> Sentence:
    """That most of the time lies in few parts, and how often these come; without words for None."""
    if long is None:
        return Sentence("few.none")
    period = Sentence("period.every", {"count": long.every}) if long.every else Sentence("period.none")
    return Sentence("few.some", {"share": long.share, "count": long.count, "gaps_count": long.pauses, "period": period})


def states_named_between(typical: Typical) -> tuple[str, ...]:
    """The states that keep their names between steps."""
    times = dict(zip(STATES, typical.between_ps.tolist(), strict=True))
    loss_ps = sum(ps for state, ps in times.items() if state not in _WORK_STATES)
    return (*_WORK_STATES, *(state for state in _STATES_WITH_NAMES_BETWEEN if 2 * times[state] > loss_ps))


def _split_late_peer(losses: dict[str, TimeLoss], typical: Typical) -> None:
    """Take the wait for the host that comes last out of what communication costs."""
    late = typical.late_peer
    if late is None:
        return
    wait = TimeLoss("late_peer", late.waiting_ps, states=("exposed_collective", "collective_host"))
    wait.names = [NamedTime("exposed_collective", "", late.waiting_ps, 1.0, 0.0, 0.0)]
    own_work = short_name(late.own_work)
    what = Sentence("list.1", {"name": own_work}) if own_work else Sentence(f"label.{late.state}")
    wait.arguments = {"host": late.host, "label": what, "state": late.state, "more_ps": round(late.more_ps)}
    if late.every:
        wait.arguments["every"] = late.every
    left_ps = late.waiting_ps
    for id in wait.states:
        if id in losses:
            moved_ps = min(left_ps, losses[id].ps)
            remaining_share = 1 - moved_ps / losses[id].ps if losses[id].ps else 0.0
            losses[id].names = [
                time._replace(step_ps=remaining_share * time.step_ps, between_ps=remaining_share * time.between_ps)
                for time in losses[id].names
            ]
            losses[id].ps -= moved_ps
            left_ps -= moved_ps
    losses["late_peer"] = wait


def _is_of_program(name: str) -> bool:
    """Whether it is that of a function of the program, as readers see it."""
    function = _FUNCTION.search(name)
    return function is not None and function[1] not in sys.stdlib_module_names


def _split_by_ending(losses: dict[str, TimeLoss], ending: str, id: str) -> None:
    """Move the times of names with that ending from causes that only say what kind of time it is to one of that id."""
    for source_id in _SPLIT_CAUSES:
        if source_id in losses and source_id != id:
            named_times = [time for time in losses[source_id].names if time.name.endswith(ending)]
            _move(losses, source_id, id, named_times)
    if id in losses:
        losses[id].names = [time._replace(name=without_ending(time.name, ending)) for time in losses[id].names]


def _limit_eager(losses: dict[str, TimeLoss], silent_ps: float, long_ps: float) -> None:
    """Keep to calls one by one: without functions of Python that last long, and without ``long_ps`` of the
    ``silent_ps`` in which there is no event.
    """
    eager = losses["eager"]
    times = [time for time in eager.names if time.state == "python"]
    _move(losses, "eager", "python", [time for time in times if _is_long(time)])
    _move(losses, "eager", "unrecorded", [NamedTime("unrecorded", "", long_ps, 0.0, 0.0, 0.0)])
    others = [time for loss in losses.values() if loss.id != "python" for time in loss.names if time.state == "python"]
    other_ps = {"python": sum(time.step_ps for time in others), "unrecorded": silent_ps - long_ps}
    for id in other_ps.keys() & losses.keys():
        losses[id].other_causes_ps = other_ps[id]
    # Where Python is a cause, too, it is less than the bar's.
    eager.python_ps = sum(time.ps for time in times if time in eager.names) if "python" in losses else 0.0


def _is_long(time: NamedTime) -> bool:
    """Whether it is one function's own code: neither the mark around an optimizer's step, which has many calls within,
    nor a loop that passes in short pieces between them, of which a few last long where the machine is busy.
    """
    is_mark = not time.name or time.name.startswith(OPTIMIZER)
    return not is_mark and time.mean_ps >= _LONG_PYTHON_PS and time.long_share >= MOSTLY


def _move(losses: dict[str, TimeLoss], source_id: str, id: str, times: Sequence[NamedTime]) -> None:
    """Move these times from one cause to another, which may be new."""
    source = losses[source_id]
    ps = min(sum(time.ps for time in times), source.ps)
    if not ps:
        return
    part = losses.setdefault(id, TimeLoss(id))
    source.names = [time for time in source.names if time not in times]
    source.ps, source.other_causes_ps = source.ps - ps, source.other_causes_ps + ps
    part.ps += ps
    part.names = [*part.names, *times]
    part.states = tuple(dict.fromkeys((*part.states, *(time.state for time in times))))


def _part_with_cause(time: NamedTime, cause_ids: dict[tuple[str, bool], str], id: str) -> NamedTime:
    """The part of a name's time that counts for a cause: in steps, between them, or both."""
    in_steps, between = cause_ids[time.state, False] == id, cause_ids[time.state, True] == id
    return time._replace(
        step_ps=time.step_ps * in_steps,
        step_count=time.step_count * in_steps,
        between_ps=time.between_ps * between,
        between_count=time.between_count * between,
    )


def _refined(id: str, typical: Typical, calls: DispatchedCalls, is_unrecorded: bool) -> str:
    """The cause, or a more special one that the capture shows; hosts' and devices' communication are one."""
    if id == "collective_host" and typical.state_ps[State.EXPOSED_COLLECTIVE] > 0:
        return "exposed_collective"
    if is_unrecorded and id == "unexplained":
        return "not_recorded"
    if id == "exposed_copy" and _is_offload(typical):
        return "host_offload"
    if id == "compile" and _is_tracing(typical):
        return "retrace"
    return "eager" if id in _CALL_CAUSES and _are_one_by_one(typical, calls) else id


def _are_one_by_one(typical: Typical, calls: DispatchedCalls) -> bool:
    """Whether what the host loses goes into calls of little work that it dispatches one by one."""
    if calls.per_step < TINY_CALLS:
        return False
    times = dict(zip(STATES, typical.step_ps.tolist(), strict=True))
    lost_ps, one_by_one_ps = sum(times[id] for id in _CALL_CAUSES), calls.one_by_one_share * sum(times.values())
    is_little = lost_ps <= calls.per_step * _TINY_PS
    if (_LEAST_ONE_BY_ONE if is_little else 1) * lost_ps <= one_by_one_ps:
        return True
    on_cpu_ps = sum(time.step_ps for time in typical.names if time.state == "dispatch" and time.name.endswith(ON_CPU))
    of_calls = max(calls.per_step * _TINY_PYTHON_PS, times["dispatch"] - on_cpu_ps + times["launch"])
    is_dense = times["python"] + times["unrecorded"] < of_calls or calls.one_by_one_share >= MOSTLY
    return is_dense and times[WORK] < calls.per_step * _TINY_PS


def _is_offload(typical: Typical) -> bool:
    """Whether most of the copies that nothing hides are to or from the host's memory."""
    names = [time for time in typical.names if time.state == "exposed_copy"]
    of_host = sum(time.step_ps for time in names if time.name.endswith(HOST_MEMORY))
    return 2 * of_host > sum(time.step_ps for time in names)


def _is_tracing(typical: Typical) -> bool:
    """Whether functions were traced and no compiler ran: what TensorFlow does where it does not use XLA."""
    names = [time.name for time in typical.names if time.state == "compile" and time.ps]
    return bool(names) and not any(_COMPILER in name for name in names)
