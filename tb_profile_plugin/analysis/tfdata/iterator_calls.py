"""Where tf.data's pipelines spend their time: each call, each transformation, and what the consumer waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...model.events.nested import MISSING
from ...model.host import Host
from ...model.iterators import ASYNCHRONOUS, Calls, calls, kind_of, stage_path
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct, median
from ...runtime.memo import lazy
from .filling import filling
from .work import Work, work

_MULTI_DEVICE = "tf_data_multi_device_iterator"
"""How TensorFlow names the threads that fetch for all devices of a strategy."""

SLOW_PS = 50_000_000
"""A pipeline that answers within 50 µs keeps up: that is what fetching a ready element costs (TensorFlow's guide)."""


class Stage(NamedTuple):
    """One transformation of a pipeline as the program has it: all iterators made at one place, over all calls."""

    long_name: str
    """Names of the stages from the outermost to it, ``::`` between; ``[]`` where an index counts elements or epochs."""
    parent: int
    """Row in the pipeline's stages, -1 for the outermost."""
    iterators: int
    calls: int
    total_ps: int
    self_ps: int
    critical_ps: int
    wait_ps: int
    """Time of its wait for elements that other threads made."""
    delay_ps: int
    """Of the critical time, what passed after an element was in hand: the thread did not get on, for want of a core."""
    filled_ps: int
    """Of the requests' time, what went into filling it: a shuffle's buffer, or a cache in the first epoch."""
    python_calls: int
    """How many of its functions ran Python code."""
    begin_ps: int
    """Begin of the longest call."""
    longest_ps: int
    row: int
    """The longest call's event in the host's plane."""
    dataset: str
    """The dataset's name: as the program named it, or what tf.data made of its type."""
    settings: dict[str, Any]
    """Stats of the longest call: parallelism, buffer size, …"""

    @property
    def label(self) -> str:
        """The last component of the long name, e.g. ``ParallelMapV2``."""
        return self.long_name.rsplit("::", 1)[-1]

    @property
    def kind(self) -> str:
        """The label without version."""
        return kind_of(self.label)

    @property
    def blame_ps(self) -> int:
        """Critical time that its own work, or what nothing recorded explains, is to blame for."""
        return self.critical_ps - self.delay_ps

    @property
    def asynchronous(self) -> bool:
        """Whether it works ahead on threads of its own."""
        return self.kind in ASYNCHRONOUS


@dataclass(frozen=True, eq=False, repr=False)
class Pipeline:
    """An input pipeline of a host: the iterator that a program asks, with all that works for it."""

    host: str
    name: str
    """``Host:0``, ``Device:0`` …, numbered in the order of their first calls."""
    device: bool
    """Whether it fetches for a device what a pipeline of the host makes."""
    iterator: int
    requests: Array
    """int64[m]: calls of the whole pipeline, slowest first."""
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

    served: bool
    """Whether a distribution strategy's multi-device iterator asks it, on a thread of its own: ahead of the program."""

    @lazy
    def slow_calls(self) -> int:
        """How many requests took longer than 50 µs."""
        return int((self.latency_ps > SLOW_PS).sum())

    @lazy
    def starting(self) -> Array:
        """bool[m]: requests most of whose latency went into filling; later ones do not have to."""
        answer: Array = 2 * self.filling_ps > self.latency_ps
        return answer

    @lazy
    def typical_ps(self) -> float:
        """The median latency, of requests that did not fill anything where there are such."""
        steady = self.latency_ps[~self.starting]
        return median(steady if len(steady) else self.latency_ps)

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
        blame = [stage.critical_ps if self.contended else stage.blame_ps for stage in self.stages]
        return int(np.argmax(blame)) if max(blame, default=0) > 0 else -1

    @lazy
    def delay_ps(self) -> int:
        """Time of requests in which an element was there, but the thread that asked did not get on."""
        return sum(stage.delay_ps for stage in self.stages)

    @property
    def contended(self) -> bool:
        """Whether most of the time of requests was such delay."""
        return 2 * self.delay_ps > self.total_ps

    @lazy
    def children(self) -> list[list[int]]:
        """Inputs of each stage."""
        answer: list[list[int]] = [[] for _ in self.stages]
        for row, stage in enumerate(self.stages):
            if stage.parent >= 0:
                answer[stage.parent].append(row)
        return answer

    def above(self, row: int) -> list[Stage]:
        """The stages that ask this one, nearest first."""
        answer = []
        while self.stages[row].parent >= 0:
            row = self.stages[row].parent
            answer.append(self.stages[row])
        return answer


class Node(NamedTuple):
    """One iterator's part in one request."""

    id: int
    parent_id: int
    """0 where the asking iterator did nothing in this request."""
    long_name: str
    begin_ps: int
    """Of its first call."""
    total_ps: int
    self_ps: int
    critical_ps: int
    blocking: bool
    calls: int
    row: int
    """The first call's event in the host's plane."""

    @property
    def label(self) -> str:
        """The last component of the long name."""
        return self.long_name.rsplit("::", 1)[-1]


class TfData:
    """The pipelines of one host."""

    def __init__(self, host: Host, calls: Calls):
        self.trace = host.trace
        self.calls = calls
        self.work = work(calls)
        self._stage_of, long_names, parents = _stages(calls)
        kinds = [kind_of(name.rsplit("::", 1)[-1]) for name in long_names]
        self._filling = filling(calls, self._stage_of[calls.iterator], kinds, parents)
        self.pipelines = self._pipelines(host.name, long_names, parents)

    def _pipelines(self, host: str, long_names: list[str], parents: Array) -> list[Pipeline]:
        calls = self.calls
        table = calls.iterators
        roots = np.flatnonzero(calls.is_root)
        owner = table.pipeline[calls.iterator[roots]]
        order = roots[np.argsort(calls.begin[roots], kind="stable")]
        _, first = np.unique(calls.iterator[order], return_index=True)
        counts = {True: 0, False: 0}
        figures = _StageSums(calls, self.work, self._stage_of[calls.iterator], self._filling, len(long_names))
        filled = np.bincount(calls.top, np.where(self._filling >= 0, self.work.critical_ps, 0), len(calls))
        pipeline_of = np.full(len(long_names), -1, np.int64)
        pipeline_of[self._stage_of] = table.pipeline
        answer = []
        for top in calls.iterator[order[np.sort(first)]].tolist():
            device = top in calls.device_pipelines
            requests = roots[owner == top]
            if not len(requests):
                # Parents that go round in circles belong to no pipeline.
                continue
            latency = calls.end[requests] - calls.begin[requests]
            slowest = np.argsort(-latency, kind="stable")
            rows = _depth_first(np.flatnonzero(pipeline_of == top), parents)
            position = {row: i for i, row in enumerate(rows)}
            stages = [figures.stage(row, long_names[row], position.get(int(parents[row]), -1)) for row in rows]
            name = f"{'Device' if device else 'Host'}:{counts[device]}"
            unserved = int(figures.unserved[rows].sum())
            counts[device] += 1
            span = int(calls.end[requests].max() - calls.begin[requests].min())
            between = max(span - int(latency.sum()), 0)
            requests, latency = requests[slowest], latency[slowest]
            filling_ps, served = filled[requests].astype(np.int64), self._served(int(requests[0]))
            answer.append(
                Pipeline(host, name, device, top, requests, latency, stages, unserved, between, filling_ps, served)
            )
        return answer

    def _served(self, request: int) -> bool:
        plane = self.calls.plane
        thread: str = plane.lines.name[plane.events.line[self.calls.row[request]]]
        return thread.startswith(_MULTI_DEVICE)

    def nodes(self, request: int) -> list[Node]:
        """Every iterator's part in one request (a call of `Pipeline.requests`), the outermost first."""
        calls, done, table = self.calls, self.work, self.calls.iterators
        members = self._by_request(request)
        members = members[np.lexsort((calls.begin[members], calls.depth[members]))]
        iterators, first, code = np.unique(calls.iterator[members], return_index=True, return_inverse=True)
        duration = calls.end[members] - calls.begin[members]
        columns = (duration, done.self_ps[members], done.critical_ps[members], done.blocking[members])
        total, self_ps, critical, blocking = (
            np.bincount(code.reshape(-1), column.astype(np.float64)).astype(np.int64) for column in columns
        )
        count = np.bincount(code.reshape(-1))
        present = set(table.id[iterators].tolist())
        names = calls.plane.names
        answer = []
        for i in np.argsort(first).tolist():
            iterator, start = int(iterators[i]), int(members[first[i]])
            above = int(table.parent_id[iterator])
            node = Node(
                id=int(table.id[iterator]),
                parent_id=above if above in present else 0,
                long_name=names[int(table.name[iterator])],
                begin_ps=int(calls.begin[start]),
                total_ps=int(total[i]),
                self_ps=int(self_ps[i]),
                critical_ps=int(critical[i]),
                blocking=bool(blocking[i]),
                calls=int(count[i]),
                row=int(calls.row[start]),
            )
            answer.append(node)
        return answer

    def _by_request(self, request: int) -> Array:
        order, tops = self._requests
        low, high = np.searchsorted(tops, [request, request + 1])
        return order[low:high]

    @lazy
    def _requests(self) -> tuple[Array, Array]:
        order = np.argsort(self.calls.top, kind="stable")
        return order, self.calls.top[order]


class _StageSums:
    """Sums over the calls of each stage."""

    def __init__(self, calls: Calls, done: Work, stage: Array, filling: Array, size: int):
        duration = calls.end - calls.begin
        self._calls, self._size, self._stage = calls, size, stage
        delay = np.where(calls.ready == MISSING, 0, np.minimum(calls.end - calls.ready, done.critical_ps)).clip(0)
        python = calls.functions.call[calls.functions.python]
        fills = np.flatnonzero(filling >= 0)
        self._sums = {
            "calls": np.bincount(stage, minlength=size),
            "iterators": np.bincount(stage[calls.iterators.first], minlength=size),
            "total_ps": self._sum(duration),
            "self_ps": self._sum(done.self_ps),
            "critical_ps": self._sum(done.critical_ps),
            "wait_ps": self._sum(done.wait_ps),
            "delay_ps": self._sum(delay),
            "filled_ps": np.bincount(stage[filling[fills]], done.critical_ps[fills], size).astype(np.int64),
            "python_calls": np.bincount(stage[python], minlength=size),
        }
        served = np.zeros(len(calls), bool)
        served[calls.parent[calls.linked]] = True
        self.unserved = self._sum(np.where(served, 0, np.minimum(done.wait_ps, done.critical_ps)))
        most, self._longest = np.zeros(size, np.int64), np.zeros(size, np.int64)
        np.maximum.at(most, stage, duration)
        # Of equal ones the last.
        longest = np.flatnonzero(duration == most[stage])
        self._longest[stage[longest]] = longest

    def _sum(self, column: Array) -> Array:
        # Doubles hold these sums exactly up to 2.5 hours of picoseconds.
        return np.bincount(self._stage, column.astype(np.float64), self._size).astype(np.int64)

    def stage(self, row: int, long_name: str, parent: int) -> Stage:
        calls = self._calls
        longest = int(self._longest[row])
        event = int(calls.row[longest])
        settings = calls.plane.event_facts(event)
        return Stage(
            long_name=long_name,
            parent=parent,
            begin_ps=int(calls.begin[longest]),
            longest_ps=int(calls.end[longest] - calls.begin[longest]),
            row=event,
            dataset=str(settings.pop("name", "")),
            settings=settings,
            **{name: int(column[row]) for name, column in self._sums.items()},
        )


def _stages(calls: Calls) -> tuple[Array, list[str], Array]:
    """(stage of each iterator, long name of each stage, parent of each stage or -1)."""
    table, names = calls.iterators, calls.plane.names
    codes: dict[str, int] = {}
    by_row = {row: codes.setdefault(stage_path(names[row]), len(codes)) for row in distinct(table.name).tolist()}
    name_code = np.array([by_row.get(row, -1) for row in range(len(names))], np.int64)[table.name]
    pair = (table.pipeline.astype(np.int64) + 1) * (len(codes) + 1) + name_code
    _, first, stage = np.unique(pair, return_index=True, return_inverse=True)
    stage = stage.reshape(-1)
    texts = list(codes)
    above = table.parent[first]
    parents = np.where(above >= 0, stage[above], -1)
    return stage, [texts[code] for code in name_code[first].tolist()], parents


def _depth_first(rows: Array, parents: Array) -> list[int]:
    """Rows of one pipeline's stages in depth-first order."""
    inside = set(rows.tolist())
    below: dict[int, list[int]] = {}
    for row in rows.tolist():
        parent = int(parents[row])
        below.setdefault(parent if parent in inside and parent != row else -1, []).append(row)
    answer: list[int] = []
    waiting = below.get(-1, [])[::-1]
    while waiting:
        row = waiting.pop()
        answer.append(row)
        waiting += below.get(row, [])[::-1]
    return answer


@per_host
def tf_data(host: Host) -> TfData | None:
    """The host's pipelines; None where the capture holds none."""
    host_calls = calls(host)
    return None if host_calls is None else TfData(host, host_calls)


@per_host(keep=True)
def pipelines(host: Host) -> Sequence[Pipeline]:
    """The host's pipelines, in the order of their first calls."""
    data = tf_data(host)
    return data.pipelines if data else ()


@per_host(keep=True)
def has_tf_data(host: Host) -> bool:
    """Whether a host has pipelines."""
    return calls(host) is not None
