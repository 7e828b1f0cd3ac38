"""Ops on the host's threads: framework ops, tf.data iterators, input stages, XLA:CPU ops; times by nesting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...formats.columns.gather import gather
from ...model.events.intervals import lower_bound
from ...model.events.joins import is_among
from ...model.framework import op_names_of
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import I8, I32, I64, Array, Bool, Int, distinct
from ...runtime.jit import jit
from ...runtime.regex import regex
from ..self_times import FIRST_EVENT, nested_times
from .op_costs import add_costs
from .op_table import INPUT_PIPELINE, Op, OpTable, append_ops, merged

_CALL = regex(r"EagerExecute: (?!__(?:inference|forward|backward)_)(\w+)")
"""Names of calls of a single op until TensorFlow 2.10; other calls are of compiled functions."""
_SINGLE_OP, _FUNCTION, _PENDING = 1, 2, -1
"""Marks of events under the call of a single op, of a compiled function, and of those still to be looked at."""

_MOST_LEVELS = 3
"""So many levels below its call lies a kernel at most: the choice of the device is between them."""


@per_host(keep=True)
def host_ops(host: Host) -> OpTable:
    """Framework ops, tf.data iterators, input stages and XLA:CPU ops on the host's threads; times by nesting."""
    plane = host.cpu
    if plane is None or not len(plane.events):
        return OpTable()
    op_of_event, ops = host_op_of_event(plane, op_names_of(host))
    _assign_eager_calls(host, plane, op_of_event, ops)
    events = plane.events
    figures, lines = nested_times(plane.lines.first_event, events.begin, events.duration, op_of_event, len(ops))
    if ops:
        eager_ops = op_of_event[eager_events(host)]
        for index in distinct(eager_ops[eager_ops >= 0]).tolist():
            ops[index].eager = ops[index].framework == op_names.TENSORFLOW
    for op, row in zip(ops, figures[:, :FIRST_EVENT].tolist(), strict=True):
        op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps = row
    by_first_event = [ops[i] for i in np.argsort(figures[:, FIRST_EVENT], kind="stable").tolist() if ops[i].occurrences]
    table = merged([OpTable(by_first_event)])
    table.busy_ps, table.window_ps = int(lines[:, 0].sum()), int(lines[:, 1].sum())
    if not host.devices:
        # Beside devices the host only starts what runs on them.
        add_costs(host, table)
    return table


def host_op_of_event(plane: Plane, parse: Callable[[str], op_names.OpName]) -> tuple[Array, list[Op]]:
    """(int32[events], ops): the op of each event of a host's threads, or -1; ``parse`` reads the stat ``tf_op``.

    An event is of its input stage, else of the op that ``tf_op`` names, else its name, else ``hlo_op``.
    """
    ops: list[Op] = []
    by_name = np.full(len(plane.names), -1, np.int32)
    for row, name in enumerate(plane.names):
        parsed = op_names.of_event(name, plane.categories[row])
        if parsed.is_known and row:
            by_name[row] = len(ops)
            ops.append(Op(parsed.name, parsed.type, parsed.type, framework=parsed.category))
    op_of_event: Array = gather(by_name, plane.events.name)
    _assign_hlo_ops(plane, op_of_event, ops)
    column = plane.stat(vocabulary.TF_OP)
    codes, texts = column.codes
    op_of_code = {
        code: Op(parsed.name, parsed.type, parsed.type, framework=parsed.category)
        for code, text in enumerate(texts)
        if text and (parsed := parse(text)).is_known
    }
    index = append_ops(ops, op_of_code)
    op_of_owner = np.array([index.get(code, -1) for code in range(len(texts))], np.int64)[codes]
    op_of_event[column.owner[op_of_owner >= 0]] = op_of_owner[op_of_owner >= 0]
    _assign_stages(plane, op_of_event, ops)
    return op_of_event, ops


def _assign_hlo_ops(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """XLA:CPU's ops: named by ``hlo_op`` in their ``hlo_module``, for events that no framework name covers."""
    column = plane.stat(vocabulary.HLO_OP)
    if not len(column):
        return
    codes, names = column.codes
    module_codes, modules = plane.stat(vocabulary.HLO_MODULE).codes_by_owner(len(plane.events))
    program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), -1)
    module_of_owner, program_of_owner = module_codes[column.owner], program[column.owner]
    example, instruction = combine(codes, module_of_owner, program_of_owner)
    op_of_instruction = {}
    for number in np.argsort(example).tolist():
        row = example[number]
        if name := names[codes[row]]:
            module = modules[module_of_owner[row]] if module_of_owner[row] >= 0 else ""
            op = Op(name, "", "", module, op_names.JAX)
            op.instructions = frozenset({(int(program_of_owner[row]), name)})
            op_of_instruction[number] = op
    index = append_ops(ops, op_of_instruction)
    op_of_owner = np.array([index.get(number, -1) for number in range(len(example))], np.int64)[instruction]
    is_assigned = (op_of_event[column.owner] < 0) & (op_of_owner >= 0)
    op_of_event[column.owner[is_assigned]] = op_of_owner[is_assigned]


def _assign_stages(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """Input pipeline stages: events with ``_ipl_stage_id``, an op for each of these ids."""
    stages = plane.stat(vocabulary.STAGE_ID)
    if not len(stages):
        return
    category = plane.stat(vocabulary.STAGE_CATEGORY)
    kinds = dict(zip(category.owner.tolist(), category.strings, strict=True))
    op_of_stage: dict[int, Op] = {}
    for owner, stage in zip(stages.owner.tolist(), stages.numbers.tolist(), strict=True):
        if owner in kinds and stage not in op_of_stage:
            name = plane.names[plane.events.name[owner]]
            op_of_stage[stage] = Op(name, kinds[owner], kinds[owner], framework=INPUT_PIPELINE)
    index_of = append_ops(ops, op_of_stage)
    op_of_event[stages.owner] = [index_of.get(stage, -1) for stage in stages.numbers.tolist()]


def _assign_eager_calls(host: Host, plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """Ops of `eager_calls`, unless the op itself was recorded within its call: then that event counts."""
    calls = sorted(eager_calls(host))
    if not calls:
        return
    offset = host.trace.slice_of(plane).start
    events = np.array([event for event, _ in calls], np.int64)
    stop = host.trace.nesting.stop[events + offset] - np.int32(offset)
    is_tensorflow = np.array([op.framework == op_names.TENSORFLOW for op in ops], bool)
    holds_op = _hold_ops(events, stop, op_of_event, is_tensorflow).tolist()
    calls = [call for call, holds in zip(calls, holds_op, strict=True) if not holds]
    distinct_names = dict.fromkeys(name for _, name in calls)
    op_of_name = {name: Op(name, name, name, framework=op_names.TENSORFLOW, eager=True) for name in distinct_names}
    index_of = append_ops(ops, op_of_name)
    op_of_event[[event for event, _ in calls]] = [index_of[name] for _, name in calls]


@jit
def _hold_ops(events: I64, stop: I32, op_of_event: I32, is_wanted: Bool) -> Bool:
    """bool[k]: whether an op that is wanted lies in each of the events, ascending: they hold those up to ``stop``.

    ``op_of_event`` is -1 for none; ``is_wanted`` is by op.
    """
    answer = np.zeros(len(events), np.bool_)
    row = np.int64(0)
    for i in range(len(events)):
        # An event around this one has been looked through up to the row.
        row = max(row, events[i] + 1)
        while row < stop[i] and not (op_of_event[row] >= 0 and is_wanted[op_of_event[row]]):
            row += 1
        answer[i] = row < stop[i]
    return answer


@per_host
def eager_calls(host: Host) -> list[tuple[int, str]]:
    """(row on the host's plane, op) of each call of a single op.

    TensorFlow 2.11 and later name the op in the stat ``eager_op``, before it the event's name does.
    """
    plane = host.cpu
    if plane is None:
        return []
    column, is_func = plane.stat(vocabulary.EAGER_OP), plane.stat(vocabulary.IS_FUNC)
    functions = set(is_func.owner[is_func.numbers != 0].tolist())
    stated = zip(column.owner.tolist(), column.strings, plane.events.name[column.owner].tolist(), strict=True)
    calls = [
        (event, name)
        for event, name, row in stated
        if event not in functions and plane.names[row] == vocabulary.EAGER_EXECUTE
    ]
    op_of_name = {row: match[1] for row, name in enumerate(plane.names) if (match := _CALL.fullmatch(name))}
    old_calls = plane.events.rows_of_names(list(op_of_name)).tolist()
    return calls + [(event, op_of_name[int(plane.events.name[event])]) for event in old_calls]


@per_host
def kernels_of_single_ops(host: Host) -> Array:
    """int64[k]: rows of kernels on the host's threads within the call of a single op, which wait for nobody."""
    plane = host.cpu
    if plane is None:
        return np.empty(0, np.int64)
    rows = plane.rows_named(vocabulary.EAGER_KERNEL_EXECUTE.__eq__)
    # The last element stands for no event.
    is_call = np.zeros(len(plane.events) + 1, bool)
    is_call[[event for event, _ in eager_calls(host)]] = True
    offset = host.trace.slice_of(plane).start
    parent = host.trace.nesting.parent
    outer = rows + offset
    is_within = np.zeros(len(rows), bool)
    for _ in range(_MOST_LEVELS):
        outer = np.where(outer >= 0, parent[outer], -1)
        is_within |= is_call[np.where(outer >= 0, outer - offset, -1)]
    return rows[is_within]


@per_host
def eager_events(host: Host) -> Array:
    """int64[k]: rows of ops on the host's threads that ran one by one: by ``is_eager``, or under a call of one op
    (``is_func`` 0).
    """
    plane = host.cpu
    if plane is None:
        return np.empty(0, np.int64)
    is_eager, under_calls = plane.stat(vocabulary.IS_EAGER), _under_eager_calls(host, plane)
    return np.concatenate((is_eager.owner[is_eager.numbers != 0], under_calls[~is_among(under_calls, is_eager.owner)]))


def _under_eager_calls(host: Host, plane: Plane) -> Array:
    """int64[k]: rows of events that a call of a single op encloses or leads to."""
    trace = host.trace
    calls = trace.events_named(vocabulary.EAGER_EXECUTE.__eq__)
    if not len(calls):
        return calls
    is_single = trace.numbers(vocabulary.IS_FUNC, calls) == 0
    if not is_single.any():
        return calls[:0]
    last = trace.nesting.stop
    mark = np.zeros(len(trace), np.int8)
    order, links = np.argsort(calls), trace.links
    _mark_eager(calls[order], is_single[order], last, links.source, links.target, links.onward, mark)
    return np.flatnonzero(mark[trace.slice_of(plane)] == _SINGLE_OP)


@jit
def _mark_eager(calls: I64, is_single: Bool, last: I32, source: I32, target: I32, onward: I32, mark: I8) -> None:
    """Mark (int8[n]) what calls enclose or lead to by links; of several calls the nearest counts.

    ``calls`` ascend; ``last`` ends what each event encloses; ``onward`` is the first link from a link's target on.
    """
    # Links whose targets are marked as pending, so that none is in it twice.
    pending = np.empty(len(source), np.int32)
    following = np.int64(0)
    for wanted in (_FUNCTION, _SINGLE_OP):
        for c in range(len(calls)):
            if (_SINGLE_OP if is_single[c] else _FUNCTION) != wanted:
                continue
            count = 0
            top, row = calls[c], np.int64(np.searchsorted(source, calls[c]))
            while True:
                stop = last[top]
                following = _mark_enclosed(top, wanted, calls, following, last, mark)
                while row < len(source) and source[row] < stop:
                    if mark[source[row]] == wanted and mark[target[row]] == 0:
                        mark[target[row]] = _PENDING
                        pending[count] = row
                        count += 1
                    row += 1
                if count == 0:
                    break
                count -= 1
                top, row = np.int64(target[pending[count]]), np.int64(onward[pending[count]])


@jit
def _mark_enclosed(top: Int, wanted: Int, calls: I64, following: Int, last: I32, mark: I8) -> Int:
    """Mark an event and what it encloses, but neither calls in it nor what is in these.

    Returns the index of the first call behind the last row marked; the search for one begins at ``following``.
    """
    row, stop = top, int(last[top])
    following = np.int64(lower_bound(calls, top + 1, following))
    while row < stop:
        until = min(stop, int(calls[following])) if following < len(calls) else stop
        for enclosed in range(row, until):
            if mark[enclosed] <= 0:
                mark[enclosed] = wanted
        row = until
        if row < stop:
            row = int(last[row])
            while following < len(calls) and calls[following] < row:
                following += 1
    return following
