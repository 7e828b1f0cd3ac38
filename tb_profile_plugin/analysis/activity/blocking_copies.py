"""Copies that are made within the calls that ask for them: such a call waits for its stream."""

from __future__ import annotations

import numpy as np

from ...formats.columns.codes import combine
from ...model.events.links import LAUNCH
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct

_LATE_PS, _LATE_SHARE = 2 * 10**6, 0.1
"""A copy may seem to end so much later than its call, or by such a share of its time: their clocks differ."""
_BLOCKING_SHARE = 0.75
"""Copies of one name block the calls of one name if so many of them end within their calls."""


@per_host
def blocking_copies(host: Host) -> Array:
    """int64[k]: copies on devices, by event, whose calls return only when they are made."""
    trace, links = host.trace, host.trace.links
    rows = np.flatnonzero(links.kind == LAUNCH)
    rows = rows[trace.are_named(links.target[rows], _is_copy)]
    call, copy = links.source[rows].astype(np.int64), links.target[rows].astype(np.int64)
    if not len(rows):
        return copy
    tolerance = np.maximum((_LATE_SHARE * (trace.end[copy] - trace.begin[copy])).astype(np.int64), _LATE_PS)
    ends_within = trace.end[copy] <= trace.end[call] + tolerance
    example, pair = combine(trace.name_of[call], trace.name_of[copy])
    share = np.bincount(pair, ends_within, len(example)) / np.bincount(pair, minlength=len(example))
    return copy[(share >= _BLOCKING_SHARE)[pair]]


@per_host
def blocking_reads(host: Host) -> Array:
    """int64[k]: those of `blocking_copies` that bring no input: without them the host would read no results."""
    copies = blocking_copies(host)
    return copies[~host.trace.are_named(copies, copies_to_device)]


@per_host
def blocking_calls(host: Host) -> Array:
    """int64[k], ascending: the calls on the host, by event, that make `blocking_copies`."""
    links = host.trace.links
    is_blocking = np.zeros(len(host.trace), bool)
    is_blocking[blocking_copies(host)] = True
    launches = np.flatnonzero(links.kind == LAUNCH)
    return distinct(links.source[launches[is_blocking[links.target[launches]]]])


def copies_to_device(name: str) -> bool:
    """Whether an event of that name copies from the host."""
    return op_names.memcpy(name) == op_names.COPY_TO_DEVICE


def _is_copy(name: str) -> bool:
    return bool(op_names.memcpy(name))
