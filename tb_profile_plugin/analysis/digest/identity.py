"""What an event is an execution of: the op, kernel, call or frame that two captures of a program have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.host import Host
from ...model.names import op_names
from ...model.xla_instructions import instructions, stated_program
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ...runtime.regex import regex, without_end
from ..labels.event_names import display_name
from ..ops.device_ops import device_events
from ..ops.op_table import Op
from .instruction_fingerprints import InstructionFingerprints
from .record import Identity

DEVICE, HOST = "device", "host"
_MOST_CHARACTERS = 200
"""Characters of a text; longer ones are cut."""
_SOURCE_PARTS = 2
"""So much of a source file's path is kept: no home folders."""
_PROGRAM_NUMBERS = regex(r"(?:\(\d+\)|__XlaMustBeConstant|_\d+)+")
"""The end of a program's name: its id, the number of its cluster."""


def stem_of_program(name: str) -> str:
    """The program's name without the numbers that change from run to run."""
    return without_end(_PROGRAM_NUMBERS, name) or name


class Identities:
    """The identities of one host's events; each program is looked into once."""

    def __init__(self, host: Host):
        self._host = host
        self._fingerprints_by_id: dict[int, InstructionFingerprints] = {}
        self._instructions_of_plane: dict[int, _Instructions | None] = {}
        self._ops_of_plane = {id(plane): (op_of_event, ops) for plane, op_of_event, ops in device_events(host)}

    def numbers(self) -> tuple[Array, int]:
        """(int32[events], how many numbers there are): events of one number have the same identity."""
        trace = self._host.trace
        number_of, count = trace.name_of, len(trace.names)
        for first, plane in trace.parts:
            op_of_event, _ = self._ops_of_plane.get(id(plane), (None, []))
            named = self._instructions(plane)
            if op_of_event is not None or named:
                number_of = number_of.copy() if number_of is trace.name_of else number_of
                columns = [] if op_of_event is None else [op_of_event]
                columns += [named.text, named.program_id, named.module] if named else []
                example, code = combine(plane.events.name, *columns)
                number_of[first : first + len(code)] = code + count
                count += len(example)
        return number_of, count

    def _instructions(self, plane: Plane) -> _Instructions | None:
        """Which instructions the events of a plane name; None where at most their names tell it."""
        if id(plane) not in self._instructions_of_plane:
            self._instructions_of_plane[id(plane)] = _instructions_of_events(self._host, plane)
        return self._instructions_of_plane[id(plane)]

    def of(self, events: Array) -> tuple[Array, list[Identity]]:
        """(int64[k], identities): which of the identities, all different, each of the events has."""
        number_by_identity: dict[Identity, int] = {}
        number_of_event = np.zeros(len(events), np.int64)
        for first, plane in self._host.trace.parts:
            indices = np.flatnonzero((events >= first) & (events < first + len(plane.events)))
            if len(indices):
                code, identities = self._identities_of_plane(plane, events[indices] - first)
                numbers = [number_by_identity.setdefault(identity, len(number_by_identity)) for identity in identities]
                number_of_event[indices] = np.array(numbers, np.int64)[code]
        return number_of_event, list(number_by_identity)

    def programs(self) -> Iterator[tuple[str, str]]:
        """Name and fingerprint of each program that an event named."""
        for program_id, fingerprints in self._fingerprints_by_id.items():
            yield stem_of_program(self._host.modules[program_id].name), fingerprints.of_program()

    def _identities_of_plane(self, plane: Plane, rows: Array) -> tuple[Array, list[Identity]]:
        """(int64[k], identities): which of the identities each of a plane's rows has."""
        op_of_event, ops = self._ops_of_plane.get(id(plane), (None, []))
        side = HOST if op_of_event is None else DEVICE
        name = plane.events.name[rows]
        op_row = np.full(len(rows), -1) if op_of_event is None else op_of_event[rows]
        named = self._instructions(plane)
        if not named and plane.name.startswith(vocabulary.TPU):
            named = _instructions_of_names(plane)
        named_row = rows if named is None or named.is_by_event else name
        columns = [column[named_row] for column in (named.text, named.program_id, named.module)] if named else []
        example, code = combine(name, op_row, *columns)
        identities = []
        for i in example.tolist():
            op = ops[op_row[i]] if op_row[i] >= 0 else None
            if named and (leaf := named.leaf(named_row[i])):
                program_id, module_name = int(named.program_id[named_row[i]]), named.module_name(named_row[i])
                identities.append(self._instruction_identity(side, leaf, program_id, module_name, op))
            elif op:
                identities.append(Identity(side, op.name[:_MOST_CHARACTERS], op.type, stem_of_program(op.module)))
            else:
                identities.append(_identity_of_name(side, plane, int(name[i])))
        return code, identities

    def _instruction_identity(self, side: str, leaf: str, program_id: int, module_name: str, op: Op | None) -> Identity:
        """Identity of an instruction by its name without scopes."""
        program_id = stated_program(self._host, program_id, module_name)
        module = self._host.modules.get(program_id)
        row = module.row(leaf) if module else -1
        stem = stem_of_program(module.name if module else module_name)
        if module is None or row < 0:
            origin = op.name if op and op.name != leaf else ""
            return Identity(side, leaf, op.category if op else "", stem, origin[:_MOST_CHARACTERS])
        fingerprints = self._fingerprints_by_id.setdefault(program_id, InstructionFingerprints(module))
        telling_row = module.origin_row(row)
        source = module.sources.location_text(telling_row).replace("\\", "/").split("/")[-_SOURCE_PARTS:]
        operands = ",".join(fingerprints.shape(operand) for operand in module.operands[row] if operand >= 0)
        return Identity(
            side,
            leaf,
            module.category(row),
            stem,
            origin=module.op_names[telling_row][:_MOST_CHARACTERS],
            shape=fingerprints.shape(row)[:_MOST_CHARACTERS],
            operands=operands[:_MOST_CHARACTERS],
            body=fingerprints.of_instruction(row),
            source="/".join(source)[:_MOST_CHARACTERS],
        )


def _identity_of_name(side: str, plane: Plane, name: int) -> Identity:
    """Identity of events that only their name tells, by its row among the plane's names."""
    op_name = op_names.of_event(plane.names[name], plane.categories[name])
    text = op_name.name if op_name.is_known and not op_name.is_dataset else display_name(plane.names[name])
    return Identity(side, text[:_MOST_CHARACTERS], op_name.type if op_name.is_known else "")


class _Instructions(NamedTuple):
    """Which instruction of XLA each event of a plane names, by event or by the event's name; int64, -1 for none."""

    is_by_event: bool
    program_id: Array
    text: Array
    """Indices into ``texts``."""
    texts: list[str]
    """Names of instructions, some with the scopes around them: ``scope::%fusion.7``."""
    module: Array
    """Indices into ``modules``."""
    modules: list[str]
    """Names of programs."""

    def leaf(self, row: int) -> str:
        """Name of an instruction without scopes; empty for none."""
        return self.texts[self.text[row]].rpartition("::")[2].removeprefix("%") if self.text[row] >= 0 else ""

    def module_name(self, row: int) -> str:
        """Name of an instruction's program; empty where it is not stated."""
        return self.modules[self.module[row]] if self.module[row] >= 0 else ""


def _instructions_of_events(host: Host, plane: Plane) -> _Instructions | None:
    """What the stats of events say; None for planes without such stats, and of TPUs: see `_instructions_of_names`."""
    size = len(plane.events)
    if plane.name.startswith(vocabulary.TPU) or not len(plane.stat(vocabulary.HLO_OP)):
        return None
    text, texts = instructions(host, plane)
    modules = plane.stat(vocabulary.HLO_MODULE).codes_by_owner(size)
    return _Instructions(True, plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1), text, texts, *modules)


def _instructions_of_names(plane: Plane) -> _Instructions:
    """What the metadata of a TPU's events says."""
    size = len(plane.metadata)
    has_text = np.array([bool(text) for text in plane.display_names], bool)
    text = np.where(has_text, np.arange(size), -1)
    program_id = plane.metadata_stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1)
    return _Instructions(False, program_id, text, plane.display_names, np.full(size, -1, np.int64), [])
