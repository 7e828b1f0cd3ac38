"""Who asks for what PyTorch's workers reduce and broadcast: DistributedDataParallel, or the program itself; and what
they receive from each other.
"""

from __future__ import annotations

import re

import numpy as np

from .....formats.columns import Plane, vocabulary
from .....model.host import HostWithSteps
from .....runtime.arrays import Array
from .....runtime.regex import regex
from ....activity.devices.device_work import device_work
from ...cause_kinds import OPTIMIZER
from .torch_gradients import is_node

FORWARD = "DistributedDataParallel.forward"
_REDUCES, _KERNEL = regex(r"(?:gloo|nccl):all_reduce"), regex(r"[nr]ccl\w*AllReduce")
_CALL = regex(r"c10d::allreduce_")
_SENDS, _SEND_KERNEL = regex(r"(?:gloo|nccl):(?:broadcast|scatter)"), regex(r"[nr]ccl\w*Broadcast")
_SEND_CALL = regex(r"c10d::(?:broadcast|scatter)_")
_RECEIVES, _SPLIT = regex(r"(?:gloo|nccl):recv"), 4
"""So many messages in a step are parts of a batch: without parts a stage receives a batch, and its gradient."""
_SEVERAL = 2
"""Forward passes in a step that accumulate, or backward passes after which a step reduces."""
_MUCH = 1 / 3
"""Share of the time of reductions from which on the program's own are worth a change: gradients hide none of them."""
_MUCH_OF_STEPS = 0.1
"""Share of a worker's steps from which on what it waits for others to send is worth a change."""


def receives_micro_batches(host: HostWithSteps) -> bool:
    """Whether the host receives so many messages in a step that they are parts of batches."""
    return len(host.trace.events_named(_RECEIVES.match)) >= _SPLIT * len(host.steps) > 0


def accumulates_gradients(host: HostWithSteps, plane: Plane) -> bool:
    """Whether gradients are reduced at least once for each of several forward passes of a step."""
    # Devices have ranges of the same names.
    rows, trace = host.trace.slice_of(plane), host.trace
    forward, reduced = (
        int(((events >= rows.start) & (events < rows.stop)).sum())
        for events in (trace.events_named(FORWARD.__eq__), trace.events_named(_REDUCES.match))
    )
    return reduced >= forward >= _SEVERAL * len(host.steps) > 0


def reduces_itself(host: HostWithSteps) -> bool:
    """Whether much of the time of reductions goes into those that the program calls, beside
    DistributedDataParallel's: on the thread of forward passes, outside of these and of gradients.
    """
    trace = host.trace
    calls, forward = trace.events_named(_CALL.match), trace.events_named(FORWARD.__eq__)
    calls = calls[np.argsort(trace.begin[calls], kind="stable")]
    is_own = trace.nearest_named(calls, lambda name: name == FORWARD or name.startswith(vocabulary.AUTOGRAD_NODE)) < 0
    is_own &= np.isin(trace.line_of[calls], trace.line_of[forward])
    if is_own.all() or not is_own.any():
        return False
    begin, ps = _collectives(host, _REDUCES, _KERNEL)
    call = np.searchsorted(trace.begin[calls], begin, "right") - 1
    return bool(ps[(call >= 0) & is_own[call]].sum() > _MUCH * ps.sum())


def reduces_each_pass(host: HostWithSteps) -> bool:
    """Whether a program without DistributedDataParallel reduces gradients after each of several backward passes of most
    steps, of which one changes the weights once. What it reduces for gradients, as layers that are split over workers
    do, is none of theirs.
    """
    trace, steps = host.trace, host.steps
    if not len(steps) or FORWARD in trace.names:
        return False
    calls, optimizers = trace.events_named(_CALL.match), trace.events_named(lambda name: name.startswith(OPTIMIZER))
    calls = calls[trace.nearest_named(calls, is_node) < 0]
    gradients = trace.events_named(is_node)
    events = trace.by_time(np.concatenate((calls, gradients)))
    is_call, step = np.isin(events, calls), np.searchsorted(steps.begin, trace.begin[events], "right") - 1
    begins_calls = is_call[1:] & ~is_call[:-1] & (step[1:] == step[:-1]) & (step[1:] >= 0)
    times_reduced = np.bincount(step[1:][begins_calls], minlength=len(steps))
    changes = np.diff(np.searchsorted(np.sort(trace.begin[optimizers]), (steps.begin, steps.end)), axis=0)[0]
    return 2 * int(((times_reduced >= _SEVERAL) & (changes == 1)).sum()) > len(steps)


def awaits_broadcasts(host: HostWithSteps) -> bool:
    """Whether a worker of DistributedDataParallel spends much of its steps in broadcasts, or scatters, that the program
    calls: outside of forward passes.
    """
    trace, steps = host.trace, host.steps
    calls = trace.events_named(_SEND_CALL.match)
    if not len(steps) or not len(calls) or not len(trace.events_named(FORWARD.__eq__)):
        return False
    calls = calls[np.argsort(trace.begin[calls], kind="stable")]
    is_own = trace.nearest_named(calls, FORWARD.__eq__) < 0
    begin, ps = _collectives(host, _SENDS, _SEND_KERNEL)
    call = np.searchsorted(trace.begin[calls], begin, "right") - 1
    counts = (call >= 0) & is_own[call] & (begin >= steps.begin[0])
    return bool(ps[counts].sum() > _MUCH_OF_STEPS * steps.length.sum())


def _collectives(host: HostWithSteps, names: re.Pattern[str], kernels: re.Pattern[str]) -> tuple[Array, Array]:
    """(ps, ps), int64[k] each: of each such collective when it was launched on a device, or began on a thread of the
    CPU, and how long it takes.
    """
    trace, works = host.trace, device_work(host) if host.devices else ()
    if not works:
        events = trace.events_named(names.match)
        return trace.begin[events], trace.end[events] - trace.begin[events]
    works = tuple(work.with_rows(trace.are_named(work.event, lambda name: bool(kernels.match(name)))) for work in works)
    return (
        np.concatenate([work.launch_begin for work in works]),
        np.concatenate([work.end - work.begin for work in works]),
    )
