"""What the planes of GPUs and TPUs recorded, and what launched it."""

from __future__ import annotations

import re

import numpy as np

from ....formats.columns import Plane, vocabulary
from ....model.devices.copies import copies
from ....model.events.links import LAUNCH
from ....model.events.trace import Trace
from ....model.host import Host
from ....model.names import collectives, kernels, op_names
from ....runtime.arrays import Array
from ....runtime.regex import regex
from .work import DeviceWork, Kind, Recorded, sorted_work

_COLLECTIVE = regex(r"%?(?:collective|ragged-all)-|cross_device_reduce|nvshmem|deep_ep|quick_?reduce", re.IGNORECASE)
"""Kernels and ops that communicate beside those that `model` knows."""
_COPY = regex(r"[Mm]em(?:cpy|set)|%?copy-(?:start|done)\b|%?(?:in|out)feed\b|%?host-transfer")
"""Memsets, and a TPU's copies; `model.devices.copies` knows those of GPUs."""


def kind_of(name: str) -> Kind:
    """The kind of a device's event by its name: a kernel's, a copy's, or an op's."""
    if kernels.is_collective(name) or is_collective_op(name):
        return Kind.COLLECTIVE
    return Kind.COPY if op_names.memcpy(name) or _COPY.match(name) else Kind.COMPUTE


def is_collective_op(name: str) -> bool:
    """Whether an op of that name communicates."""
    bare = name.lstrip("%")
    return collectives.is_opcode(bare) or collectives.is_part_on_host(bare) or bool(_COLLECTIVE.match(name))


def plane_work(host: Host, plane: Plane) -> DeviceWork:
    """What a plane of a device recorded."""
    trace, rows = host.trace, _work_rows(host, plane)
    kinds = np.array([kind_of(name) for name in plane.heads], np.int8)[plane.events.name]
    kinds[copies(host)[plane.name].row] = Kind.COPY
    event = rows + trace.slice_of(plane).start
    if host.gpus:
        launch = _link_sources(trace, trace.links.kind == LAUNCH)[event]
    else:
        launch = _launches_of_modules(host, plane, event)
    recorded = Recorded(event, event, trace.end[event], kinds[rows], launch, launch)
    return sorted_work(host, plane.name, recorded, not host.gpus)


def _work_rows(host: Host, plane: Plane) -> Array:
    """int64[k]: a device's own events: of a GPU all streams, of a TPU its ops, without those that only hold others."""
    if host.gpus:
        return np.flatnonzero(host.on_streams(plane))
    ops = (vocabulary.XLA_OPS, vocabulary.ASYNC_XLA_OPS)
    is_of_ops = np.array([name in ops for name in plane.lines.name], bool)
    if not is_of_ops.any():
        others = (vocabulary.XLA_MODULES, vocabulary.STEPS)
        is_of_ops = np.array([name not in others for name in plane.lines.name], bool)
        rows = np.flatnonzero(is_of_ops[plane.events.line] & host.on_streams(plane))
    else:
        rows = np.flatnonzero(is_of_ops[plane.events.line])
    events = rows + host.trace.slice_of(plane).start
    enclosing, encloses_work = host.trace.nesting.parent[events], np.zeros(len(host.trace), bool)
    encloses_work[enclosing[(enclosing >= 0) & (plane.events.duration[rows] > 0)]] = True
    return rows[~encloses_work[events]]


def _launches_of_modules(host: Host, plane: Plane, event: Array) -> Array:
    """int32[k]: what enqueued the program that each op of a TPU belongs to, by the link that the runtime wrote."""
    trace = host.trace
    is_of_modules = np.array([name == vocabulary.XLA_MODULES for name in plane.lines.name], bool)
    modules = trace.by_time(np.flatnonzero(is_of_modules[plane.events.line]) + trace.slice_of(plane).start)
    source = _link_sources(trace, slice(None))
    index = np.searchsorted(trace.begin[modules], trace.begin[event], "right") - 1
    inside = (index >= 0) & (trace.begin[event] < trace.end[modules[index.clip(0)]]) if len(modules) else index >= 0
    launch_of_op = np.full(len(event), -1, np.int32)
    launch_of_op[inside] = source[modules[index[inside]]]
    return launch_of_op


def _link_sources(trace: Trace, rows: Array | slice) -> Array:
    """int32[events]: the source of the link to each event among those of these rows; -1 for none."""
    source_of_target = np.full(len(trace), -1, np.int32)
    source_of_target[trace.links.target[rows]] = trace.links.source[rows]
    return source_of_target
