"""Lanes that a capture lacks, made from a device's own record: steps, XLA programs, name scopes, framework ops, source.

Events that follow one another on a stream and come from the same place become one slice; nothing bridges a change of
step or of any level above, nor a pause in which the device waits longer than it worked before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..formats.columns import Plane, vocabulary
from ..formats.columns.gather import gather
from ..runtime.arrays import Array
from ..runtime.records import NamedTuple
from .framework import op_names_of
from .host import Host
from .names import op_names
from .xla_instructions import instructions

_MOST_SCOPES = 256
"""Levels of scopes that are shown at most: names of programs have some ten, hostile ones thousands."""
_USUAL_PAUSE_PS = 100_000_000
"""A pause of 100 µs: gaps up to that are usual between kernels that a host launches one by one."""


class Spans(NamedTuple):
    """Slices sorted by begin, outer before inner."""

    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    name_of: Array
    """int64[n]: index in ``names``."""
    names: Sequence[str]


class _Origin(NamedTuple):
    """Where an event on a device comes from, as paths from outside to inside; empty where it is not known."""

    module: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    framework: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


class DerivedLane(NamedTuple):
    """A lane that can be made for a device."""

    key: str
    """Unique on the device's plane."""
    name: str
    kind: str
    """As in `lanes`."""
    spans: Spans


class _LaneRule(NamedTuple):
    """A lane that is made of the origins of a stream's events; as `DerivedLane` has it."""

    key: str
    name: str
    kind: str
    path_of: Callable[[_Origin], tuple[str, ...]]


_LANE_RULES = (
    _LaneRule("modules", vocabulary.XLA_MODULES, "modules", lambda origin: origin.module),
    _LaneRule("ops", vocabulary.XLA_OPS, "ops", lambda origin: origin.ops),
    _LaneRule("framework", vocabulary.FRAMEWORK_OPS, "ops", lambda origin: origin.framework),
    _LaneRule("scopes", "Framework Name Scope", "scope", lambda origin: origin.scopes),
    _LaneRule("source", "Source", "scope", lambda origin: origin.source),
)


def lanes(host: Host, plane: Plane) -> Iterator[DerivedLane]:
    """The lanes that can be made for a device."""
    steps = _step_spans(host, plane)
    if len(steps.begin):
        yield DerivedLane("steps", vocabulary.STEPS, "steps", steps)
    lines = host.stream_lines(plane).tolist()
    if not _is_gpu(plane):
        # Of other devices only this line says where its events come from.
        lines = [line for line in lines if plane.lines.name[line] == vocabulary.XLA_OPS]
    is_work = np.zeros(len(plane.events), bool)
    for name in ("kernel_details", "cuda_graph_exec_id", "hlo_op", "tf_op"):
        is_work[plane.stat(name).owner] = True
    if not _is_gpu(plane):
        is_work[:] = True
    lines = [line for line in lines if is_work[plane.lines.events(line)].any()]
    origin_of, origins = _origins(host, plane)
    group = host.with_steps().grouped_steps.group_of[host.trace.slice_of(plane)]
    for line in lines:
        events = plane.lines.events(line)
        rows = np.flatnonzero(is_work[events]) + events.start
        suffix = f" - from #{int(plane.lines.id[line])}" if len(lines) > 1 else ""
        for rule in _LANE_RULES:
            if rule.key in ("modules", "ops") and not _is_gpu(plane):
                continue
            paths = [rule.path_of(origin) for origin in origins]
            spans = _spans_of_paths(plane, rows, origin_of[rows], _with_group_before(group[rows]), paths)
            if len(spans.begin):
                yield DerivedLane(f"{rule.key}.{line}", rule.name + suffix, rule.kind, spans)


def _is_gpu(plane: Plane) -> bool:
    return plane.name.startswith(vocabulary.GPU)


def _step_spans(host: Host, plane: Plane) -> Spans:
    """From the first to the last event of each step on the device."""
    steps, rows = host.with_steps().grouped_steps, host.trace.slice_of(plane)
    group = steps.group_of[rows]
    size = int(max(group.max(initial=-1), steps.group.max(initial=-1))) + 1
    begin, end = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    in_step = group >= 0
    np.minimum.at(begin, group[in_step], host.trace.begin[rows][in_step])
    np.maximum.at(end, group[in_step], host.trace.end[rows][in_step])
    with_work = np.flatnonzero(begin[steps.group] <= end[steps.group])
    groups = steps.group[with_work]
    order = np.argsort(begin[groups], kind="stable")
    with_work, groups = with_work[order], groups[order]
    return Spans(begin[groups], end[groups], with_work, steps.name)


def _text_codes(plane: Plane, stat: str) -> tuple[Array, list[str]]:
    """(int64[events], strings): a text stat of each event, or of its metadata; the last string is empty."""
    column = plane.metadata_stat(stat)
    codes, strings = column.codes
    code_of_name = np.full(len(plane.metadata), len(strings), np.int64)
    code_of_name[column.owner] = codes
    answer = gather(code_of_name, plane.events.name)
    column = plane.stat(stat)
    event_codes, event_strings = column.codes
    answer[answer == len(strings)] = len(strings) + len(event_strings)
    answer[column.owner] = event_codes + len(strings)
    return answer, [*strings, *event_strings, ""]


def _origins(host: Host, plane: Plane) -> tuple[Array, list[_Origin]]:
    """(int64[events], distinct origins) of a device's events."""
    stats = (vocabulary.HLO_MODULE, vocabulary.HLO_OP, vocabulary.TF_OP, vocabulary.LEVEL_0, "source")
    columns = [_text_codes(plane, stat) for stat in stats]
    if _is_gpu(plane):
        codes, texts = instructions(host, plane)
        columns[1] = np.where(codes < 0, len(texts), codes), [*texts, ""]
    else:
        columns[1] = plane.events.name.astype(np.int64), plane.display_names
    programs = gather(
        plane.metadata_stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.metadata), -1), plane.events.name
    )
    program_column = plane.stat(vocabulary.PROGRAM_ID)
    programs[program_column.owner] = program_column.numbers
    distinct_programs, program_of = np.unique(programs, return_inverse=True)
    if not len(programs):
        return programs, []
    table = np.stack([*(codes for codes, _ in columns), program_of.reshape(-1)], axis=1)
    distinct_rows, origin_of = np.unique(table, axis=0, return_inverse=True)
    origins = []
    for *codes, program in distinct_rows.tolist():
        texts = [strings[code] for code, (_, strings) in zip(codes, columns, strict=True)]
        origins.append(_origin(host, texts, int(distinct_programs[program])))
    return origin_of.reshape(-1), origins


def _origin(host: Host, texts: Sequence[str], program: int) -> _Origin:
    module, hlo_path, framework, level_0, source = texts
    ops = tuple(hlo_path.split("::")) if hlo_path else ()
    loaded_program = host.modules.get(program)
    instruction = loaded_program.instruction(ops[-1]) if loaded_program and ops else None
    if instruction:
        framework = instruction.provenance or framework or level_0
        source = instruction.source or source
    elif not framework:
        framework = level_0.partition("#")[0]
    op = op_names_of(host)(framework)
    is_framework_op = bool(framework) and op.is_known and op.category != op_names.MEMCPY and op.name != "XlaModule"
    label = f"{module}({program})" if module and program >= 0 else module
    return _Origin(
        (label,) if label else (),
        ops,
        tuple(op.name.split("/")[:-1][:_MOST_SCOPES]) if is_framework_op else (),
        (op.type or op.name,) if is_framework_op else (),
        (source,) if source else (),
    )


def _with_group_before(group: Array) -> Array:
    """Groups of a stream's events; those of none get the group of the event before."""
    last = np.maximum.accumulate(np.where(group >= 0, np.arange(len(group)), 0))
    return group[last]


def _is_pause(begin: Array, end: Array) -> Array:
    """bool[n - 1]: between which of a stream's events it pauses: longer than usual, and than it worked before."""
    if len(begin) < 2:
        return np.zeros(max(len(begin) - 1, 0), bool)
    gap = begin[1:] - np.maximum.accumulate(end)[:-1]
    long_gaps = np.flatnonzero(gap > _USUAL_PAUSE_PS)
    work_ps = np.add.reduceat(end - begin, np.append(0, long_gaps + 1))[:-1]
    is_pause = np.zeros(len(gap), bool)
    is_pause[long_gaps[gap[long_gaps] > work_ps]] = True
    return is_pause


def _spans_of_paths(
    plane: Plane, rows: Array, origin_of: Array, group: Array, paths: Sequence[tuple[str, ...]]
) -> Spans:
    """Slices of all levels of the paths of one stream's events."""
    names: dict[str, int] = {}
    prefixes: dict[tuple[str, ...], int] = {}
    begin, end = plane.events.begin[rows], plane.events.end[rows]
    is_pause = _is_pause(begin, end)
    columns_of_levels = []
    for level in range(max((len(path) for path in paths), default=0)):
        prefix_of, name_of = np.full(len(paths), -1), np.full(len(paths), -1)
        for i, path in enumerate(paths):
            if len(path) > level:
                prefix_of[i] = prefixes.setdefault(path[: level + 1], len(prefixes))
                name_of[i] = names.setdefault(path[level], len(names))
        prefix = prefix_of[origin_of]
        begins_span = np.append(True, (prefix[1:] != prefix[:-1]) | (group[1:] != group[:-1]) | is_pause)
        first = np.flatnonzero(begins_span)
        ends = np.maximum.reduceat(end, first)
        has_name = prefix[first] >= 0
        first, ends = first[has_name], ends[has_name]
        columns_of_levels.append((begin[first], ends, name_of[origin_of[first]], np.full(len(first), level)))
    if not columns_of_levels:
        empty = np.empty(0, np.int64)
        return Spans(empty, empty, empty, [])
    begins, ends, name_ids, levels = (np.concatenate(column) for column in zip(*columns_of_levels, strict=True))
    order = np.lexsort((levels, -ends, begins))
    return Spans(begins[order], ends[order], name_ids[order], list(names))
