"""Where the time of each step goes: a partition of every step, in integer picoseconds that sum to the step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ..arrays import I8, I32, I64, Array, I64Matrix, Int
from ..columns import Plane
from ..jit import jit
from ..model import kernels, names
from ..model.host import Host
from ..model.steps import Steps


class Part(IntEnum):
    """What a moment of a step is spent on; where several happen at once the first of these has it.

    Devices come first: a moment in which a device works is the device's. The host's activities follow in the order
    in which they explain why no device works.
    """

    COMPUTE_16 = 0
    COMPUTE_32 = 1
    COMPUTE_OTHER = 2
    OUTPUT = 3
    DEVICE_TO_DEVICE = 4
    COLLECTIVES = 5
    COMPILE = 6
    INPUT_WAIT = 7
    INPUT_COPY = 8
    KERNEL_LAUNCH = 9
    HOST_COMPUTE = 10
    OTHER = 11


NOTHING = -1
"""Events that take part in no part: markers, calls that only wait for what they enclose."""

_COPIES = {
    "MemcpyHToD": Part.INPUT_COPY,
    "MemcpyDToH": Part.OUTPUT,
    "MemcpyDToD": Part.DEVICE_TO_DEVICE,
    "MemcpyHToH": Part.HOST_COMPUTE,
}
_COMPUTE = {kernels.COMPUTE_16: Part.COMPUTE_16, kernels.COMPUTE_32: Part.COMPUTE_32}
_CATEGORIES = (
    ("infeed", Part.INPUT_COPY),
    ("outfeed", Part.OUTPUT),
    ("all-", Part.COLLECTIVES),
    ("collective-permute", Part.COLLECTIVES),
    ("reduce-scatter", Part.COLLECTIVES),
    ("copy-start", Part.DEVICE_TO_DEVICE),
    ("copy-done", Part.DEVICE_TO_DEVICE),
)
_MARKERS = ("train", "test", "TraceContext")
_CALLS = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun", "ThreadpoolListener::StartRegion")
"""Events that only enclose or lead to work; the work itself is recorded inside or elsewhere."""
_COMPILES = ("XlaCompile", "XlaJitCompile", "backend_compile", "PjRtCpuClient::Compile", "PjRtClient::Compile")
_DEVICE_LINES = ("XLA Ops", "Framework Ops", "TensorFlow Ops")


@dataclass(frozen=True)
class Breakdown:
    """The partition of a host's steps."""

    part_ps: Array
    """int64[steps, len(Part)]: each row sums to the step's duration."""
    segments: Array
    """int64[k, 4]: step, `Part`, begin and end (ps) of each stretch, in order of time within a step."""

    def intervals(self, step: int, part: Part) -> Array:
        """int64[m, 2]: begin and end of the stretches of one part of one step."""
        chosen = (self.segments[:, 0] == step) & (self.segments[:, 1] == part)
        answer: Array = self.segments[chosen][:, 2:]
        return answer


def breakdown(host: Host, steps: Steps) -> Breakdown:
    """The partition of the given steps: devices by time, host activities by the step's own group of events."""
    step_of_group = np.full(int(max(steps.of_event.max(initial=-1), steps.group.max(initial=-1))) + 2, -1, np.int32)
    step_of_group[steps.group] = np.arange(len(steps))
    return _partition(host, steps.begin, steps.end, step_of_group, steps.of_event, steps)


def whole_capture(host: Host) -> Breakdown:
    """The partition of everything recorded, as if it were one step: what can be said where no step was found."""
    begin, end = host.window
    one_group = np.zeros(len(host.trace), np.int32)
    return _partition(host, np.array([begin]), np.array([end]), np.zeros(1, np.int32), one_group, None)


def _partition(
    host: Host, begin: Array, end: Array, step_of_group: Array, group: Array, steps: Steps | None
) -> Breakdown:
    devices = _device_timeline(host)
    activity = _host_activity(host, steps)
    lines = host.cpu.lines.first_event if host.cpu else np.zeros(1, np.int64)
    threads = host.trace.rows(host.cpu) if host.cpu else slice(0, 0)
    spans = host.trace.begin[threads], host.trace.end[threads]
    first, rows = _outermost(lines, *spans, step_of_group, group[threads], activity, len(begin), len(Part))
    part_ps, segments = _sweep(begin, end, first, rows, devices, len(Part), int(Part.OTHER))
    return Breakdown(part_ps, segments)


def _host_activity(host: Host, steps: Steps | None) -> Array:
    """int8[events of the host's threads]: the `Part` that each event stands for, or `NOTHING`."""
    plane = host.cpu
    if plane is None:
        return np.empty(0, np.int8)
    by_name = np.array([_host_part(name, bool(host.devices)) for name in plane.names], np.int8)
    activity: Array = by_name[plane.events.name]
    if host.devices:
        launches = plane.stat("correlation_id").owner
        activity[launches[activity[launches] == Part.HOST_COMPUTE]] = Part.KERNEL_LAUNCH
    activity[_root_stages(host, plane)] = Part.INPUT_WAIT
    activity[plane.stat("step_name").owner] = NOTHING
    if steps is not None and steps.source != "loops":
        # A loop's iteration begins with an executor, which works; any other marker only encloses.
        threads = host.trace.rows(plane)
        inside = (steps.marker >= threads.start) & (steps.marker < threads.stop)
        activity[steps.marker[inside] - threads.start] = NOTHING
    return activity


def _host_part(name: str, has_device: bool) -> int:
    if name.startswith(_MARKERS) and "/" not in name:
        return NOTHING
    if name.startswith(_CALLS):
        return NOTHING
    if name.startswith(_COMPILES):
        return Part.COMPILE
    op = names.parse(name)
    if op.category == names.TENSORFLOW and op.type.startswith("InfeedEnqueue"):
        return Part.INPUT_COPY
    if op.category == names.MEMCPY:
        return _COPIES[op.type] if op.type == "MemcpyHToD" else Part.HOST_COMPUTE
    if name[:15].lower() == "iteratorgetnext":
        return Part.INPUT_WAIT
    if has_device and name.startswith("$"):
        return NOTHING
    if has_device and name.startswith("ExecutorState::Process"):
        return Part.KERNEL_LAUNCH
    return Part.HOST_COMPUTE


def _root_stages(host: Host, plane: Plane) -> Array:
    """Input pipeline stages (``_ipl_stage_name``) in no other stage, and in nothing that waits for a producer."""
    stages = plane.stat("_ipl_stage_name").owner
    if not len(stages):
        return stages
    offset = host.trace.rows(plane).start
    parent, _ = host.trace.nesting
    inside = set((stages + offset).tolist()) | set(host.trace.links.target.tolist())
    roots = []
    for stage in stages.tolist():
        above = int(parent[stage + offset])
        while above >= 0 and above not in inside:
            above = int(parent[above])
        if above < 0:
            roots.append(stage)
    return np.array(roots, np.int64)


def _device_timeline(host: Host) -> Array:
    """int64[k, 3]: (part, begin, end) of what the devices together do, disjoint and in order of time."""
    nothing = np.empty((0, 3), np.int64)
    parts = [_device_rows(host, plane) for plane in host.devices]
    if not parts:
        return nothing
    rows = np.concatenate(parts)
    begin, end = host.window
    _, segments = _sweep(
        np.array([begin]), np.array([end]), np.array([0, len(rows)]), rows, nothing, len(Part), int(Part.OTHER)
    )
    return np.ascontiguousarray(segments[segments[:, 1] != Part.OTHER, 1:])


def _device_rows(host: Host, plane: Plane) -> Array:
    lines = host.stream_lines(plane).tolist() if host.gpus else _op_lines(plane)
    parts = device_parts(plane)
    picked = [np.arange(len(plane.events))[plane.lines.events(line)] for line in lines]
    rows = np.concatenate([*picked, np.empty(0, np.int64)])
    begin, end = plane.events.begin[rows], plane.events.end[rows]
    return np.stack((parts[rows], begin, end), axis=1)


def _op_lines(plane: Plane) -> list[int]:
    """The lines of a TPU that tell its ops: those of the first of `_DEVICE_LINES` that it has."""
    names_of = list(plane.lines.name)
    wanted = next((name for name in _DEVICE_LINES if name in names_of), "")
    return [line for line, name in enumerate(names_of) if name == wanted]


def device_parts(plane: Plane) -> Array:
    """int64[events]: each event's `Part` on a device, by copy direction, HLO category, kernel name and op shape."""
    by_name = np.array([_device_part(name) for name in plane.names], np.int64)
    parts: Array = by_name[plane.events.name]
    category = plane.metadata_stat("hlo_category")
    for row, text in zip(category.owner.tolist(), category.strings, strict=True):
        part = next((part for start, part in _CATEGORIES if text.startswith(start)), None)
        if part is not None:
            parts[plane.events.name == row] = part
    shape = plane.stat("shape")
    compute = parts[shape.owner] <= Part.COMPUTE_OTHER
    for event, text in zip(
        shape.owner[compute].tolist(), np.array(shape.strings, object)[compute].tolist(), strict=True
    ):
        width = kernels.precision(plane.names[plane.events.name[event]], text)
        parts[event] = _COMPUTE.get(width, Part.COMPUTE_OTHER)
    return parts


def _device_part(name: str) -> int:
    copy = names.memcpy(name)
    if copy:
        return _COPIES[copy]
    if kernels.is_collective(name):
        return Part.COLLECTIVES
    return _COMPUTE.get(kernels.precision(name), Part.COMPUTE_OTHER)


@jit
def _outermost(
    lines: I64, begin: I64, end: I64, step_of_group: I32, group: I32, activity: I8, steps: Int, parts: Int
) -> tuple[I64, I64Matrix]:
    """Activities of each step, touching ones of a kind and line merged: ``rows[first[s]:first[s + 1]]``.

    ``rows`` is int64[k, 3] (part, begin, end). They are counted, then written in place: sorting them would cost more.
    """
    first = np.zeros(steps + 1, np.int64)
    free = first
    rows = np.empty((0, 3), np.int64)
    step_before = np.empty(parts, np.int64)
    end_before = np.empty(parts, np.int64)
    row_before = np.empty(parts, np.int64)
    for writing in (False, True):
        if writing:
            for s in range(steps):
                first[s + 1] += first[s]
            free = first[:-1].copy()
            rows = np.empty((first[-1], 3), np.int64)
        for line in range(len(lines) - 1):
            step_before[:] = -1
            for i in range(lines[line], lines[line + 1]):
                part = activity[i]
                step = step_of_group[group[i]]
                if part < 0 or step < 0:
                    continue
                if step != step_before[part] or begin[i] > end_before[part]:
                    step_before[part], end_before[part] = step, end[i]
                    if writing:
                        row = free[step]
                        free[step] += 1
                        row_before[part] = row
                        rows[row, 0], rows[row, 1], rows[row, 2] = part, begin[i], end[i]
                    else:
                        first[step + 1] += 1
                elif end[i] > end_before[part]:
                    end_before[part] = end[i]
                    if writing:
                        rows[row_before[part], 2] = end[i]
    return first, rows


@jit
def _sweep(
    step_begin: I64, step_end: I64, first: I64, rows: I64Matrix, devices: I64Matrix, parts: Int, other: Int
) -> tuple[I64Matrix, I64Matrix]:
    """Partition each step: at every moment the smallest part number among what is active, ``other`` where nothing is.

    ``rows`` holds each step's activities (``rows[first[s]:first[s + 1]]``), ``devices`` what counts for all steps.
    """
    part_ps = np.zeros((len(step_begin), parts), np.int64)
    segments = np.empty((1024, 4), np.int64)
    count = 0
    active = np.zeros(parts + 1, np.int64)
    for s in range(len(step_begin)):
        low = np.searchsorted(devices[:, 2], step_begin[s], "right")
        high = np.searchsorted(devices[:, 1], step_end[s], "left")
        size = first[s + 1] - first[s] + max(high - low, 0)
        edge = np.empty(2 * size, np.int64)
        change = np.empty(2 * size, np.int64)
        n = 0
        for i in range(first[s], first[s + 1]):
            n = _edges(rows[i], step_begin[s], step_end[s], edge, change, n)
        for i in range(low, high):
            n = _edges(devices[i], step_begin[s], step_end[s], edge, change, n)
        order = _ascending(edge, n)
        active[:] = 0
        at = step_begin[s]
        for k in range(n + 1):
            until = edge[order[k]] if k < n else step_end[s]
            if until > at:
                part = other
                for candidate in range(parts):
                    if active[candidate] > 0:
                        part = candidate
                        break
                part_ps[s, part] += until - at
                if count > 0 and segments[count - 1, 0] == s and segments[count - 1, 1] == part:
                    segments[count - 1, 3] = until
                else:
                    if count == len(segments):
                        larger = np.empty((2 * count, 4), np.int64)
                        for row in range(count):
                            for column in range(4):
                                larger[row, column] = segments[row, column]
                        segments = larger
                    segments[count, 0], segments[count, 1], segments[count, 2], segments[count, 3] = s, part, at, until
                    count += 1
                at = until
            if k < n:
                step = change[order[k]]
                active[abs(step) - 1] += 1 if step > 0 else -1
    return part_ps, segments[:count]


@jit
def _ascending(keys: I64, size: Int) -> I64:
    """int64[size]: where the first ``size`` keys stand in ascending order, equal ones as they come: a merge sort."""
    order = np.arange(size)
    other = np.empty(size, np.int64)
    width = 1
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            left, right = low, middle
            for k in range(low, high):
                if left < middle and (right >= high or keys[order[left]] <= keys[order[right]]):
                    other[k] = order[left]
                    left += 1
                else:
                    other[k] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order


@jit
def _edges(row: I64, low: Int, high: Int, edge: I64, change: I64, n: Int) -> Int:
    begin, end = max(row[1], low), min(row[2], high)
    if begin < end:
        edge[n], change[n] = begin, row[0] + 1
        edge[n + 1], change[n + 1] = end, -(row[0] + 1)
        n += 2
    return n
