"""Who asks for what PyTorch's workers reduce, and how often: DistributedDataParallel, or the program itself."""

from __future__ import annotations

import numpy as np

from ....formats.columns import Plane, vocabulary
from ....model.host import HostWithSteps
from ....runtime.arrays import Array
from ....runtime.regex import regex
from ...activity.device_events import device_work

FORWARD = "DistributedDataParallel.forward"
_REDUCES, _KERNEL = regex(r"(?:gloo|nccl):all_reduce"), regex(r"[nr]ccl\w*AllReduce")
_CALL = regex(r"c10d::allreduce_")
_SEVERAL = 2
"""Forward passes in a step that accumulate."""
_MUCH = 1 / 3
"""Share of the time of reductions from which on the program's own are worth a change: gradients hide none of them."""


def accumulates_gradients(host: HostWithSteps, plane: Plane) -> bool:
    """Whether gradients are reduced at least once for each of several forward passes of a step."""
    # Devices have ranges of the same names.
    rows, trace = host.trace.rows(plane), host.trace
    forward, reduced = (
        int(((events >= rows.start) & (events < rows.stop)).sum())
        for events in (trace.named(FORWARD.__eq__), trace.named(lambda name: bool(_REDUCES.match(name))))
    )
    return reduced >= forward >= _SEVERAL * len(host.steps) > 0


def reduces_itself(host: HostWithSteps) -> bool:
    """Whether much of the time of reductions goes into those that the program calls, beside
    DistributedDataParallel's: on the thread of forward passes, outside of these and of gradients.
    """
    trace = host.trace
    calls, forward = trace.named(lambda name: bool(_CALL.match(name))), trace.named(FORWARD.__eq__)
    calls = calls[np.argsort(trace.begin[calls], kind="stable")]
    is_own = trace.nearest_named(calls, lambda name: name == FORWARD or name.startswith(vocabulary.AUTOGRAD_NODE)) < 0
    is_own &= np.isin(trace.line_of[calls], trace.line_of[forward])
    if is_own.all() or not is_own.any():
        return False
    begin, ps = _reductions(host)
    call = np.searchsorted(trace.begin[calls], begin, "right") - 1
    return bool(ps[(call >= 0) & is_own[call]].sum() > _MUCH * ps.sum())


def _reductions(host: HostWithSteps) -> tuple[Array, Array]:
    """(ps, ps), int64[k] each: of each reduction when it was launched on a device, or began on a thread of the CPU, and
    how long it takes.
    """
    trace, works = host.trace, device_work(host) if host.devices else ()
    if not works:
        events = trace.named(lambda name: bool(_REDUCES.match(name)))
        return trace.begin[events], trace.end[events] - trace.begin[events]
    works = tuple(work.with_rows(trace.are_named(work.event, lambda name: bool(_KERNEL.match(name)))) for work in works)
    return (
        np.concatenate([work.launch_begin for work in works]),
        np.concatenate([work.end - work.begin for work in works]),
    )
