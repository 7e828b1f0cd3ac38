"""Runs of TensorFlow's executors, and how long they took for each id."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...formats.columns.gather import gather
from ...runtime.arrays import Array
from .event_table import MISSING, EventTable
from .joins import sums_by_key


def executor_runs(trace: EventTable) -> Array:
    """int64[k]: where TensorFlow's executors run ops."""
    return trace.events_named(vocabulary.EXECUTOR_RUN.__eq__)


def executor_ids(trace: EventTable) -> Array:
    """int64[k]: the id of each of the `executor_runs`, `MISSING` for those without."""
    return trace.numbers(vocabulary.ID, trace.once(executor_runs))


def executor_ps(trace: EventTable, ids: Array) -> Array:
    """int64[n] ps: how long executors ran for each of these ids (int64[n]); 0 for a missing one."""
    runs = trace.once(executor_runs).astype(np.int32)
    durations = gather(trace.end, runs) - gather(trace.begin, runs)
    run_ps = sums_by_key(ids, trace.once(executor_ids), durations)
    return np.where(ids == MISSING, 0, run_ps)
