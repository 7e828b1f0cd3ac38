"""What the host's threads do at every moment of a step: work, waiting, Python, by the innermost event that tells."""

from __future__ import annotations

import numpy as np

from ...analysis.ops.host_ops import kernels_of_single_ops
from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...formats.columns.gather import gather
from ...model.host import Host
from ...model.names import collectives, host_events, op_names
from ...model.profiler_options import is_unrecorded
from ...model.steps import torch_steps
from ...model.steps.step_rules import Steps
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ...runtime.records import NamedTuple
from .parts import NOTHING, Part

_LAUNCH, _WORK, _COLLECTIVE = int(Part.KERNEL_LAUNCH), int(Part.HOST_COMPUTE), int(Part.HOST_COLLECTIVES)
_FRAMES = (
    *("EagerExecute", "EagerLocalExecute", "KernelAndDeviceFunc::Run", "ThreadpoolListener::StartRegion"),
    "CollectiveExecutor::RunClosure",
)
"""Events that only enclose others: what encloses them tells more."""


def host_activities(
    host: Host, steps: Steps | None, step_of_group: Array, group: Array, count: int
) -> tuple[Array, Array]:
    """(first, rows): what threads do for each of ``count`` steps, ``rows[first[s]:first[s + 1]]`` in each.

    ``rows`` is int64[k, 3] (part, begin, end), disjoint on each thread; ``group`` is each event's group,
    ``step_of_group`` the group's step or -1.
    """
    plane = host.cpu
    if plane is None:
        return np.zeros(count + 1, np.int64), np.empty((0, 3), np.int64)
    threads = host.trace.slice_of(plane)
    spans = host.trace.begin[threads], host.trace.end[threads]
    step = gather(np.append(np.int32(-1), step_of_group), group[threads] + np.int32(1))
    parts = _parts(host, plane, steps)
    if steps is not None:
        _assign_collectives_by_time(steps, spans[0], parts, step)
    return _innermost(plane.lines.first_event, *spans, step, parts, count)


def _assign_collectives_by_time(steps: Steps, begin: Array, parts: Array, step: Array) -> None:
    """Collectives that no link leads to, such as those on threads of gRPC, are part of the step that they begin in."""
    next_row = np.flatnonzero(parts == int(Part.HOST_COLLECTIVES))
    next_row = next_row[step[next_row] < 0]
    if len(next_row) and len(steps):
        order = np.argsort(steps.begin, kind="stable")
        latest_step = order[np.maximum(np.searchsorted(steps.begin[order], begin[next_row], "right") - 1, 0)]
        is_inside = (steps.begin[latest_step] <= begin[next_row]) & (begin[next_row] < steps.end[latest_step])
        step[next_row[is_inside]] = latest_step[is_inside]


def _parts(host: Host, plane: Plane, steps: Steps | None) -> Array:
    """int8[events of the host's threads]: the `Part` that each event stands for, or `NOTHING`."""
    names_and_categories = zip(plane.names, plane.categories, strict=True)
    by_name = np.array([_host_part(name, category, host) for name, category in names_and_categories], np.int8)
    activity: Array = gather(by_name, plane.events.name)
    if host.devices:
        launches = plane.stat(vocabulary.CORRELATION_ID).owner
        activity[launches[activity[launches] == Part.HOST_COMPUTE]] = Part.KERNEL_LAUNCH
    activity[_collectives(host, plane)] = Part.HOST_COLLECTIVES
    activity[_root_stages(host, plane)] = Part.INPUT_WAIT
    activity[kernels_of_single_ops(host)] = Part.HOST_COMPUTE
    named_steps = plane.stat(vocabulary.STEP_NAME).owner
    activity[named_steps[activity[named_steps] == Part.HOST_COMPUTE]] = NOTHING
    if steps is not None and steps.source != "loops":
        # A loop's iteration begins with an executor, which works; any other marker only encloses.
        threads = host.trace.slice_of(plane)
        inside = (steps.marker >= threads.start) & (steps.marker < threads.stop)
        activity[steps.marker[inside] - threads.start] = NOTHING
    return activity


def _host_part(name: str, category: str, host: Host) -> int:
    """The part of an event by its name, or by its category where it has one."""
    if category:
        return _torch_part(name, category)
    if host_events.is_marker(name) or name.startswith(_FRAMES):
        return NOTHING
    if name.startswith(host_events.CALLS):
        return Part.UNRECORDED if is_unrecorded(host) else Part.WAITING
    if host_events.is_compiling(name):
        return Part.COMPILE
    if collectives.is_part_on_host(name):
        return Part.HOST_COLLECTIVES
    if host_events.is_waiting(name) or host_events.is_sleeping(name):
        return Part.WAITING
    if host_events.is_frame(name):
        return Part.PYTHON
    op = op_names.parse(name)
    if op.category == op_names.TENSORFLOW and op.type.startswith("InfeedEnqueue"):
        return Part.INPUT_COPY
    if op.category == op_names.MEMCPY:
        return Part.INPUT_COPY if op.type == "MemcpyHToD" else Part.HOST_COMPUTE
    if host_events.asks_for_input(name):
        return Part.INPUT_WAIT
    if host.devices and name.startswith("ExecutorState::Process"):
        return Part.KERNEL_LAUNCH
    return Part.HOST_COMPUTE


def _torch_part(name: str, category: str) -> int:
    """The part of an event of PyTorch's profiler; ranges that a program names are work, but for marks of steps."""
    if host_events.asks_for_input(name):
        return Part.INPUT_WAIT
    if torch_steps.NUMBERED.fullmatch(name) or category == vocabulary.TORCH_INSTANT:
        return NOTHING
    if host_events.is_waiting(name) or host_events.is_sleeping(name):
        return Part.WAITING
    return Part.PYTHON if host_events.is_frame(name) else Part.HOST_COMPUTE


def _collectives(host: Host, plane: Plane) -> Array:
    """int64[k]: events of XLA:CPU's ops that are collectives by their opcode, whatever they are called."""
    column = plane.stat(vocabulary.HLO_OP)
    if not len(column):
        return column.owner
    codes, texts = column.codes
    program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), -1)[column.owner]
    example, kind = combine(codes, program)
    is_collective = []
    for at in example.tolist():
        module = host.modules.get(int(program[at]))
        instruction = module.instruction(texts[codes[at]]) if module else None
        is_collective.append(instruction is not None and collectives.is_opcode(instruction.opcode))
    return column.owner[np.array(is_collective, bool)[kind]]


def _root_stages(host: Host, plane: Plane) -> Array:
    """Input pipeline stages (``_ipl_stage_name``) in no other stage, and in nothing that waits for a producer."""
    stages = plane.stat(vocabulary.STAGE_NAME).owner
    if not len(stages):
        return stages
    offset = host.trace.slice_of(plane).start
    parent = host.trace.nesting.parent
    inside = set((stages + offset).tolist()) | set(host.trace.links.target.tolist())
    roots = []
    for stage in stages.tolist():
        ancestor = int(parent[stage + offset])
        while ancestor >= 0 and ancestor not in inside:
            ancestor = int(parent[ancestor])
        if ancestor < 0:
            roots.append(stage)
    return np.array(roots, np.int64)


class _StepIntervals(NamedTuple):
    """Columns of intervals, filled from the first row on; times in ps."""

    step: I32
    part: I8
    begin: I64
    end: I64


@jit
def _innermost(lines: I64, begin: I64, end: I64, step: I32, part: I8, steps: Int) -> tuple[I64, I64Matrix]:
    """The state of each line over time, by step: see `host_activities`.

    The innermost event decides, with three exceptions: what lies in a part before the launches of kernels belongs
    to it, work within other work belongs to the smaller part, and work and waiting in a collective to that.
    """
    # An interval ends where an event begins or ends. Room that is not written takes no memory.
    size = 2 * len(begin)
    step_room, part_room = np.empty(size, np.int32), np.empty(size, np.int8)
    intervals = _StepIntervals(step_room, part_room, np.empty(size, np.int64), np.empty(size, np.int64))
    part_of_open, step_of_open, end_of_open = (
        np.empty(len(begin), np.int8),
        np.empty(len(begin), np.int32),
        np.empty(len(begin), np.int64),
    )
    count = np.int64(0)
    for line in range(len(lines) - 1):
        depth, since, start = 0, np.int64(0), count
        for i in range(lines[line], lines[line + 1] + 1):
            is_line_end = i == lines[line + 1]
            if not is_line_end and (part[i] < 0 or step[i] < 0):
                continue
            moment = np.int64(0) if is_line_end else begin[i]
            while depth > 0 and (is_line_end or end_of_open[depth - 1] <= moment):
                depth -= 1
                count = _add_interval(
                    intervals, start, count, step_of_open[depth], part_of_open[depth], since, end_of_open[depth]
                )
                since = max(since, end_of_open[depth])
            if is_line_end:
                break
            part_of_event = np.int64(part[i])
            if depth > 0:
                outer = np.int64(part_of_open[depth - 1])
                part_of_event = _part_within(part_of_event, outer)
                if part_of_event == outer and step[i] == step_of_open[depth - 1] and end[i] <= end_of_open[depth - 1]:
                    # It changes nothing.
                    continue
                count = _add_interval(intervals, start, count, step_of_open[depth - 1], outer, since, moment)
            part_of_open[depth], step_of_open[depth], end_of_open[depth] = part_of_event, step[i], end[i]
            depth += 1
            since = moment
    return _rows_by_step(intervals, count, steps)


@inlined
def _part_within(part: Int, outer: Int) -> Int:
    """The part that an event counts as within another one; see `_innermost`."""
    if outer < _LAUNCH or (part <= _WORK and outer <= _WORK):
        return min(part, outer)
    return outer if outer == _COLLECTIVE and part >= _LAUNCH else part


@jit
def _rows_by_step(intervals: _StepIntervals, count: Int, steps: Int) -> tuple[I64, I64Matrix]:
    """The first ``count`` intervals as `host_activities` gives them: step after step."""
    out_step, out_part, out_begin, out_end = intervals
    first = np.zeros(steps + 1, np.int64)
    for k in range(count):
        first[out_step[k] + 1] += 1
    for s in range(steps):
        first[s + 1] += first[s]
    next_row = first.copy()
    rows = np.empty((count, 3), np.int64)
    for k in range(count):
        row = next_row[out_step[k]]
        next_row[out_step[k]] += 1
        rows[row, 0], rows[row, 1], rows[row, 2] = out_part[k], out_begin[k], out_end[k]
    return first, rows


@jit
def _add_interval(out: _StepIntervals, start: Int, count: Int, step: Int, part: Int, begin: Int, end: Int) -> Int:
    """Add an interval, which extends the last one from row ``start`` on if it can; returns how many there are then.

    An empty one is not added.
    """
    if end <= begin:
        return count
    out_step, out_part, out_begin, out_end = out
    last = count - 1
    if last >= start and out_step[last] == step and out_part[last] == part and out_end[last] == begin:
        out_end[last] = end
        return count
    out_step[count], out_part[count], out_begin[count], out_end[count] = step, part, begin, end
    return count + 1
