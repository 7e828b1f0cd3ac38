"""Where the steps are: a ladder of rules, the first that finds any wins, and the steps say which one it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array, distinct, median
from ...runtime.messages import Message
from ...runtime.records import record
from ..events import groups as grouping
from ..events.event_table import MISSING
from ..events.groups import Groups
from ..events.joins import is_among
from ..events.outermost import outermost
from ..events.ownership import work_events
from ..events.trace import Trace
from . import torch_steps, turns
from .repeated_calls import step_calls, training_calls
from .step_work import runs_ahead, work_span

SOURCES = {
    "chosen": Message("events of the name that you chose"),
    "markers": Message("step markers set by the program (Trace with _r, StepTraceAnnotation, Keras)"),
    "profiler": Message("steps of PyTorch's profiler (ProfilerStep)"),
    "served": Message("iterations that a serving engine marks (vLLM, SGLang)"),
    "numbers": Message("events that carry a step number (such as Keras 3's batches)"),
    "loops": Message("iterations of a TensorFlow training loop"),
    "turns": Message(
        "turns of the training loop (from one batch, one zero_grad of PyTorch or one iteration to the next)"
    ),
    "ranges": Message("ranges that the program puts around its work (record_function)"),
    "functions": Message("calls of the function that leads to most of the work"),
    "stored": Message("steps that the profiler had already written into the capture"),
    "device": Message("runs of the program that the device executes most of the time"),
    "none": Message("none was found"),
}
"""What each rule finds steps by."""
TIME_SOURCES = ("profiler", "served", "turns", "ranges")
"""Sources (keys of `SOURCES`) of steps that are intervals of time, whatever runs in them on whichever thread."""

_PAUSE = 0.05
"""If devices typically wait longer than this share of a step before the next one, the last step, which lacks that wait,
is incomplete."""


@record
class Steps:
    """The steps of one host in order of time."""

    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps; at most the next step's begin where work runs on beyond it."""
    number: Array
    """int64[n]: as the program counts, or 0, 1, 2 …"""
    name: list[str]
    """As shown, e.g. ``train 7``."""
    group: Array
    """int32[n]: the step's group in ``group_of``."""
    complete: Array
    """bool[n]: False where the capture's start or end cuts the step."""
    marker: Array
    """int64[n]: the event that marks the step, or -1."""
    group_of: Array
    """int32[events]: each event's group, or -1."""
    source: str
    """Key of `SOURCES`."""

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def length(self) -> Array:
        """int64[n] ps."""
        return self.end - self.begin

    @property
    def mean_ps(self) -> float:
        """Of their lengths; 0 without steps."""
        return float(self.length.mean()) if len(self) else 0.0

    def without_events(self) -> Steps:
        """The steps, as small as they are few; ``group_of`` is empty."""
        return replace(self, group_of=np.empty(0, np.int32))


def find(trace: Trace, name: str = "") -> Steps:
    """The steps by the first rule of `SOURCES` that finds any, or the events of that ``name``."""
    if name:
        rules: list[Callable[[Trace], Steps | None]] = [lambda trace: _steps_of_name(trace, name)]
    elif any(plane.name.startswith(vocabulary.TPU) for plane in trace.planes):
        rules = [_marker_steps, _profiler_steps, _numbered_steps, _loop_steps, _stored_steps, _device_steps]
        rules += [_function_steps]
    else:
        rules = [_marker_steps, _profiler_steps, _serving_steps, _numbered_steps, _loop_steps]
        rules += [_marked_turn_steps(turns.TORCH_MARKS)]
        rules += [lambda trace: _steps_of_turns(trace, turns.range_turns(trace), "ranges")]
        rules += [_function_steps, _stored_steps, _device_steps]
        # Where a program of TensorFlow calls no function in its loop, but runs all ops one by one.
        rules += [_marked_turn_steps(turns.TENSORFLOW_MARKS)]
    for rule in rules:
        steps = rule(trace)
        if steps is not None and len(steps):
            return steps
    empty, no_group = np.empty(0, np.int64), np.full(len(trace), -1, np.int32)
    return Steps(empty, empty, empty, [], empty.astype(np.int32), empty.astype(bool), empty, no_group, "none")


def _steps_of_name(trace: Trace, name: str) -> Steps | None:
    events = trace.events_named(name.__eq__)
    return _grouped_steps(trace, outermost(trace, events), "chosen") if len(events) else None


def _marker_steps(trace: Trace) -> Steps | None:
    roots, levels = trace.once(grouping.marked_roots)
    is_explicit = ~trace.are_named(roots, grouping.IMPLICIT_ROOTS.__contains__)
    if not is_explicit.any():
        return None
    groups = grouping.group(trace, roots, levels)
    is_marked = is_among(groups.root, roots[is_explicit])
    return _steps_of_groups(trace, groups, np.flatnonzero(is_marked), "markers")


def _numbered_steps(trace: Trace) -> Steps | None:
    events, _ = trace.stat(vocabulary.STEP_NUM)
    return _grouped_steps(trace, outermost(trace, events), "numbers") if len(events) else None


def _profiler_steps(trace: Trace) -> Steps | None:
    marks = trace.by_time(outermost(trace, torch_steps.profiler_marks(trace)))
    if not len(marks):
        return None
    marks = marks[:-1] if torch_steps.is_last_until_stop(trace, marks) else marks
    return _steps_of_times(trace, marks, trace.end[marks], "profiler")


def _serving_steps(trace: Trace) -> Steps | None:
    """Where an engine runs ahead, the first begins with its work: what devices did before that is not recorded."""
    marks = trace.by_time(outermost(trace, torch_steps.serving_marks(trace)))
    if not len(marks):
        return None
    steps = _steps_of_times(trace, marks, trace.end[marks], "served")
    since, _ = work_span(trace, steps.group_of, steps.group[:1], all_work=False)
    is_ahead = trace.end[marks[0]] <= since[0] < steps.end[0]
    return replace(steps, begin=np.append(since, steps.begin[1:])) if is_ahead else steps


def _marked_turn_steps(marks: tuple[re.Pattern[str], ...]) -> Callable[[Trace], Steps | None]:
    """The rule by the turns of a loop that does what one of the names says once in each."""
    return lambda trace: _steps_of_turns(trace, turns.marked_turns(trace, marks))


def _steps_of_turns(trace: Trace, turns_of_loop: turns.Turns | None, source: str = "turns") -> Steps | None:
    if turns_of_loop is None:
        return None
    steps = _steps_of_times(trace, turns_of_loop.root, turns_of_loop.end, source)
    return steps if turns_of_loop.begins_with_mark else replace(steps, marker=np.full(len(steps), -1))


def _steps_of_times(trace: Trace, roots: Array, until: Array, source: str) -> Steps:
    trace_groups = torch_steps.group(trace, roots, until)
    begin, end = torch_steps.spans(trace, trace_groups, until)
    number, name = _labels(trace, roots, source)
    groups, complete = np.arange(len(roots), dtype=np.int32), np.ones(len(roots), bool)
    return Steps(begin, end, number, name, groups, complete, roots, trace_groups.group_of, source)


def _loop_steps(trace: Trace) -> Steps | None:
    """Iterations of the one loop in which the executors spend most of the time.

    A loop that is run again and again lies within the steps. So do loops whose iterations overlap: those are loops
    beside or after one another, as a recurrent layer and its gradient have them. Where an executor goes on with the
    next iteration in the same run, iterations are told by where each begins.
    """
    executions, iterations = grouping.loop_roots(trace)
    if not iterations.any() or len(distinct(trace.numbers(vocabulary.ID, executions))) > 1:
        return None
    count = int(iterations.max()) + 1
    begin, end = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    np.minimum.at(begin, iterations, trace.begin[executions])
    np.maximum.at(end, iterations, trace.end[executions])
    # The first iteration stands for everything around the loop, too.
    begin, end = begin[1:], end[1:]
    work = trace.once(work_events)
    loop_ps, all_ps = int(end.max() - begin.min()), int(trace.end[work].max() - trace.begin[work].min())
    if 2 * loop_ps < all_ps or 2 * int((end - begin).sum()) > 3 * loop_ps:
        return None
    groups = grouping.group_several_roots(trace, executions, iterations)
    steps = _steps_of_groups(trace, groups, np.arange(len(groups.root)), "loops", extend=True)
    later = work[trace.begin[work] > begin[1]] if count > 2 else work[:0]
    if 2 * int((groups.group_of[later] > 0).sum()) < len(later):
        return _steps_of_turns(trace, turns.turns_of_starts(trace, steps.marker))
    return steps


def _function_steps(trace: Trace) -> Steps | None:
    calls, step = step_calls(trace)
    if not len(calls):
        return None
    is_function_run = trace.name(int(calls[0])) == "FunctionRun"
    if not is_function_run and int(step[-1]) == len(step) - 1:
        calls = np.sort(calls)
        return _grouped_steps(trace, calls[training_calls(trace, calls)], "functions")
    groups = grouping.group_several_roots(trace, calls, _call_of_run(trace, calls) if is_function_run else step)
    return _steps_of_groups(trace, groups, np.arange(len(groups.root)), "functions", extend=True)


def _call_of_run(trace: Trace, runs: Array) -> Array:
    """int64[n]: which call each run of a function belongs to: parts of one call share an id and run at one time."""
    ids = trace.numbers(vocabulary.ID, runs)
    run_groups = grouping.group_several_roots(trace, runs, np.arange(len(runs)))
    _, until = work_span(trace, run_groups.group_of, np.arange(len(runs)), all_work=True)
    call = np.arange(len(runs))
    for i in range(1, len(runs)):
        is_same_call = ids[i] == ids[i - 1] != MISSING and trace.begin[runs[i]] < until[i - 1]
        call[i] = call[i - 1] if is_same_call else call[i - 1] + 1
        until[i] = max(until[i], until[i - 1]) if is_same_call else until[i]
    return call


def _stored_steps(trace: Trace) -> Steps | None:
    """Groups that the profiler wrote into the capture (``group_id``) and of which some event names a step."""
    events, values = trace.stat(vocabulary.GROUP_ID)
    # The profiler's own numbers may be any, so that nothing is as large as the largest of them.
    stored_groups, values = np.unique(np.where((values >= 0) & (values < 2**31), values, -1), return_inverse=True)
    values = values - int(-1 in stored_groups)
    on_host = np.zeros(len(events), bool)
    step_groups: set[int] = set()
    for offset, plane in trace.parts:
        in_plane = (events >= offset) & (events < offset + len(plane.events))
        on_host |= in_plane & (plane.name == vocabulary.HOST_CPU)
        marks = plane.stat(vocabulary.STEP_NAME).owner
        if plane.name.startswith(vocabulary.DEVICE) or plane.name == vocabulary.HOST_CPU:
            step_groups |= set(values[in_plane & np.isin(events, marks + offset)].tolist())
    step_groups.discard(-1)
    if not step_groups or not on_host.any():
        return None
    group_of = np.full(len(trace), -1, np.int32)
    group_of[events] = values
    _spread_stored_groups(trace, group_of)
    return _steps_of_stored_groups(trace, group_of, sorted(step_groups))


def _spread_stored_groups(trace: Trace, group_of: Array) -> None:
    """Groups for planes that hold none, over the links from those that do."""
    lacks_groups = np.zeros(len(trace), bool)
    for offset, plane in trace.parts:
        lacks_groups[offset : offset + len(plane.events)] = not plane.has_stat(vocabulary.GROUP_ID)
    links = trace.links
    is_reached = lacks_groups[links.target] & (group_of[links.source] >= 0)
    group_of[links.target[is_reached]] = group_of[links.source[is_reached]]


def _steps_of_stored_groups(trace: Trace, group_of: Array, step_groups: list[int]) -> Steps | None:
    """Each group begins with its first event on the host, or with its first where the host has none."""
    is_off_host = np.ones(len(trace), bool)
    for offset, plane in trace.parts:
        is_off_host[offset : offset + len(plane.events)] = plane.name != vocabulary.HOST_CPU
    members = np.flatnonzero(np.isin(group_of, step_groups))
    members = members[np.lexsort((trace.begin[members], is_off_host[members], group_of[members]))]
    groups, first_member = np.unique(group_of[members], return_index=True)
    index_of_event = np.full(len(trace), -1, np.int32)
    index_of_event[members] = np.searchsorted(groups, group_of[members])
    trace_groups = grouping.split_at_pauses(trace, Groups(members[first_member], index_of_event))
    if len(trace_groups.root) == 1 and _is_mostly_empty(trace, members):
        return None
    return _steps_of_groups(trace, trace_groups, np.arange(len(trace_groups.root)), "stored")


def _is_mostly_empty(trace: Trace, events: Array) -> bool:
    """Whether the events leave most of the time from the first to the last one uncovered: that is no step."""
    order = trace.by_time(events)
    latest_end = np.maximum.accumulate(trace.end[order])
    gaps = (trace.begin[order][1:] - latest_end[:-1]).clip(min=0).sum()
    return bool(10 * gaps > 9 * (latest_end[-1] - trace.begin[order[0]]))


def _device_steps(trace: Trace) -> Steps | None:
    """Events of the devices' ``Steps`` lines, else runs of their busiest XLA module: from one start to the next.

    A device may wait between them, and that time is the step's, too. What another device did at the same time is part
    of the same step.
    """
    for line_name in (vocabulary.STEPS, vocabulary.XLA_MODULES):
        rows_of_devices: list[Array] = []
        for offset, plane in trace.parts:
            if not plane.name.startswith(vocabulary.DEVICE) or line_name not in list(plane.lines.name):
                continue
            rows = np.arange(len(plane.events))[plane.lines.events(list(plane.lines.name).index(line_name))]
            if line_name == vocabulary.XLA_MODULES and len(rows):
                time = np.bincount(plane.events.name[rows], plane.events.duration[rows])
                rows = rows[plane.events.name[rows] == time.argmax()]
            rows = rows[np.argsort(plane.events.begin[rows], kind="stable")] + offset
            if len(rows) and not any(_overlap(trace, rows, other_rows) for other_rows in rows_of_devices):
                rows_of_devices.append(rows)
        if rows_of_devices:
            rows_of_devices.sort(key=lambda rows: int(trace.begin[rows[0]]))
            return _until_next_start(_grouped_steps(trace, np.concatenate(rows_of_devices), "device"), rows_of_devices)
    return None


def _overlap(trace: Trace, rows: Array, other_rows: Array) -> bool:
    """Whether two devices' events, both in order of time, overlap as a whole."""
    begin, end = trace.begin, trace.end
    return bool(begin[rows[0]] < end[other_rows].max() and begin[other_rows[0]] < end[rows].max())


def _until_next_start(steps: Steps, rows_of_devices: list[Array]) -> Steps:
    """The steps, each until the next one of its device begins; the last of a device that waits is cut short."""
    end, complete = steps.end.copy(), steps.complete.copy()
    last_rows = np.cumsum([len(rows) for rows in rows_of_devices]) - 1
    if len(steps) != last_rows[-1] + 1:
        # Steps inside of others, which only damaged captures have, are none of their own.
        return steps
    followed = np.delete(np.arange(len(steps)), last_rows)
    waits_ps = steps.begin[followed + 1] - end[followed]
    end[followed] = np.maximum(end[followed], steps.begin[followed + 1])
    if len(followed) and median(waits_ps) > _PAUSE * median(end[followed] - steps.begin[followed]):
        complete[last_rows] = False
    return replace(steps, end=end, complete=complete)


def _grouped_steps(trace: Trace, roots: Array, source: str) -> Steps:
    groups = grouping.group(trace, roots, np.ones(len(roots), np.int64))
    return _steps_of_groups(trace, groups, np.arange(len(groups.root)), source)


def _steps_of_groups(trace: Trace, trace_groups: Groups, selected: Array, source: str, extend: bool = False) -> Steps:
    """Steps from groups: a marker's span, on to the end of the device work that it led to, up to the next step.

    With ``extend`` the marker is only where the step begins, and all work of the group belongs to its span.
    """
    groups = selected.astype(np.int32)
    roots = trace_groups.root[selected]
    order = np.argsort(trace.begin[roots], kind="stable")
    roots, groups = roots[order], groups[order]
    begin, end = trace.begin[roots], trace.end[roots].copy()
    _, until = work_span(trace, trace_groups.group_of, groups, all_work=extend)
    next_begin = np.append(begin[1:], np.iinfo(np.int64).max)
    if not extend and runs_ahead(trace, trace_groups.group_of, groups[:-1], next_begin[:-1]):
        end = np.maximum.accumulate(np.maximum(end, until))
        begin = np.maximum(begin, np.append(begin[:1], end[:-1]))
    else:
        end = np.maximum(end, np.minimum(until, next_begin))
    number, name = _labels(trace, roots, source)
    complete = _are_complete(trace_groups.group_of, groups, begin, source)
    return Steps(begin, end, number, name, groups, complete, roots, trace_groups.group_of, source)


def _labels(trace: Trace, roots: Array, source: str) -> tuple[Array, list[str]]:
    """Numbers and names: the program's own (``iter_num``, ``step_num``, ``graph_type``), else counted from 0."""
    index = np.arange(len(roots))
    if source in ("turns", "functions", "stored", "device"):
        return index, [str(i) for i in index.tolist()]
    iterations, numbers = trace.numbers(vocabulary.ITER_NUM, roots), trace.numbers(vocabulary.STEP_NUM, roots)
    texts = [trace.names[row] for row in trace.name_of[roots].tolist()]
    matches = [torch_steps.NUMBERED.fullmatch(text) for text in texts]
    numbers = np.where([*map(bool, matches)], [int(match[1]) if match else 0 for match in matches], numbers)
    number = np.where(iterations != MISSING, iterations, np.where(numbers != MISSING, numbers, index))
    graph = _graph_types(trace, roots)
    names = []
    for root, text, value, match in zip(roots.tolist(), texts, number.tolist(), matches, strict=True):
        if match:
            names.append(match[0])
            continue
        word = graph.get(root) or ("" if source == "loops" else text)
        names.append(f"{word} {value}".strip())
    return number, names


def _graph_types(trace: Trace, roots: Array) -> dict[int, str]:
    root_set = set(roots.tolist())
    types: dict[int, str] = {}
    for offset, plane in trace.parts:
        column = plane.stat(vocabulary.GRAPH_TYPE)
        kinds = zip((column.owner + offset).tolist(), column.strings, strict=True)
        types |= {event: kind for event, kind in kinds if event in root_set}
    return types


def _are_complete(group_of: Array, groups: Array, begin: Array, source: str) -> Array:
    """False for a step at the capture's edge that holds less than half the events of the typical step.

    Markers of the host are written only when they end, so those are complete by nature.
    """
    complete = np.ones(len(begin), bool)
    if source not in ("device", "stored", "functions", "loops") or len(begin) < 3:
        return complete
    sizes = np.bincount(group_of[group_of >= 0], minlength=int(groups.max()) + 1)[groups]
    for edge in (0, len(begin) - 1):
        complete[edge] = sizes[edge] * 2 >= median(sizes)
    return complete
