"""The graph of activities, piece by piece, against its definitions written out: random times, often equal."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from idle_draw import captured, events, kernels

from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.analysis.activity.launch_queue import launch_queue, queue_figures
from tb_profile_plugin.analysis.activity.replay.dag import Dag, sorted_dag
from tb_profile_plugin.analysis.activity.replay.device_activities import events_of
from tb_profile_plugin.analysis.activity.replay.graph import Graph, Lags
from tb_profile_plugin.analysis.activity.thread_classes import activity
from tb_profile_plugin.model.events.intervals import lower_bound

LAW = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
spans = some.lists(some.tuples(some.integers(0, 12), some.integers(0, 6)), min_size=1, max_size=20)
"""Begin, and how long."""


@LAW
@given(some.lists(some.integers(0, 30)), some.integers(-1, 31), some.data())
def test_looking_near_a_place_finds_what_looking_everywhere_does(values: list[int], value: int, data: Any) -> None:
    ascending = np.sort(np.array(values, np.int64))
    place = data.draw(some.integers(0, len(values)))
    assert lower_bound(ascending, value, place) == np.searchsorted(ascending, value)


@LAW
@given(spans, some.data())
def test_activities_are_sorted_and_wait_for_what_lets_them_begin_last(spans: list[tuple[int, int]], data: Any) -> None:
    begin = np.array([b for b, _ in spans])
    end = np.array([b + takes for b, takes in spans])
    places = some.integers(-1, len(spans) - 1)
    waits = np.array([[data.draw(places) for _ in range(3)] for _ in spans], np.int32)
    group = np.array([data.draw(some.integers(0, 1)) for _ in spans], np.int32)
    least = np.array([[1, 2, 0], [0, 3, 1]])
    dag, order, violations = sorted_dag(begin, end, waits, group, least)
    np.testing.assert_array_equal(order, np.lexsort((end, begin)))
    np.testing.assert_array_equal((dag.begin, dag.end), (begin[order], end[order]))
    place, left = np.argsort(order), 0
    for v, i in enumerate(order.tolist()):
        named = [(int(place[u]), int(least[group[i], c])) for c, u in enumerate(waits[i].tolist()) if u >= 0]
        kept = [(u, lag) for u, lag in named if u < v and dag.end[u] <= dag.begin[v]]
        left += len(named) - len(kept)
        spare = [(u, max(int(dag.begin[v] - dag.end[u]) - lag, 0)) for u, lag in kept]
        last = min(spare, key=lambda each: (each[1], -dag.end[each[0]]), default=None)
        assert dag.binding[v] == (last[0] if last else -1)
        if last:
            spare.remove(last)
        rows = slice(int(dag.first[v]), int(dag.first[v + 1]))
        assert sorted(zip(dag.other[rows].tolist(), dag.slack_ps[rows].tolist(), strict=True)) == sorted(spare)
    assert violations == left


@LAW
@given(spans, some.lists(some.integers(-1, 2), min_size=20, max_size=20), some.lists(some.integers(-1, 20), min_size=1))
def test_what_runs_on_a_device_tells_else_the_loop_else_what_ended_last(
    spans: list[tuple[int, int]], lines: list[int], moments: list[int]
) -> None:
    spans = sorted((b, b + takes) for b, takes in spans)
    begin, end = np.array(spans).T.copy()
    line = np.array(lines[: len(spans)], np.int32)
    nothing, empty = np.full(len(spans), -1, np.int32), np.empty(0, np.int64)
    dag = Dag(begin, end, nothing, np.zeros(len(spans) + 1, np.int32), nothing[:0], empty)
    lags = Lags(empty, np.empty(0, np.int8), nothing[:0], nothing[:0])
    state, again = np.zeros(len(spans), np.int8), np.empty((0, 2), np.int64)
    graph = Graph(dag, line, nothing, state, lags, 0, 1, line, end, again, activity(run([(0, 1, 1, 0, 0)])))
    shown = [v for v in range(len(spans)) if line[v] in (-1, 1)]

    def telling(moment: int) -> int:
        for of in (-1, 1):
            running = [v for v in shown if line[v] == of and begin[v] < moment <= end[v]]
            if running:
                return running[-1]
        return max((v for v in shown if end[v] <= moment), key=lambda v: (end[v], v), default=-1)

    ordered = sorted(moments)
    assert graph.nodes_at(np.array(ordered)).tolist() == [telling(each) for each in ordered]


programs = some.lists(
    some.tuples(
        some.integers(0, 4), some.integers(1, 6), some.integers(1, 40), some.integers(0, 12), some.integers(0, 1)
    ),
    min_size=1,
    max_size=12,
)
"""Launches: after how long, how long the call takes, the kernel, how long that waits, and which stream it is on."""


def run(program: list[tuple[int, int, int, int, int]]) -> Any:
    calls, free, at = "", [0, 0], 0
    streams: list[list[Any]] = [[], []]
    lines = []
    for number, (after, call, takes, waits, stream) in enumerate(program):
        begin = max(at + after + call + waits, free[stream] + (waits if waits < 9 else 0))
        streams[stream].append(((begin, begin + takes), (at + after, at + after + call), number))
        free[stream], at = begin + takes, at + after + call
    for stream, rows in enumerate(streams):
        line = ""
        for span, call, number in rows:
            more, work = kernels((span, call), first=number + 1, stream=stream + 7)
            calls, line = f"{calls} {more}", (line + work.partition("|")[2]) if line else work
        lines += [line] if line else []
    return captured(("python", events("$train.py:1 loop", (0, at + 1)) + calls), devices=[lines])


@LAW
@given(programs)
def test_events_follow_what_had_ended_last_on_their_stream(program: list[tuple[int, int, int, int, int]]) -> None:
    host = run(program)
    found = events_of(host, device_work(host), activity(host), host.window)
    previous = found.previous()
    for i, begin in enumerate(found.begin.tolist()):
        mine = [k for k in range(len(found.begin)) if found.end[k] <= begin and found.stream[k] == found.stream[i]]
        assert previous[i] == max(mine, key=lambda k: (found.end[k], k), default=-1)


@LAW
@given(programs)
def test_the_queue_counts_what_is_launched_and_what_runs(program: list[tuple[int, int, int, int, int]]) -> None:
    host = run(program)
    (work,), (queue,) = device_work(host), launch_queue(host)
    np.testing.assert_array_equal(queue.at, np.unique(np.concatenate((work.launch_end, work.begin, work.end))))
    for at, waiting, running in zip(queue.at, queue.waiting, queue.running, strict=True):
        assert waiting == (work.launch_end <= at).sum() - (work.begin <= at).sum()
        assert running == (work.begin <= at).sum() - (work.end <= at).sum()
    # Windows may be columns of a table.
    begins, ends = np.stack((host.window, host.window))[:1].T
    weights: dict[int, int] = {}
    edges = np.concatenate(([begins[0]], queue.at.clip(begins[0], ends[0]), ends))
    for waiting, ps in zip([0, *queue.waiting.tolist()], np.diff(edges).tolist(), strict=True):
        weights[waiting] = weights.get(waiting, 0) + ps
    reached = np.cumsum([weights[each] for each in sorted(weights)])
    middle = sorted(weights)[int(np.searchsorted(2 * reached, reached[-1]))]
    (figures,) = queue_figures(host, begins, ends)
    assert figures.waiting == middle
