"""Time in the functions of tf.data pipelines (of maps, filters …), on which threads, and time of waiting for them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.event_table import MISSING
from ...model.events.executor_runs import executor_ps
from ...model.host import Host, HostWithSteps
from ...model.iterators import ASYNCHRONOUS, kind_of, last_component
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.regex import regex
from ..activity.thread_classes import activity
from .input_wait_cost import input_cost
from .iterator_calls import TfData, tf_data

FILE_READERS = frozenset("TFRecord TextLine FixedLengthRecord SSTable RecordIO ArrayRecord".split())
"""Kinds that read files."""

_FUNCTION_CALL = "InstantiatedCapturedFunction::"
"""Begin of the names of an iterator's calls of its function."""
_BLOCKING_CALLS = frozenset(f"{_FUNCTION_CALL}{method}" for method in ("Run", "RunWithBorrowedArgs", "RunInstantiated"))
"""Those that wait until the function has run."""
_RANDOM_OP = regex(r"(?:Stateless)?(?:Random|TruncatedNormal|Multinomial)")
"""TensorFlow's ops that make random numbers, as augmentation does."""


def function_wait_ps(data: TfData, lines: Array) -> int:
    """ps in which these lines' threads (bool[lines]) waited while an executor's thread ran a function for them."""
    plane, trace = data.calls.plane, data.trace
    rows = trace.slice_of(plane)
    call_rows = plane.rows_named(_BLOCKING_CALLS.__contains__)
    call_rows = call_rows[lines[plane.events.line[call_rows]]]
    executor_events = plane.rows_named(vocabulary.EXECUTOR_RUN.__eq__)
    executor_ps = np.zeros(len(plane.events) + 1, np.int64)
    executor_ps[executor_events + 1] = plane.events.duration[executor_events]
    executor_ps = np.cumsum(executor_ps)
    nest_end = trace.nesting.stop[rows][call_rows] - rows.start
    inner_ps = executor_ps[nest_end] - executor_ps[call_rows + 1]
    return int((plane.events.duration[call_rows] - inner_ps).clip(0).sum())


@per_host(keep=True)
def has_random_ops(host: Host) -> bool:
    """Whether any op made random numbers: in the pipelines, it may be, so that their elements differ in each epoch."""
    return any(_RANDOM_OP.match(name[max(map(name.rfind, ":/ ")) + 1 :]) for name in host.trace.names)


@per_host(keep=True)
def transformation_ps(host: Host) -> int | None:
    """ps of all threads that transform data for pipelines; None where no pipeline can be told apart.

    That is the iterators that neither read files nor wait for threads of their own, without the time in which they
    wait for their functions, and the executor's time for the functions of all iterators.
    """
    data = tf_data(host)
    if not data:
        return None
    calls, plane = data.calls, data.calls.plane
    kinds = [kind_of(last_component(name)) for name in plane.names]
    transforms = np.array([kind not in ASYNCHRONOUS | FILE_READERS for kind in kinds], bool)[calls.name]
    self_ps = int(data.times.self_ps[transforms].sum())
    blocked_ps = int(plane.events.duration[plane.rows_named(_BLOCKING_CALLS.__contains__)].sum())
    return max(self_ps - blocked_ps, 0) + _executors_ps(data)


@per_host(keep=True)
def function_ps(host: HostWithSteps) -> int | None:
    """ps in which an executor's threads ran functions of pipelines, without their waits for a thread; None where that
    was not recorded, or steps do not wait for input.
    """
    data = tf_data(host) if input_cost(host).costly else None
    return (_executors_ps(data) or None) if data else None


@per_host(keep=True)
def ops_of_functions(host: HostWithSteps) -> dict[str, int]:
    """By type how long TensorFlow's ops ran in functions of pipelines, ps, the longest first; empty where that was not
    recorded, or steps do not wait for input.
    """
    if not input_cost(host).costly:
        return {}
    trace, events = host.trace, np.flatnonzero(activity(host).of_input)
    name_ps = np.bincount(trace.name_of[events], trace.end[events] - trace.begin[events], len(trace.names))
    type_ps = Counter[str]()
    for row in np.flatnonzero(name_ps).tolist():
        op = op_names.parse(trace.names[row])
        if op.category == op_names.TENSORFLOW:
            type_ps[op.type] += int(name_ps[row])
    return dict(type_ps.most_common())


def _executors_ps(data: TfData) -> int:
    """ps of the executor's threads in functions of pipelines: by the id that both share."""
    plane = data.calls.plane
    ids = plane.numbers(vocabulary.ID, plane.rows_named(lambda name: name.startswith(_FUNCTION_CALL)), MISSING)
    return int(executor_ps(data.trace, distinct(ids)).sum())
