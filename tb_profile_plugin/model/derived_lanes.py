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


class _DerivedLane(NamedTuple):
    """A lane that is made of the origins of a stream's events."""

    key: str
    name: str
    kind: str
    """As in `lanes`."""
    path_of: Callable[[_Origin], tuple[str, ...]]


_DERIVED_LANES = (
    _DerivedLane("modules", vocabulary.XLA_MODULES, "modules", lambda origin: origin.module),
    _DerivedLane("ops", vocabulary.XLA_OPS, "ops", lambda origin: origin.ops),
    _DerivedLane("framework", vocabulary.FRAMEWORK_OPS, "ops", lambda origin: origin.framework),
    _DerivedLane("scopes", "Framework Name Scope", "scope", lambda origin: origin.scopes),
    _DerivedLane("source", "Source", "scope", lambda origin: origin.source),
)


def lanes(host: Host, plane: Plane) -> Iterator[tuple[str, str, str, Spans]]:
    """(key, name, kind, slices) of each lane that can be made for a device; keys are unique on its plane."""
    steps = _step_spans(host, plane)
    if len(steps.begin):
        yield "steps", vocabulary.STEPS, "steps", steps
    lines = [line for line in host.stream_lines(plane).tolist() if _states_origins(plane, plane.lines.name[line])]
    kernels = np.zeros(len(plane.events), bool)
    for name in ("kernel_details", "cuda_graph_exec_id", "hlo_op", "tf_op"):
        kernels[plane.stat(name).owner] = True
    if not _is_gpu(plane):
        kernels[:] = True
    lines = [line for line in lines if kernels[plane.lines.events(line)].any()]
    origin_of, origins = _origins(host, plane)
    group = host.with_steps().grouped_steps.of_event[host.trace.rows(plane)]
    for line in lines:
        part = plane.lines.events(line)
        rows = np.flatnonzero(kernels[part]) + part.start
        suffix = f" - from #{int(plane.lines.id[line])}" if len(lines) > 1 else ""
        for lane in _DERIVED_LANES:
            if lane.key in ("modules", "ops") and not _is_gpu(plane):
                continue
            paths = [lane.path_of(origin) for origin in origins]
            spans = _spans_of_paths(plane, rows, origin_of[rows], _with_group_before(group[rows]), paths)
            if len(spans.begin):
                yield f"{lane.key}.{line}", lane.name + suffix, lane.kind, spans


def _is_gpu(plane: Plane) -> bool:
    return plane.name.startswith(vocabulary.GPU)


def _states_origins(plane: Plane, line: str) -> bool:
    """Every stream of a GPU; of other devices only the line of XLA's ops, which says where each one comes from."""
    return _is_gpu(plane) or line == vocabulary.XLA_OPS


def _step_spans(host: Host, plane: Plane) -> Spans:
    """From the first to the last event of each step on the device."""
    steps, rows = host.with_steps().grouped_steps, host.trace.rows(plane)
    group = steps.of_event[rows]
    size = int(max(group.max(initial=-1), steps.group.max(initial=-1))) + 1
    begin, end = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    in_step = group >= 0
    np.minimum.at(begin, group[in_step], host.trace.begin[rows][in_step])
    np.maximum.at(end, group[in_step], host.trace.end[rows][in_step])
    used = np.flatnonzero(begin[steps.group] <= end[steps.group])
    groups = steps.group[used]
    order = np.argsort(begin[groups], kind="stable")
    used, groups = used[order], groups[order]
    return Spans(begin[groups], end[groups], used, steps.name)


def _text_codes(plane: Plane, stat: str) -> tuple[Array, list[str]]:
    """(int64[events], strings): a text stat of each event, or of its metadata; the last string is empty."""
    column = plane.metadata_stat(stat)
    codes, strings = column.codes
    of_name = np.full(len(plane.metadata), len(strings), np.int64)
    of_name[column.owner] = codes
    answer = gather(of_name, plane.events.name)
    column = plane.stat(stat)
    own_codes, own = column.codes
    answer[answer == len(strings)] = len(strings) + len(own)
    answer[column.owner] = own_codes + len(strings)
    return answer, [*strings, *own, ""]


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
    own = plane.stat(vocabulary.PROGRAM_ID)
    programs[own.owner] = own.numbers
    distinct_programs, program_of = np.unique(programs, return_inverse=True)
    if not len(programs):
        return programs, []
    table = np.stack([*(codes for codes, _ in columns), program_of.reshape(-1)], axis=1)
    distinct, origin_of = np.unique(table, axis=0, return_inverse=True)
    origins = []
    for *codes, program in distinct.tolist():
        texts = [strings[code] for code, (_, strings) in zip(codes, columns, strict=True)]
        origins.append(_origin(host, texts, int(distinct_programs[program])))
    return origin_of.reshape(-1), origins


def _origin(host: Host, texts: Sequence[str], program: int) -> _Origin:
    module, hlo, framework, level, source = texts
    ops = tuple(hlo.split("::")) if hlo else ()
    loaded_program = host.modules.get(program)
    instruction = loaded_program.instruction(ops[-1]) if loaded_program and ops else None
    if instruction:
        framework = instruction.provenance or framework or level
        source = instruction.source or source
    elif not framework:
        framework = level.partition("#")[0]
    op = op_names_of(host)(framework)
    named = bool(framework) and op.is_known and op.category != op_names.MEMCPY and op.name != "XlaModule"
    label = f"{module}({program})" if module and program >= 0 else module
    return _Origin(
        (label,) if label else (),
        ops,
        tuple(op.name.split("/")[:-1][:_MOST_SCOPES]) if named else (),
        (op.type or op.name,) if named else (),
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
    long = np.flatnonzero(gap > _USUAL_PAUSE_PS)
    worked = np.add.reduceat(end - begin, np.append(0, long + 1))[:-1]
    paused = np.zeros(len(gap), bool)
    paused[long[gap[long] > worked]] = True
    return paused


def _spans_of_paths(
    plane: Plane, rows: Array, origin_of: Array, group: Array, paths: Sequence[tuple[str, ...]]
) -> Spans:
    """Slices of all levels of the paths of one stream's events."""
    names: dict[str, int] = {}
    prefixes: dict[tuple[str, ...], int] = {}
    begin, end = plane.events.begin[rows], plane.events.end[rows]
    paused = _is_pause(begin, end)
    columns_of_levels = []
    for level in range(max((len(path) for path in paths), default=0)):
        prefix_of, name_of = np.full(len(paths), -1), np.full(len(paths), -1)
        for i, path in enumerate(paths):
            if len(path) > level:
                prefix_of[i] = prefixes.setdefault(path[: level + 1], len(prefixes))
                name_of[i] = names.setdefault(path[level], len(names))
        prefix = prefix_of[origin_of]
        change = np.append(True, (prefix[1:] != prefix[:-1]) | (group[1:] != group[:-1]) | paused)
        first = np.flatnonzero(change)
        ends = np.maximum.reduceat(end, first)
        used = prefix[first] >= 0
        first, ends = first[used], ends[used]
        columns_of_levels.append((begin[first], ends, name_of[origin_of[first]], np.full(len(first), level)))
    if not columns_of_levels:
        none = np.empty(0, np.int64)
        return Spans(none, none, none, [])
    begins, ends, name_ids, levels = (np.concatenate(column) for column in zip(*columns_of_levels, strict=True))
    order = np.lexsort((levels, -ends, begins))
    return Spans(begins[order], ends[order], name_ids[order], list(names))
