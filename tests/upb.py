"""Columns of an XSpace by protobuf's own parser: what the decoder's columns must equal, and the speed to beat."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tb_profile_plugin.formats.columns import kinds
from tb_profile_plugin.runtime.protos import message

Array = np.ndarray[Any, Any]

KINDS = {
    "double_value": kinds.DOUBLE,
    "uint64_value": kinds.UINT,
    "int64_value": kinds.INT,
    "str_value": kinds.TEXT,
    "bytes_value": kinds.BYTES,
    "ref_value": kinds.REF,
    None: 0,
}


@dataclass
class Stats:
    """Stats in file order; ``text`` holds the payloads of those of kind text and bytes, by row."""

    first: Array
    key: Array
    kind: Array
    value: Array
    text: dict[int, bytes]


@dataclass
class Plane:
    """One plane; keys of metadata instead of rows."""

    id: int
    name: str
    line_id: Array
    display_id: Array
    line_name: list[str]
    line_begin: Array
    line: Array
    key: Array
    begin: Array
    duration: Array
    occurrences: Array
    stats: Stats
    plane_stats: Stats
    event_metadata: dict[int, tuple[str, str, bytes]]
    metadata_stats: dict[int, Stats]
    stat_metadata: dict[int, str]


def planes(data: bytes) -> list[Plane]:
    """The columns of each plane; times count from 0."""
    space = message("tensorflow.profiler.XSpace").FromString(data)
    return [_plane(plane) for plane in space.planes]


def _plane(plane: Any) -> Plane:
    line, key, begin, duration, occurrences, owners = [], [], [], [], [], []
    for number, line_proto in enumerate(plane.lines):
        base = line_proto.timestamp_ns * 1000
        for event in line_proto.events:
            line.append(number)
            key.append(event.metadata_id)
            begin.append(base + event.offset_ps)
            duration.append(event.duration_ps)
            occurrences.append(event.num_occurrences)
            owners.append(event.stats)
    metadata = plane.event_metadata
    return Plane(
        plane.id,
        plane.name,
        np.array([line_proto.id for line_proto in plane.lines], np.int64),
        np.array([line_proto.display_id for line_proto in plane.lines], np.int64),
        [line_proto.display_name or line_proto.name for line_proto in plane.lines],
        np.array([line_proto.timestamp_ns * 1000 for line_proto in plane.lines], np.int64),
        np.array(line, np.int32),
        np.array(key, np.int64),
        np.array(begin, np.int64),
        np.array(duration, np.int64),
        np.array(occurrences, np.int64),
        _stats(owners),
        _stats([plane.stats]),
        {key: (metadata[key].name, metadata[key].display_name, metadata[key].metadata) for key in metadata},
        {key: _stats([metadata[key].stats]) for key in metadata},
        {key: plane.stat_metadata[key].name for key in plane.stat_metadata},
    )


def _stats(owners: Any) -> Stats:
    key: list[int] = []
    kind: list[int] = []
    value: list[int] = []
    text: dict[int, bytes] = {}
    first = [0]
    for stats in owners:
        for stat in stats:
            field = stat.WhichOneof("value")
            content: Any = getattr(stat, field) if field else 0
            if field == "str_value":
                text[len(key)] = content.encode()
                content = 0
            elif field == "bytes_value":
                text[len(key)] = content
                content = 0
            elif field == "double_value":
                content = int(np.float64(content).view(np.int64))
            elif content >= 1 << 63:
                content -= 1 << 64
            key.append(stat.metadata_id)
            kind.append(KINDS[field])
            value.append(content)
        first.append(len(key))
    columns = np.array(first, np.int64), np.array(key, np.int64), np.array(kind, np.uint8), np.array(value, np.int64)
    return Stats(*columns, text)
