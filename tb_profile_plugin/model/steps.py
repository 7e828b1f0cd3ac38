"""Where the steps are: a ladder of rules, the first that finds any wins, and the steps say which one it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from . import groups as grouping
from .groups import Groups
from .trace import MISSING, Trace

SOURCES = {
    "chosen": "events of the name that you chose",
    "markers": "step markers set by the program (Trace with _r, StepTraceAnnotation, Keras)",
    "loops": "iterations of a TensorFlow training loop",
    "numbers": "events that carry a step number (such as Keras 3's batches)",
    "stored": "steps that the profiler had already written into the capture",
    "functions": "calls of the function that the training thread runs most of the time",
    "device": "runs of the program that the device executes most of the time",
    "none": "nothing: no step could be found",
}
"""What each rule goes by, in the order in which they are tried."""

_FUNCTION = re.compile(r"EagerExecute: __(inference|forward|backward)_|PjitFunction\(")
_DATA_THREAD = re.compile(r"tf_data_|tf_Compute|tf_XLA|tf_pjrt|tf_numa")
_CPU = "/host:CPU"


@dataclass(frozen=True)
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
    """int32[n]: the step's group in ``of_event``."""
    complete: Array
    """bool[n]: False where the capture's start or end cuts the step."""
    marker: Array
    """int64[n]: the event that marks the step, or -1."""
    of_event: Array
    """int32[events]: each event's group, or -1."""
    source: str
    """Key of `SOURCES`."""

    def __len__(self) -> int:
        return len(self.begin)

    def without_events(self) -> Steps:
        """The same, as small as the steps are few; ``of_event`` is empty."""
        return replace(self, of_event=np.empty(0, np.int32))


def find(trace: Trace, chosen: str = "") -> Steps:
    """The steps by the first rule of `SOURCES` that finds any, or the events of the name ``chosen``."""
    if chosen:
        rules: list[Callable[[Trace], Steps | None]] = [lambda trace: _chosen(trace, chosen)]
    elif any(plane.name.startswith("/device:TPU:") for plane in trace.planes):
        rules = [_marked, _numbered, _stored, _device, _functions]
    else:
        rules = [_marked, _numbered, _stored, _functions, _device]
    for rule in rules:
        steps = rule(trace)
        if steps is not None and len(steps):
            return steps
    none = np.empty(0, np.int64)
    nowhere = np.full(len(trace), -1, np.int32)
    return Steps(none, none, none, [], none.astype(np.int32), none.astype(bool), none, nowhere, "none")


def _chosen(trace: Trace, name: str) -> Steps | None:
    events = trace.named(name.__eq__)
    return _under(trace, _outermost(trace, events), "chosen") if len(events) else None


def _marked(trace: Trace) -> Steps | None:
    loops, iterations = grouping.loop_roots(trace)
    if len(loops):
        found = grouping.group_loops(trace, loops, iterations)
        return _steps(trace, found, np.arange(len(found.root)), "loops", extend=True)
    roots, levels = grouping.marked_roots(trace)
    if not len(roots):
        return None
    found = grouping.group(trace, roots, levels)
    explicit = [i for i, root in enumerate(found.root.tolist()) if trace.name(root) not in grouping.IMPLICIT_ROOTS]
    return _steps(trace, found, np.array(explicit, np.int64), "markers")


def _numbered(trace: Trace) -> Steps | None:
    events, _ = trace.stat("step_num")
    return _under(trace, _outermost(trace, np.unique(events)), "numbers") if len(events) else None


def _functions(trace: Trace) -> Steps | None:
    """Outermost calls of one function on one thread: the function whose work takes most time on the devices (on the
    host, where there is no device). Functions that tf.data runs for itself never count."""
    own = list(grouping.dataset_steps(trace))
    for wanted in (lambda name: bool(_FUNCTION.match(name)), "FunctionRun".__eq__):
        calls = trace.named(wanted)
        calls = calls[~np.isin(trace.spread("id", calls), own)]
        calls = _outermost(trace, calls[[not _on_data_thread(trace, event) for event in calls.tolist()]])
        if len(calls):
            lines = np.searchsorted(trace.lines, calls, side="right").tolist()
            kinds = [(line, trace.name(event)) for line, event in zip(lines, calls.tolist(), strict=True)]
            time = _device_time(trace, calls)
            time = time if time.any() else trace.end[calls] - trace.begin[calls]
            total: dict[tuple[int, str], int] = {}
            for kind, spent in zip(kinds, time.tolist(), strict=True):
                total[kind] = total.get(kind, 0) + spent
            best = max(total, key=lambda kind: total[kind])
            roots = calls[[kind == best for kind in kinds]]
            return _under(trace, roots, "functions", extend=best[1] == "FunctionRun")
    return None


def _device_time(trace: Trace, roots: Array) -> Array:
    """int64[n] ps: how long devices work for each root, summed over their streams."""
    found = grouping.group(trace, roots, np.ones(len(roots), np.int64))
    time = np.zeros(len(found.root) + 1, np.int64)
    for first, plane in trace.parts:
        if plane.name.startswith("/device:"):
            part = slice(first, first + len(plane.events))
            np.add.at(time, found.of_event[part], plane.events.duration)
    return np.array([time[group] if group >= 0 else 0 for group in found.of_event[roots].tolist()], np.int64)


def _stored(trace: Trace) -> Steps | None:
    """Groups that the profiler wrote into the capture (``group_id``) and of which some event names a step."""
    events, values = trace.stat("group_id")
    # The profiler's own numbers may be any, so that nothing is as large as the largest of them.
    distinct, values = np.unique(np.where((values >= 0) & (values < 2**31), values, -1), return_inverse=True)
    values = values - int(-1 in distinct)
    on_host = np.zeros(len(events), bool)
    wanted: set[int] = set()
    for first, plane in trace.parts:
        inside = (events >= first) & (events < first + len(plane.events))
        on_host |= inside & (plane.name == _CPU)
        marks = plane.stat("step_name").owner
        if plane.name.startswith("/device:") or plane.name == _CPU:
            wanted |= set(values[inside & np.isin(events, marks + first)].tolist())
    wanted.discard(-1)
    if not wanted or not on_host.any():
        return None
    of_event = np.full(len(trace), -1, np.int32)
    of_event[events] = values
    _spread_stored(trace, of_event)
    return _from_stored(trace, of_event, sorted(wanted))


def _spread_stored(trace: Trace, of_event: Array) -> None:
    """Groups for planes that hold none, over the links from those that do."""
    lacking = np.zeros(len(trace), bool)
    for first, plane in trace.parts:
        lacking[first : first + len(plane.events)] = not plane.has_stat("group_id")
    links = trace.links
    reach = lacking[links.target] & (of_event[links.source] >= 0)
    of_event[links.target[reach]] = of_event[links.source[reach]]


def _from_stored(trace: Trace, of_event: Array, wanted: list[int]) -> Steps:
    """Each group begins with its first event on the host, or with its first where the host has none."""
    elsewhere = np.ones(len(trace), bool)
    for first, plane in trace.parts:
        elsewhere[first : first + len(plane.events)] = plane.name != _CPU
    members = np.flatnonzero(np.isin(of_event, wanted))
    members = members[np.lexsort((trace.begin[members], elsewhere[members], of_event[members]))]
    groups, begins = np.unique(of_event[members], return_index=True)
    found = Groups(members[begins], of_event)
    return _steps(trace, found, np.arange(len(groups)), "stored", groups=groups)


def _device(trace: Trace) -> Steps | None:
    """Events of the first device's ``Steps`` line, else runs of its busiest XLA module."""
    for line_name in ("Steps", "XLA Modules"):
        for first, plane in trace.parts:
            if not plane.name.startswith("/device:") or line_name not in list(plane.lines.name):
                continue
            rows = np.arange(len(plane.events))[plane.lines.events(list(plane.lines.name).index(line_name))]
            if line_name == "XLA Modules" and len(rows):
                time = np.bincount(plane.events.name[rows], plane.events.duration[rows])
                rows = rows[plane.events.name[rows] == time.argmax()]
            if len(rows):
                return _under(trace, rows + first, "device")
    return None


def _on_data_thread(trace: Trace, event: int) -> bool:
    plane, row = trace.plane_of(event)
    return bool(_DATA_THREAD.match(plane.lines.name[plane.events.line[row]]))


def _outermost(trace: Trace, events: Array) -> Array:
    """Those of the events that lie in no other one of them on their line."""
    parent, _ = trace.nesting
    some = set(events.tolist())
    kept = []
    for event in events.tolist():
        above = int(parent[event])
        while above >= 0 and above not in some:
            above = int(parent[above])
        if above < 0:
            kept.append(event)
    return np.array(kept, np.int64)


def _under(trace: Trace, roots: Array, source: str, extend: bool = False) -> Steps:
    found = grouping.group(trace, roots, np.ones(len(roots), np.int64))
    return _steps(trace, found, np.arange(len(found.root)), source, extend)


def _steps(
    trace: Trace, found: Groups, chosen: Array, source: str, extend: bool = False, groups: Array | None = None
) -> Steps:
    """Steps from groups: a marker's span, on to the end of the device work that it led to, up to the next step.

    With ``extend`` the marker is only where the step begins, and all work of the group belongs to its span.
    """
    groups = chosen.astype(np.int32) if groups is None else groups
    roots = found.root[chosen]
    order = np.argsort(trace.begin[roots], kind="stable")
    roots, groups = roots[order], groups[order]
    begin, end = trace.begin[roots], trace.end[roots].copy()
    reach = _reach(trace, found.of_event, groups, everything=extend)
    longer = np.minimum(reach, np.append(begin[1:], np.iinfo(np.int64).max))
    end = np.maximum(end, longer)
    number, name = _labels(trace, roots, source)
    complete = _complete(trace, found.of_event, groups, begin, end, source)
    return Steps(begin, end, number, name, groups, complete, roots, found.of_event, source)


def _reach(trace: Trace, of_event: Array, groups: Array, everything: bool) -> Array:
    """int64[n]: where the groups' device work (or all their work) ends; very small where there is none."""
    size = max(int(groups.max(initial=0)), int(of_event.max(initial=0))) + 1
    reach = np.full(size, np.iinfo(np.int64).min, np.int64)
    for first, plane in trace.parts:
        if everything or plane.name.startswith("/device:"):
            part = slice(first, first + len(plane.events))
            mine = of_event[part] >= 0
            np.maximum.at(reach, of_event[part][mine], trace.end[part][mine])
    return reach[groups]


def _labels(trace: Trace, roots: Array, source: str) -> tuple[Array, list[str]]:
    """Numbers and names: the program's own (``iter_num``, ``step_num``, ``graph_type``), else counted from 0."""
    count = np.arange(len(roots))
    if source in ("functions", "stored", "device"):
        return count, [str(i) for i in count.tolist()]
    iterations, numbers = trace.spread("iter_num", roots), trace.spread("step_num", roots)
    number = np.where(iterations != MISSING, iterations, np.where(numbers != MISSING, numbers, count))
    graph = _graph_types(trace, roots)
    names = []
    for root, value in zip(roots.tolist(), number.tolist(), strict=True):
        word = graph.get(root) or ("" if source == "loops" else trace.name(root))
        names.append(f"{word} {value}".strip())
    return number, names


def _graph_types(trace: Trace, roots: Array) -> dict[int, str]:
    wanted = set(roots.tolist())
    found: dict[int, str] = {}
    for first, plane in trace.parts:
        column = plane.stat("graph_type")
        found |= {o: t for o, t in zip((column.owner + first).tolist(), column.strings, strict=True) if o in wanted}
    return found


def _complete(trace: Trace, of_event: Array, groups: Array, begin: Array, end: Array, source: str) -> Array:
    """False for a step at the capture's edge that holds less than half the events of the typical step.

    Markers of the host are written only when they end, so those are complete by nature.
    """
    complete = np.ones(len(begin), bool)
    if source not in ("device", "stored", "functions", "loops") or len(begin) < 3:
        return complete
    sizes = np.bincount(of_event[of_event >= 0], minlength=int(groups.max()) + 1)[groups]
    for edge in (0, len(begin) - 1):
        complete[edge] = sizes[edge] * 2 >= np.median(sizes)
    return complete
