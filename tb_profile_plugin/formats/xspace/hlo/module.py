"""One XLA program: its computations and instructions as columns, read from its proto when they are asked for.

Field numbers are those of XLA's ``HloProto`` (hlo_module 1, buffer_assignment 3), ``HloModuleProto``,
``HloComputationProto``, ``HloInstructionProto`` and ``OpMetadata``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ....runtime import cancellation
from ....runtime.arrays import Array
from ....runtime.memo import lazy
from ....runtime.records import NamedTuple
from . import structures
from .buffers import Assignment
from .fields import Messages, Ragged
from .literals import LITERAL, Literals
from .row_by_id import RowById
from .shapes import Shapes
from .shardings import SHARDING, Shardings
from .source import Sources

_FORMATTING = {"transpose", "copy", "reshape", "dynamic-reshape"}
_RESHAPING = ("bitcast", "reshape")
_FUSIONS = {"kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion", "kCustom": "custom fusion"}
ELEMENTWISE = frozenset(
    "abs round-nearest-afz round-nearest-even ceil count-leading-zeros convert bitcast-convert cosine exponential "
    "exponential-minus-one floor imag is-finite log log-plus-one not negate popcnt real reduce-precision rsqrt "
    "logistic sign sine sqrt cbrt tan tanh erf add atan2 compare complex divide maximum minimum multiply power "
    "remainder subtract and or xor shift-left shift-right-arithmetic shift-right-logical stochastic-convert select "
    "clamp".split()
)
"""Opcodes that work on each element by itself."""

_NAME, _OPCODE, _SHAPE, _METADATA, _PARAMETER, _FUSION, _TUPLE_INDEX, _TARGET = 1, 2, 3, 7, 9, 11, 13, 28
_FFT_LENGTH, _ID, _OPERANDS, _CALLED, _CONFIG, _FEATURE_GROUPS, _BATCH_GROUPS = 32, 35, 36, 38, 43, 50, 58
_DIMENSIONS, _SLICE_SIZES, _CHANNEL, _DIRECTION, _GLOBAL_IDS = 14, 20, 26, 63, 71
_FIELDS_READ = (
    *(_NAME, _OPCODE, _SHAPE, _METADATA, _PARAMETER, _FUSION, _TUPLE_INDEX, _TARGET),
    *(_FFT_LENGTH, _ID, _OPERANDS, _CALLED, _CONFIG, _FEATURE_GROUPS, _BATCH_GROUPS),
    *(structures.WINDOW, structures.CONVOLUTION, structures.SLICE, structures.DOT),
    *(structures.GROUPS, structures.DEVICE_LIST, structures.IOTA_LIST, structures.MESH_AXES),
    *(_DIMENSIONS, _SLICE_SIZES, _CHANNEL, _DIRECTION, _GLOBAL_IDS, LITERAL, SHARDING),
)
"""Fields of an instruction that are read."""
_SCHEDULE, _DEVICES = 7, 15

_MOST_SEARCHED = 64
"""The most instructions of a fusion that are searched for one with a source."""


Result = TypeVar("Result")


class Instruction(NamedTuple):
    """One HLO instruction and where it came from."""

    name: str
    opcode: str
    category: str
    """As XLA's op profile groups them, e.g. ``loop fusion``, ``data formatting``, ``dot``."""
    op_name: str
    """The framework op's full name, e.g. ``jit(f)/dot_general``; may be empty."""
    op_type: str
    source: str
    """``file:line`` or empty."""

    @property
    def provenance(self) -> str:
        """``op_name:op_type``, empty where neither is known."""
        return f"{self.op_name}:{self.op_type}" if self.op_name or self.op_type else ""


def _column(read: Callable[[Module], Result]) -> lazy[Result]:
    """A column of `Module` that is read when it is first asked for."""
    return lazy(read)


class Module:
    """One XLA program. All columns are by instruction, computation after computation, as the proto has them."""

    def __init__(self, blob: Array, program_id: int):
        self.blob = blob
        """uint8[n]: the serialized ``HloProto``."""
        self.program_id = program_id
        """As an event's stat has it: the bits of an int64."""

    @lazy
    def _proto(self) -> Messages:
        return Messages.read(self.blob, np.zeros(1, np.int64), np.array([len(self.blob)]), (1, 3))

    @lazy
    def _module(self) -> Messages:
        return self._proto.messages(1, (1, 2, 3, 7, 8, _DEVICES, 17))

    @lazy
    def _computations(self) -> Messages:
        cancellation.check()
        return self._module.repeated_messages(3, (1, 2, 5, 6, 7))[1]

    @lazy
    def _computation_and_messages(self) -> tuple[Array, Messages]:
        return self._computations.repeated_messages(2, _FIELDS_READ)

    @property
    def _messages(self) -> Messages:
        return self._computation_and_messages[1]

    @lazy
    def assignment(self) -> Assignment:
        """How its values lie in memory; without buffers where the program does not say."""
        return Assignment.read(self._proto.messages(3, (1, 3, 4, 5)), self)

    @property
    def damaged(self) -> bool:
        """Whether some of the proto could not be read."""
        return any(part.damaged for part in self._parts)

    @property
    def cut(self) -> bool:
        """Whether it is larger than what is read of a program; what comes first is here."""
        return any(part.cut for part in self._parts)

    @property
    def _parts(self) -> tuple[Messages, ...]:
        return self._proto, self._module, self._computations, self._messages, self._metadata

    @lazy
    def name(self) -> str:
        """Name of the module, e.g. ``jit_step``; several programs may share it."""
        return self._module.short_texts(1)[0]

    @lazy
    def all_gathers(self) -> list[int]:
        """Rows of the instructions that gather an array from all devices, or start to."""
        return [row for row, opcode in enumerate(self.opcodes) if opcode in ("all-gather", "all-gather-start")]

    @lazy
    def donates_parameters(self) -> bool:
        """Whether some output takes the memory of a parameter, which the caller gives away."""
        begin, end = self._module.spans(8)
        return bool((end > begin).any())

    @property
    def computation(self) -> Array:
        """int64[n]: the computation that an instruction belongs to."""
        return self._computation_and_messages[0]

    def __len__(self) -> int:
        return len(self.computation)

    names = _column(lambda module: module._messages.short_texts(_NAME))
    """Name of each instruction, unique in the module."""
    opcodes = _column(lambda module: module._messages.short_texts(_OPCODE))
    """Opcode of each instruction, e.g. ``dot``."""
    fusion_kinds = _column(lambda module: module._messages.short_texts(_FUSION))
    """``kLoop``, ``kInput``, ``kOutput`` or ``kCustom``; empty for what is no fusion."""
    targets = _column(lambda module: module._messages.short_texts(_TARGET))
    """What a custom call calls; empty for others."""
    configs = _column(lambda module: module._messages.texts(_CONFIG))
    """What the backend decided for an instruction: JSON, or attributes as MLIR writes them."""
    windows = _column(lambda module: structures.windows(module._messages))
    """Windows of convolutions and of reductions over windows."""
    contractions = _column(lambda module: structures.Contractions.read(module._messages))
    """What products sum over."""
    convolutions = _column(lambda module: structures.Convolutions.read(module._messages))
    """Which dimension of a convolution is what."""

    @lazy
    def convolution_groups(self) -> tuple[Array, Array]:
        """int64[n] each: groups of features and of the batch; 1 where it does not say."""
        features, batch = (self._messages.integers(number, 1) for number in (_FEATURE_GROUPS, _BATCH_GROUPS))
        return np.maximum(features, 1), np.maximum(batch, 1)

    fft_lengths = _column(lambda module: module._messages.integer_lists(_FFT_LENGTH))
    """Lengths of Fourier transforms."""
    dimensions = _column(lambda module: module._messages.integer_lists(_DIMENSIONS))
    """What an opcode says about dimensions: which are summed over, broadcast, put together …"""
    slices = _column(lambda module: structures.slices(module._messages))
    """Where slices begin and end, dimension by dimension."""
    slice_sizes = _column(lambda module: module._messages.integer_lists(_SLICE_SIZES))
    """Sizes of dynamic slices."""
    channels = _column(lambda module: module._messages.integers(_CHANNEL))
    """int64[n]: what tells communications apart; 0 for none."""
    directions = _column(lambda module: module._messages.short_texts(_DIRECTION))
    """How comparisons compare, e.g. ``LT``; empty for others."""
    shapes = _column(lambda module: Shapes.read(module._messages, _SHAPE))
    """Shapes; the first ones are the instructions'."""
    literals = _column(lambda module: Literals(module._messages, module.shapes))
    """Values of small constants."""
    shardings = _column(lambda module: Shardings(module._messages))
    """How values are split over devices."""
    replica_groups = _column(lambda module: structures.replica_groups(module._messages))
    """Which devices of a collective communicate, by instruction, as XLA writes it: ``{{0,1},{2,3}}``."""

    @lazy
    def global_ids(self) -> Array:
        """bool[n]: whether replica groups count all partitions of all replicas, replica by replica."""
        return self._messages.integers(_GLOBAL_IDS) != 0

    device_assignment = _column(lambda module: structures.device_assignment(module._module.messages(_DEVICES, (3,))))
    """int64[replicas, partitions]: on which device each runs; empty where the program does not say."""
    ids = _column(lambda module: module._messages.integers(_ID))
    """int64[n]: unique in the module."""

    @lazy
    def _row_by_id(self) -> RowById:
        return RowById(self.ids)

    def rows(self, ids: Array) -> Array:
        """int64[k]: the instructions of these ids; -1 where there is none."""
        return self._row_by_id(ids)

    @lazy
    def operands(self) -> Ragged:
        """The instructions that each takes; -1 for one that does not exist."""
        ids = self._messages.integer_lists(_OPERANDS)
        return Ragged(ids.first, self.rows(ids.values))

    @lazy
    def users(self) -> Ragged:
        """The instructions that take each, once per operand."""
        values, owner = self.operands.values, self.operands.owner
        exists = values >= 0
        order = np.argsort(values[exists], kind="stable")
        counts = np.bincount(values[exists], minlength=len(self))
        return Ragged(np.append(0, np.cumsum(counts)), owner[exists][order])

    @lazy
    def callees(self) -> Ragged:
        """The computations that each instruction calls; -1 for one that does not exist."""
        called = self._messages.integer_lists(_CALLED)
        return Ragged(called.first, RowById(self._computations.integers(5))(called.values))

    parameter_numbers = _column(lambda module: module._messages.integers(_PARAMETER))
    """int64[n]: of parameters; 0 for others."""
    tuple_indices = _column(lambda module: module._messages.integers(_TUPLE_INDEX))
    """int64[n]: which element a ``get-tuple-element`` takes."""
    computation_names = _column(lambda module: module._computations.short_texts(1))
    """Name of each computation."""

    @lazy
    def members(self) -> Array:
        """int64[computations + 1]: instructions ``members[i]:members[i + 1]`` are those of computation i."""
        return np.searchsorted(self.computation, np.arange(len(self.computation_names) + 1))

    def rows_in(self, computation: int) -> range:
        """The instructions of a computation; none of -1, which stands for one that does not exist."""
        return range(*self.members[computation : computation + 2].tolist()) if computation >= 0 else range(0)

    @lazy
    def roots(self) -> Array:
        """int64[computations]: what each computation gives; its last instruction where it does not say, else -1."""
        stated_root = self.rows(self._computations.integers(6))
        size = np.diff(self.members)
        return np.where(stated_root >= 0, stated_root, np.where(size > 0, self.members[1:] - 1, -1))

    @lazy
    def entry(self) -> int:
        """The computation that the program begins with; the last one where it does not say."""
        name = self._module.short_texts(2)[0]
        names = self.computation_names
        return names.index(name) if name in names else len(names) - 1

    @lazy
    def schedule(self) -> dict[int, list[int]]:
        """The instructions of computations in the order in which they run, where the program says it."""
        sequences = self._module.repeated_messages(_SCHEDULE, (1,))[1].repeated_messages(1, (1, 2))[1]
        ids, scheduled_ids = self._computations.integers(5), sequences.messages(2, (1,)).integer_lists(1)
        rows = Ragged(scheduled_ids.first, self.rows(scheduled_ids.values))
        index_of = {number: i for i, number in enumerate(ids.tolist())}
        numbers = sequences.integers(1).tolist()
        return {index_of[number]: rows[i] for i, number in enumerate(numbers) if number in index_of}

    @lazy
    def _metadata(self) -> Messages:
        return self._messages.messages(_METADATA, (1, 2, 3, 4, 12, 15))

    op_names = _column(lambda module: module._metadata.short_texts(2))
    """The framework op that each instruction comes from, with its scopes; may be empty."""
    op_types = _column(lambda module: module._metadata.short_texts(1))
    """Type of the framework op; may be empty."""
    deduplicated = _column(lambda module: module._metadata.short_texts(12))
    """The instruction that an instruction is a copy of; may be empty."""

    @lazy
    def sources(self) -> Sources:
        """Source lines of the instructions."""
        return Sources.read(self._metadata, self._module.messages(17, (1, 2, 3, 4)))

    def origin_row(self, row: int) -> int:
        """The instruction that says where one comes from: itself; or one inside a fusion that does not say it; or what
        gives the result of a product another shape, where XLA made that product of one with more dimensions.
        """
        if self.op_names[row] or self.sources.location_text(row) or self.opcodes[row] not in ("dot", "fusion"):
            return row
        if self.opcodes[row] == "dot":
            return self._reshaping(row)
        for computation in self.callees[row]:
            root = int(self.roots[computation]) if computation >= 0 else -1
            for fused in (root, *reversed(self.rows_in(computation)[-_MOST_SEARCHED:])):
                if fused >= 0 and self.sources.location_text(fused):
                    return int(fused)
        return row

    def _reshaping(self, row: int) -> int:
        """What gives a product's result another shape, by itself or in a fusion; the product where nothing does."""
        users = self.users[row][:1]
        if users and self.opcodes[users[0]] == "fusion":
            operand_numbers = {number for number, operand in enumerate(self.operands[users[0]]) if operand == row}
            inner_rows = [fused for callee in self.callees[users[0]] for fused in self.rows_in(callee)[:_MOST_SEARCHED]]
            parameters = [fused for fused in inner_rows if self.opcodes[fused] == "parameter"]
            products = [fused for fused in parameters if int(self.parameter_numbers[fused]) in operand_numbers]
            users = [user for product in products for user in self.users[product]]
        return next((user for user in users if self.opcodes[user] in _RESHAPING), row)

    def fused_rows(self, row: int) -> list[int]:
        """The instructions that a fusion computes; of any other itself."""
        callees = self.callees[row] if self.opcodes[row] == "fusion" else []
        return [fused for computation in callees for fused in self.rows_in(int(computation))] or [row]

    def only_argument(self, row: int) -> int:
        """The argument of the program that is the one operand of an instruction; -1 where it has others."""
        operands = self.operands[row]
        is_only = len(operands) == 1 and operands[0] >= 0 and self.opcodes[operands[0]] == "parameter"
        return int(operands[0]) if is_only else -1

    def category(self, row: int) -> str:
        """As XLA's op profile groups instructions, e.g. ``loop fusion``, ``data formatting``, ``dot``."""
        opcode = self.opcodes[row]
        if opcode in _FORMATTING:
            return "data formatting"
        if opcode == "fusion":
            return _FUSIONS.get(self.fusion_kinds[row], "fusion")
        return "non-fusion elementwise" if opcode in ELEMENTWISE else opcode

    @lazy
    def _rows_by_name(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names) if name}

    def row(self, name: str) -> int:
        """The instruction of that name; -1 where there is none."""
        return self._rows_by_name.get(name.removeprefix("%"), -1)

    def instruction(self, name: str) -> Instruction | None:
        """The instruction of that name; None where there is none."""
        row = self.row(name)
        if row < 0:
            return None
        origin = self.op_names[row], self.op_types[row], self.sources.location_text(row)
        return Instruction(self.names[row], self.opcodes[row], self.category(row), *origin)

    @lazy
    def title(self) -> str:
        """Name and program id, as the existing plugin writes them."""
        return f"{self.name}({self.program_id % (1 << 64)})"
