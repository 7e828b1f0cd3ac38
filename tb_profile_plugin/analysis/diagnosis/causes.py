"""From times to causes: what makes the typical step as long as it is, the largest first, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from ...model.names.host_events import EXECUTORS
from ..activity.states import STATES
from ..steps.event_labels import HOST_MEMORY, OF_THREAD, ON_CPU, STARTING
from ..steps.host_account import Stretch
from ..steps.typical_times import LongGaps, NamedTime, Typical
from .catalogue import LABELS, Sentence, joined
from .cause_kinds import NAMED_SHARE, PAUSE, PYTHON_INPUT, kinds
from .remedies import Remedy

Confidence = Literal["high", "medium", "low"]

WORK = "compute"
"""The one part of a step that is not lost."""
UNUSED = "gpu_unused"
"""What it is where it could be done on a GPU that the program does not use."""
_WORKS = ("compute", "exposed_collective", "exposed_copy")
"""What is told by its own name between steps, too."""
_NAMED_BETWEEN = ("input", "compile", "callback", "pause", "sync", "collective_host", "transfer")
"""What is so if it takes most of the time lost between steps; else all of that is `between_steps`."""
EVALUATION = "evaluation"
HAVE_NAMES = ("unrecorded", "between_steps", EVALUATION)
_MOSTLY = 0.5
"""What a tracer of Python names, and the share of it without a name from which on none can have run."""
_HELPS = 0.3
"""Share of what unusual steps take longer, from which on it helps to mend that."""
HOST = ("dispatch", "python", "unrecorded", "launch", "latency", "between", "allocator", "eager", "transfer", "cpu_ops")
"""What the device waits for because its host launches too late."""
_TOLD_NAMES = 3
"""So many names are told."""
_PARTS = 3
"""So many kinds of pauses are told."""
_COUNTED = ("exposed_collective", "collective_host")
"""Of these it is told how many there are, however many."""
_MANY = 20
"""Stretches in a step from which on they are told by their share instead of one by one."""
_SPLIT = ("dispatch", "eager", "python", "sync", "launch", "allocator")
_BY_ENDING = {ON_CPU: "cpu_ops", OF_THREAD: "thread_wait", STARTING: "start_up"}
"""Kinds of time of which a part has a cause of its own, and which one by how its names end."""
_COMPILER = "ompil"
"""In the names of all compilers' events, with either first letter."""
_TINY_CALLS, _TINY_PS = 50, 100e6
"""So many calls in a step, of so little work each (100 µs), are ops run one by one …"""
_TINY_PYTHON_PS = 20e6
"""… and so much Python for each (20 µs), or less than the calls themselves take, belongs to them; all of it, where one
call follows the other for most of the step."""
_SHORT_PS, _MOSTLY_NAMED = 50e6, 0.9
"""Ops that last so long on average (50 µs) are not short; told where those with names make up most of the work."""
_EACH_TIME = 0.9
"""What is seen less often per step is not said to happen each time."""
NAMES = 10
"""So many names are listed of each cause."""


class Cause(NamedTuple):
    """Why the typical step is as long as it is. Times are ps."""

    id: str
    per_step_ps: int
    share: float
    """Of the time from step to step, 0–1; of the capture where no step was found."""
    gain_ps: int | None
    """What a step would be shorter without it, at most; None where that cannot be told."""
    confidence: Confidence
    then: str
    """Id of what limits the step then; empty where nothing was replayed."""
    sentence: Sentence
    remedy: Remedy
    names: Sequence[tuple[str, int, float]]
    """Name, time per step in ps, and stretches per step of what takes the time, the largest first."""
    evidence: Sequence[Stretch]

    @property
    def label(self) -> str:
        """Its name in a table."""
        return LABELS[self.id]


@dataclass
class Lost:
    """Time of the typical step under one cause, before it has words."""

    id: str
    ps: float = 0.0
    names: Sequence[NamedTime] = ()
    states: tuple[str, ...] = ()
    """The states that it sums."""
    arguments: dict[str, Any] | None = None
    of_ps: float | None = None
    """What its share is a share of; the period where it is None."""
    other_causes_ps: float = 0.0
    """Time of its states that other causes have."""
    first_batches: bool = False
    """Of unusual steps: whether they wait so much longer than others that any input they wait for has just begun."""

    def by_name(self) -> list[tuple[str, float, float]]:
        """Name, ps and stretches per step, the largest first."""
        times: dict[str, list[float]] = {}
        for time in self.names:
            total = times.setdefault(time.name, [0.0, 0.0])
            total[0] += time.step_ps + time.gap_ps
            total[1] += time.step_count + time.gap_count
        rows = [(name, ps, count) for name, (ps, count) in times.items() if ps]
        return sorted(rows, key=lambda row: -row[1])

    @property
    def count(self) -> float:
        """Stretches per step of the fewest names that make up most of its time; 0 where names do not."""
        rest, answer = _MOSTLY * self.ps, 0.0
        for name, ps, count in self.by_name():
            if rest <= 0 or not name:
                break
            rest, answer = rest - ps, answer + count
        return answer if rest <= 0 else 0.0

    @property
    def unnamed_share(self) -> float:
        """Of its time, 0–1: in which no event was recorded."""
        return 1 - sum(ps for name, ps, _ in self.by_name() if name) / self.ps if self.ps else 0.0

    @property
    def unrecorded(self) -> bool:
        """Whether a tracer of Python would name most of it, and none ran."""
        if self.id == "unusual_steps":
            return sum(self._total_ps(time) for time in self.names if time.state == "unrecorded") > (_MOSTLY * self.ps)
        return self.id in HAVE_NAMES and self.id != EVALUATION and self.unnamed_share > _MOSTLY

    @staticmethod
    def _total_ps(time: NamedTime) -> float:
        return time.step_ps + time.gap_ps

    @property
    def recurs(self) -> bool:
        """Of unusual steps: whether several have a period, or one thing that takes much of what they take longer."""
        facts = self.arguments or {}
        much = max((ps for name, ps, _ in self.by_name() if name), default=0.0) >= _HELPS * self.ps
        return facts["count"] > 1 and (bool(facts["every"]) or much)

    @property
    def variant(self) -> str:
        """What its sentences are told apart by beside its id, as their codes end with it; empty for most."""
        if self.id == "input" and PYTHON_INPUT in self.kinds:
            return ".python"
        if self.id == "sync" and (self.arguments or {}).get("count", 0) > 1:
            return ".several"
        return ".other" if self.id == PAUSE and "parts" not in (self.arguments or {}) else ""

    @property
    def kinds(self) -> list[str]:
        """Of the cause, or of what most unusual steps have, by its names; the largest first."""
        return kinds(self._mostly, ((name, ps) for name, ps, _ in self.by_name()), self.ps)

    @property
    def _mostly(self) -> str:
        """Of unusual steps the largest cause that is known, if it is much of them; else its id."""
        if self.id != "unusual_steps":
            return self.id
        times: dict[str, float] = {}
        for time in self.names:
            id = next((id for ending, id in _BY_ENDING.items() if time.name.endswith(ending)), time.state)
            times[id] = times.get(id, 0.0) + self._total_ps(time) * bool(id)
        id, ps = max(times.items(), key=lambda item: item[1], default=("", 0.0))
        return id if id != WORK and ps >= _HELPS * self.ps else self.id

    @property
    def remedied(self) -> tuple[str, ...]:
        """By which ids what helps is told, the best first: what was found, of unusual steps what most of them have."""
        if self.unrecorded:
            return ("unexplained",)
        if self.id == "dispatch":
            running = sum(ps for name, ps, _ in self.by_name() if name.startswith(EXECUTORS))
            if running >= _MOSTLY * self.ps:
                return "executor", self.id
        kinds = self.kinds[:1]
        if self.first_batches and kinds == ["input_workers"]:
            kinds = ["workers_again"]
        return (*kinds, self._mostly, self.id)

    def own_evidence(self, evidence: Sequence[Stretch]) -> list[Stretch]:
        """Those of its time: the longest of each name that it is told by, as they are told; then the next of each."""
        intervals = [
            interval._replace(name=_name_of(interval.name)) for interval in evidence if interval.state in self.states
        ]
        names = [name for name, _, _ in self.by_name()[:_TOLD_NAMES] if name]
        longest = sorted(intervals, key=lambda interval: interval.begin - interval.end)
        groups = [[interval for interval in longest if interval.name == name] for name in names]
        rounds = [interval for turn in zip_longest(*groups) for interval in turn if interval is not None]
        return rounds or longest

    def named(self) -> Sentence:
        """What most of its time is, by name; where that should have one and has none, that it was not recorded."""
        if self.unrecorded:
            return Sentence("names.unrecorded", {"share": min(self.unnamed_share, 1.0)})
        most = [row for row in self.by_name()[:_TOLD_NAMES] if row[0] and row[1] >= NAMED_SHARE * self.ps]
        return _some([_one(*row, self) for row in most], sum(ps for _, ps, _ in most) >= _MOSTLY * self.ps)

    def mostly(self) -> Sentence:
        """The same within a headline: the fewest names that make up most of it, at most two."""
        long: LongGaps | None = (self.arguments or {}).get("long_gaps")
        if long is not None:
            facts = {"count": long.count, "gaps_count": long.gaps, "every": long.every}
            return Sentence("mostly.every" if long.every else "mostly.seldom", facts)
        if self.unrecorded:
            return Sentence("mostly.unrecorded")
        named = ((name.removesuffix(HOST_MEMORY), ps) for name, ps, _ in self.by_name())
        rows = [(name, ps) for name, ps in named if name and ps >= NAMED_SHARE * self.ps]
        for most in (rows[:1], rows[:2]):
            if most and sum(ps for _, ps in most) >= _MOSTLY * self.ps:
                return Sentence("mostly.some", {"names": joined([name for name, _ in most])})
        return Sentence("mostly.led", {"name": rows[0][0]}) if rows else Sentence("mostly.none")


class Calls(NamedTuple):
    """What a step dispatches, see `dispatched_calls`; the most of any host."""

    per_step: float
    one_by_one_share: float


def _name_of(label: str) -> str:
    """What a cause calls what has that name in `host_account`: without the ending of a kind that is its own cause."""
    ending = next((ending for ending in _BY_ENDING if label.endswith(ending)), "")
    return label.removesuffix(ending)


def _one(name: str, ps: float, count: float, loss: Lost) -> Sentence:
    if loss.id in (WORK, UNUSED) or (count >= _MANY and loss.id not in _COUNTED) or not count:
        return Sentence("names.share", {"name": name, "share": ps / loss.ps})
    if loss.id == PAUSE and (loss.arguments or {}).get("long_gaps"):
        # Such a pause begins where the step before it ends.
        return Sentence("names.with_before", {"name": name, "each_ps": ps / count, "share": min(count, 1.0)})
    if round(count) > 1:
        return Sentence("names.calls", {"name": name, "step_ps": ps, "count": round(count)})
    if count < _EACH_TIME:
        return Sentence("names.seldom", {"name": name, "each_ps": ps / count, "share": count})
    return Sentence("names.each", {"name": name, "each_ps": ps / count})


def _some(parts: Sequence[Sentence], most: bool) -> Sentence:
    """The names, joined as they are in any language that has commas; whether they are ``most`` of the time."""
    if not parts:
        return Sentence("names.none")
    return Sentence("names.some" if most else "names.largest", {"names": ", ".join(part.text for part in parts)})


def losses_by_cause(typical: Typical, calls: Calls, unrecorded: bool, gaps_are: str = "") -> list[Lost]:
    """The typical step's time by cause, `WORK` among them; they sum to the period.

    ``unrecorded`` says that a device is there of which nothing was recorded; all time between steps is ``gaps_are``, if
    that is told.
    """
    losses: dict[str, Lost] = {}
    cause_ids: dict[tuple[str, bool], str] = {}
    states_between = states_named_between(typical)
    for index, state in enumerate(STATES):
        for between, times in ((False, typical.step_ps), (True, typical.gap_ps)):
            id = state if not between or state in states_between else "between_steps"
            id = gaps_are if between and gaps_are else _renamed(id, typical, calls, unrecorded)
            cause_ids[state, between] = id
            loss = losses.setdefault(id, Lost(id))
            loss.ps += float(times[index])
            loss.states = (*loss.states, state)
    _split_late_peer(losses, typical)
    for id in {"between_steps", EVALUATION}.intersection(losses):
        losses[id].arguments = {"few": _few(typical.long_gaps), "long_gaps": typical.long_gaps}
    for loss in losses.values():
        named_times = [
            time for time in typical.names if loss.id in (cause_ids[time.state, False], cause_ids[time.state, True])
        ]
        loss.names = loss.names or [_in(time, cause_ids, loss.id) for time in named_times]
    for ending, id in _BY_ENDING.items():
        _split_named(losses, ending, id)
    if PAUSE in losses:
        losses[PAUSE].arguments = _of_pauses(losses[PAUSE], typical)
    return [loss for loss in losses.values() if loss.ps > 0]


def _of_pauses(pause: Lost, typical: Typical) -> dict[str, Any]:
    """What pauses are for, as far as their names tell, and how often they come where most of them lie between steps."""
    between = 2 * sum(time.gap_ps for time in pause.names) > pause.ps
    long = typical.long_gaps if between else None
    kinds = [Sentence(f"pause.{kind}") for kind in pause.kinds[:_PARTS]]
    return {"few": _few(long), "long_gaps": long} | ({"parts": joined(kinds)} if kinds else {})


def tell_pauses(losses: Sequence[Lost]) -> None:
    """Call what passes between one op of a CPU and the next pauses, where ops are not short: threads did not run."""
    work = next((loss for loss in losses if loss.id == WORK), Lost(WORK))
    named, count = sum(ps for _, ps, _ in work.by_name()), sum(count for _, _, count in work.by_name())
    long = named >= _MOSTLY_NAMED * work.ps and named >= _SHORT_PS * count > 0
    for loss in losses:
        if loss.id == "between" and long:
            loss.id = "pauses"


def _few(long: LongGaps | None) -> Sentence:
    if long is None:
        return Sentence("few.none")
    every = Sentence("period.every", {"count": long.every}) if long.every else Sentence("period.none")
    return Sentence("few.some", {"share": long.share, "count": long.count, "gaps_count": long.gaps, "period": every})


def states_named_between(typical: Typical) -> tuple[str, ...]:
    """The states that keep their names between steps."""
    times = dict(zip(STATES, typical.gap_ps.tolist(), strict=True))
    loss_ps = sum(ps for state, ps in times.items() if state not in _WORKS)
    return (*_WORKS, *(state for state in _NAMED_BETWEEN if 2 * times[state] > loss_ps))


def _split_late_peer(losses: dict[str, Lost], typical: Typical) -> None:
    """Take the wait for the host that comes last out of what communication costs."""
    late = typical.late
    if late is None:
        return
    wait = Lost("late_peer", late.waiting_ps, states=("exposed_collective", "collective_host"))
    wait.names = [NamedTime("exposed_collective", "", late.waiting_ps, 1.0, 0.0, 0.0)]
    label = Sentence(f"label.{late.state}")
    wait.arguments = {"host": late.host, "label": label, "more_ps": round(late.more_ps)}
    rest = late.waiting_ps
    for id in wait.states:
        if id in losses:
            moved_ps = min(rest, losses[id].ps)
            losses[id].ps -= moved_ps
            rest -= moved_ps
    losses["late_peer"] = wait


def _split_named(losses: dict[str, Lost], ending: str, id: str) -> None:
    """Take what is named so out of the causes that only say what kind of time it is."""
    part = Lost(id)
    for loss in [losses[source_id] for source_id in _SPLIT if source_id in losses]:
        named_times = [time for time in loss.names if time.name.endswith(ending)]
        ps = min(sum(time.step_ps + time.gap_ps for time in named_times), loss.ps)
        loss.names = [time for time in loss.names if time not in named_times]
        loss.ps, loss.other_causes_ps = loss.ps - ps, loss.other_causes_ps + ps
        part.ps += ps
        part.names = [*part.names, *(time._replace(name=time.name.removesuffix(ending)) for time in named_times)]
        part.states = (*part.states, *loss.states) if ps else part.states
    if part.ps:
        losses[id] = part


def _in(time: NamedTime, cause_ids: dict[tuple[str, bool], str], id: str) -> NamedTime:
    """The part of a name's time that counts for a cause: in steps, between them, or both."""
    step, gap = cause_ids[time.state, False] == id, cause_ids[time.state, True] == id
    return NamedTime(
        time.state,
        time.name,
        time.step_ps * step,
        time.step_count * step,
        time.gap_ps * gap,
        time.gap_count * gap,
    )


def _renamed(id: str, typical: Typical, calls: Calls, unrecorded: bool) -> str:
    if unrecorded and id == "unexplained":
        return "not_recorded"
    if id == "exposed_copy" and _is_offload(typical):
        return "host_offload"
    if id == "compile" and _is_tracing(typical):
        return "retrace"
    if id in ("dispatch", "launch", "python", "unrecorded") and calls.per_step >= _TINY_CALLS:
        times = dict(zip(STATES, typical.step_ps.tolist(), strict=True))
        on_cpu_ps = sum(
            time.step_ps for time in typical.names if time.state == "dispatch" and time.name.endswith(ON_CPU)
        )
        of_calls = max(calls.per_step * _TINY_PYTHON_PS, times["dispatch"] - on_cpu_ps + times["launch"])
        python = times["python"] + times["unrecorded"]
        one_by_one = python < of_calls or calls.one_by_one_share >= _MOSTLY
        return "eager" if times[WORK] < calls.per_step * _TINY_PS and one_by_one else id
    return id


def _is_offload(typical: Typical) -> bool:
    """Whether most of the copies that nothing hides are to or from the host's memory."""
    names = [time for time in typical.names if time.state == "exposed_copy"]
    of_host = sum(time.step_ps for time in names if time.name.endswith(HOST_MEMORY))
    return 2 * of_host > sum(time.step_ps for time in names)


def _is_tracing(typical: Typical) -> bool:
    """Whether functions were traced and no compiler ran: what TensorFlow does where it does not use XLA."""
    names = [time.name for time in typical.names if time.state == "compile" and time.step_ps]
    return bool(names) and not any(_COMPILER in name for name in names)
