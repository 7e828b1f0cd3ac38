"""One host of a capture: its planes by role, its steps; computed once, shared by all tools.

A host can be thinned to its problems and small results; what it needs beyond them is decoded anew.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from ..arrays import Array
from ..columns import Plane, XSpace
from ..problems import Problem
from ..runtime import cancellation
from ..xspace import hlo
from . import steps as step_rules
from .steps import Steps
from .trace import Trace, is_derived

Result = TypeVar("Result")


@dataclass(frozen=True)
class Portion:
    """What remains of a host that was asked: plain data and small results, which travel between processes."""

    hostname: str
    origin_ns: int
    window: tuple[int, int] | None
    """Begin and end of everything recorded, ps; None where nobody asked."""
    problems: list[Problem]
    results: dict[Any, Any]
    """As `Host.once` keeps them."""
    answered: tuple[Hashable, ...]
    """The questions whose results these are."""


class Host:
    """What one host's capture holds, in the field's terms."""

    def __init__(
        self,
        name: str,
        space: XSpace | None = None,
        load: Callable[[Host], XSpace] | None = None,
        loaded: Callable[[Host], None] = lambda host: None,
        size: int = 0,
    ):
        """With `load` it is decoded when first needed, which `loaded` is told; without, `space` is all there is.

        `size` is that of its file.
        """
        self.name = name
        """As the file names it."""
        self._space = space
        self._load = load
        self._loaded = loaded
        self._size = size
        self._loading = threading.RLock()
        self._lock = threading.RLock()
        self._memory: dict[Any, Any] = {}
        self._problems: list[Problem] | None = None
        self._chosen: dict[str, None] = {}
        self.answered: dict[Hashable, None] = {}
        """The questions asked last whose results are kept, see `Session.select`."""

    @property
    def decoded(self) -> bool:
        """Whether it is decoded now."""
        return self._space is not None

    @property
    def space(self) -> XSpace:
        """The decoded capture; raises `ProblemError` where it cannot be read (again)."""
        space, fresh = self._space, False
        if space is None:
            with self._loading:
                space = self._space
                if space is None:
                    assert self._load, "a host has its capture or can load it"
                    space = self._space = self._load(self)
                    fresh = True
        # Outside of the lock: others may have to leave, which looks at them.
        if fresh:
            self._loaded(self)
        return space

    def thinned(self) -> Host:
        """One of the same problems and small results that decodes itself when more is needed.

        This one stays as it is for those who work with it.
        """
        thin = Host(self.name, load=self._load, loaded=self._loaded, size=self._size)
        thin.adopt(self.portion())
        return thin

    def portion(self) -> Portion:
        """The problems and small results."""
        most = max(_SMALL, self._size // _SMALL_SHARE)
        small = {}
        for key, result in list(self._memory.items()):
            # A key with a number names an object of this very decoding.
            by_identity = isinstance(key, tuple) and any(isinstance(part, int) for part in key)
            kept = result.without_events() if isinstance(result, Steps) else result
            if not by_identity and is_small(kept, most):
                small[key] = kept
        window = vars(self).get("window")
        return Portion(self.hostname, self.origin_ns, window, self.problems, small, tuple(self.answered))

    def adopt(self, portion: Portion) -> None:
        """Know what was found out about it elsewhere."""
        self._problems = portion.problems
        self.__dict__.update(hostname=portion.hostname, origin_ns=portion.origin_ns)
        if portion.window:
            self.__dict__.update(window=portion.window)
        for key, result in portion.results.items():
            self._memory.setdefault(key, result)
        for question in portion.answered:
            self.note(question)

    def note(self, question: Hashable) -> None:
        """Remember that what a question needs of this host is known."""
        self.answered[question] = None
        while len(self.answered) > _QUESTIONS:
            del self.answered[next(iter(self.answered))]

    @cached_property
    def cpu(self) -> Plane | None:
        """The plane of the host's threads."""
        return self.space.plane("/host:CPU")

    @cached_property
    def gpus(self) -> list[Plane]:
        """All GPU planes, those without events too."""
        return self.space.prefixed("/device:GPU:")

    @cached_property
    def tpus(self) -> list[Plane]:
        """TensorCore planes of TPUs."""
        return [p for p in self.space.prefixed("/device:TPU:") if p.name.removeprefix("/device:TPU:").isdigit()]

    @cached_property
    def devices(self) -> list[Plane]:
        """Planes of devices that recorded events: a plane without lines is no device data."""
        return [plane for plane in self.gpus or self.tpus if len(plane.events)]

    @cached_property
    def origin_ns(self) -> int:
        """What the wall clock said when the host's own times were 0: ns since the epoch, 0 where it is not known.

        Times that are no times of day count from the start of the profile, which the Task Environment states.
        """
        plane = self.space.plane("Task Environment")
        start = plane.facts().get("profile_start_time") if plane else None
        return self.space.origin_ns or (start if isinstance(start, int) and start > 0 else 0)

    @cached_property
    def hostname(self) -> str:
        """As the capture itself names its host."""
        return self.space.hostnames[0] if self.space.hostnames else "localhost"

    @cached_property
    def trace(self) -> Trace:
        """All events with nesting and links."""
        return Trace(self.space)

    @cached_property
    def modules(self) -> dict[int, hlo.Module]:
        """XLA programs by id."""
        return hlo.modules(self.space)

    @property
    def steps(self) -> Steps:
        """The steps by the best rule that finds any."""
        return self.steps_named("")

    def steps_named(self, event: str) -> Steps:
        """The steps by events of that name; by the best rule where it is empty."""
        return self.once_chosen("steps", event, lambda: step_rules.find(self.trace, event))

    def steps_in_full(self, event: str = "") -> Steps:
        """The same with each event's group, which is known only while the host is decoded."""
        with self._lock:
            steps = self.steps_named(event)
            if len(steps.of_event) < len(self.trace):
                steps = self._memory["steps", event] = step_rules.find(self.trace, event)
            return steps

    @cached_property
    def window(self) -> tuple[int, int]:
        """Begin and end of everything recorded, ps."""
        if not len(self.trace):
            return 0, 0
        return int(self.trace.begin.min()), int(self.trace.end.max())

    @property
    def problems(self) -> list[Problem]:
        """What the capture itself says went wrong, and what could not be read."""
        if self._problems is not None:
            return self._problems
        found = list(self.space.problems)
        found += [_explained(text, self.name, "error") for text in dict.fromkeys(self.space.errors)]
        found += [_explained(text, self.name, "warning") for text in dict.fromkeys(self.space.warnings)]
        return found

    def once(self, key: Any, compute: Callable[[], Result]) -> Result:
        """The result of ``compute``, computed at most once per key however many threads ask; a checkpoint."""
        with self._lock:
            found: Result | object = self._memory.get(key, _NOTHING)
            if found is _NOTHING:
                cancellation.check()
                found = self._memory[key] = compute()
            return cast(Result, found)

    def once_chosen(self, what: str, choice: str, compute: Callable[[], Result]) -> Result:
        """The same, for a choice that anybody may make (empty for none): kept of those made last."""
        if choice:
            self._choose(choice)
        return self.once((what, choice), compute)

    def _choose(self, choice: str) -> None:
        with self._lock:
            self._chosen.pop(choice, None)
            self._chosen[choice] = None
            if len(self._chosen) > _CHOICES:
                oldest = next(iter(self._chosen))
                del self._chosen[oldest]
                for key in [key for key in self._memory if isinstance(key, tuple) and key[1:] == (oldest,)]:
                    del self._memory[key]
                self.answered.clear()

    def stream_lines(self, plane: Plane) -> Array:
        """int64[k]: lines of a device that hold its own record, not what was derived from it."""
        derived = is_derived(plane.lines.id)
        return np.flatnonzero(~derived)


_CHOICES = 8
_QUESTIONS = 64
_NOTHING = object()
_PLAIN = frozenset({str, int, float, bool, type(None)})
_SMALL = 4 << 20
_SMALL_SHARE = 4
"""A thinned host keeps results of up to 4 MiB each, or this fraction of its capture."""


def is_small(result: object, most: int) -> bool:
    """Whether a result, with all that it alone keeps in memory, takes at most so many bytes, and nothing decoded."""
    pending, seen, total = [result], set(), 0
    while pending:
        each = pending.pop()
        if type(each) in _PLAIN:
            total += sys.getsizeof(each)
            continue
        if id(each) in seen:
            continue
        seen.add(id(each))
        if callable(each) or isinstance(each, XSpace | Plane | Trace | memoryview):
            return False
        total += sys.getsizeof(each)
        if isinstance(each, np.ndarray):
            total += each.nbytes
            pending.append(each.base)
        elif isinstance(each, dict):
            pending += [*each, *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            pending += each
        else:
            pending += vars(each).values() if hasattr(each, "__dict__") else ()
            pending += [getattr(each, name, None) for name in getattr(type(each), "__slots__", ())]
        if total > most:
            return False
    return True


_REMEDIES = {
    "libcupti": (
        "TensorFlow could not load CUPTI: add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH, "
        "and check with `ldconfig -p | grep libcupti`."
    ),
    "INSUFFICIENT_PRIVILEGES": (
        "The driver lets only administrators profile: load it with NVreg_RestrictProfilingToAdminUsers=0, "
        "or run the container with --cap-add SYS_ADMIN (or --privileged)."
    ),
}


def _explained(text: str, host: str, severity: str) -> Problem:
    remedy = next((advice for key, advice in _REMEDIES.items() if key in text), "")
    return Problem("reported_by_profiler", text, remedy, host, severity)
