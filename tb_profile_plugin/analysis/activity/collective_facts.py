"""What a capture says of collectives: their kinds, and who takes part: a process group, or the devices of a program's
replica groups.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.xspace.hlo.module import Module
from ...model.events.event_table import EventTable
from ...model.events.links import LAUNCH
from ...model.host import Host
from ...model.names import collectives as collective_names
from ...model.names import hlo_text
from ...runtime.arrays import Array
from ...runtime.regex import regex

_KINDS = (
    ("all-reduce", r"all[-_]?reduce|collectivereduce(?!scatter)"),
    ("all-gather", r"all[-_]?gather|collectivegather"),
    ("reduce-scatter", r"reduce[-_]?scatter"),
    ("all-to-all", r"all[-_]?to[-_]?all"),
    ("broadcast", r"broadcast|bcast"),
    ("permute", r"permute"),
    ("send/recv", r"send|recv"),
    ("reduce", r"reduce"),
)
_PATTERNS = [(kind, regex(pattern, re.IGNORECASE)) for kind, pattern in _KINDS]
_OTHER = "other"
_OF_ALL_PARTITIONS = ("all-reduce", "all-gather", "reduce-scatter")
"""Opcodes of which a channel without global ids means all partitions of the group's replicas; of others it means that
groups are of partitions: XLA's ``GetCollectiveOpGroupMode`` in ``collective_op_group_mode.cc``.
"""


def kinds(host: Host, events: Array) -> list[str]:
    """The kind of each event: as its kernel states it, else by the name of the range that launched it, else by its own.

    NCCL does some of its collectives by kernels that are named after what these do: an all-to-all sends and receives.
    """
    event_names = [host.trace.name(event) for event in events.tolist()]
    range_names = [host.trace.name(event) if event >= 0 else "" for event in ranges_around(host, events)]
    return [
        next((kind for kind in map(kind_of_collective, texts) if kind != _OTHER), _OTHER)
        for texts in zip(_texts(host.trace, vocabulary.COLLECTIVE_NAME, events), range_names, event_names, strict=True)
    ]


@lru_cache(maxsize=4096)
def kind_of_collective(text: str) -> str:
    """``all-reduce``, ``all-gather``, … by the name of a kernel, an op or a range; ``other`` where it does not tell."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(text)), _OTHER)


def _texts(trace: EventTable, stat: str, events: Array) -> Array:
    """object[k]: the text stat of that name of each of the events, empty for those without."""
    text_of_event = np.full(len(events), "", object)
    for first, plane, in_plane in trace.parts_of(events):
        if plane.has_stat(stat):
            codes, texts = plane.stat(stat).codes_by_owner(len(plane.events))
            text_of_event[in_plane] = np.array([*texts, ""], object)[codes[events[in_plane] - first]]
    return text_of_event


def ranges_around(host: Host, events: Array) -> list[int]:
    """Number of the range named after a collective that each event is, or in which it was launched; or -1."""
    trace = host.trace
    ranges = trace.once(_ranges)
    if not len(ranges):
        return [-1] * len(events)
    is_range = np.zeros(len(trace), bool)
    is_range[ranges] = True
    launched = trace.links.kind == LAUNCH
    launch = np.full(len(trace), -1, np.int64)
    launch[trace.links.target[launched]] = trace.links.source[launched]
    parent = trace.nesting.parent
    range_event = np.where(is_range[events], events, launch[events])
    while (climbs := (range_event >= 0) & ~is_range[range_event]).any():
        range_event[climbs] = parent[range_event[climbs]]
    return [int(event) for event in range_event]


def _ranges(trace: EventTable) -> Array:
    """int64[k]: the ranges named after collectives."""
    return trace.events_named(collective_names.is_range)


def groups(host: Host, events: Array) -> list[str]:
    """The process group of each event with its ranks or its replica groups, empty where it states none.

    Process groups that were split from one another have one name.
    """
    group_of_event = _texts(host.trace, vocabulary.PROCESS_GROUP, events)
    group_of_event += _texts(host.trace, vocabulary.PROCESS_GROUP_RANKS, events)
    for first, plane, in_plane in host.trace.parts_of(events):
        if plane.has_stat(vocabulary.HLO_OP):
            group_of_event[in_plane] = _replica_groups(host, plane, events[in_plane] - first)
    instructions = (hlo_text.parse(host.trace.name(event)) for event in events.tolist())
    named_groups = (instruction.groups if instruction else "" for instruction in instructions)
    return [str(group) or of_name for group, of_name in zip(group_of_event, named_groups, strict=True)]


def _replica_groups(host: Host, plane: Plane, rows: Array) -> list[str]:
    """The replica groups of events that name their instruction, as its program has them; ``rows`` are of the plane."""
    codes, names = plane.stat(vocabulary.HLO_OP).codes_by_owner(len(plane.events))
    programs = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), -1)[rows].tolist()
    group_of_instruction: dict[tuple[int, int], str] = {}
    for key in {*zip(programs, codes[rows].tolist(), strict=True)}:
        program, code = key
        module = host.modules.get(program)
        row = module.row(names[code]) if module and code >= 0 else -1
        group_of_instruction[key] = _device_groups(module, row) if module and row >= 0 else ""
    return [group_of_instruction[key] for key in zip(programs, codes[rows].tolist(), strict=True)]


def _device_groups(module: Module, row: int) -> str:
    """An instruction's replica groups, with devices in place of replicas and partitions where they differ."""
    text, devices = module.replica_groups.get(row, ""), module.device_assignment
    logical_groups = hlo_text.replica_groups(text)
    if not logical_groups or not devices.size:
        return text
    if module.global_ids[row]:
        tables = [devices.reshape(-1, 1)]
    elif module.channels[row] <= 0:
        tables = [*devices.T[..., None]]
    elif module.opcodes[row].startswith(_OF_ALL_PARTITIONS):
        tables = [devices]
    else:
        tables = [*devices[..., None]]
    if max(map(max, logical_groups)) >= len(tables[0]):
        return text
    device_groups = tuple(
        tuple(table[list(group)].reshape(-1).tolist()) for table in tables for group in logical_groups
    )
    # As XLA writes them: {{0,1},{2,3}}.
    texts = (f"{{{','.join(map(str, group))}}}" for group in device_groups)
    return text if device_groups == logical_groups else f"{{{','.join(texts)}}}"
