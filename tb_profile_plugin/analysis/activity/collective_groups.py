"""Among whom each collective is: its process group, or the devices of its program's replica groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.xspace.hlo.module import Module
from ...model.host import Host
from ...model.names import hlo_text
from ...runtime.arrays import Array

_OF_ALL_PARTITIONS = ("all-reduce", "all-gather", "reduce-scatter")
"""Opcodes of which a channel without global ids means all partitions of the group's replicas; of others it means that
groups are of partitions: XLA's ``GetCollectiveOpGroupMode`` in ``collective_op_group_mode.cc``.
"""


def groups(host: Host, events: Array) -> list[str]:
    """The process group of each event with its ranks or its replica groups, empty where it states none.

    Process groups that were split from one another have one name.
    """
    answer = np.full(len(events), "", object)
    for first, plane in host.trace.parts:
        in_plane = (events >= first) & (events < first + len(plane.events))
        for stat in (vocabulary.PROCESS_GROUP, vocabulary.PROCESS_GROUP_RANKS):
            if plane.has_stat(stat):
                codes, texts = plane.stat(stat).spread_codes(len(plane.events))
                answer[in_plane] += np.array([*texts, ""], object)[codes[events[in_plane] - first]]
        if plane.has_stat(vocabulary.HLO_OP):
            answer[in_plane] = _replica_groups(host, plane, events[in_plane] - first)
    instructions = (hlo_text.parse(host.trace.name(event)) for event in events.tolist())
    stated = (instruction.groups if instruction else "" for instruction in instructions)
    return [str(group) or of_name for group, of_name in zip(answer, stated, strict=True)]


def _replica_groups(host: Host, plane: Plane, rows: Array) -> list[str]:
    """Of events of which the instruction is named, as its program has them."""
    codes, names = plane.stat(vocabulary.HLO_OP).spread_codes(len(plane.events))
    programs = plane.stat(vocabulary.PROGRAM_ID).spread(len(plane.events), -1)[rows].tolist()
    of_instruction: dict[tuple[int, int], str] = {}
    for key in {*zip(programs, codes[rows].tolist(), strict=True)}:
        program, code = key
        module = host.modules.get(program)
        row = module.row(names[code]) if module and code >= 0 else -1
        of_instruction[key] = _in_devices(module, row) if module and row >= 0 else ""
    return [of_instruction[key] for key in zip(programs, codes[rows].tolist(), strict=True)]


def _in_devices(module: Module, row: int) -> str:
    """An instruction's replica groups, with devices in place of replicas and partitions where they differ."""
    text, devices = module.replica_groups.get(row, ""), module.device_assignment
    logical = hlo_text.replica_groups(text)
    if not logical or not devices.size:
        return text
    if module.global_ids[row]:
        tables = [devices.reshape(-1, 1)]
    elif module.channels[row] <= 0:
        tables = [*devices.T[..., None]]
    elif module.opcodes[row].startswith(_OF_ALL_PARTITIONS):
        tables = [devices]
    else:
        tables = [*devices[..., None]]
    if max(map(max, logical)) >= len(tables[0]):
        return text
    in_devices = tuple(_members(table, group) for table in tables for group in logical)
    return text if in_devices == logical else f"{{{','.join(map(_written, in_devices))}}}"


def _members(table: Array, group: Sequence[int]) -> tuple[int, ...]:
    return tuple(table[list(group)].reshape(-1).tolist())


def _written(group: Sequence[int]) -> str:
    return f"{{{','.join(map(str, group))}}}"
