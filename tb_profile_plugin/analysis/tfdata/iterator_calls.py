"""Where tf.data's pipelines spend their time: each call, each transformation, and what the consumer waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model.events.nested import MISSING
from ...model.host import Host
from ...model.iterators import ASYNCHRONOUS, IteratorCalls, calls, kind_of, stage_path
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct, median
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple, record
from .call_times import CallTimes, call_times
from .filling import filling

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
    """How many iterators it was."""
    calls: int
    total_ps: int
    self_ps: int
    """As `CallTimes`, summed, and so are both below."""
    critical_ps: int
    wait_ps: int
    """Time of its wait for elements that other threads made."""
    delay_ps: int
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
        return self.long_name.rsplit("::", 1)[-1]

    @property
    def kind(self) -> str:
        """The label without version."""
        return kind_of(self.label)

    @property
    def blame_ps(self) -> int:
        """Critical time without the delay: its own work, or what nothing recorded explains."""
        return self.critical_ps - self.delay_ps

    @property
    def asynchronous(self) -> bool:
        """Whether it works ahead on threads of its own."""
        return self.kind in ASYNCHRONOUS


@record
class Pipeline:
    """An input pipeline of a host: the iterator that a program asks, with all that works for it."""

    host: str
    name: str
    """``Host:0``, ``Device:0`` …, numbered in the order of their first calls."""
    device: bool
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
    served: bool
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
        """Time of requests in which an element was ready, but the thread that asked did not continue."""
        return sum(stage.delay_ps for stage in self.stages)

    @property
    def contended(self) -> bool:
        """Whether most of the time of requests was such delay."""
        return 2 * self.delay_ps > self.total_ps

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
    blocking: bool
    """Whether any of its calls is, see `CallTimes`."""
    calls: int
    row: int
    """The first call's event in the host's plane."""

    @property
    def label(self) -> str:
        """The last component of the long name."""
        return self.long_name.rsplit("::", 1)[-1]


class TfData:
    """The pipelines of one host."""

    def __init__(self, host: Host, calls: IteratorCalls):
        self.trace = host.trace
        self.calls = calls
        self.times = call_times(calls)
        self._stage_of, long_names, parents = _stages(calls)
        kinds = [kind_of(name.rsplit("::", 1)[-1]) for name in long_names]
        self._filling = filling(calls, self._stage_of[calls.iterator], kinds, parents)
        self.pipelines = self._pipelines(host.name, long_names, parents)

    def _pipelines(self, host: str, long_names: list[str], parents: Array) -> list[Pipeline]:
        """``long_names`` and ``parents`` are of each stage."""
        calls, table = self.calls, self.calls.iterators
        roots = np.flatnonzero(calls.is_root)
        roots = roots[np.argsort(calls.begin[roots], kind="stable")]
        pipeline_of_root = table.pipeline[calls.iterator[roots]]
        sums = _StageSums(calls, self.times, self._stage_of[calls.iterator], self._filling, len(long_names))
        filling_ps = np.bincount(calls.top, np.where(self._filling >= 0, self.times.critical_ps, 0), len(calls))
        pipeline_of_stage = np.full(len(long_names), -1, np.int64)
        pipeline_of_stage[self._stage_of] = table.pipeline
        counts = Counter[str]()
        pipelines = []
        for top in dict.fromkeys(calls.iterator[roots].tolist()):
            requests = np.sort(roots[pipeline_of_root == top])
            if not len(requests):
                # Parents that go round in circles belong to no pipeline.
                continue
            latency = calls.end[requests] - calls.begin[requests]
            span = int(calls.end[requests].max() - calls.begin[requests].min())
            order = np.argsort(-latency, kind="stable")
            requests, latency = requests[order], latency[order]
            side = "Device" if top in calls.device_pipelines else "Host"
            stages = _depth_first(np.flatnonzero(pipeline_of_stage == top), parents)
            row_of_stage = {stage: row for row, stage in enumerate(stages)}
            pipelines.append(
                Pipeline(
                    host,
                    name=f"{side}:{counts[side]}",
                    device=side == "Device",
                    iterator=top,
                    requests=requests,
                    latency_ps=latency,
                    stages=[sums.stage(i, long_names[i], row_of_stage.get(int(parents[i]), -1)) for i in stages],
                    unserved_ps=int(sums.unserved_ps[stages].sum()),
                    between_ps=max(span - int(latency.sum()), 0),
                    filling_ps=filling_ps[requests].astype(np.int64),
                    served=self._is_served(int(requests[0])),
                )
            )
            counts[side] += 1
        return pipelines

    def _is_served(self, request: int) -> bool:
        """Whether a request is one of `Pipeline.served`."""
        plane = self.calls.plane
        thread: str = plane.lines.name[plane.events.line[self.calls.row[request]]]
        return thread.startswith(_MULTI_DEVICE)

    def nodes(self, request: int) -> list[IteratorPart]:
        """Every iterator's part in one request (a call of `Pipeline.requests`), the outermost first."""
        calls, times, table = self.calls, self.times, self.calls.iterators
        order, tops = self._calls_by_top
        members = order[slice(*np.searchsorted(tops, (request, request + 1)))]
        members = members[np.lexsort((calls.begin[members], calls.depth[members]))]
        iterators, first, code = np.unique(calls.iterator[members], return_index=True, return_inverse=True)
        duration = calls.end[members] - calls.begin[members]
        columns = (duration, times.self_ps[members], times.critical_ps[members], times.blocking[members])
        total_ps, self_ps, critical_ps, blocking_calls = (
            np.bincount(code, column.astype(np.float64)).astype(np.int64) for column in columns
        )
        count, present = np.bincount(code), set(table.id[iterators].tolist())
        parts = []
        for i in np.argsort(first).tolist():
            iterator, first_call = int(iterators[i]), int(members[first[i]])
            parent_id = int(table.parent_id[iterator])
            part = IteratorPart(
                id=int(table.id[iterator]),
                parent_id=parent_id if parent_id in present else 0,
                long_name=calls.plane.names[int(table.name[iterator])],
                begin_ps=int(calls.begin[first_call]),
                total_ps=int(total_ps[i]),
                self_ps=int(self_ps[i]),
                critical_ps=int(critical_ps[i]),
                blocking=bool(blocking_calls[i]),
                calls=int(count[i]),
                row=int(calls.row[first_call]),
            )
            parts.append(part)
        return parts

    @lazy
    def _calls_by_top(self) -> tuple[Array, Array]:
        """(calls, tops), int64[n]: the calls by the request that they work for, and that request."""
        order = np.argsort(self.calls.top, kind="stable")
        return order, self.calls.top[order]


class _StageSums:
    """Sums over the calls of each stage; ``stage`` and ``filling`` are of each call, ``size`` counts the stages."""

    def __init__(self, calls: IteratorCalls, times: CallTimes, stage: Array, filling: Array, size: int):
        duration = calls.end - calls.begin
        self._calls, self._size, self._stage = calls, size, stage
        delay = np.where(calls.ready == MISSING, 0, np.minimum(calls.end - calls.ready, times.critical_ps)).clip(0)
        python = calls.functions.call[calls.functions.python]
        fills = np.flatnonzero(filling >= 0)
        self._sums = {
            "calls": np.bincount(stage, minlength=size),
            "iterators": np.bincount(stage[calls.iterators.first], minlength=size),
            "total_ps": self._sum(duration),
            "self_ps": self._sum(times.self_ps),
            "critical_ps": self._sum(times.critical_ps),
            "wait_ps": self._sum(times.wait_ps),
            "delay_ps": self._sum(delay),
            "filled_ps": np.bincount(stage[filling[fills]], times.critical_ps[fills], size).astype(np.int64),
            "python_calls": np.bincount(stage[python], minlength=size),
            "function_ps": np.bincount(stage[calls.functions.call], calls.functions.run_ps, size).astype(np.int64),
        }
        is_served = np.zeros(len(calls), bool)
        is_served[calls.parent[calls.linked]] = True
        self.unserved_ps = self._sum(np.where(is_served, 0, np.minimum(times.wait_ps, times.critical_ps)))
        longest_ps, self._longest_call = np.zeros(size, np.int64), np.zeros(size, np.int64)
        np.maximum.at(longest_ps, stage, duration)
        # Of equal ones the last.
        longest = np.flatnonzero(duration == longest_ps[stage])
        self._longest_call[stage[longest]] = longest

    def _sum(self, column: Array) -> Array:
        # Doubles hold these sums exactly up to 2.5 hours of picoseconds.
        return np.bincount(self._stage, column.astype(np.float64), self._size).astype(np.int64)

    def stage(self, row: int, long_name: str, parent: int) -> Stage:
        calls = self._calls
        longest = int(self._longest_call[row])
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


def _stages(calls: IteratorCalls) -> tuple[Array, list[str], Array]:
    """(stage of each iterator, long name of each stage, parent of each stage or -1)."""
    table, names = calls.iterators, calls.plane.names
    codes: dict[str, int] = {}
    by_row = {row: codes.setdefault(stage_path(names[row]), len(codes)) for row in distinct(table.name).tolist()}
    name_code = np.array([by_row.get(row, -1) for row in range(len(names))], np.int64)[table.name]
    pair = (table.pipeline.astype(np.int64) + 1) * (len(codes) + 1) + name_code
    _, first, stage = np.unique(pair, return_index=True, return_inverse=True)
    texts = list(codes)
    above = table.parent[first]
    parents = np.where(above >= 0, stage[above], -1)
    return stage, [texts[code] for code in name_code[first].tolist()], parents


def _depth_first(rows: Array, parents: Array) -> list[int]:
    rows_of_pipeline = set(rows.tolist())
    inputs: dict[int, list[int]] = {}
    for row in rows.tolist():
        parent = int(parents[row])
        inputs.setdefault(parent if parent in rows_of_pipeline and parent != row else -1, []).append(row)
    ordered_rows: list[int] = []
    to_visit = inputs.get(-1, [])[::-1]
    while to_visit:
        row = to_visit.pop()
        ordered_rows.append(row)
        to_visit += inputs.get(row, [])[::-1]
    return ordered_rows


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
