"""Ops on the host's threads: framework ops, tf.data iterators, input stages, XLA:CPU ops; times by nesting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.gather import gather
from ...model.events.intervals import lower_bound
from ...model.events.joins import is_among
from ...model.framework import op_names_of
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import I8, I32, I64, Array, Bool, distinct
from ...runtime.jit import jit
from ...runtime.regex import regex
from ..self_times import nested_times
from .op_costs import add_costs
from .op_table import INPUT_PIPELINE, Op, OpTable, append, merged

_CALL = regex(r"EagerExecute: (?!__(?:inference|forward|backward)_)(\w+)")
_PENDING = -1
"""Mark of an event that is still to be looked at."""


@per_host(keep=True)
def host_ops(host: Host) -> OpTable:
    """Framework ops, tf.data iterators, input stages and XLA:CPU ops on the host's threads; times by nesting."""
    plane = host.cpu
    if plane is None or not len(plane.events):
        return OpTable()
    op_of_event, ops = _host_op_of_event(plane, op_names_of(host))
    _assign_eager_calls(host, plane, op_of_event, ops)
    eager = _eager(host, plane) if len(ops) else np.empty(0, bool)
    events = plane.events
    figures, lines = nested_times(plane.lines.first_event, events.begin, events.duration, op_of_event, len(ops))
    if len(eager):
        eager_ops = op_of_event[eager]
        for index in distinct(eager_ops[eager_ops >= 0]).tolist():
            ops[index].eager = ops[index].framework == op_names.TENSORFLOW
    for op, row in zip(ops, figures.tolist(), strict=True):
        op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps, _ = row
    seen = [ops[i] for i in np.argsort(figures[:, 5], kind="stable").tolist() if ops[i].occurrences]
    table = merged([OpTable(seen)])
    if not host.devices:
        # Beside devices the host only starts what runs on them.
        add_costs(host, table)
    table.busy_ps, table.window_ps = int(lines[:, 0].sum()), int(lines[:, 1].sum())
    return table


def _host_op_of_event(plane: Plane, parse: Callable[[str], op_names.OpName]) -> tuple[Array, list[Op]]:
    """int32[events] and the ops they index: an input stage, else a ``tf_op`` stat, else the name, else ``hlo_op``."""
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
    parsed_ops = [parse(text) if text else None for text in texts]
    index = append(
        ops, [Op(p.name, p.type, p.type, framework=p.category) if p and p.is_known else None for p in parsed_ops]
    )
    _put(op_of_event, column.owner, index[codes])
    _assign_stages(plane, op_of_event, ops)
    return op_of_event, ops


def _put(target: Array, at: Array, value: Array) -> None:
    has_value = value >= 0
    target[at[has_value]] = value[has_value]


def _assign_hlo_ops(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """XLA:CPU's ops: named by ``hlo_op`` in their ``hlo_module``, for events that no framework name covers."""
    column = plane.stat(vocabulary.HLO_OP)
    if not len(column):
        return
    codes, texts = column.codes
    module = plane.stat(vocabulary.HLO_MODULE)
    module_codes, modules = module.codes
    of_event = dict(zip(module.owner.tolist(), module_codes.tolist(), strict=True))
    program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), -1)[column.owner].tolist()
    owners = column.owner.tolist()
    pairs = [(code, of_event.get(at, -1), id) for code, at, id in zip(codes.tolist(), owners, program, strict=True)]
    distinct = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    hlo_ops = [Op(texts[code], "", "", modules[m] if m >= 0 else "", op_names.JAX) for code, m, _ in distinct]
    for op, (_, _, id) in zip(hlo_ops, distinct, strict=True):
        op.instructions = frozenset({(id, op.name)})
    index = append(ops, [op if op.name else None for op in hlo_ops])
    free = op_of_event[column.owner] < 0
    _put(op_of_event, column.owner[free], index[[distinct[pair] for pair in pairs]][free])


def _assign_stages(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """Input pipeline stages: events with ``_ipl_stage_id``, kept apart from everything else by that id."""
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
    index_of = dict(zip(op_of_stage, append(ops, list(op_of_stage.values())).tolist(), strict=True))
    op_of_event[stages.owner] = [index_of.get(stage, -1) for stage in stages.numbers.tolist()]


def _assign_eager_calls(host: Host, plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """Ops that only the call of one op tells: TensorFlow 2.11 and later name the op (``eager_op``), before it the name
    of the event does. Where the op itself was recorded within the call, that one counts."""
    calls = eager_calls(host)
    if not calls:
        return
    offset = host.trace.rows(plane).start
    _, last = host.trace.nesting
    is_tensorflow = np.array([False, *(op.framework == op_names.TENSORFLOW for op in ops)])
    recorded = np.flatnonzero(gather(is_tensorflow, op_of_event + np.int32(1)))
    events = np.array([event for event, _ in calls], np.int64)
    within = np.searchsorted(recorded, last[events + offset] - offset) > np.searchsorted(recorded, events + 1)
    bare = [call for call, is_recorded in zip(calls, within.tolist(), strict=True) if not is_recorded]
    distinct_names = dict.fromkeys(name for _, name in bare)
    op_of_name = {name: Op(name, name, name, framework=op_names.TENSORFLOW, eager=True) for name in distinct_names}
    index_of = dict(zip(op_of_name, append(ops, list(op_of_name.values())).tolist(), strict=True))
    op_of_event[[event for event, _ in bare]] = [index_of[name] for _, name in bare]


@per_host
def eager_calls(host: Host) -> list[tuple[int, str]]:
    """(event, op): calls of single ops on the host's threads, of any version's naming."""
    plane = host.cpu
    if plane is None:
        return []
    column, is_func = plane.stat(vocabulary.EAGER_OP), plane.stat(vocabulary.IS_FUNC)
    functions = set(is_func.owner[is_func.numbers != 0].tolist())
    stated = zip(column.owner.tolist(), column.strings, plane.events.name[column.owner].tolist(), strict=True)
    calls = [
        (event, name) for event, name, row in stated if event not in functions and plane.names[row] == "EagerExecute"
    ]
    named = {row: match[1] for row, name in enumerate(plane.names) if (match := _CALL.fullmatch(name))}
    old = plane.events.named(list(named))
    return calls + [(event, named[int(plane.events.name[event])]) for event in old.tolist()]


@per_host
def kernels_of_single_ops(host: Host) -> Array:
    """int64[k]: kernels on the host's threads that run at once in calls of single ops, which wait for nobody."""
    plane = host.cpu
    if plane is None:
        return np.empty(0, np.int64)
    rows = plane.named("EagerKernelExecute".__eq__)
    calls = np.zeros(len(plane.events) + 1, bool)
    calls[[event for event, _ in eager_calls(host)]] = True
    offset = host.trace.rows(plane).start
    parent, _ = host.trace.nesting
    above = rows + offset
    inside = np.zeros(len(rows), bool)
    # Between a call and its kernel lies the choice of the device, at most.
    for _ in range(3):
        above = np.where(above >= 0, parent[above], -1)
        inside |= calls[np.where(above >= 0, above - offset, -1)]
    answer: Array = rows[inside]
    return answer


def _eager(host: Host, plane: Plane) -> Array:
    """int64[k]: events of ops that ran one by one: by ``is_eager``, or under a call of one op (``is_func`` 0)."""
    stated, under = plane.stat(vocabulary.IS_EAGER), _under_eager_calls(host, plane)
    return np.concatenate((stated.owner[stated.numbers != 0], under[~is_among(under, stated.owner)]))


def _under_eager_calls(host: Host, plane: Plane) -> Array:
    trace = host.trace
    calls = trace.named("EagerExecute".__eq__)
    if not len(calls):
        return calls
    is_func = trace.numbers(vocabulary.IS_FUNC, calls)
    single = is_func == 0
    if not single.any():
        return calls[:0]
    _, last = trace.nesting
    mark = np.zeros(len(trace), np.int8)
    order, links = np.argsort(calls), trace.links
    _mark_eager(calls[order], single[order], last, links.source, links.target, links.onward, mark)
    rows: Array = np.flatnonzero(mark[trace.rows(plane)] == 1)
    return rows


@jit
def _mark_eager(calls: I64, single: Bool, last: I32, source: I32, target: I32, onward: I32, mark: I8) -> None:
    """1 for what an eager call encloses or leads to, 2 for a compiled function's; the nearest call wins."""
    # What waits in it is marked, so that nothing waits there twice.
    pending = np.empty(len(source), np.int32)
    following = np.int64(0)
    for wanted in (2, 1):
        for c in range(len(calls)):
            if (1 if single[c] else 2) != wanted:
                continue
            count = 0
            top, row = calls[c], np.int64(np.searchsorted(source, calls[c]))
            while True:
                stop = last[top]
                following = np.int64(lower_bound(calls, top + 1, following))
                i = top
                while i < stop:
                    until = min(stop, calls[following]) if following < len(calls) else stop
                    for k in range(i, until):
                        if mark[k] <= 0:
                            mark[k] = wanted
                    i = until
                    if i < stop:
                        i = np.int64(last[i])
                        while following < len(calls) and calls[following] < i:
                            following += 1
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
