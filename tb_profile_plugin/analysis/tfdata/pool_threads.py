"""How busy TensorFlow's threads are while the program asks for input."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import distinct
from ...runtime.records import record
from .functions import function_wait_ps
from .iterator_calls import TfData, tf_data
from .structure import core_count, lacks_prefetch

_POOL_THREAD = "tf_"
"""How TensorFlow names its threads: those of tf.data, and those of the executor, on which maps run too."""


@record
class PoolThreads:
    """What TensorFlow's threads did while the pipelines were asked."""

    count: int
    busy_threads: float
    """How many of them were busy on average; one that waits for another's element is not."""
    cores: int
    """The cores that tf.data counted on; 0 where the capture does not say."""


def threads(data: TfData) -> PoolThreads:
    """What the threads of a host did from the first to the last call of any iterator."""
    calls, plane = data.calls, data.calls.plane
    is_of_pool = np.array([name.startswith(_POOL_THREAD) for name in plane.lines.name], bool)
    line = plane.events.line[calls.row]
    if not is_of_pool.any():
        is_of_pool[distinct(line[calls.linked | ((calls.parent < 0) & ~calls.is_root)])] = True
    since, until = int(calls.begin.min()), int(calls.end.max())
    trace = data.trace
    rows = trace.slice_of(plane)
    outermost = np.flatnonzero((trace.nesting.parent[rows] < 0) & is_of_pool[plane.events.line])
    begin = trace.begin[rows][outermost].clip(since, until)
    end = trace.end[rows][outermost].clip(since, until)
    idle_ps = int(data.times.wait_ps[is_of_pool[line]].sum()) + function_wait_ps(data, is_of_pool)
    busy_ps = max(int((end - begin).sum()) - idle_ps, 0)
    thread_count = len(distinct(plane.events.line[outermost]))
    return PoolThreads(thread_count, busy_ps / max(until - since, 1), max(map(core_count, data.pipelines), default=0))


@per_host(keep=True)
def are_cores_busy(host: Host) -> bool:
    """Whether on average as many of the threads are busy as tf.data counts on cores: ahead of requests they could work
    no more. Not worked out, and False, where no pipeline lacks a Prefetch.
    """
    data = tf_data(host)
    if not data or not any(map(lacks_prefetch, data.pipelines)):
        return False
    pool = threads(data)
    return 0 < pool.cores <= pool.busy_threads
