"""Which events belong together: everything that a root event encloses or leads to, over threads and devices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import I8, I32, I64, U8, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .event_table import MISSING
from .executor_runs import executor_ids, executor_runs
from .joins import is_among
from .trace import Trace

IMPLICIT_ROOTS = {"FunctionRun", "KernelAndDeviceFunc::RunAsync", "SessionRun", "RunGraph", vocabulary.EXECUTOR_RUN}
"""Roots that the framework sets by itself; they carry no name or number of a step."""

_LEVEL_OF_NAME = {"ProcessBatch": 2, "OrbaxServing::ProcessBatch": 2, "BatchingSessionRun": 1, "TraceContext": 1}
"""Root levels of events that are roots whatever their stats say."""
_MOST_ANCESTORS = 256
"""Ancestors of a root that are searched: where there are more a trace is tangled, not nested."""
_QUEUED = -2
"""Stands for the group of an event that is still to be looked at."""


class Groups(NamedTuple):
    """Disjoint groups of events, each under its root."""

    root: Array
    """int64[groups]: event."""
    group_of: Array
    """int32[events]: group, or -1."""


def marked_roots(trace: Trace) -> tuple[Array, Array]:
    """(events, levels): roots by their ``_r`` stat or their name, without those of tf.data's own functions."""
    events, levels = trace.stat(vocabulary.ROOT)
    # Of several levels of an event the last one counts: names come last and outweigh stats. TraceContext counts only
    # where the event has no stat.
    name_of = {event: trace.name(event) for event in trace.events_named(_LEVEL_OF_NAME.__contains__).tolist()}
    contexts = np.array([event for event, name in name_of.items() if name == "TraceContext"], np.int64)
    by_name = [(event, _LEVEL_OF_NAME[name]) for event, name in name_of.items() if name != "TraceContext"]
    named_roots, named_levels = np.array(by_name, np.int64).reshape(-1, 2).T
    unmarked_contexts = contexts[~is_among(contexts, events)]
    roots = np.concatenate((events, unmarked_contexts, named_roots))
    levels = np.concatenate((levels, np.ones(len(unmarked_contexts), np.int64), named_levels))
    order = np.argsort(roots, kind="stable")
    roots, levels = roots[order], levels[order]
    is_last = np.append(roots[1:] != roots[:-1], True)[: len(roots)] & (levels > 0)
    roots, levels = roots[is_last], levels[is_last]
    is_program_root = ~is_among(trace.numbers(vocabulary.ID, roots), trace.once(dataset_steps))
    return roots[is_program_root], levels[is_program_root]


def loop_roots(trace: Trace) -> tuple[Array, Array]:
    """(roots, groups): executions of a TensorFlow 1 training loop, each with the iteration that it belongs to.

    An executor that is run with several ``iter_num`` under one ``id`` is a loop; its iterations take the place of
    all marked roots.
    """
    executions = trace.once(executor_runs)
    iterations = trace.numbers(vocabulary.ITER_NUM, executions)
    if not (iterations > 0).any():
        return executions[:0], executions[:0]
    ids = trace.once(executor_ids)
    has_both = (ids != MISSING) & (iterations != MISSING) & ~is_among(ids, trace.once(dataset_steps))
    executions, ids, iterations = executions[has_both], ids[has_both], iterations[has_both]
    has_iterations = is_among(ids, ids[iterations > 0])
    executions, ids, iterations = executions[has_iterations], ids[has_iterations], iterations[has_iterations]
    if not len(executions):
        return executions, executions
    order = np.lexsort((trace.begin[executions], iterations, ids))
    executions, ids, iterations = executions[order], ids[order], iterations[order]
    is_new = np.append(True, (np.diff(ids) != 0) | (np.diff(iterations) != 0))
    by_start = np.argsort(trace.begin[executions[is_new]], kind="stable")
    rank = np.empty(len(by_start), np.int64)
    rank[by_start] = np.arange(len(by_start))
    return executions, rank[np.cumsum(is_new) - 1]


def dataset_steps(trace: Trace) -> Array:
    """int64[k]: step ids of the functions that tf.data runs for itself: those are never training steps."""
    captured = trace.events_named(lambda name: name.startswith("InstantiatedCapturedFunction::"))
    ids = trace.numbers(vocabulary.ID, captured)
    return ids[ids != MISSING]


def group(trace: Trace, roots: Array, levels: Array) -> Groups:
    """Groups under the given roots: higher levels first, then by time; a root inside another's group gets none.

    A root below an ancestor of its own level belongs to that ancestor.
    """
    order = np.lexsort((trace.begin[roots], -levels))
    roots, levels = roots[order], levels[order].astype(np.int32)
    level = np.zeros(len(trace), np.int8)
    level[roots] = np.clip(levels, 0, 100)
    with ThreadPoolExecutor(1) as helper:
        nested = helper.submit(lambda: trace.nesting)
        links = trace.links
    parent, last = nested.result()
    group_of = np.full(len(trace), -1, np.int32)
    group_roots = np.full(len(roots), -1, np.int64)
    nest = _Nest(last, trace.is_async, trace.is_xla_cpu_op)
    link_columns = _Links(links.source, links.target, links.onward)
    _fill_groups(roots, _EventLevels(level, parent), nest, link_columns, group_of, group_roots)
    return Groups(group_roots[group_roots >= 0], group_of)


def group_several_roots(trace: Trace, roots: Array, groups: Array) -> Groups:
    """Groups of which each has one or more of the roots, as the iterations of a loop (see `loop_roots`) have."""
    last = trace.nesting.stop
    group_of = np.full(len(trace), -1, np.int32)
    order = np.lexsort((trace.begin[roots], groups))
    roots, groups = roots[order], groups[order]
    links = _Links(trace.links.source, trace.links.target, trace.links.onward)
    nest = _Nest(last, trace.is_async, trace.is_xla_cpu_op)
    pending_links = np.empty(len(links.source), np.int32)
    for root, index in zip(roots.tolist(), groups.tolist(), strict=True):
        _fill_group(root, index, nest, links, group_of, pending_links)
    return Groups(roots[np.append(True, np.diff(groups) != 0)], group_of)


def split_at_pauses(trace: Trace, groups: Groups) -> Groups:
    """The groups, but those in which devices work one after another, with a pause between them that is longer than
    their work, become one for each: numbers are shared by replicas that do not run together.
    """
    group_of, root = groups.group_of.copy(), groups.root.tolist()
    for first_group, spans in _device_spans(trace, groups).items():
        group = first_group
        for end in _pauses(sorted(spans)):
            later = np.flatnonzero((group_of == group) & (trace.begin > end))
            group = len(root)
            group_of[later] = group
            # On the host, which comes before the devices where both begin at once.
            root.append(int(later[np.lexsort((trace.on_device[later], trace.begin[later]))[0]]))
    return Groups(np.array(root, np.int64), group_of)


def _device_spans(trace: Trace, groups: Groups) -> dict[int, list[tuple[int, int]]]:
    """(begin, end) ps of each device's work, by group, for groups that work on several devices."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for first, plane in trace.parts:
        if plane.name.startswith(vocabulary.DEVICE) and len(plane.events):
            part = slice(first, first + len(plane.events))
            in_group = groups.group_of[part] >= 0
            begin, end = np.full(len(groups.root), np.iinfo(np.int64).max), np.full(len(groups.root), -1)
            np.minimum.at(begin, groups.group_of[part][in_group], trace.begin[part][in_group])
            np.maximum.at(end, groups.group_of[part][in_group], trace.end[part][in_group])
            for group in np.flatnonzero(end >= 0).tolist():
                spans.setdefault(group, []).append((int(begin[group]), int(end[group])))
    return {group: spans_of_group for group, spans_of_group in spans.items() if len(spans_of_group) > 1}


def _pauses(spans: list[tuple[int, int]]) -> list[int]:
    """ps: ends of the spans that are followed by a pause longer than the work before it and the span after it."""
    ends = []
    worked_ps, last_end = 0, spans[0][1] if spans else 0
    for begin, end in spans:
        if begin - last_end > worked_ps + end - begin and worked_ps:
            ends.append(last_end)
            worked_ps = 0
        worked_ps += end - begin
        last_end = max(last_end, end)
    return ends


class _EventLevels(NamedTuple):
    """Columns by event."""

    level: I8
    """int8[n]: level of a root; 0 for others."""
    parent: I32
    """The event that encloses it, -1 for none."""


class _Nest(NamedTuple):
    """Columns by event, as `Trace` has them."""

    last: I32
    """The first event after those that it encloses."""
    is_async: Bool
    is_xla_cpu_op: Bool


class _Links(NamedTuple):
    """Columns by link, in the order of their sources."""

    source: I32
    target: I32
    onward: I32
    """The first link that leaves the target or a later event."""


class _Incoming(NamedTuple):
    """Links by their targets."""

    first: I32
    """By event: the first link to it, or -1."""
    following: I32
    """By link: the next one to the same event, or -1."""


@jit
def _fill_groups(roots: I64, levels: _EventLevels, nest: _Nest, links: _Links, group_of: I32, group_roots: I64) -> None:
    """Fill ``group_of``, the group of each event, and ``group_roots``, the root of each group."""
    count = 0
    target = links.target
    first, following = np.full(len(group_of), -1, np.int32), np.empty(len(target), np.int32)
    for link in range(len(target) - 1, -1, -1):
        following[link] = first[target[link]]
        first[target[link]] = link
    incoming = _Incoming(first, following)
    is_visited = np.zeros(len(group_of), np.uint8)
    ancestors = np.empty(_MOST_ANCESTORS, np.int64)
    pending_links = np.empty(len(target), np.int32)
    for root in roots:
        if group_of[root] >= 0 or _has_ancestor_of_level(root, levels, links.source, incoming, is_visited, ancestors):
            continue
        _fill_group(root, count, nest, links, group_of, pending_links)
        group_roots[count] = root
        count += 1


@jit
def _has_ancestor_of_level(
    root: Int, levels: _EventLevels, source: I32, incoming: _Incoming, is_visited: U8, ancestors: I64
) -> bool:
    """Whether one of the events that enclose the root or led to it, however indirectly, is a root of the same level.

    ``ancestors`` (int64[`_MOST_ANCESTORS`]) is room for the search.
    """
    has_same_level, level = False, levels.level
    count, at = 1, 0
    ancestors[0] = root
    is_visited[root] = 1
    while at < count and not has_same_level:
        event = ancestors[at]
        at += 1
        if event != root and level[event] == level[root]:
            has_same_level = True
        parent = levels.parent[event]
        if parent >= 0 and not is_visited[parent] and count < len(ancestors):
            is_visited[parent] = 1
            ancestors[count] = parent
            count += 1
        link = incoming.first[event]
        while link >= 0:
            if not is_visited[source[link]] and count < len(ancestors):
                is_visited[source[link]] = 1
                ancestors[count] = source[link]
                count += 1
            link = incoming.following[link]
    for i in range(count):
        is_visited[ancestors[i]] = 0
    return has_same_level


@jit
def _fill_group(root: Int, index: Int, nest: _Nest, links: _Links, group_of: I32, pending_links: I32) -> None:
    """Give the group to everything ungrouped below the root, on its line and behind its links.

    ``pending_links`` has room for all links: what waits in it is marked, so that nothing waits there twice.
    """
    last, is_async, is_xla_cpu_op = nest
    source, target, onward = links
    count = 0
    top, row = np.int64(root), np.int64(np.searchsorted(source, root))
    while True:
        if group_of[top] < 0:
            stop = last[top]
            i = top
            while i < stop:
                if is_async[i] and i != top:
                    i += 1
                elif group_of[i] >= 0 or (is_xla_cpu_op[i] and i != top):
                    i = np.int64(last[i])
                else:
                    group_of[i] = index
                    i += 1
            while row < len(source) and source[row] < stop:
                if group_of[source[row]] == index and group_of[target[row]] == -1:
                    group_of[target[row]] = _QUEUED
                    pending_links[count] = row
                    count += 1
                row += 1
        if count == 0:
            break
        count -= 1
        top, row = np.int64(target[pending_links[count]]), np.int64(onward[pending_links[count]])
