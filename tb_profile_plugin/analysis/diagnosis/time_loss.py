"""Time of the typical step under one cause, and how the names of what takes it are said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile, zip_longest
from typing import Any

from ...formats.columns import vocabulary
from ...model.names.host_events import EXECUTORS
from ...runtime.messages import listed
from ...runtime.records import mutable_record
from ..labels.event_names import is_of_runtime, short_name
from ..labels.label_texts import HOST_MEMORY, OF_EVENTS, OF_LOOP, OF_PYTHON, OF_THREAD, ON_CPU, STARTING, without_ending
from ..steps.host_account import Interval
from ..steps.typical_times import LongPauses, NamedTime
from .catalogue import Sentence, joined
from .cause_kinds import KINDS_IF_LARGEST, MOSTLY, NAMED_SHARE, NEW_INPUT, PAUSE, PYTHON_INPUT, READING, WORKERS, kinds
from .remedies.remedy import Remedy

WORK = "compute"
"""The one part of a step that is not lost."""
UNUSED = "gpu_unused"
"""The cause that work has where it could be done on a GPU that the program does not use."""
EVALUATION = "evaluation"
NAMED_BY_TRACERS = ("unrecorded", "between_steps", EVALUATION)
"""Causes whose time a tracer of Python names, so that without names none can have run."""
_MUCH = 0.3
"""Share of what unusual steps take longer, from which on it is worth mending."""
_RECORDING_PS = 10**6
"""Recording an op costs at least so much (1 µs)."""
_NAMES_IN_SENTENCE = 3
"""So many names are in a sentence."""
COMMUNICATION = ("exposed_collective", "collective_host")
"""Causes whose intervals are counted in sentences, however many."""
_MANY_COLLECTIVES = 8
"""So many collectives in a step may be joined into fewer; of less there is next to nothing to join."""
_MANY = 20
"""Intervals in a step from which on a sentence has their share instead of their count."""
BY_ENDING = {
    ON_CPU: "cpu_ops",
    OF_THREAD: "thread_wait",
    OF_EVENTS: "event_wait",
    STARTING: "start_up",
    OF_PYTHON: "python",
}
"""The cause of its own that a part of a kind of time has, by the ending of its names."""
_EACH_STEP = 0.9
"""What comes less often per step is not said to happen in each."""


@mutable_record
class TimeLoss:
    """Time of the typical step under one cause, before it has words."""

    id: str
    ps: float = 0.0
    names: Sequence[NamedTime] = ()
    origins: Sequence[tuple[str, float]] = ()
    """Places of the source and ps per step, the largest first, where these tell its time better than its names do."""
    has_op_origins: bool = False
    """Whether these are ops, and its names the kernels that they launched."""
    has_library_names: bool = False
    """Whether its names are mostly those of a library's kernels, which headlines say rather than places."""
    line: str = ""
    """The line of the program that most of its largest name comes from; empty where none is known."""
    states: tuple[str, ...] = ()
    """The states that it sums."""
    arguments: dict[str, Any] | None = None
    """What its sentences say beside its names."""
    few_steps: Sentence | None = None
    """That most of it lies in few of the steps that count; None where it does not."""
    long_pauses: LongPauses | None = None
    """Where most of it lies between steps, and only some of these are long."""
    base_ps: float | None = None
    """What its share is a share of; None for the typical period."""
    other_causes_ps: float = 0.0
    """Time of its states that has other causes."""
    silent_ps: float = 0.0
    """Time of those of its states in which nothing may have been recorded."""
    python_ps: float = 0.0
    """What Python takes between calls, where it is a cause of its own beside them."""
    ops_ps: float = 0.0
    """Of a CPU that does the work, what short ops take themselves, beside what passes between them."""
    remedy: Remedy | None = None
    """What helps this capture, where a rule found that; None for what helps most programs."""
    most_ps: float | None = None
    """What a step would be shorter without it at most, where steps with and without it were compared; else None."""
    awaited_unseen: bool = False
    """Whether threads of a CPU may wait for it in ways that no event tells, so that a replay may not shorten these."""
    shares_cores: bool = False
    """Whether a CPU does all work: what the host does less there leaves cores to work that goes on as long."""
    sets_pace: bool = False
    """Of input, whether steps wait for it again and again though it is made ahead: computing less saves nothing."""
    varies: bool = False
    """Whether what takes longer in unusual steps is mostly work that each step does, without a period."""
    is_of_loop: bool = False
    """Whether it lies between calls of a function that count as steps: what passes there is the loop's."""
    dispatches_ops: bool = False
    """Of Python, whether the function that takes most of it dispatches ops between."""
    first_batches: bool = False
    """Whether unusual steps wait so much longer than others that any input they wait for has just begun."""

    def by_name(self) -> list[tuple[str, float, float]]:
        """(name, ps per step, calls per step), the largest first. One call may be in several states: those of the state
        with most of a name count, and so many of the others as make one a step.
        """
        times: dict[str, list[float]] = {}
        counts: dict[str, list[float]] = {}
        for time in self.names:
            times.setdefault(time.name, []).append(time.ps)
            counts.setdefault(time.name, []).append(time.step_count + time.between_count)
        rows = [
            (name, sum(ps), max(*counts[name], min(sum(counts[name]), 1.0))) for name, ps in times.items() if sum(ps)
        ]
        return sorted(rows, key=lambda row: -row[1])

    @property
    def count(self) -> float:
        """Intervals per step of the fewest names that make up most of its time; 0 where names do not."""
        left_ps, intervals = MOSTLY * self.ps, 0.0
        for name, ps, count in self.by_name():
            if left_ps <= 0 or not name:
                break
            left_ps, intervals = left_ps - ps, intervals + count
        return intervals if left_ps <= 0 else 0.0

    @property
    def unnamed_share(self) -> float:
        """Share of its time, 0–1, in which no event was recorded; between steps other states lack names, too."""
        if not self.ps:
            return 0.0
        unnamed_share = 1 - sum(ps for name, ps, _ in self.by_name() if name) / self.ps
        return min(unnamed_share, self.silent_ps / self.ps) if self.id == "between_steps" else unnamed_share

    @property
    def is_unrecorded(self) -> bool:
        """Whether a tracer of Python would name most of it, and none ran."""
        if self.id == "unusual_steps":
            return sum(time.ps for time in self.names if time.state == "unrecorded") > (MOSTLY * self.ps)
        return self.id in NAMED_BY_TRACERS and self.id != EVALUATION and self.unnamed_share > MOSTLY

    @property
    def is_of_one_step(self) -> bool:
        """Whether a single one of the steps that count has most of it."""
        return self.few_steps is not None and self.few_steps.arguments["count"] == 1

    @property
    def winnable_ps(self) -> float:
        """ps that can be won of it, as far as that is known without replays: all that it takes, or less."""
        return self.ps if self.most_ps is None else min(self.ps, self.most_ps)

    @property
    def costs_nothing(self) -> bool:
        """Whether steps without it last as long."""
        return self._input_variant == ".idle" if self.id == "input" else False

    @property
    def few_steps_of(self) -> int:
        """How many steps those are few of that have most of it; 0 where no few have."""
        return self.few_steps.arguments["steps_count"] if self.few_steps is not None else 0

    @property
    def is_work(self) -> bool:
        """Whether most of what passes between steps is compute."""
        work_ps = sum(time.ps for time in self.names if time.state == WORK)
        return self.id == "between_steps" and work_ps > MOSTLY * self.ps

    @property
    def recurs(self) -> bool:
        """Whether several unusual steps have a period, or one thing that takes much of what they take longer; work
        of each step that lasts now longer, now shorter, is to be looked at by itself. Workers that are too slow bring
        their batches by turns: a single wait comes again.
        """
        facts = self.arguments or {}
        much = max((ps for name, ps, _ in self.by_name() if name), default=0.0) >= _MUCH * self.ps
        several = facts["count"] > 1 and (bool(facts["every"]) or (much and not self.varies))
        return several or (not self.first_batches and self.kinds[:1] == [WORKERS[0]])

    @property
    def variant(self) -> str:
        """The end of its sentences' codes, where one cause has several sentences; empty for most."""
        if self.id == "input":
            return self._input_variant
        if self.id == "thread_wait" and "timeout" in (self.arguments or {}):
            return ".timeout"
        if self.id == "eager" and "name" in (self.arguments or {}):
            return ".function"
        if self.id == "late_peer" and "every" in (self.arguments or {}):
            return ".every"
        if self.id == "sync" and (self.arguments or {}).get("count", 0) > 1:
            return ".several"
        return ".other" if self.id == PAUSE and "parts" not in (self.arguments or {}) else ""

    @property
    def _input_variant(self) -> str:
        facts = self.arguments or {}
        if "idle" in facts or "timeout" in facts:
            return ".idle" if "idle" in facts else ".timeout"
        if "python" in facts or ("stage" not in facts and PYTHON_INPUT in self.kinds):
            return ".python"
        return ".stage" if "stage" in facts else ".ready" if "ready" in facts else ""

    @property
    def kinds(self) -> list[str]:
        """Its kinds by its names, the largest first, see `cause_kinds`; of unusual steps those of their main cause."""
        of_names = kinds(self.main_cause, ((name, ps) for name, ps, _ in self.by_name()), self.ps)
        if not self.has_op_origins:
            return of_names
        # Of an op there may be many kernels, none of which is the largest one.
        of_ops = kinds(self.main_cause, self.origins, self.ps)
        return [*of_ops, *(kind for kind in of_names if kind not in (*of_ops, *KINDS_IF_LARGEST))]

    @property
    def main_cause(self) -> str:
        """Id of the largest cause of unusual steps that is known, if it is much of them; of what passes between steps
        that of the kind of wait, or Python, that most of it is; else its own.
        """
        if self.is_work:
            return PAUSE
        if self.id not in ("unusual_steps", "between_steps"):
            return self.id
        id, ps = self._largest_part
        return id if id != WORK and ps >= (MOSTLY if self.id == "between_steps" else _MUCH) * self.ps else self.id

    @property
    def _largest_part(self) -> tuple[str, float]:
        """(id, ps) of the largest cause among its names; of what passes between steps only of waits, and Python's."""
        times: dict[str, float] = {}
        for time in self.names:
            counts = self.id != "between_steps" or (self.is_of_loop and time.state == "python")
            other = time.state if counts else ""
            id = next((id for ending, id in BY_ENDING.items() if time.name.endswith(ending)), other)
            times[id] = times.get(id, 0.0) + time.ps * bool(id)
        return max(times.items(), key=lambda item: item[1], default=("", 0.0))

    @property
    def is_recurring_work(self) -> bool:
        """Whether unusual steps come again and again, and do more work than the others."""
        id, ps = self._largest_part
        return self.id == "unusual_steps" and self.recurs and id == WORK and ps >= _MUCH * self.ps

    @property
    def remedy_keys(self) -> tuple[str, ...]:
        """Keys of `remedies`, the best first: the kind, of unusual steps their main cause, then its own id."""
        if self.is_unrecorded:
            return ("unexplained",)
        if self.id == "dispatch":
            running = sum(ps for name, ps, _ in self.by_name() if name.startswith(EXECUTORS))
            if running >= MOSTLY * self.ps:
                return "executor", self.id
        if self.id == "warmup" and "compiles" in (self.arguments or {}):
            return "warmup_compiled", self.id
        if self.id == "warmup" and "does_the_same" in (self.arguments or {}):
            return "warmup_same_work", self.id
        if self.id == "late_peer":
            return "late_turns" if self.variant else f"late_{(self.arguments or {}).get('state', '')}", self.id
        kinds = ["timeout"] if self.variant == ".timeout" else self.kinds[:1]
        if self.first_batches and kinds == [WORKERS[0]]:
            kinds = ["workers_again"]
        if self.few_steps is not None and kinds == [READING]:
            kinds = []
        if self.is_work:
            return (*kinds, "work_between_steps")
        if self.id == "unusual_steps" and not kinds and not self.recurs:
            # What happens by chance is no habit of the program that could be changed.
            return (self.id,)
        if self.is_recurring_work:
            return ("recurring_work",)
        is_few = self.id == "exposed_collective" and 0 < self.count < _MANY_COLLECTIVES
        return (*kinds, *(["few_collectives"] if is_few else []), self.main_cause, self.id)

    def own_evidence(self, evidence: Sequence[Interval]) -> list[Interval]:
        """The intervals of its states, with names as its sentence has them: the longest of each name in the sentence,
        then the next of each. Of what was not recorded the longest without a name.
        """
        intervals = [
            interval if interval.name == (name := _name_of(interval.name)) else interval._replace(name=name)
            for interval in evidence
            if interval.state in self.states
        ]
        named = self.large_names() or self.by_name()[:_NAMES_IN_SENTENCE]
        names = [""] if self.is_unrecorded else [name for name, _, _ in named if name]
        longest = sorted(intervals, key=lambda interval: interval.begin - interval.end)
        groups = [[interval for interval in longest if interval.name == name] for name in names]
        by_turns = [interval for turn in zip_longest(*groups) for interval in turn if interval is not None]
        return by_turns or longest

    def names_sentence(self, has_steps: bool) -> Sentence:
        """What most of its time is, by name; where that should have one and has none, that it was not recorded.

        ``has_steps`` says whether its times are of a step, not of the whole capture.
        """
        names = self._most_names(has_steps)
        if self.ops_ps >= NAMED_SHARE * self.ps:
            names = Sentence("names.with_ops", {"names": names, "time_ps": self.ops_ps})
        if any(name.endswith(OF_LOOP) for name, _, _ in self.large_names()):
            names = Sentence("names.many_calls", {"names": names})
        elif self.id == "eager" and (self.arguments or {}).get("count", 0) * _RECORDING_PS >= NAMED_SHARE * self.ps:
            names = Sentence("names.many_ops", {"names": names})
        if self.python_ps >= NAMED_SHARE * self.ps:
            names = Sentence("names.with_python", {"names": names, "time_ps": self.python_ps})
        return names if self.few_steps is None else Sentence("names.few", {"names": names, "few": self.few_steps})

    def _most_names(self, has_steps: bool) -> Sentence:
        if self.is_unrecorded:
            return Sentence("names.unrecorded", {"share": min(self.unnamed_share, 1.0)})
        # What the sentence begins with is not said again.
        most = [row for row in self.large_names() if row[0] != (self.arguments or {}).get("name")]
        names = _names_sentence(
            [_name_sentence(*row, self, has_steps) for row in most], sum(ps for _, ps, _ in most) >= MOSTLY * self.ps
        )
        name, ps, _ = next(iter(self.by_name()), ("", 0.0, 0.0))
        if self.line and most:
            return Sentence("names.with_line", {"names": names, "name": short_name(name), "line": self.line})
        # Ops of several programs may have one name.
        if not self.origins or not name or ps < NAMED_SHARE * self.ps or "programs" in (self.arguments or {}):
            return names
        code = "names.with_kernel" if self.has_op_origins else "names.with_op"
        return Sentence(code, {"names": names, "name": name, "share": ps / self.ps})

    def large_names(self) -> list[tuple[str, float, float]]:
        """Rows of `by_name`, or places, that its sentence names."""
        rows = [(name, ps, 0.0) for name, ps in self.origins] or self.by_name()
        return [row for row in rows[:_NAMES_IN_SENTENCE] if row[0] and row[1] >= NAMED_SHARE * self.ps]

    def headline_names(self) -> list[Sentence]:
        """What a headline may end with, the longest first: the fewest names that make up most of the time, at most two,
        and of one the line that it comes from; the first of them; none.
        """
        if self.id == "late_peer":
            return [Sentence("mostly.in", {"label": (self.arguments or {})["label"]}), Sentence("mostly.none")]
        if self.id == "unusual_steps" and self.main_cause == "input":
            # Stages of a pipeline are names of what the steps wait for.
            return [Sentence("mostly.some", {"names": Sentence("label.input")}), Sentence("mostly.none")]
        if self.id == "input" and self.kinds[:1] == [NEW_INPUT[0]]:
            return [Sentence("mostly.new_input"), Sentence("mostly.none")]
        long = self.long_pauses
        if long is not None:
            code = "every" if long.every else "seldom" if long.count > 1 else "once"
            return [Sentence(f"mostly.{code}", {"count": long.count, "every": long.every})]
        if self.is_unrecorded:
            return [Sentence("mostly.unrecorded")]
        times: dict[str, float] = {}
        origins = [] if self.has_library_names else self.origins
        for name, ps in origins or [(name, ps) for name, ps, _ in self.by_name()]:
            short = short_name(without_ending(without_ending(name, HOST_MEMORY), OF_LOOP))
            times[short] = times.get(short, 0.0) + ps
        large = sorted(
            (name for name, ps in times.items() if name and ps >= NAMED_SHARE * self.ps), key=lambda name: -times[name]
        )
        telling = list(takewhile(lambda name: not is_of_runtime(name), large))
        firsts = (telling[:1], telling[:2])
        most = next((names for names in firsts if sum(times[name] for name in names) >= MOSTLY * self.ps), [])
        some = [Sentence("mostly.some", {"names": joined(most)})] if most else []
        if len(most) == 1 and self.line:
            some.insert(0, Sentence("mostly.from", {"name": most[0], "line": short_name(self.line)}))
        led = [Sentence("mostly.led", {"name": name}) for name in telling[:1]]
        return [*some, *led, Sentence("mostly.none")]


@lru_cache(maxsize=65536)
def _name_of(label: str) -> str:
    """A name of `host_account` as causes have it: without the ending that gave its time a cause of its own."""
    ending = next((ending for ending in BY_ENDING if label.endswith(ending)), "")
    return without_ending(label, ending)


def _name_sentence(name: str, ps: float, count: float, loss: TimeLoss, has_steps: bool) -> Sentence:
    name = without_ending(name, HOST_MEMORY) if loss.id == "host_offload" else name
    is_often = count >= _MANY and loss.id not in COMMUNICATION
    # The timeline has several short runs of TensorFlow's executor as one.
    is_often |= name == vocabulary.EXECUTOR_RUN and round(count) > 1
    # Where one step has most of several intervals, their mean is the length of none.
    is_uneven = loss.is_of_one_step and round(count * loss.few_steps_of) > 1
    if loss.id in (WORK, UNUSED) or is_often or not count or is_uneven:
        return Sentence("names.share", {"name": name, "share": ps / loss.ps})
    if loss.id == PAUSE and loss.long_pauses:
        # Such a pause begins where the step before it ends.
        return Sentence("names.with_before", {"name": name, "each_ps": ps / count, "share": min(count, 1.0)})
    if round(count) > 1 and not name.endswith(OF_LOOP):  # Whose many calls are others.
        code = "names.calls_of_step" if has_steps else "names.calls"
        return Sentence(code, {"name": name, "step_ps": ps, "count": round(count)})
    if count < _EACH_STEP:
        return Sentence("names.seldom", {"name": name, "each_ps": ps / count, "share": count})
    return Sentence("names.each" if has_steps else "names.once", {"name": name, "each_ps": ps})


def _names_sentence(parts: Sequence[Sentence], are_most: bool) -> Sentence:
    """Sentences of single names, joined by commas; ``are_most`` says that they are most of the time."""
    if not parts:
        return Sentence("names.none")
    return Sentence("names.some" if are_most else "names.largest", {"names": listed([part.text for part in parts])})
