"""Where tf.data's pipelines spend their time: each call, each transformation, and what the consumer waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...model.events.event_table import MISSING
from ...model.host import Host
from ...model.iterators import IteratorCalls, calls, kind_of, last_component, stage_path
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple
from .call_times import CallTimes, call_times, input_ps
from .filling import filling, stages_above
from .pipeline import IteratorPart, Pipeline, Stage

_MULTI_DEVICE = "tf_data_multi_device_iterator"
"""How TensorFlow names the threads that fetch for all devices of a strategy."""


class TfData:
    """The pipelines of one host."""

    def __init__(self, host: Host, calls: IteratorCalls):
        self.trace = host.trace
        self.calls = calls
        self.times = call_times(calls)
        self._host = host.name
        self._stages = _stages(calls)
        kinds = [kind_of(last_component(name)) for name in self._stages.long_name]
        self._filling = filling(calls, self._stages.of_iterator[calls.iterator], kinds, self._stages.parent)
        self.pipelines = self._pipelines()

    def _pipelines(self) -> list[Pipeline]:
        """In order of their first calls."""
        calls, table, stages = self.calls, self.calls.iterators, self._stages
        roots = np.flatnonzero(calls.is_root)
        roots = roots[np.argsort(calls.begin[roots], kind="stable")]
        pipeline_of_root = table.pipeline[calls.iterator[roots]]
        sums = _CallSums(calls, self.times, stages, self._filling)
        pipeline_of_stage = np.full(len(stages.long_name), -1, np.int64)
        pipeline_of_stage[stages.of_iterator] = table.pipeline
        counts = Counter[str]()
        pipelines = []
        for iterator in dict.fromkeys(calls.iterator[roots].tolist()):
            requests = np.sort(roots[pipeline_of_root == iterator])
            if not len(requests):
                # Parents that go round in circles belong to no pipeline.
                continue
            side = "Device" if iterator in calls.device_pipelines else "Host"
            rows = _depth_first(np.flatnonzero(pipeline_of_stage == iterator), stages.parent)
            pipelines.append(self._pipeline(f"{side}:{counts[side]}", iterator, requests, rows, sums))
            counts[side] += 1
        return pipelines

    def _pipeline(self, name: str, iterator: int, requests: Array, stages: list[int], sums: _CallSums) -> Pipeline:
        """The pipeline of an outermost iterator, with calls of it in any order, and its stages, outermost first."""
        calls = self.calls
        span = int(calls.end[requests].max() - calls.begin[requests].min())
        latency = calls.end[requests] - calls.begin[requests]
        slowest_first = np.argsort(-latency, kind="stable")
        requests, latency = requests[slowest_first], latency[slowest_first]
        return Pipeline(
            self._host,
            name=name,
            is_for_device=iterator in calls.device_pipelines,
            iterator=iterator,
            requests=requests,
            latency_ps=latency,
            stages=sums.stages(stages),
            unserved_ps=int(sums.unserved_ps[stages].sum()),
            between_ps=max(span - int(latency.sum()), 0),
            filling_ps=sums.filling_ps[requests],
            is_served=self._is_served(int(requests[0])),
        )

    def _is_served(self, request: int) -> bool:
        """`Pipeline.is_served`, by one of its requests."""
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
        columns = (duration, times.self_ps[members], times.critical_ps[members], times.is_blocking[members])
        total_ps, self_ps, critical_ps, blocking_calls = (
            np.bincount(code, column.astype(np.float64)).astype(np.int64) for column in columns
        )
        count, ids = np.bincount(code), set(table.id[iterators].tolist())
        parts = []
        for i in np.argsort(first).tolist():
            iterator, first_call = int(iterators[i]), int(members[first[i]])
            parent_id = int(table.parent_id[iterator])
            part = IteratorPart(
                id=int(table.id[iterator]),
                parent_id=parent_id if parent_id in ids else 0,
                long_name=calls.plane.names[int(table.name[iterator])],
                begin_ps=int(calls.begin[first_call]),
                total_ps=int(total_ps[i]),
                self_ps=int(self_ps[i]),
                critical_ps=int(critical_ps[i]),
                is_blocking=bool(blocking_calls[i]),
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


class _StageTable(NamedTuple):
    """The k stages of all pipelines of a host."""

    of_iterator: Array
    """int64[iterators]: the stage that each iterator is of."""
    long_name: list[str]
    parent: Array
    """int64[k]: the stage that asks it, or -1."""


class _CallSums:
    """Sums over calls by their stages and requests; ``filling`` is the stage that each call fills, or -1."""

    def __init__(self, calls: IteratorCalls, times: CallTimes, stages: _StageTable, filling: Array):
        duration = calls.end - calls.begin
        stage, size = stages.of_iterator[calls.iterator], len(stages.long_name)
        self._calls, self._table, self._stage = calls, stages, stage
        filling_ps = np.bincount(calls.top, np.where(filling >= 0, times.critical_ps, 0), len(calls))
        self.filling_ps = filling_ps.astype(np.int64)
        """int64[calls]: what of each request went into filling; 0 for calls that are none."""
        delay = np.where(calls.ready == MISSING, 0, np.minimum(calls.end - calls.ready, times.critical_ps)).clip(0)
        inputs_ps = np.minimum(input_ps(calls, times), times.critical_ps - delay)
        python_calls = calls.functions.call[calls.functions.python]
        fillers = np.flatnonzero(filling >= 0)
        self._sums = {
            "calls": np.bincount(stage, minlength=size),
            "iterators": np.bincount(stage[calls.iterators.first], minlength=size),
            "total_ps": self._sum(duration),
            "self_ps": (self_ps := self._sum(times.self_ps)),
            "critical_ps": _moved_to_inputs(self._sum(times.critical_ps), self._sum(inputs_ps), self_ps, stages.parent),
            "wait_ps": self._sum(times.wait_ps),
            "scheduling_delay_ps": self._sum(delay),
            "filled_ps": np.bincount(stage[filling[fillers]], times.critical_ps[fillers], size).astype(np.int64),
            "python_calls": np.bincount(stage[python_calls], minlength=size),
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
        return np.bincount(self._stage, column.astype(np.float64), len(self._table.long_name)).astype(np.int64)

    def stages(self, rows: Sequence[int]) -> list[Stage]:
        """Stages of one pipeline, of which these are the rows in the table, and which name their parents among them."""
        index_of = {row: index for index, row in enumerate(rows)}
        return [self._stage_at(row, index_of.get(int(self._table.parent[row]), -1)) for row in rows]

    def _stage_at(self, row: int, parent: int) -> Stage:
        calls = self._calls
        longest = int(self._longest_call[row])
        event = int(calls.row[longest])
        settings = calls.plane.event_facts(event)
        return Stage(
            long_name=self._table.long_name[row],
            parent=parent,
            begin_ps=int(calls.begin[longest]),
            longest_ps=int(calls.end[longest] - calls.begin[longest]),
            row=event,
            dataset=str(settings.pop("name", "")),
            settings=settings,
            **{name: int(column[row]) for name, column in self._sums.items()},
        )


def _moved_to_inputs(critical_ps: Array, inputs_ps: Array, self_ps: Array, parents: Array) -> Array:
    """int64[stages] ps: critical times, of which each stage's inputs get what they are to blame for (``inputs_ps``),
    in proportion to their own; to what they worked themselves where they have none.
    """
    outer_stages = [stages_above([row], parents) for row in range(len(parents))]
    innermost_first = sorted(np.flatnonzero(inputs_ps).tolist(), key=lambda row: -len(outer_stages[row]))
    for stage in innermost_first:
        inputs = [row for row, rows in enumerate(outer_stages) if stage in rows and row != stage]
        weights = critical_ps[inputs] if critical_ps[inputs].any() else self_ps[inputs]
        moved_ps = (inputs_ps[stage] * (weights / max(weights.sum(), 1))).astype(np.int64)
        critical_ps[inputs] += moved_ps
        critical_ps[stage] -= moved_ps.sum()
    return critical_ps


def _stages(calls: IteratorCalls) -> _StageTable:
    table, names = calls.iterators, calls.plane.names
    code_of: dict[str, int] = {}
    row_code = {row: code_of.setdefault(stage_path(names[row]), len(code_of)) for row in distinct(table.name).tolist()}
    name_code = np.array([row_code.get(row, -1) for row in range(len(names))], np.int64)[table.name]
    pipeline_and_code = (table.pipeline.astype(np.int64) + 1) * (len(code_of) + 1) + name_code
    _, first, stage = np.unique(pipeline_and_code, return_index=True, return_inverse=True)
    paths = list(code_of)
    parent_iterator = table.parent[first]
    parents = np.where(parent_iterator >= 0, stage[parent_iterator], -1)
    return _StageTable(stage, [paths[code] for code in name_code[first].tolist()], parents)


def _depth_first(rows: Array, parents: Array) -> list[int]:
    """The stages of one pipeline, each after the one that asks it, before the next one that this asks."""
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
