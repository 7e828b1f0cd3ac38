"""How much of the devices' work each event on the host led to, over nesting and links."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import I32, I64, Array
from ...runtime.jit import jit
from .event_table import is_derived
from .executor_runs import executor_runs
from .outermost import outermost_torch_ops
from .trace import Trace

_OPS = vocabulary.XLA_OPS
"""The line of a TPU whose events are its work; the others show the same work in other terms."""


def owned_work_ps(trace: Trace) -> Array:
    """int64[n] ps: work that an event launched itself or through what it encloses or leads to.

    Work is what devices record; where they record nothing, ops of XLA on the CPU, else TensorFlow's executors, else
    PyTorch's ops.
    """
    owned_ps = np.zeros(len(trace), np.int64)
    work = trace.once(work_events)
    if len(work):
        links = trace.links
        parent = trace.nesting.parent
        _add_work(work, trace.begin, trace.end, parent, links.source, links.target, owned_ps)
    return owned_ps


def work_events(trace: Trace) -> Array:
    """int64[k]: the events that `owned_work_ps` counts."""
    parts = [np.empty(0, np.int64)]
    for first, plane in trace.parts:
        if plane.name.startswith(vocabulary.DEVICE) and len(plane.events):
            is_work_line = ~is_derived(plane.lines.id)
            if _OPS in list(plane.lines.name) and not plane.name.startswith(vocabulary.GPU):
                is_work_line = np.array([name == _OPS for name in plane.lines.name])
            parts.append(np.flatnonzero(is_work_line[plane.events.line]) + first)
    work = np.concatenate(parts)
    if not len(work):
        is_xla_cpu_op = np.flatnonzero(trace.is_xla_cpu_op)
        parent = trace.nesting.parent[is_xla_cpu_op]
        work = is_xla_cpu_op[(parent < 0) | ~trace.is_xla_cpu_op[parent]]
    work = work if len(work) else trace.once(executor_runs)
    return work if len(work) else trace.once(outermost_torch_ops)


@jit
def _add_work(work: I64, begin: I64, end: I64, parent: I32, source: I32, target: I32, owned_ps: I64) -> None:
    """Add the time (ps) of each piece of work to all its causes, in place.

    An event's cause is the latest source of a link to it, else what encloses it.
    """
    cause = parent.copy()
    has_link = np.zeros(len(cause), np.bool_)
    for k in range(len(source)):
        earlier, later = source[k], target[k]
        # Only what began before can have led to it, so that no path ends where it began.
        if begin[earlier] > begin[later] or (begin[earlier] == begin[later] and earlier > later):
            continue
        if not has_link[later] or begin[earlier] > begin[cause[later]]:
            cause[later] = earlier
            has_link[later] = True
    for i in range(len(work)):
        time = end[work[i]] - begin[work[i]]
        event = cause[work[i]]
        while event >= 0:
            owned_ps[event] += time
            event = cause[event]
