"""tf.data's iterators as tables: each call, who made it (across threads too), and for which pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from ..formats.columns import Plane, vocabulary
from ..runtime.arrays import I32, Array, Bool, Int, distinct
from ..runtime.jit import jit
from ..runtime.memo import lazy
from ..runtime.records import NamedTuple, record
from ..runtime.regex import regex
from .events.event_table import MISSING
from .events.executor_runs import executor_ps
from .events.joins import is_among, join, pair_codes
from .host import Host
from .iterator_table import Iterators, unite_remade
from .per_host import per_host

ASYNCHRONOUS = frozenset(
    "Prefetch ParallelInterleave LegacyParallelInterleave ParallelMap ParallelFilter ParallelBatch MapAndBatch "
    "ParseExample DataService".split()
)
"""Kinds that work ahead on threads of their own."""

MAKERS = frozenset(
    "FlatMap Interleave ParallelInterleave LegacyParallelInterleave GroupByWindow GroupByReducer Repeat ForeverRepeat "
    "FiniteRepeat ShuffleAndRepeat Shuffle Window".split()
)
"""Kinds that make an iterator per element or epoch: what they number is one place of the program, not many."""

WRAPPERS = frozenset("Root Model MaxIntraOpParallelism PrivateThreadPool Options".split())
"""Kinds that tf.data puts around a program's own transformations."""

REPEATS = frozenset("Repeat ForeverRepeat FiniteRepeat ShuffleAndRepeat".split())
SHUFFLES = frozenset("Shuffle ShuffleAndRepeat".split())
CACHES = frozenset("MemoryCache MemoryCacheImpl Cache FileCache FileCacheImpl".split())

TRANSPARENT = (
    WRAPPERS
    | (REPEATS - SHUFFLES)
    | frozenset("Take FiniteTake Skip FiniteSkip AssertCardinality AssertNext AssertPrev".split())
)
"""Kinds that hand on the elements they are given, as they are and at once."""

_PRODUCERS = "Prefetch|ParallelInterleave|ParallelMap|MapAndBatch|ParseExample|ParallelBatch"
_PRODUCE = regex(rf"(?:{_PRODUCERS})Produce$")
_CONSUME = regex(rf"(?:{_PRODUCERS})Consume$")
_DEVICE = regex(r"Iterator::(?:(?:Root|Model|MaxIntraOpParallelism|Options)::)*(?:Prefetch::)?Generator$")
_INDEX_SUFFIX = regex(r"\[\d+\]$")
_VERSION_SUFFIX = regex(r"V\d+$")


def kind_of(component: str) -> str:
    """A component of a long name without index and version: ``ParallelMapV2[0]`` → ``ParallelMap``."""
    return _VERSION_SUFFIX.sub("", _INDEX_SUFFIX.sub("", component))


def last_component(long_name: str) -> str:
    """The name of the stage itself, without those around it: ``Iterator::Root::Prefetch`` → ``Prefetch``."""
    return long_name.rsplit("::", 1)[-1]


def stage_path(long_name: str) -> str:
    """The long name with numbers that a program does not know of (an interleave's elements, epochs) as ``[]``."""
    parts = long_name.split("::")
    return "::".join(_INDEX_SUFFIX.sub("[]", part) if kind_of(part) in MAKERS else part for part in parts)


class Functions(NamedTuple):
    """The k calls of functions that a program gave to its transformations."""

    call: Array
    """int64[k]: the iterator's call that it ran for."""
    python: Array
    """bool[k]: it ran Python code (``py_function``, ``numpy_function``, a generator)."""
    run_ps: Array
    """int64[k]: time of the executor's threads that ran it; 0 where that is not recorded."""


@record
class IteratorCalls:
    """The n calls of iterators on a host's threads, thread after thread, outer before inner.

    What stands at index i of each column is about call i.
    """

    plane: Plane
    row: Array
    """int64[n]: events in the plane."""
    begin: Array
    """int64[n], ps."""
    end: Array
    """int64[n], ps."""
    iterator: Array
    """int32[n]: row in ``iterators``."""
    parent: Array
    """int32[n]: the call that this one works for, or -1."""
    linked: Array
    """bool[n]: the parent runs on another thread; it consumed what this call produced, or this call is ``adopted``."""
    adopted: Array
    """bool[n]: told from time alone: the parent waited for something that began before the capture."""
    top: Array
    """int32[n]: the outermost call that this one works for, itself where there is none."""
    depth: Array
    """int32[n]: 0 without parent."""
    is_root: Array
    """bool[n]: a whole pipeline was asked for an element."""
    ready: Array
    """int64[n], ps: when an asynchronous iterator had its element in hand; `MISSING` where that is not recorded."""
    iterators: Iterators
    functions: Functions
    damage: Mapping[str, int]
    """What did not fit together, and how often: ``cycle``, ``no_parent``, ``reused_id``, ``no_pipeline``."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def name(self) -> Array:
        """int32[n]: rows in the plane's event metadata."""
        return self.plane.events.name[self.row]

    @lazy
    def device_pipelines(self) -> frozenset[int]:
        """Iterators (rows) at the top of pipelines that fetch for a device what a pipeline of the host makes."""
        generates = np.array([bool(_DEVICE.match(name)) for name in self.plane.names], bool)
        tops = self.iterators.pipeline[generates[self.iterators.name]]
        return frozenset(tops[tops >= 0].tolist())


@per_host
def calls(host: Host) -> IteratorCalls | None:
    """The iterators' calls on the host's threads; None without any that can be told apart."""
    plane = host.cpu
    if plane is None:
        return None
    row = plane.rows_named(lambda name: name.startswith("Iterator::") or name == "Iterator")
    ids = plane.numbers(vocabulary.ID, row, MISSING)
    row, ids = row[ids != MISSING], ids[ids != MISSING]
    if not len(row):
        return None
    trace, first = host.trace, host.trace.slice_of(plane).start
    begin, end = trace.begin[row + first], trace.end[row + first]
    name = plane.events.name[row]
    is_root = np.array([text.count("::") == 1 for text in plane.names], bool)[name]
    parent_ids = plane.numbers(vocabulary.PARENT_ID, row, 0)
    iterator, iterators, damage = _iterators(plane, name, ids, parent_ids, is_root)
    ties = _ThreadTies(host, plane, row, parent_ids, ids)
    parent = np.where(is_root, -1, ties.parent).astype(np.int32)
    adopted = adopt_orphans(parent, is_root, iterator, iterators, begin, end, ties.ready)
    linked = (parent >= 0) & (ties.linked | adopted)
    top, depth, cycles = tops_and_depths(parent)
    damage["cycle"] += cycles
    return IteratorCalls(
        plane=plane,
        row=row,
        begin=begin,
        end=end,
        iterator=iterator,
        parent=parent,
        linked=linked,
        adopted=adopted,
        top=top,
        depth=depth,
        is_root=is_root,
        ready=ties.ready,
        iterators=iterators,
        functions=ties.functions(),
        damage={problem: count for problem, count in damage.items() if count},
    )


def adopt_orphans(
    parent: Array, is_root: Array, iterator: Array, iterators: Iterators, begin: Array, end: Array, ready: Array
) -> Array:
    """bool[n]: calls whose own caller is not in the capture, given to one further up that waited meanwhile.

    Fills ``parent``. Only waits whose element's making is not in the capture take part.
    """
    served = np.zeros(len(parent), bool)
    served[parent[parent >= 0]] = True
    waiting = np.flatnonzero((ready != MISSING) & ~served)
    waiting = waiting[np.lexsort((begin[waiting], iterator[waiting]))]
    orphans = np.flatnonzero((parent < 0) & ~is_root)
    answer = np.zeros(len(parent), bool)
    above = iterators.parent[iterator[orphans]]
    while len(waiting) and len(orphans):
        orphans, above = orphans[above >= 0], above[above >= 0]
        low = np.searchsorted(iterator[waiting], above, "left")
        at = _last_before(iterator[waiting], begin[waiting], above, end[orphans])
        hit = (at >= low) & (ready[waiting[at]] > begin[orphans])
        parent[orphans[hit]] = waiting[at[hit]]
        answer[orphans[hit]] = True
        orphans, above = orphans[~hit], iterators.parent[above[~hit]]
    return answer


def _last_before(groups: Array, times: Array, group: Array, time: Array) -> Array:
    """int64[k]: of entries sorted by (group, time) the last one with the group and before the time, if there is one."""
    order = np.lexsort((np.concatenate((times, time)), np.concatenate((groups, group))))
    passed = np.cumsum(order < len(groups))
    answer = np.empty(len(group), np.int64)
    is_query = order >= len(groups)
    answer[order[is_query] - len(groups)] = passed[is_query] - 1
    return answer


def _iterators(
    plane: Plane, name: Array, ids: Array, parent_ids: Array, is_root: Array
) -> tuple[Array, Iterators, dict[str, int]]:
    """(iterator of each call, the iterators, what is wrong with them)."""
    unique_ids, first, iterator = np.unique(ids, return_index=True, return_inverse=True)
    iterator = iterator.reshape(-1).astype(np.int32)
    top_name = is_root[first]
    above = parent_ids[first]
    row = np.searchsorted(unique_ids, above).clip(max=len(unique_ids) - 1)
    parent = np.where((unique_ids[row] == above) & (above != 0) & ~top_name, row, -1).astype(np.int32)
    orphans = np.flatnonzero((parent < 0) & ~top_name)
    parent[orphans] = _parents_by_name(plane, name[first], orphans)
    top, _, cycles = tops_and_depths(parent)
    pipeline = np.where(top_name[top], top, -1).astype(np.int32)
    name_codes = _name_codes(plane)
    code = name_codes[name[first]]
    # Roots ask nobody; of an id that is used twice only what has the first one's name is made anew.
    asking_id = np.where(~is_root & (name_codes[name] == code[iterator]), parent_ids, 0)
    table = Iterators(unique_ids, above, parent, name[first], first, pipeline)
    unite_remade(table, code, iterator, asking_id)
    reused = len(distinct(iterator[name_codes[name] != code[iterator]]))
    damage = {"cycle": cycles, "no_parent": len(orphans), "reused_id": reused, "no_pipeline": int((pipeline < 0).sum())}
    return iterator, table, damage


def _parents_by_name(plane: Plane, names: Array, orphans: Array) -> Array:
    """int32[k]: the iterator whose long name is the nearest beginning of a lost one's; -1 for none or several."""
    texts = plane.names
    rows, first, counts = np.unique(names, return_index=True, return_counts=True)
    owner = {texts[row]: (int(at), int(n)) for row, at, n in zip(rows.tolist(), first, counts, strict=True)}
    lengths = set(map(len, owner))
    answers = dict.fromkeys(distinct(names[orphans]).tolist(), -1)
    for row in answers:
        parts = texts[row].split("::")
        begins = [0, *accumulate(len(part) + 2 for part in parts)]
        for begin, part in zip(begins[-3:0:-1], parts[-2:0:-1], strict=True):
            last = _INDEX_SUFFIX.sub("", part)
            # Names may have very many parts: one is made only where it can be an iterator's.
            if begin + len(last) in lengths and (match := owner.get(texts[row][:begin] + last)):
                answers[row] = match[0] if match[1] == 1 else -1
                break
    return np.array([answers[row] for row in names[orphans].tolist()], np.int32)


def _name_codes(plane: Plane) -> Array:
    """int32[metadata rows]: equal for long names of the same place in a program."""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(stage_path(name), len(codes)) for name in plane.names], np.int32)


class _ThreadTies:
    """Which call encloses what on each thread, and which elements go from thread to thread."""

    def __init__(self, host: Host, plane: Plane, row: Array, parent_ids: Array, ids: Array):
        self._trace, self._plane, self._row = host.trace, plane, row
        self._ids, self._parent_ids = ids, parent_ids
        rows = host.trace.slice_of(plane)
        begin, end = host.trace.begin[rows], host.trace.end[rows]
        outer = host.trace.nesting.parent[rows]
        self._outer = np.maximum(outer - np.int32(rows.start), np.int32(-1)) if rows.start else outer
        # An event belongs to the nearest call around it, or to the making of an element.
        is_holder = np.zeros(len(plane.events), bool)
        is_holder[row] = True
        is_holder[plane.rows_named(_PRODUCE.match)] = True
        self._holder = nearest_holder(self._outer, is_holder)
        self._call = np.full(len(plane.events), -1, np.int32)
        self._call[row] = np.arange(len(row))
        consume = plane.rows_named(_CONSUME.match)
        consumer = self._enclosing_calls(consume)
        self._consume, self._consumer = consume[consumer >= 0], consumer[consumer >= 0]
        self.ready = np.full(len(row), MISSING, np.int64)
        """int64[n], ps: as `IteratorCalls.ready`."""
        # A call that skips elements, as for a shard, consumes several: the last one is what it waited for.
        self.ready[self._consumer] = begin[self._consume]
        self.parent, self.linked = self._parents(begin[row], end[row])

    def _enclosing_calls(self, events: Array) -> Array:
        """int32[k]: the call that encloses each of the events; -1 without one, and for what is produced."""
        holder = self._holder[events]
        return np.where(holder >= 0, self._call[holder], -1)

    def _parents(self, begin: Array, end: Array) -> tuple[Array, Array]:
        """(int32[n], bool[n]): the enclosing call on the thread; where linked, the one that consumed the element."""
        parent = self._enclosing_calls(self._row)
        produced = self._produced()
        consumed_at = end[self._consumer]
        source, target = self._matches(produced)
        # Of several calls that consumed such an element, the first one that ended after it was made.
        late = consumed_at[target] < begin[produced[source]]
        order = np.lexsort((consumed_at[target], late, produced[source]))
        child, at = np.unique(produced[source[order]], return_index=True)
        parent[child] = self._consumer[target[order[at]]]
        linked = np.zeros(len(parent), bool)
        linked[child] = True
        return parent, linked

    def _produced(self) -> Array:
        """int64[k]: calls that are the first in something produced; the element is theirs."""
        holder = self._holder[self._row]
        inside = np.flatnonzero((holder >= 0) & (self._call[holder] < 0))
        inside = inside[self._elements(holder[inside]) != MISSING]
        _, first = np.unique(holder[inside], return_index=True)
        return inside[np.sort(first)]

    def _matches(self, produced: Array) -> tuple[Array, Array]:
        """Pairs (of ``produced``, of consumers) with the same iterator above and the same element."""
        if not len(produced) or not len(self._consume):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        left = self._parent_ids[produced], self._elements(self._holder[self._row[produced]])
        right = self._ids[self._consumer], self._elements(self._consume)
        return join(*pair_codes(left, right))

    def _elements(self, events: Array) -> Array:
        return self._plane.numbers(vocabulary.ELEMENT_ID, events, MISSING)

    def functions(self) -> Functions:
        """The functions that ran for calls."""
        called = self._plane.rows_named(lambda name: name.startswith("InstantiatedCapturedFunction::"))
        if not len(called):
            return Functions(np.empty(0, np.int64), np.empty(0, bool), np.empty(0, np.int64))
        holder, call = self._holder[called], self._enclosing_calls(called)
        produced = np.flatnonzero((holder >= 0) & (call < 0))
        inner = np.flatnonzero(self.linked)
        maker = np.full(len(self._call), -1, np.int32)
        maker[self._holder[self._row[inner]]] = inner
        first = maker[holder[produced]]
        call[produced[first >= 0]] = self.parent[first[first >= 0]]
        ran = self._plane.rows_named(lambda name: name.endswith("PyFunc"))
        if len(ran):
            is_process = np.zeros(len(self._plane.events), bool)
            is_process[self._plane.rows_named(vocabulary.EXECUTOR_RUN.__eq__)] = True
            ran = nearest_holder(self._outer, is_process)[ran]
        at = (called[call >= 0], ran[ran >= 0])
        ids, python_ids = (self._plane.numbers(vocabulary.ID, rows, MISSING) for rows in at)
        return Functions(call[call >= 0], is_among(ids, python_ids), executor_ps(self._trace, ids))


@jit
def nearest_holder(outer: I32, is_holder: Bool) -> I32:
    """int32[n]: the nearest enclosing event that is a holder, or -1; ``outer`` comes before what it encloses."""
    answer = np.empty(len(outer), np.int32)
    for i in range(len(outer)):
        above = outer[i]
        if above < 0:
            answer[i] = -1
        elif is_holder[above]:
            answer[i] = above
        else:
            answer[i] = answer[above]
    return answer


@jit
def tops_and_depths(parent: I32) -> tuple[I32, I32, Int]:
    """(top, depth, number of cycles): int32[n] each; a cycle is cut in ``parent`` where it was entered."""
    size = len(parent)
    top = np.full(size, -1, np.int32)
    depth = np.zeros(size, np.int32)
    mark = np.full(size, -1, np.int32)
    path = np.empty(size, np.int32)
    cycles = 0
    for start in range(size):
        length = 0
        i = start
        while top[i] < 0:
            if mark[i] == start:
                parent[path[length - 1]] = -1
                cycles += 1
                i = path[length - 1]
                length -= 1
                break
            mark[i] = start
            path[length] = i
            length += 1
            if parent[i] < 0:
                length -= 1
                break
            i = parent[i]
        if top[i] < 0:
            top[i] = i
        for k in range(length - 1, -1, -1):
            j = path[k]
            top[j] = top[i]
            depth[j] = depth[parent[j]] + 1
    return top, depth, cycles
