"""Activities and what each of them waits for: what it is bound by, and how much later the others could have ended."""

from __future__ import annotations

import numpy as np

from ....model.events.intervals import order_by
from ....runtime.arrays import I32, I64, Array, I32Matrix, I64Matrix, Int
from ....runtime.jit import jit
from ....runtime.records import NamedTuple


class Dag(NamedTuple):
    """Activities in order of begin (those that take no time first), and the earlier ones that each waits for.

    An activity begins a while after the one that it is bound by; the others could have ended later.
    """

    begin: I64
    """int64[n] ps."""
    end: I64
    """int64[n] ps."""
    binding: I32
    """int32[n]: the activity that each one is bound by, or -1 where it waits for nothing."""
    first: I32
    """int32[n + 1]: rows ``first[v]:first[v + 1]`` of the following tell what else activity v waits for."""
    other: I32
    """int32[m]: the activity that is waited for."""
    slack_ps: I64
    """int64[m] ps: how much later it could have ended without a delay."""


def sorted_dag(begin: Array, end: Array, waits: Array, group: Array, usual_ps: Array) -> tuple[Dag, Array, int]:
    """(dag, order, violations): activities are sorted, and ``order[i]`` is which of the given ones became the i-th.

    ``waits`` (int32[n, k]) are the ones that each waits for, -1 for none; an activity usually begins
    ``usual_ps[group, c]`` ps after the one in column c, if it did not begin sooner. By that the last one binds, of
    those that come to the same the one that ends last; how long it took after that one is known.

    What ends after the one that waits for it begins is left out and counted: clocks or a rule are wrong there.
    """
    order = order_by(begin, end)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    dag, violations = _dag(order, rank, begin, end, waits, group, usual_ps)
    return dag, order, violations


@jit
def _dag(
    order: I64, rank: I32, begin: I64, end: I64, waits: I32Matrix, group: I32, usual_ps: I64Matrix
) -> tuple[Dag, Int]:
    """The `Dag`, and how much was left out; ``rank`` is the inverse of ``order``."""
    size = len(order)
    begins, ends = np.empty(size, np.int64), np.empty(size, np.int64)
    binding, first = np.empty(size, np.int32), np.empty(size + 1, np.int32)
    # What of these is not written takes no memory.
    other, slack_ps = np.empty(waits.size, np.int32), np.empty(waits.size, np.int64)
    count, violations = np.int64(0), np.int64(0)
    for row in range(size):
        activity = order[row]
        begins[row], ends[row], first[row] = begin[activity], end[activity], count
        bound, bound_slack = np.int64(-1), np.int64(0)
        for column in range(waits.shape[1]):
            if waits[activity, column] < 0:
                continue
            awaited = np.int64(rank[waits[activity, column]])
            if awaited >= row or ends[awaited] > begin[activity]:
                violations += 1
                continue
            slack = max(begin[activity] - ends[awaited] - usual_ps[group[activity], column], 0)
            if bound < 0:
                bound, bound_slack = awaited, slack
                continue
            # One of the two binds, the loser is recorded.
            loser, loser_slack = awaited, slack
            if slack < bound_slack or (slack == bound_slack and ends[awaited] > ends[bound]):
                loser, loser_slack = bound, bound_slack
                bound, bound_slack = awaited, slack
            other[count], slack_ps[count] = loser, loser_slack
            count += 1
        binding[row] = bound
    first[size] = count
    return Dag(begins, ends, binding, first, other[:count], slack_ps[:count]), violations
