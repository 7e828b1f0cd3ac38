"""Where the time of each step goes as the existing plugin counts it, in integer picoseconds that sum to the step."""

from __future__ import annotations

import numpy as np

from ...analysis.ops.device_event_kinds import DeviceKind, device_kinds
from ...formats.columns import Plane, vocabulary
from ...model.host import Host, run_window
from ...model.steps.step_rules import TIME_SOURCES, Steps
from ...model.steps.step_work import steps_of_groups
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from .host_activity import host_activities
from .parts import Part

_PARTS_OF_KINDS = {
    DeviceKind.COMPUTE_16: Part.COMPUTE_16,
    DeviceKind.COMPUTE_32: Part.COMPUTE_32,
    DeviceKind.COMPUTE_OTHER: Part.COMPUTE_OTHER,
    DeviceKind.COLLECTIVE: Part.COLLECTIVES,
    DeviceKind.TO_DEVICE: Part.INPUT_COPY,
    DeviceKind.FROM_DEVICE: Part.OUTPUT,
    DeviceKind.ON_DEVICE: Part.DEVICE_TO_DEVICE,
    DeviceKind.HOST_MEMORY: Part.HOST_OFFLOAD,
    DeviceKind.ON_HOST: Part.HOST_COMPUTE,
}
_PART_OF_KIND = np.array([_PARTS_OF_KINDS[kind] for kind in DeviceKind], np.int64)
_DEVICE_LINES = (vocabulary.XLA_OPS, vocabulary.FRAMEWORK_OPS, vocabulary.TENSORFLOW_OPS)


def parts_of_steps(host: Host, steps: Steps) -> Array:
    """int64[steps, len(Part)] ps: the partition of the given steps; each row sums to the step's duration.

    Devices count by time, what the host does by the step's own group of events.

    Steps of PyTorch's programs are of time alone: one begins where the work of the one before it ends, which is later
    than the host goes on to it.
    """
    if steps.source in TIME_SOURCES:
        one_group = np.zeros(len(host.trace), np.int32)
        return _partition(host, steps.begin, steps.end, np.zeros(1, np.int32), one_group, steps)
    step_of_group = steps_of_groups(steps.group, steps.group_of).astype(np.int32)
    return _partition(host, steps.begin, steps.end, step_of_group, steps.group_of, steps)


def parts_of_capture(host: Host) -> Array:
    """int64[1, len(Part)] ps: the same of everything recorded, as if it were one step."""
    begin, end = run_window(host)
    one_group = np.zeros(len(host.trace), np.int32)
    return _partition(host, np.array([begin]), np.array([end]), np.zeros(1, np.int32), one_group, None)


def _partition(host: Host, begin: Array, end: Array, step_of_group: Array, group: Array, steps: Steps | None) -> Array:
    devices = _device_timeline(host)
    first, rows = host_activities(host, steps, step_of_group, group, len(begin))
    if not group.any():
        first, rows = _by_time(rows, begin, end)
    part_ps, _ = _sweep(begin, end, first, rows, devices, len(Part), np.empty((0, 4), np.int64))
    return part_ps


def _segments(begin: Array, end: Array, first: Array, rows: Array, devices: Array) -> tuple[Array, Array]:
    """(parts, segments) of `_sweep`, with room for all segments: room that is not written takes no memory."""
    overlaps = (np.searchsorted(devices[:, 1], end) - np.searchsorted(devices[:, 2], begin, "right")).clip(min=0).sum()
    room = np.empty((2 * (len(rows) + int(overlaps)) + len(begin), 4), np.int64)
    part_ps, count = _sweep(begin, end, first, rows, devices, len(Part), room)
    return part_ps, room[:count]


def _by_time(rows: Array, begin: Array, end: Array) -> tuple[Array, Array]:
    """(first, rows) as `host_activities` gives them: each row for all steps that it overlaps; no two steps do."""
    low = np.searchsorted(end, rows[:, 1], "right")
    counts = np.maximum(np.searchsorted(begin, rows[:, 2], "left") - low, 0)
    first_of_row = np.cumsum(counts) - counts
    step = np.repeat(low - first_of_row, counts) + np.arange(counts.sum())
    rows_by_step = np.argsort(step, kind="stable")
    first = np.searchsorted(step[rows_by_step], np.arange(len(begin) + 1)).astype(np.int64)
    return first, np.ascontiguousarray(np.repeat(rows, counts, axis=0)[rows_by_step])


def _device_timeline(host: Host) -> Array:
    """int64[k, 3]: (part, begin, end) of what the devices together do, disjoint and in order of time."""
    nothing = np.empty((0, 3), np.int64)
    device_rows = [_device_rows(host, plane) for plane in host.devices]
    if not device_rows:
        return nothing
    rows = np.concatenate(device_rows)
    begin, end = host.window
    _, segments = _segments(np.array([begin]), np.array([end]), np.array([0, len(rows)]), rows, nothing)
    return np.ascontiguousarray(segments[segments[:, 1] != Part.OTHER, 1:])


def _device_rows(host: Host, plane: Plane) -> Array:
    """int64[k, 3]: (part, begin, end) of a device's events."""
    lines = host.stream_lines(plane).tolist() if host.gpus else _op_lines(plane)
    parts = _PART_OF_KIND[device_kinds(host, plane)]
    rows_of_lines = [np.arange(len(plane.events))[plane.lines.events(line)] for line in lines]
    rows = np.concatenate([*rows_of_lines, np.empty(0, np.int64)])
    begin, end = plane.events.begin[rows], plane.events.end[rows]
    return np.stack((parts[rows], begin, end), axis=1)


def _op_lines(plane: Plane) -> list[int]:
    """The lines of a TPU that hold its ops: those of the first of `_DEVICE_LINES` that it has."""
    line_names = list(plane.lines.name)
    line_name = next((name for name in _DEVICE_LINES if name in line_names), "")
    return [line for line, name in enumerate(line_names) if name == line_name]


@jit
def _sweep(
    step_begin: I64, step_end: I64, first: I64, rows: I64Matrix, devices: I64Matrix, parts: Int, segments: I64Matrix
) -> tuple[I64Matrix, Int]:
    """Partition each step: each moment belongs to the smallest part that is active, or to the last part if none is.

    ``rows`` holds each step's activities (``rows[first[s]:first[s + 1]]``), ``devices`` what counts for all steps.
    Returns (int64[steps, parts] ps, number of segments). As many segments (step, part, begin, end) are written as there
    is room for.
    """
    part_ps = np.zeros((len(step_begin), parts), np.int64)
    count = np.int64(0)
    active = np.zeros(parts, np.int64)
    for s in range(len(step_begin)):
        low = np.searchsorted(devices[:, 2], step_begin[s], "right")
        high = np.searchsorted(devices[:, 1], step_end[s], "left")
        size = first[s + 1] - first[s] + max(high - low, 0)
        edge = np.empty(2 * size, np.int64)
        # What changes at each edge: part + 1 begins, -(part + 1) ends.
        change = np.empty(2 * size, np.int8)
        n = 0
        for i in range(first[s], first[s + 1]):
            n = _add_edges(rows[i], step_begin[s], step_end[s], edge, change, n)
        for i in range(low, high):
            n = _add_edges(devices[i], step_begin[s], step_end[s], edge, change, n)
        edges_by_time = _sorted_rows(edge, n)
        active[:] = 0
        since, part, last_part = step_begin[s], parts - 1, np.int64(-1)
        for k in range(n + 1):
            segment_end = edge[edges_by_time[k]] if k < n else step_end[s]
            if segment_end > since:
                part_ps[s, part] += segment_end - since
                if part != last_part:
                    last_part = part
                    if count < len(segments):
                        segments[count, 0], segments[count, 1], segments[count, 2] = s, part, since
                    count += 1
                if count <= len(segments):
                    segments[count - 1, 3] = segment_end
                since = segment_end
            if k < n:
                signed_part = np.int64(change[edges_by_time[k]])
                changed_part = abs(signed_part) - 1
                active[changed_part] += 1 if signed_part > 0 else -1
                if active[changed_part] > 0:
                    part = min(part, changed_part)
                while part < parts - 1 and active[part] == 0:
                    part += 1
    return part_ps, count


@jit
def _sorted_rows(keys: I64, size: Int) -> I32:
    """int32[size]: rows of the first ``size`` keys in ascending order; equal keys keep their order.

    A merge sort of the runs that ascend already: each thread's activities are one.
    """
    order, merged = np.empty(size, np.int32), np.empty(size, np.int32)
    starts = np.empty(size + 1, np.int32)
    run_count = 0
    for k in range(size):
        order[k] = k
        if k == 0 or keys[k] < keys[k - 1]:
            starts[run_count] = k
            run_count += 1
    while run_count > 1:
        starts[run_count] = size
        next_run_count = 0
        for run in range(0, run_count, 2):
            low, middle, high = starts[run], starts[run + 1], starts[min(run + 2, run_count)]
            left, right = low, middle
            for k in range(low, high):
                if left < middle and (right >= high or keys[order[left]] <= keys[order[right]]):
                    merged[k] = order[left]
                    left += 1
                else:
                    merged[k] = order[right]
                    right += 1
            starts[next_run_count] = low
            next_run_count += 1
        order, merged = merged, order
        run_count = next_run_count
    return order


@jit
def _add_edges(row: I64, low: Int, high: Int, edge: I64, change: I8, n: Int) -> Int:
    """Add begin and end of a row, cut to ``low`` and ``high``, as edges ``n`` on; returns how many edges there are."""
    begin, end = max(row[1], low), min(row[2], high)
    if begin < end:
        edge[n], change[n] = begin, row[0] + 1
        edge[n + 1], change[n + 1] = end, -(row[0] + 1)
        n += 2
    return n
