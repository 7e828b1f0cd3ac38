"""Time of the typical step under one cause, and how the names of what takes it are said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from ...model.names.host_events import EXECUTORS
from ...runtime.messages import listed
from ..steps.event_labels import HOST_MEMORY, OF_EVENTS, OF_THREAD, ON_CPU, STARTING, without_ending
from ..steps.event_names import short_name
from ..steps.host_account import Interval
from ..steps.typical_times import LongGaps, NamedTime
from .catalogue import Sentence, joined
from .cause_kinds import NAMED_SHARE, PAUSE, PYTHON_INPUT, kinds
from .remedies import Remedy

WORK = "compute"
"""The one part of a step that is not lost."""
UNUSED = "gpu_unused"
"""What it is where it could be done on a GPU that the program does not use."""
EVALUATION = "evaluation"
HAVE_NAMES = ("unrecorded", "between_steps", EVALUATION)
MOSTLY = 0.5
"""What a tracer of Python names, and the share of it without a name from which on none can have run."""
_HELPS = 0.3
"""Share of what unusual steps take longer, from which on it helps to mend that."""
_NAMES_IN_SENTENCE = 3
"""So many names are said."""
_COUNTED = ("exposed_collective", "collective_host")
"""Of these it is told how many there are, however many."""
_MANY = 20
"""Stretches in a step from which on they are told by their share instead of one by one."""
BY_ENDING = {ON_CPU: "cpu_ops", OF_THREAD: "thread_wait", OF_EVENTS: "event_wait", STARTING: "start_up"}
"""Kinds of time of which a part has a cause of its own, and which one by how its names end."""
_EACH_TIME = 0.9
"""What is seen less often per step is not said to happen each time."""


@dataclass
class TimeLoss:
    """Time of the typical step under one cause, before it has words."""

    id: str
    ps: float = 0.0
    names: Sequence[NamedTime] = ()
    states: tuple[str, ...] = ()
    """The states that it sums."""
    arguments: dict[str, Any] | None = None
    """What its sentences say beside its names."""
    long_gaps: LongGaps | None = None
    """Where most of it lies between steps, and only some of these have long gaps."""
    of_ps: float | None = None
    """What its share is a share of; the period where it is None."""
    other_causes_ps: float = 0.0
    """Time of its states that other causes have."""
    work_ps: float = 0.0
    """Work that goes with it, which a replay without its own states leaves."""
    remedy: Remedy | None = None
    """What helps, where that was found for this capture; else what helps most programs does."""
    most_ps: float | None = None
    """What is won without it at most, where steps with and without it were compared."""
    varies: bool = False
    """Of unusual steps: whether what takes longer is mostly work that each step does, without a period."""
    first_batches: bool = False
    """Of unusual steps: whether they wait so much longer than others that any input they wait for has just begun."""

    def by_name(self) -> list[tuple[str, float, float]]:
        """Name, ps and stretches per step, the largest first."""
        times: dict[str, list[float]] = {}
        for time in self.names:
            total = times.setdefault(time.name, [0.0, 0.0])
            total[0] += time.ps
            total[1] += time.step_count + time.gap_count
        rows = [(name, ps, count) for name, (ps, count) in times.items() if ps]
        return sorted(rows, key=lambda row: -row[1])

    @property
    def count(self) -> float:
        """Stretches per step of the fewest names that make up most of its time; 0 where names do not."""
        rest, answer = MOSTLY * self.ps, 0.0
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
            return sum(time.ps for time in self.names if time.state == "unrecorded") > (MOSTLY * self.ps)
        return self.id in HAVE_NAMES and self.id != EVALUATION and self.unnamed_share > MOSTLY

    @property
    def is_work(self) -> bool:
        """Of what passes between steps: whether most of it is compute."""
        work_ps = sum(time.ps for time in self.names if time.state == WORK)
        return self.id == "between_steps" and work_ps > MOSTLY * self.ps

    @property
    def recurs(self) -> bool:
        """Of unusual steps: whether several have a period, or one thing that takes much of what they take longer; work
        of each step that lasts now longer, now shorter, is to be looked at by itself.
        """
        facts = self.arguments or {}
        much = max((ps for name, ps, _ in self.by_name() if name), default=0.0) >= _HELPS * self.ps
        return facts["count"] > 1 and (bool(facts["every"]) or (much and not self.varies))

    @property
    def variant(self) -> str:
        """What its sentences are told apart by beside its id, as their codes end with it; empty for most."""
        if self.id == "input":
            return self._input_variant
        if self.id == "sync" and (self.arguments or {}).get("count", 0) > 1:
            return ".several"
        return ".other" if self.id == PAUSE and "parts" not in (self.arguments or {}) else ""

    @property
    def _input_variant(self) -> str:
        facts = self.arguments or {}
        if "idle" in facts:
            return ".idle"
        if "python" in facts or ("stage" not in facts and PYTHON_INPUT in self.kinds):
            return ".python"
        return ".stage" if "stage" in facts else ".ready" if "ready" in facts else ""

    @property
    def kinds(self) -> list[str]:
        """Of the cause, or of what most unusual steps have, by its names; the largest first."""
        return kinds(self._mostly, ((name, ps) for name, ps, _ in self.by_name()), self.ps)

    @property
    def _mostly(self) -> str:
        """Of unusual steps the largest cause that is known, if it is much of them; of what passes between steps the
        kind of wait that most of it is; else its id.
        """
        if self.is_work:
            return PAUSE
        if self.id not in ("unusual_steps", "between_steps"):
            return self.id
        between = self.id == "between_steps"
        times: dict[str, float] = {}
        for time in self.names:
            other = "" if between else time.state
            id = next((id for ending, id in BY_ENDING.items() if time.name.endswith(ending)), other)
            times[id] = times.get(id, 0.0) + time.ps * bool(id)
        id, ps = max(times.items(), key=lambda item: item[1], default=("", 0.0))
        return id if id != WORK and ps >= (MOSTLY if between else _HELPS) * self.ps else self.id

    @property
    def remedied(self) -> tuple[str, ...]:
        """By which ids what helps is told, the best first: what was found, of unusual steps what most of them have."""
        if self.unrecorded:
            return ("unexplained",)
        if self.id == "dispatch":
            running = sum(ps for name, ps, _ in self.by_name() if name.startswith(EXECUTORS))
            if running >= MOSTLY * self.ps:
                return "executor", self.id
        kinds = self.kinds[:1]
        if self.first_batches and kinds == ["input_workers"]:
            kinds = ["workers_again"]
        if self.is_work:
            return (*kinds, "work_between_steps")
        if self.id == "unusual_steps" and not kinds and not self.recurs:
            # What happens by chance is no habit of the program that could be changed.
            return (self.id,)
        return (*kinds, self._mostly, self.id)

    def own_evidence(self, evidence: Sequence[Interval]) -> list[Interval]:
        """Those of its time: the longest of each name that it is told by, as they are told; then the next of each. Of
        what was not recorded the longest without a name.
        """
        intervals = [
            interval if interval.name == (name := _name_of(interval.name)) else interval._replace(name=name)
            for interval in evidence
            if interval.state in self.states
        ]
        named = self._large_names() or self.by_name()[:_NAMES_IN_SENTENCE]
        names = [""] if self.unrecorded else [name for name, _, _ in named if name]
        longest = sorted(intervals, key=lambda interval: interval.begin - interval.end)
        groups = [[interval for interval in longest if interval.name == name] for name in names]
        rounds = [interval for turn in zip_longest(*groups) for interval in turn if interval is not None]
        return rounds or longest

    def named(self) -> Sentence:
        """What most of its time is, by name; where that should have one and has none, that it was not recorded."""
        if self.unrecorded:
            return Sentence("names.unrecorded", {"share": min(self.unnamed_share, 1.0)})
        most = self._large_names()
        return _some([_one(*row, self) for row in most], sum(ps for _, ps, _ in most) >= MOSTLY * self.ps)

    def _large_names(self) -> list[tuple[str, float, float]]:
        """Rows of `by_name` that its sentence names."""
        return [row for row in self.by_name()[:_NAMES_IN_SENTENCE] if row[0] and row[1] >= NAMED_SHARE * self.ps]

    def mostly(self) -> list[Sentence]:
        """The same within a headline, from all that is to be said to nothing: the fewest names that make up most of
        it, at most two; the first of them; none.
        """
        long = self.long_gaps
        if long is not None:
            code = "every" if long.every else "seldom" if long.count > 1 else "once"
            return [Sentence(f"mostly.{code}", {"count": long.count, "every": long.every})]
        if self.unrecorded:
            return [Sentence("mostly.unrecorded")]
        times: dict[str, float] = {}
        for name, ps, _ in self.by_name():
            short = short_name(without_ending(name, HOST_MEMORY))
            times[short] = times.get(short, 0.0) + ps
        large = sorted(
            (name for name, ps in times.items() if name and ps >= NAMED_SHARE * self.ps), key=lambda name: -times[name]
        )
        most = next(
            (names for names in (large[:1], large[:2]) if sum(times[name] for name in names) >= MOSTLY * self.ps), []
        )
        some = [Sentence("mostly.some", {"names": joined(most)})] if most else []
        led = [Sentence("mostly.led", {"name": name}) for name in large[:1]]
        return [*some, *led, Sentence("mostly.none")]


@lru_cache(maxsize=65536)
def _name_of(label: str) -> str:
    """What a cause calls what has that name in `host_account`: without the ending of a kind that is its own cause."""
    ending = next((ending for ending in BY_ENDING if label.endswith(ending)), "")
    return without_ending(label, ending)


def _one(name: str, ps: float, count: float, loss: TimeLoss) -> Sentence:
    if loss.id in (WORK, UNUSED) or (count >= _MANY and loss.id not in _COUNTED) or not count:
        return Sentence("names.share", {"name": name, "share": ps / loss.ps})
    if loss.id == PAUSE and loss.long_gaps:
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
    return Sentence("names.some" if most else "names.largest", {"names": listed([part.text for part in parts])})
