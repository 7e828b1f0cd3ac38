"""An input pipeline of tf.data: what its requests took, its stages, and which of these is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model.iterators import ASYNCHRONOUS, kind_of, last_component
from ...runtime.arrays import Array, median
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple, record

SLOW_PS = 50_000_000
"""A pipeline that answers within 50 µs keeps up: that is what fetching a ready element costs (TensorFlow's guide)."""


class Stage(NamedTuple):
    """One transformation of a pipeline as the program has it: all iterators made at one place, over all calls."""

    long_name: str
    """Names of the stages from the outermost to it, ``::`` between; ``[]`` where an index counts elements or epochs."""
    parent: int
    """Row in the pipeline's stages, -1 for the outermost."""
    iterators: int
    """How many iterators it was."""
    calls: int
    total_ps: int
    self_ps: int
    """As `CallTimes`, summed."""
    critical_ps: int
    """As `CallTimes`, summed, but what its inputs are to blame for (`call_times.input_ps`) is theirs."""
    wait_ps: int
    """Time of its wait for elements that other threads made."""
    scheduling_delay_ps: int
    """Part of the critical time after an element was ready: the thread did not continue, for want of a core."""
    filled_ps: int
    """Part of the requests' time that went into filling it: a shuffle's buffer, or a cache in the first epoch."""
    python_calls: int
    """How many of its functions ran Python code."""
    function_ps: int
    """Time of the executor's threads that ran its functions; 0 where that is not recorded."""
    begin_ps: int
    """Begin of the longest call."""
    longest_ps: int
    row: int
    """The longest call's row on the host's plane."""
    dataset: str
    """The dataset's name: as the program named it, or what tf.data made of its type."""
    settings: dict[str, Any]
    """Stats of the longest call: parallelism, buffer size, …"""

    @property
    def label(self) -> str:
        """The last component of the long name, e.g. ``ParallelMapV2``."""
        return last_component(self.long_name)

    @property
    def kind(self) -> str:
        """The label without version."""
        return kind_of(self.label)

    @property
    def blame_ps(self) -> int:
        """Critical time without that delay: its own work, or what nothing recorded explains."""
        return self.critical_ps - self.scheduling_delay_ps

    @property
    def is_asynchronous(self) -> bool:
        """Whether it works ahead on threads of its own."""
        return self.kind in ASYNCHRONOUS


@record
class Pipeline:
    """An input pipeline of a host: the iterator that a program asks, with all that works for it."""

    host: str
    name: str
    """``Host:0``, ``Device:0`` …, numbered in the order of their first calls."""
    is_for_device: bool
    """Whether it fetches for a device what a pipeline of the host makes."""
    iterator: int
    """The outermost one, by its row in `IteratorCalls.iterators`."""
    requests: Array
    """int64[m]: calls of the whole pipeline, by their rows in `IteratorCalls`, slowest first."""
    latency_ps: Array
    """int64[m] ps: of each request."""
    stages: Sequence[Stage]
    """Outermost first, each after the one that asks it."""
    unserved_ps: int
    """Time waited for elements whose making is not in the capture."""
    between_ps: int
    """Time between requests, when the program did something else."""
    filling_ps: Array
    """int64[m]: of each latency, what went into filling shuffles' buffers and caches."""
    is_served: bool
    """Whether a distribution strategy's multi-device iterator asks it, on a thread of its own: ahead of the program."""

    @lazy
    def slow_calls(self) -> int:
        """How many requests took longer than 50 µs."""
        return int((self.latency_ps > SLOW_PS).sum())

    @lazy
    def starting(self) -> Array:
        """bool[m]: requests most of whose latency went into filling; later ones do not have to."""
        return 2 * self.filling_ps > self.latency_ps

    @lazy
    def typical_ps(self) -> float:
        """The median latency, of requests that did not fill anything where there are such."""
        steady_ps = self.latency_ps[~self.starting]
        return median(steady_ps if len(steady_ps) else self.latency_ps)

    @property
    def max_ps(self) -> int:
        """Latency of the slowest request."""
        return int(self.latency_ps[0])

    @property
    def total_ps(self) -> int:
        """Sum of all latencies."""
        return int(self.latency_ps.sum())

    @lazy
    def bottleneck(self) -> int:
        """The stage that is to blame for most of the time of all requests; -1 where none took any."""
        blame = [stage.critical_ps if self.is_contended else stage.blame_ps for stage in self.stages]
        return int(np.argmax(blame)) if max(blame, default=0) > 0 else -1

    @lazy
    def scheduling_delay_ps(self) -> int:
        """Time of requests in which an element was ready, but the thread that asked did not continue."""
        return sum(stage.scheduling_delay_ps for stage in self.stages)

    @property
    def is_contended(self) -> bool:
        """Whether most of the time of requests was such delay."""
        return 2 * self.scheduling_delay_ps > self.total_ps

    @lazy
    def children(self) -> list[list[int]]:
        """The rows of each stage's inputs."""
        children: list[list[int]] = [[] for _ in self.stages]
        for row, stage in enumerate(self.stages):
            if stage.parent >= 0:
                children[stage.parent].append(row)
        return children

    def above(self, row: int) -> list[Stage]:
        """The stages that ask this one, nearest first."""
        above = []
        while self.stages[row].parent >= 0:
            row = self.stages[row].parent
            above.append(self.stages[row])
        return above


class IteratorPart(NamedTuple):
    """One iterator's part in one request."""

    id: int
    """The iterator's."""
    parent_id: int
    """0 where the asking iterator did nothing in this request."""
    long_name: str
    begin_ps: int
    """Begin of its first call."""
    total_ps: int
    self_ps: int
    critical_ps: int
    is_blocking: bool
    """Whether any of its calls is, see `CallTimes`."""
    calls: int
    row: int
    """The first call's event in the host's plane."""

    @property
    def label(self) -> str:
        """The last component of the long name."""
        return last_component(self.long_name)
