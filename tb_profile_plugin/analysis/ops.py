"""Which operations cost how much: occurrences, total and self time per op, on the host and on the devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model import kernels, names
from ..model.host import Host
from ..model.trace import MISSING
from ..xspace import Plane
from ..xspace.wire import Int, kernel

Array = np.ndarray[Any, Any]

IDLE = "IDLE"
INPUT_PIPELINE = "InputPipeline"


@dataclass
class Op:
    """What one operation cost. Times are integer ps, summed over threads, streams and devices."""

    name: str
    type: str
    """Type of the op, e.g. ``MatMul``; for HLO ops without a framework op their HLO category; may be empty."""
    category: str = ""
    """HLO category for ops of an XLA program, else the type."""
    module: str = ""
    """The XLA program of an HLO op."""
    framework: str = ""
    """`names.TENSORFLOW`, `names.TFDATA` … or `INPUT_PIPELINE`."""
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0
    min_ps: int = 0
    max_ps: int = 0
    kernels: int = 0
    """Kernels and copies on the device; 0 on the host."""
    tensor_core_ps: int = 0
    """Time of its kernels that use tensor cores."""
    eager: bool = False

    @property
    def is_dataset(self) -> bool:
        """Whether this is a tf.data iterator."""
        return self.framework == names.TFDATA

    def add(self, other: Op) -> None:
        """Take the other's figures in, of the same op elsewhere."""
        self.min_ps = min(self.min_ps, other.min_ps) if self.occurrences else other.min_ps
        self.max_ps = max(self.max_ps, other.max_ps)
        self.occurrences += other.occurrences
        self.total_ps += other.total_ps
        self.self_ps += other.self_ps
        self.kernels += other.kernels
        self.tensor_core_ps += other.tensor_core_ps
        self.eager |= other.eager
        self.type = self.type or other.type
        self.category = self.category or other.category


@dataclass
class OpTable:
    """The ops of one or many hosts."""

    ops: list[Op] = field(default_factory=list)
    """By self time descending, then by name."""
    busy_ps: int = 0
    """Time in which at least one op runs, a union over streams; summed over threads and devices."""
    window_ps: int = 0
    """From the first to the last event, summed over threads and devices."""

    @property
    def idle_ps(self) -> int:
        """What of the window no op runs in."""
        return self.window_ps - self.busy_ps

    @property
    def self_ps(self) -> int:
        """Self time over all ops."""
        return sum(op.self_ps for op in self.ops)

    @property
    def occurrences(self) -> int:
        """Over all ops."""
        return sum(op.occurrences for op in self.ops)

    @property
    def eager_ps(self) -> int:
        """Self time of ops that ran eagerly."""
        return sum(op.self_ps for op in self.ops if op.eager)


def merged(tables: list[OpTable]) -> OpTable:
    """One table of several: ops of the same name, type and module become one."""
    ops: dict[tuple[str, str, str], Op] = {}
    for table in tables:
        for op in table.ops:
            key = (op.name, op.module, op.framework)
            if key not in ops:
                ops[key] = Op(op.name, op.type, op.category, op.module, op.framework)
            ops[key].add(op)
    return OpTable(_sorted(ops.values()), sum(t.busy_ps for t in tables), sum(t.window_ps for t in tables))


def _sorted(ops: Any) -> list[Op]:
    return sorted(ops, key=lambda op: (-op.self_ps, op.name))


def host_ops(host: Host) -> OpTable:
    """Framework ops, tf.data iterators, input stages and XLA:CPU ops on the host's threads; times by nesting."""
    return host.once("host_ops", lambda: _host_ops(host))


def device_ops(host: Host) -> OpTable:
    """Framework ops (HLO ops where no framework op is known) on the host's devices, by kernels' durations."""
    return host.once("device_ops", lambda: merged([_device_ops(host, plane) for plane in host.devices]))


def _host_ops(host: Host) -> OpTable:
    plane = host.cpu
    if plane is None or not len(plane.events):
        return OpTable()
    op_of_event, ops = _host_op_of_event(plane)
    eager = _eager(host, plane) if len(ops) else np.empty(0, bool)
    figures, lines = nested_times(plane.lines.first_event, plane.events.begin, plane.events.end, op_of_event, len(ops))
    if len(eager):
        chosen = op_of_event[eager]
        for index in np.unique(chosen[chosen >= 0]).tolist():
            ops[index].eager = ops[index].framework == names.TENSORFLOW
    for op, (occurrences, total, own, low, high) in zip(ops, figures.tolist(), strict=True):
        op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps = occurrences, total, own, low, high
    table = merged([OpTable([op for op in ops if op.occurrences])])
    table.busy_ps, table.window_ps = int(lines[:, 0].sum()), int(lines[:, 1].sum())
    return table


def _host_op_of_event(plane: Plane) -> tuple[Array, list[Op]]:
    """int32[events] and the ops they index: an input stage, else a ``tf_op`` stat, else the name, else ``hlo_op``."""
    ops: list[Op] = []
    by_name = np.full(len(plane.names), -1, np.int32)
    for row, name in enumerate(plane.names):
        parsed = names.parse(name)
        if parsed.known and row:
            by_name[row] = len(ops)
            ops.append(Op(parsed.name, parsed.type, parsed.type, framework=parsed.category))
    op_of_event = by_name[plane.events.name]
    _assign_hlo_ops(plane, op_of_event, ops)
    column = plane.stat("tf_op")
    codes, texts = column.codes
    parsed_ops = [names.parse(text) if text else None for text in texts]
    index = _append(
        ops, [Op(p.name, p.type, p.type, framework=p.category) if p and p.known else None for p in parsed_ops]
    )
    _put(op_of_event, column.owner, index[codes])
    _assign_stages(plane, op_of_event, ops)
    return op_of_event, ops


def _append(ops: list[Op], more: list[Op | None]) -> Array:
    """The index that each of ``more`` gets; -1 for None."""
    index = np.full(len(more), -1, np.int32)
    for i, op in enumerate(more):
        if op is not None:
            index[i] = len(ops)
            ops.append(op)
    return index


def _put(target: Array, at: Array, value: Array) -> None:
    known = value >= 0
    target[at[known]] = value[known]


def _assign_hlo_ops(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """XLA:CPU's ops: named by ``hlo_op`` in their ``hlo_module``, for events that no framework name covers."""
    column = plane.stat("hlo_op")
    if not len(column):
        return
    codes, texts = column.codes
    module = plane.stat("hlo_module")
    module_codes, modules = module.codes
    of_event = dict(zip(module.owner.tolist(), module_codes.tolist(), strict=True))
    pairs = [(code, of_event.get(owner, -1)) for code, owner in zip(codes.tolist(), column.owner.tolist(), strict=True)]
    distinct = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    made = [Op(texts[code], "", "", modules[m] if m >= 0 else "", names.JAX) for code, m in distinct]
    index = _append(ops, [op if op.name else None for op in made])
    free = op_of_event[column.owner] < 0
    _put(op_of_event, column.owner[free], index[[distinct[pair] for pair in pairs]][free])


def _assign_stages(plane: Plane, op_of_event: Array, ops: list[Op]) -> None:
    """Input pipeline stages: events with ``_ipl_stage_id``, kept apart from everything else by that id."""
    stages = plane.stat("_ipl_stage_id")
    if not len(stages):
        return
    category = plane.stat("_ipl_stage_cat")
    kinds = dict(zip(category.owner.tolist(), category.strings, strict=True))
    made: dict[int, Op] = {}
    for owner, stage in zip(stages.owner.tolist(), stages.numbers.tolist(), strict=True):
        if owner in kinds and stage not in made:
            name = plane.names[plane.events.name[owner]]
            made[stage] = Op(name, kinds[owner], kinds[owner], framework=INPUT_PIPELINE)
    place = dict(zip(made, _append(ops, list(made.values())).tolist(), strict=True))
    op_of_event[stages.owner] = [place.get(stage, -1) for stage in stages.numbers.tolist()]


def _eager(host: Host, plane: Plane) -> Array:
    """int64[k]: events that ran under an EagerExecute of a single op (``is_func`` 0), not of a compiled function."""
    trace = host.trace
    calls = trace.named("EagerExecute".__eq__)
    if not len(calls):
        return calls
    is_func = trace.spread("is_func", calls)
    single = is_func == 0
    if not single.any():
        return calls[:0]
    _, last = trace.nesting
    mark = np.zeros(len(trace), np.int8)
    order = np.argsort(calls)
    _mark_eager(calls[order], single[order], last, trace.links.source, trace.links.target, mark)
    found: Array = np.flatnonzero(mark[trace.rows(plane)] == 1)
    return found


@kernel
def _mark_eager(calls: Array, single: Array, last: Array, source: Array, target: Array, mark: Array) -> None:
    """1 for what an eager call encloses or leads to, 2 for a compiled function's; the nearest call wins."""
    for wanted in (2, 1):
        pending = np.empty(64, np.int64)
        for c in range(len(calls)):
            if (1 if single[c] else 2) != wanted:
                continue
            pending[0] = calls[c]
            count = 1
            while count > 0:
                count -= 1
                top = pending[count]
                stop = last[top]
                following = np.searchsorted(calls, top, "right")
                i = np.int64(top)
                while i < stop:
                    if following < len(calls) and calls[following] == i:
                        i = np.int64(last[i])
                        while following < len(calls) and calls[following] < i:
                            following += 1
                        continue
                    if mark[i] == 0:
                        mark[i] = wanted
                    i += 1
                row = np.searchsorted(source, top)
                while row < len(source) and source[row] < stop:
                    if mark[source[row]] == wanted and mark[target[row]] == 0:
                        if count == len(pending):
                            larger = np.empty(2 * count, np.int64)
                            larger[:count] = pending
                            pending = larger
                        pending[count] = target[row]
                        count += 1
                    row += 1


@kernel
def nested_times(lines: Array, begin: Array, end: Array, op: Array, ops: Int) -> tuple[Array, Array]:
    """Per op: occurrences, total, self, min, max (int64[ops, 5]); per line: busy and window (int64[lines, 2]), in ps.

    At every moment the op that began last has the line: self times sum to the union of all ops, however they overlap.
    """
    figures = np.zeros((ops, 5), np.int64)
    per_line = np.zeros((len(lines) - 1, 2), np.int64)
    stack = np.empty(64, np.int64)
    for line in range(len(lines) - 1):
        depth = 0
        at = np.int64(0)
        busy = np.int64(0)
        low, high = np.int64(0), np.int64(0)
        some = False
        for i in range(lines[line], lines[line + 1] + 1):
            closing = i == lines[line + 1]
            if not closing and op[i] < 0:
                continue
            now = np.int64(0) if closing else begin[i]
            while depth > 0 and (closing or end[stack[depth - 1]] <= now):
                depth -= 1
                top = stack[depth]
                if end[top] > at:
                    figures[op[top], 2] += end[top] - at
                    busy += end[top] - at
                    at = end[top]
            if closing:
                break
            if depth > 0 and now > at:
                figures[op[stack[depth - 1]], 2] += now - at
                busy += now - at
            at = now if depth == 0 or now > at else at
            row = figures[op[i]]
            time = end[i] - begin[i]
            row[3] = min(row[3], time) if row[0] else time
            row[4] = max(row[4], time)
            row[0] += 1
            row[1] += time
            if depth == len(stack):
                larger = np.empty(2 * depth, np.int64)
                larger[:depth] = stack
                stack = larger
            stack[depth] = i
            depth += 1
            low = min(low, begin[i]) if some else begin[i]
            high = max(high, end[i]) if some else end[i]
            some = True
        per_line[line, 0], per_line[line, 1] = busy, high - low
    return figures, per_line


def _device_ops(host: Host, plane: Plane) -> OpTable:
    lines = host.stream_lines(plane) if host.gpus else _op_lines(host, plane)
    rows = np.concatenate([np.arange(len(plane.events))[plane.lines.events(line)] for line in lines.tolist()] + [[]])
    rows = rows.astype(np.int64)
    if not len(rows):
        return OpTable()
    op_of_event, ops, tensor_core = _device_op_of_event(host, plane)
    chosen = op_of_event[rows]
    begin, end = plane.events.begin[rows], plane.events.end[rows]
    order = np.argsort(begin, kind="stable")
    bounds = np.array([0, len(rows)])
    if host.gpus:
        figures = _flat_times(begin, end, chosen, len(ops), _execution(host, plane, rows))
    else:
        per_line = np.concatenate(
            ([0], np.cumsum([plane.lines.events(i).stop - plane.lines.events(i).start for i in lines]))
        )
        figures, _ = nested_times(per_line, begin, end, chosen, len(ops))
    _, busy = nested_times(bounds, begin[order], end[order], np.zeros(len(rows), np.int32), 1)
    for op, uses, (occurrences, total, own, low, high, *count) in zip(ops, tensor_core, figures.tolist(), strict=True):
        op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps = occurrences, total, own, low, high
        op.kernels = count[0] if count else occurrences
        op.tensor_core_ps = total if uses else 0
    window = int(end.max() - begin.min())
    table = merged([OpTable([op for op in ops if op.occurrences])])
    table.busy_ps, table.window_ps = int(busy[0, 0]), window
    return table


def _op_lines(host: Host, plane: Plane) -> Array:
    return np.array([i for i, name in enumerate(plane.lines.name) if name == "XLA Ops"], np.int64)


def _execution(host: Host, plane: Plane, rows: Array) -> Array:
    """int64[rows]: which step a device's event belongs to, to tell executions of an op apart."""
    answer: Array = host.steps.of_event[host.trace.rows(plane)][rows].astype(np.int64)
    return answer


def _flat_times(begin: Array, end: Array, op: Array, ops: int, execution: Array) -> Array:
    """int64[ops, 6]: executions, total, self, min, max (per kernel) and kernels, for kernels side by side on streams.

    An execution of an op is a run of its kernels in one step with no other op between them.
    """
    figures = np.zeros((ops, 6), np.int64)
    known = op >= 0
    begin, end, op, execution = begin[known], end[known], op[known], execution[known]
    if not len(op):
        return figures
    fresh = np.append(True, (np.diff(op) != 0) | (np.diff(execution) != 0))
    time = end - begin
    np.add.at(figures[:, 0], op[fresh], 1)
    np.add.at(figures[:, 1], op, time)
    figures[:, 2] = figures[:, 1]
    figures[:, 3] = np.iinfo(np.int64).max
    np.minimum.at(figures[:, 3], op, time)
    np.maximum.at(figures[:, 4], op, time)
    np.add.at(figures[:, 5], op, 1)
    return figures


def _device_op_of_event(host: Host, plane: Plane) -> tuple[Array, list[Op], list[bool]]:
    """int32[events], the ops they index, and whether those run on tensor cores; one op per kernel name.

    An op is named by HLO op and program, else by ``tf_op``, ``level 0`` or ``annotation``, else by the copy's kind.
    """
    texts = [_Column(plane, name) for name in ("hlo_op", "tf_op", "level 0", "annotation", "hlo_module")]
    hlo, tf_op, level, annotation, module = texts
    program = plane.stat("program_id").spread(len(plane.events), MISSING)
    meta = {name: _metadata_texts(plane, name) for name in ("tf_op", "hlo_category")}
    kind = plane.events.name.astype(np.int64)
    for codes in (*(column.codes for column in texts[:4]), program):
        kind = np.unique(np.stack((kind, codes)), axis=1, return_inverse=True)[1].reshape(-1)
    _, example, kind = np.unique(kind, return_index=True, return_inverse=True)
    found: list[Op | None] = []
    for event in example.tolist():
        name = int(plane.events.name[event])
        text = tf_op[event] or meta["tf_op"].get(name, "") or level[event] or annotation[event].partition("#")[0]
        found.append(
            _device_op(host, plane, name, hlo[event], int(program[event]), module[event], text, meta["hlo_category"])
        )
    ops: list[Op] = []
    place = _append(ops, found)
    rows = plane.events.name[example[place >= 0]].tolist()
    return place[kind.reshape(-1)], ops, [kernels.uses_tensor_core(plane.names[row]) for row in rows]


def _device_op(
    host: Host, plane: Plane, name: int, hlo: str, program: int, module: str, text: str, categories: dict[int, str]
) -> Op | None:
    if host.tpus and not host.gpus:
        hlo = plane.display_names[name]
    leaf = hlo.rpartition("::")[2]
    if leaf:
        known = host.modules.get(program)
        instruction = known.instructions.get(leaf) if known else None
        category = categories.get(name, instruction.category if instruction else "")
        parsed = names.parse(text if host.tpus else instruction.provenance if instruction else "")
        shown = known.name if known else module
        if parsed.name and parsed.type:
            return Op(parsed.name, parsed.type, category, shown, parsed.category)
        return Op(leaf, "", category or "unknown", shown, names.JAX)
    parsed = names.parse(text.partition("#")[0])
    if parsed.known:
        return Op(parsed.name, parsed.type, parsed.type, framework=parsed.category)
    copy = names.memcpy(plane.names[name])
    return Op(plane.names[name], copy, copy, framework=names.MEMCPY) if copy else None


class _Column:
    """A string stat at every event: a code and its text; code -1 and the empty text where there is none."""

    def __init__(self, plane: Plane, name: str):
        column = plane.stat(name)
        codes, self._texts = column.codes
        self.codes = np.full(len(plane.events), -1, np.int64)
        self.codes[column.owner] = codes

    def __getitem__(self, event: int) -> str:
        code = self.codes[event]
        return self._texts[code] if code >= 0 else ""


def _metadata_texts(plane: Plane, name: str) -> dict[int, str]:
    column = plane.metadata_stat(name)
    return dict(zip(column.owner.tolist(), column.strings, strict=True))
