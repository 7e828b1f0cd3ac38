"""Repetitions of windows end early where the rest is known: the answer is that of doing all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tb_profile_plugin.analysis.activity.replay.cycle import LEAST_REPETITIONS, LEAST_STEPS, NEVER, Cycle, cycle
from tb_profile_plugin.analysis.activity.replay.dag import Dag

WINDOWS = 5


def random_dag(random: np.random.Generator, size: int) -> tuple[Dag, Any]:
    """Activities on three lines that wait for the one before them there, and for some others; and the lines."""
    line = random.integers(0, 3, size).astype(np.int32)
    binding, other, first, last = np.full(size, -1, np.int32), [], [0], dict[int, int]()
    for v in range(size):
        before = last.get(int(line[v]), -1)
        binding[v] = before
        if v and random.random() < 0.3:
            other.append(int(random.integers(max(0, v - 12), v)))
        first.append(len(other))
        last[int(line[v])] = v
    length = random.integers(1, 50, size)
    end = np.zeros(size, np.int64)
    begin = np.zeros(size, np.int64)
    for v in range(size):
        waits = [u for u in (int(binding[v]), *other[first[v] : first[v + 1]]) if u >= 0]
        begin[v] = max((end[u] for u in waits), default=0) + random.integers(0, 3)
        end[v] = begin[v] + length[v]
    others = np.array(other, np.int32)
    spare = np.array([begin[v] - end[other[k]] for v in range(size) for k in range(first[v], first[v + 1])], np.int64)
    return Dag(begin, end, binding, np.array(first, np.int32), others, spare), line


def all_done(once: Cycle, shorter: Any, sooner: Any, unawaited: bool, steps: int) -> Any:
    """`Cycle.lengths`, activity by activity and repetition by repetition."""
    count = max(LEAST_REPETITIONS, -(-LEAST_STEPS // steps))
    done = np.full((count, WINDOWS), NEVER, np.int64)
    ends: list[int] = []
    for r in range(count):
        before, ends = ends, []
        for i, v in enumerate(once.activities.node):
            start = NEVER
            rows = [(int(once.waits.binding[i]), int(once.waits.lag[i] - sooner[v]))]
            rows += [
                (int(once.waits.other[k]), int(once.waits.other_lag[k]))
                for k in range(once.waits.first[i], once.waits.first[i + 1])
            ]
            if r == 0 and once.waits.binding[i] < 0:
                start = int(once.activities.begin[i])
            for u, lag in rows:
                if u == -(1 << 31) or (u < 0 and not r):
                    continue
                if unawaited and once.activities.on_host[i] and not once.activities.on_host[u if u >= 0 else ~u]:
                    continue
                start = max(start, (ends[u] if u >= 0 else before[~u]) + lag)
            ends.append(start + max(int(once.activities.duration[i] - shorter[v]), 0))
            done[r, once.activities.window[i]] = max(done[r, once.activities.window[i]], ends[-1])
    reached = np.maximum.accumulate(done.reshape(-1))
    return np.diff(reached, prepend=reached[:1]).reshape(count, WINDOWS)[count // 2 :].mean(axis=0)


@pytest.mark.parametrize("seed", range(40))
def test_lengths_are_those_of_all_repetitions(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(20, 200))
    dag, line = random_dag(random, size)
    window = np.sort(random.integers(0, WINDOWS, size)).astype(np.int32)
    calls = line == 0
    line_waits = np.unique(np.stack((random.integers(0, size, 2), random.integers(0, 3, 2)), axis=1), axis=0)
    once = cycle(dag, line, calls, window, 0, line_waits if seed % 2 else line_waits[:0])
    for _ in range(4):
        shorter = np.where(random.random(size) < 0.5, random.integers(0, 50, size), 0)
        sooner = np.where(random.random(size) < 0.2, random.integers(0, 3, size), 0)
        steps, unawaited = int(random.integers(1, 6)), bool(random.random() < 0.5)
        expected = all_done(once, shorter, sooner, unawaited, steps)
        assert once.lengths(shorter, sooner, unawaited, WINDOWS, steps).tolist() == expected.tolist()
