"""Which event led to which one on another line: by the ids that a profiler wrote, and where it wrote none, by time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...runtime.arrays import I32, I64, Array, Bool, Int, distinct, median
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.records import record
from . import tpu_runs
from .event_table import MISSING, EventTable
from .executor_runs import executor_ids, executor_runs
from .joins import is_among, is_ascending, join, pair_codes
from .xla_cpu_runs import dispatch_pairs

LAUNCH = 9
"""Kind of a link from a host's launch to the kernel or copy that it started (a context type of TensorFlow)."""
EXECUTOR = 2
"""Kind of a link from a function's call to its execution (likewise); files before TensorFlow 2.9 write 1."""
LIBRARY = 14
"""Kind of a link from a call of an accelerator's library to what that does on the same thread (likewise)."""
CALL = 100
"""Kind of a link from an event on a thread to a driver's call that was recorded on a line of its own."""
RUN = 101
"""Kind of a link from the dispatch of an XLA program on the CPU to the ops of that run, wherever they run."""

GRADIENT = 102
"""Kind of a link from an op to the one that computes its gradient: no cause of it, so it is only drawn."""

_OLD_EXECUTOR = 1
_CROWD_SIZE = 64
"""A context with so many producers and so many consumers says nothing about who waits for whom."""
_DRIVER_SHARE = 0.5
"""A line holds nothing but driver's calls if more than this share of its events are some: other threads make calls,
too."""
_SAMPLE_CALLS = 256
"""The most calls of a line that are compared with threads, to find out which one made them."""

_Edges = tuple[Array, Array, Array]
"""Columns of `Links`: int32[k] source, target and kind, in any order."""


@record
class Links:
    """Directed edges between events on different lines, sorted by source."""

    source: Array
    """int32[k]: event."""
    target: Array
    """int32[k]: event."""
    kind: Array
    """int32[k]: context type of TensorFlow, among them `LAUNCH` and `EXECUTOR`, or `CALL`, `RUN` or `GRADIENT`."""

    @lazy
    def onward(self) -> Array:
        """int32[k]: for each edge the first one that leaves its target or a later event."""
        return _onward(self.source, self.target)

    @lazy
    def target_order(self) -> Array:
        """int64[k]: the edges in the order of their targets."""
        return np.argsort(self.target, kind="stable")

    @lazy
    def by_target(self) -> tuple[Array, Array]:
        """(targets ascending, their sources)."""
        order = self.target_order
        return self.target[order], self.source[order]


@jit
def _onward(source: I32, target: I32) -> I32:
    """`Links.onward`: a search for each would take longer than a table of all events."""
    last = np.int64(-1)
    for event in target:
        last = max(last, np.int64(event))
    first = np.empty(last + 1, np.int32)
    k = 0
    for event in range(len(first)):
        while k < len(source) and source[k] < event:
            k += 1
        first[event] = k
    answer = np.empty(len(target), np.int32)
    for i in range(len(target)):
        answer[i] = first[target[i]]
    return answer


def find_links(trace: EventTable) -> Links:
    """Launch → kernel, function → executor, executor → iterator, producer → consumer, thread → driver's call,
    dispatch → XLA op.
    """
    launches = _launch_edges(trace)
    contexts = _context_edges(trace)
    producers, consumers, context_kinds = contexts
    cpu_runs = _edges(*dispatch_pairs(trace, producers, consumers), RUN)
    parts = [launches, _executor_edges(trace), contexts, _driver_call_edges(trace, launches[0]), cpu_runs]
    if not (context_kinds == tpu_runs.ENQUEUED).any():
        parts += _enqueued_run_edges(trace)
    nonempty = [part for part in parts if len(part[0])] or [launches]
    if len(nonempty) == 1:
        source, target, kind = nonempty[0]
    else:
        source, target, kind = (np.concatenate(column) for column in zip(*nonempty, strict=True))
    if not is_ascending(source):
        order = np.argsort(source, kind="stable")
        source, target, kind = source[order], target[order], kind[order]
    return Links(source, target, kind)


def _edges(source: Array, target: Array, kind: int) -> _Edges:
    """Edges that are all of one kind."""
    return source.astype(np.int32), target.astype(np.int32), np.full(len(source), kind, np.int32)


def _launch_edges(trace: EventTable) -> _Edges:
    """From calls of a driver to what they launched, by their correlation ids."""
    events, values = trace.stat(vocabulary.CORRELATION_ID)
    on_host = np.zeros(len(events), bool)
    for first, plane in trace.parts:
        if plane.name == vocabulary.HOST_CPU:
            on_host |= (events >= first) & (events < first + len(plane.events))
    valid = values > 0
    launch, run = events[on_host & valid], events[~on_host & valid]
    source, target = join(values[on_host & valid], values[~on_host & valid], last_only=True)
    return _edges(launch[source], run[target], LAUNCH)


def _enqueued_run_edges(trace: EventTable) -> Iterator[_Edges]:
    """Runs of TPUs' programs with the calls that enqueued them, where the profiler has not linked them itself."""
    host = next((plane for plane in trace.planes if plane.name == vocabulary.HOST_CPU), None)
    for first, plane in trace.parts:
        if host and plane.name.startswith(vocabulary.TPU):
            calls, runs = tpu_runs.enqueue_pairs(host, plane)
            yield _edges(calls + trace.slice_of(host).start, runs + first, tpu_runs.ENQUEUED)


def _executor_edges(trace: EventTable) -> _Edges:
    """From runs of TensorFlow's executor to the waits for batches in them, by id and iteration."""
    executions = trace.once(executor_runs)
    iterators = {"IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"}
    waiting = trace.events_named(iterators.__contains__)
    waiting = waiting[trace.numbers(vocabulary.ID, waiting) != MISSING]
    if not len(executions) or not len(waiting):
        return _edges(executions[:0], waiting[:0], EXECUTOR)
    ids, waiting_ids = trace.once(executor_ids), trace.numbers(vocabulary.ID, waiting)
    has_wait = is_among(ids, waiting_ids)
    executions, ids = executions[has_wait], ids[has_wait]
    iterations, waiting_iterations = (trace.numbers(vocabulary.ITER_NUM, events) for events in (executions, waiting))
    source, target = join(*pair_codes((ids, iterations), (waiting_ids, waiting_iterations)), last_only=True)
    return _edges(executions[source], waiting[target], EXECUTOR)


def _context_edges(trace: EventTable) -> _Edges:
    """From producers to consumers of a context, by the stats that TensorFlow's profiler writes."""
    producers, producer_ids, producer_kinds = trace.stat_pairs(vocabulary.PRODUCER_ID, vocabulary.PRODUCER_TYPE)
    consumers, consumer_ids, consumer_kinds = trace.stat_pairs(vocabulary.CONSUMER_ID, vocabulary.CONSUMER_TYPE)
    source, target = join(producer_ids, consumer_ids, crowd=_CROWD_SIZE)
    del producer_ids, consumer_ids
    source, target, kind = _keep_equal_kinds(source, target, producers, producer_kinds, consumers, consumer_kinds)
    is_latest = _is_latest(source, target, (kind == _OLD_EXECUTOR) | (kind == EXECUTOR), trace.begin)
    return (source, target, kind) if is_latest.all() else (source[is_latest], target[is_latest], kind[is_latest])


@jit
def _keep_equal_kinds(
    source: I32, target: I32, producers: I32, producer_kinds: I64, consumers: I32, consumer_kinds: I64
) -> tuple[I32, I32, I32]:
    """(sources, targets, kinds): the events of the pairs whose contexts are of one kind; overwrites the pairs."""
    kinds = np.empty(len(source), np.int32)
    count = 0
    for i in range(len(source)):
        kind = producer_kinds[source[i]]
        if kind == consumer_kinds[target[i]]:
            source[count], target[count], kinds[count] = producers[source[i]], consumers[target[i]], kind
            count += 1
    return source[:count], target[:count], kinds[:count]


@jit
def _is_latest(source: I32, target: I32, is_execution: Bool, begin: I64) -> Bool:
    """bool[k]: False for links to executions to which a later source, begun before them, has a link, too.

    A function's id may be used by several calls; an execution belongs to the last call before it.
    """
    best = np.full(len(begin) if is_execution.any() else 0, -1, np.int32)
    for i in range(len(source)):
        if is_execution[i] and begin[source[i]] <= begin[target[i]]:
            previous = best[target[i]]
            if previous < 0 or begin[source[i]] > begin[source[previous]]:
                best[target[i]] = i
    is_latest = np.ones(len(source), np.bool_)
    for i in range(len(source)):
        if is_execution[i] and best[target[i]] >= 0:
            is_latest[i] = best[target[i]] == i
    return is_latest


def _driver_call_edges(trace: EventTable, launches: Array) -> _Edges:
    """Driver's calls on lines that hold nothing else, each with the innermost event of its thread at that time.

    That is the line of the same id, else the one whose events enclose most of the calls, most closely.
    """
    parent = trace.nesting.parent
    outer_calls = distinct(launches[parent[launches] < 0]).astype(np.int64)
    none = np.empty(0, np.int64)
    if not len(outer_calls):
        return _edges(none, none, CALL)
    plane, _ = trace.plane_of(int(outer_calls[0]))
    bounds = plane.lines.first_event + trace.slice_of(plane).start
    line_of = np.searchsorted(bounds, outer_calls, side="right") - 1
    driver_lines, threads = _driver_lines_and_threads(plane, distinct(line_of).tolist())
    pairs: list[tuple[Array, Array]] = []
    for line in driver_lines:
        calls = outer_calls[line_of == line]
        of_same_id = [thread for thread in threads if plane.lines.id[thread] == plane.lines.id[line]]
        thread = _calling_thread(trace, bounds, calls, of_same_id or threads)
        if thread is not None:
            caller = _enclosing_events(calls, bounds[thread], bounds[thread + 1], trace.begin, trace.end, parent)
            pairs.append((caller[caller >= 0], calls[caller >= 0]))
    sources, targets = zip((none, none), *pairs, strict=True)
    return _edges(np.concatenate(sources), np.concatenate(targets), CALL)


def _driver_lines_and_threads(plane: Plane, lines: list[int]) -> tuple[list[int], list[int]]:
    """Which of the lines hold nothing but driver's calls; all others of the plane that have events."""
    event_counts = np.diff(plane.lines.first_event)
    calls = plane.stat(vocabulary.CORRELATION_ID).owner
    share = np.bincount(plane.events.line[calls], minlength=len(plane.lines)) / event_counts.clip(1)
    driver_lines = [line for line in lines if share[line] > _DRIVER_SHARE]
    return driver_lines, [line for line in np.flatnonzero(event_counts).tolist() if line not in driver_lines]


def _calling_thread(trace: EventTable, bounds: Array, calls: Array, threads: list[int]) -> int | None:
    """The thread that holds at least half of the calls: most of them, then in the shortest events."""
    parent = trace.nesting.parent
    sample = calls[np.linspace(0, len(calls) - 1, min(len(calls), _SAMPLE_CALLS)).astype(np.int64)]
    best, best_rank = None, (len(sample) / 2, -np.inf)
    for thread in threads:
        caller = _enclosing_events(sample, bounds[thread], bounds[thread + 1], trace.begin, trace.end, parent)
        callers = caller[caller >= 0]
        typical_ps = median(trace.end[callers] - trace.begin[callers]) if len(callers) else np.inf
        if len(callers) and (len(callers), -typical_ps) > best_rank:
            best, best_rank = thread, (len(callers), -typical_ps)
    return best


@jit
def _enclosing_events(calls: I64, low: Int, high: Int, begin: I64, end: I64, parent: I32) -> I64:
    """int64[k]: the innermost event among ``low:high`` (one line) in which each call begins, or -1."""
    answer = np.full(len(calls), -1, np.int64)
    for i in range(len(calls)):
        at = begin[calls[i]]
        # The last event that begins at that time or before it.
        event, after = low - 1, high
        while event + 1 < after:
            middle = (event + 1 + after) // 2
            if begin[middle] <= at:
                event = middle
            else:
                after = middle
        event = -1 if event < low else event
        while event >= 0 and end[event] < at:
            event = parent[event]
        answer[i] = event
    return answer
