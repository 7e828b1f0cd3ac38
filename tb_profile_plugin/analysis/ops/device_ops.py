"""Ops on the devices: framework ops, or HLO ops where no framework op is known, by the durations of their kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.devices.copies import copies
from ...model.events.event_table import MISSING
from ...model.events.intervals import union
from ...model.framework import PYTORCH, framework, op_names_of
from ...model.host import Host
from ...model.names import kernels, op_names
from ...model.per_host import per_host
from ...model.xla_instructions import instructions
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ..self_times import FIRST_EVENT, MAX_PS, MIN_PS, OCCURRENCES, SELF_PS, TOTAL_PS, nested_times
from .async_transfers import xla_op_lines
from .op_costs import add_costs
from .op_table import Op, OpTable, merged


@per_host(keep=True)
def device_ops(host: Host) -> OpTable:
    """The ops of all devices of the host, with executions, kernels, FLOPs and bytes."""
    table = merged([_device_ops(host, *device) for device in device_events(host)])
    add_costs(host, table)
    return table


def _device_ops(host: Host, plane: Plane, op_of_event: Array, ops: list[Op]) -> OpTable:
    """The table of one device, whose ops so far have no figures."""
    if host.gpus:
        lines = [plane.lines.events(line) for line in host.stream_lines(plane).tolist()]
    else:
        lines = xla_op_lines(plane)
    rows = np.concatenate([np.arange(line.start, line.stop) for line in lines] + [np.empty(0, np.int64)])
    if not len(rows):
        return OpTable()
    op_of_event, begin, end = op_of_event[rows], plane.events.begin[rows], plane.events.end[rows]
    if host.gpus:
        stream_and_step = np.stack(
            (plane.events.line[rows], host.with_steps().grouped_steps.group_of[host.trace.slice_of(plane)][rows])
        )
        figures = _flat_times(begin, end, op_of_event, len(ops), stream_and_step)
    else:
        bounds = np.concatenate(([0], np.cumsum([line.stop - line.start for line in lines])))
        figures, _ = nested_times(bounds, begin, end - begin, op_of_event, len(ops))
    for op, row in zip(ops, figures[:, :FIRST_EVENT].tolist(), strict=True):
        op.occurrences, op.total_ps, op.self_ps, op.min_ps, op.max_ps = row
    _fill_kernel_facts(plane, rows, op_of_event, ops)
    table = merged([OpTable([op for op in ops if op.kernels])])
    busy_begin, busy_end = union(begin, end)
    table.busy_ps, table.window_ps = int((busy_end - busy_begin).sum()), int(end.max() - begin.min())
    return table


def _flat_times(begin: Array, end: Array, op: Array, op_count: int, stream_and_step: Array) -> Array:
    """int64[ops, 5] as `nested_times`, for kernels side by side on streams: executions, and min and max per kernel.

    An execution of an op is a run of its kernels in one ``stream_and_step``, with no other op between them.
    """
    figures = np.zeros((op_count, FIRST_EVENT), np.int64)
    has_op = op >= 0
    op, stream_and_step, ps = op[has_op], stream_and_step[:, has_op], (end - begin)[has_op]
    is_first = np.append(True, (np.diff(op) != 0) | (np.diff(stream_and_step) != 0).any(axis=0))[: len(op)]
    np.add.at(figures[:, OCCURRENCES], op[is_first], 1)
    np.add.at(figures[:, TOTAL_PS], op, ps)
    figures[:, SELF_PS] = figures[:, TOTAL_PS]
    figures[:, MIN_PS] = np.iinfo(np.int64).max
    np.minimum.at(figures[:, MIN_PS], op, ps)
    np.maximum.at(figures[:, MAX_PS], op, ps)
    return figures


def _fill_kernel_facts(plane: Plane, rows: Array, op: Array, ops: list[Op]) -> None:
    """Fill in kernels and time on tensor cores of each op, and whether it was executed eagerly."""
    rows, op = rows[op >= 0], op[op >= 0]
    name = plane.events.name[rows]
    uses_core = np.array([kernels.uses_tensor_core(text) for text in plane.heads], bool)
    size = len(ops)
    on_tensor_core = np.bincount(op, np.where(uses_core[name], plane.events.duration[rows], 0), size)
    kernel_count = np.bincount(op, minlength=size)
    eager_count = np.bincount(op, _is_eager(plane)[rows], size) > 0
    for i, table_op in enumerate(ops):
        table_op.kernels, table_op.tensor_core_ps = int(kernel_count[i]), int(on_tensor_core[i])
        table_op.eager = bool(eager_count[i])


def _is_eager(plane: Plane) -> Array:
    """float64[events]: 1 where the event or its metadata states that its op was executed eagerly."""
    is_eager_name = np.zeros(len(plane.metadata))
    metadata_column, event_column = plane.metadata_stat(vocabulary.IS_EAGER), plane.stat(vocabulary.IS_EAGER)
    is_eager_name[metadata_column.owner] = metadata_column.numbers
    is_eager: Array = is_eager_name[plane.events.name]
    is_eager[event_column.owner] = event_column.numbers
    return is_eager


class DeviceEvents(NamedTuple):
    """The ops of a device, and which of them each of its events belongs to."""

    plane: Plane
    op_of_event: Array
    """int32[events]: index in ``ops``, or -1."""
    ops: list[Op]


@per_host
def device_events(host: Host) -> list[DeviceEvents]:
    """The ops of each device.

    An op is told by HLO op and program, named as the framework called it where the program or the event says that; else
    by ``tf_op``, ``level 0`` or ``annotation``. Copies and collectives that belong to none are ops of their own,
    and so are PyTorch's kernels without one, such as those that a graph launched.
    """
    return [DeviceEvents(plane, *_op_of_event(host, plane)) for plane in host.devices]


def _op_of_event(host: Host, plane: Plane) -> tuple[Array, list[Op]]:
    """(int32[events], ops) of one device: looks at one event of each kind, all stats being equal within a kind."""
    device_copies = copies(host)[plane.name]
    copy_kind = np.full(len(plane.events), -1, np.int64)
    copy_kind[device_copies.row] = device_copies.kind
    is_kernel = np.zeros(len(plane.events), bool)
    if framework(host) == PYTORCH:
        is_kernel[plane.stat(vocabulary.KERNEL_DETAILS).owner] = True
    stats = _OpStats(host, plane)
    example, kind = combine(plane.events.name, *stats.columns, copy_kind)
    ops: list[Op] = []
    row_of_op: dict[tuple[str, str, str], int] = {}
    op_of_kind = np.full(len(example), -1, np.int32)
    for i, (event, stated_op) in enumerate(zip(example.tolist(), stats.stated(example), strict=True)):
        name = plane.names[plane.events.name[event]]
        op = _op(host, stated_op) or _op_without_framework(name, int(copy_kind[event]), bool(is_kernel[event]))
        if op:
            key = op.name, op.module, op.framework
            if key not in row_of_op:
                row_of_op[key] = len(ops)
                ops.append(op)
            op_of_kind[i] = row_of_op[key]
            if stated_op.instruction:
                ops[row_of_op[key]].instructions |= {(stated_op.metadata_program, stated_op.leaf)}
    return op_of_kind[kind], ops


class _StatedOp(NamedTuple):
    """What an event of a device says of its op; empty where it says nothing."""

    instruction: str
    """Name of XLA's instruction, some with the scopes around it: ``scope::fusion.7``."""
    program: int
    metadata_program: int
    """The same, of a TPU's events by their metadata; -1 where these do not say."""
    module: str
    """The program's name."""
    framework_text: str
    """The framework's name, or a path of scopes."""
    category: str

    @property
    def leaf(self) -> str:
        """The instruction's name without scopes."""
        return self.instruction.rpartition("::")[2]


class _OpStats:
    """The stats by which the n events of one device, and their metadata, say of which op they are."""

    def __init__(self, host: Host, plane: Plane):
        self._plane, self._has_gpus = plane, bool(host.gpus)
        self._instruction = _TextStat(*instructions(host, plane))
        names = vocabulary.TF_OP, vocabulary.LEVEL_0, vocabulary.ANNOTATION, vocabulary.NAME, vocabulary.HLO_MODULE
        self._tf_op, self._level, self._annotation, self._path, self._module = (
            _TextStat(*plane.stat(name).codes_by_owner(len(plane.events))) for name in names
        )
        self._program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), MISSING)

    @property
    def columns(self) -> list[Array]:
        """int64[n] each: events that are equal in all of them, and in their names, say the same."""
        texts = (self._instruction, self._tf_op, self._level, self._annotation, self._path, self._module)
        return [*(text.codes for text in texts), self._program]

    def stated(self, events: Array) -> Iterator[_StatedOp]:
        """What each of some events says; the path that one of an instruction's events states goes for all of them."""
        plane = self._plane
        instruction_of = {
            event: (int(self._instruction.codes[event]), int(self._program[event])) for event in events.tolist()
        }
        path_of = {
            instruction: f"{self._path[event].rstrip(':')}:"
            for event, instruction in instruction_of.items()
            if op_names.is_path(self._path[event])
        }
        program_column = plane.metadata_stat(vocabulary.PROGRAM_ID)
        program_of_name = dict(zip(program_column.owner.tolist(), program_column.numbers.tolist(), strict=True))
        tf_op_of_name = _metadata_texts(plane, vocabulary.TF_OP)
        category_of_name = _metadata_texts(plane, vocabulary.HLO_CATEGORY)
        for event, instruction in instruction_of.items():
            name, program = int(plane.events.name[event]), int(self._program[event])
            if self._has_gpus and self._instruction[event]:
                text = path_of.get(instruction, "")
            else:
                text = self._tf_op[event] or tf_op_of_name.get(name, "") or self._level[event]
                text = text or self._annotation[event].partition("#")[0]
            yield _StatedOp(
                # A TPU's events name their instruction in their metadata.
                instruction=self._instruction[event] if self._has_gpus else plane.display_names[name],
                program=program,
                metadata_program=program if self._has_gpus else int(program_of_name.get(name, -1)),
                module=self._module[event],
                framework_text=text,
                category=category_of_name.get(name, ""),
            )


def _op(host: Host, stated_op: _StatedOp) -> Op | None:
    """The op that an event names, by XLA's instruction or by the framework's op; None where it names none."""
    if stated_op.leaf:
        module = host.modules.get(stated_op.program)
        instruction = module.instruction(stated_op.leaf) if module else None
        category = stated_op.category or (instruction.category if instruction else "unknown")
        provenance = instruction.provenance if instruction and host.gpus else ""
        parsed = op_names.parse(provenance if op_names.is_path(provenance) else stated_op.framework_text)
        module_name = module.name if module else stated_op.module
        if parsed.name and parsed.type:
            return Op(parsed.name, parsed.type, category, module_name, parsed.category)
        return Op(stated_op.leaf, "", category, module_name, op_names.JAX)
    parsed = op_names_of(host)(stated_op.framework_text.partition("#")[0])
    if parsed.is_known and stated_op.framework_text:
        return Op(parsed.name, parsed.type, parsed.type, framework=parsed.category)
    return None


def _op_without_framework(name: str, copy_kind: int, is_kernel: bool) -> Op | None:
    """An op of its own for what belongs to none: a copy (its index in `COPIES`, or -1), a collective, a kernel."""
    if copy_kind >= 0:
        return Op(name, op_names.COPIES[copy_kind], op_names.COPIES[copy_kind], framework=op_names.MEMCPY)
    if kernels.is_collective(name):
        return Op(name, "Collective", "collective")
    return Op(name, "Kernel", "kernel", framework=op_names.PYTORCH) if is_kernel else None


class _TextStat:
    """A string stat at every event: a code and its text; code -1 and the empty text where there is none."""

    def __init__(self, codes: Array, texts: Sequence[str]):
        self.codes, self._texts = codes, texts

    def __getitem__(self, event: int) -> str:
        code = self.codes[event]
        return self._texts[code] if code >= 0 else ""


def _metadata_texts(plane: Plane, name: str) -> dict[int, str]:
    """The texts of a stat by the rows of event metadata that state it."""
    column = plane.metadata_stat(name)
    return dict(zip(column.owner.tolist(), column.strings, strict=True))
