"""Captures for strangers: what is known to be harmless stays, all other text becomes pseudonyms.

What stays is listed: fields of the messages (`_SPACE`, `_PROGRAM`, `_OPTIONS`), stats whose texts are names of ops,
kernels and shapes (`_TEXTS`), and the words of these names (`vocabulary`). Other stats' texts are replaced as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..formats import xspace
from ..formats.columns.codes import combine
from ..formats.columns.lookup import SECRET, first_equal
from ..formats.columns.pool import payload
from ..formats.columns.tables import Plane, XSpace
from ..formats.xspace import field_numbers, wire, wire_tables
from ..formats.xspace.rewrite import (
    DOUBLE,
    FIELD,
    KEY,
    NUMBER,
    OUTERMOST,
    OWNER,
    REFERENCE,
    START,
    TEXT,
    Schema,
    field_code,
    field_table,
    rewritten_message,
    text_fields,
)
from ..runtime import cancellation
from ..runtime.arrays import Array
from ..runtime.problems import Problem, ProblemError
from ..runtime.regex import regex
from .pseudonyms import Pseudonyms
from .text_cleaner import TextCleaner

_SPACE: Schema = {
    "space": {1: "plane", 2: TEXT, 3: TEXT, 4: TEXT},
    "plane": {1: NUMBER, 2: TEXT, 3: "line", 4: "event_entry", 5: "stat_entry", 6: "stat"},
    "line": {1: NUMBER, 2: TEXT, 3: NUMBER, 4: "event", 9: NUMBER, 10: NUMBER, 11: TEXT},
    "event": {1: NUMBER, 2: NUMBER, 3: NUMBER, 4: "stat", 5: NUMBER},
    "stat": {1: KEY, 2: DOUBLE, 3: NUMBER, 4: NUMBER, 5: TEXT, 6: TEXT, 7: REFERENCE},
    "event_entry": {1: NUMBER, 2: "event_metadata"},
    "event_metadata": {1: NUMBER, 2: TEXT, 4: TEXT, 5: "stat"},
    "stat_entry": {1: KEY, 2: "stat_metadata"},
    "stat_metadata": {1: NUMBER, 2: TEXT},
}
_HOSTNAME, _STAT_NAME = field_code(_SPACE, "space", 4), field_code(_SPACE, "stat_metadata", 2)
_THREAD_NAME = field_code(_SPACE, "line", 2)
_STAT_TEXT, _STAT_BYTES, _STAT_REFERENCE = (field_code(_SPACE, "stat", number) for number in (5, 6, 7))

_PROGRAM: Schema = {
    "proto": {1: "module"},
    "module": {1: TEXT, 3: "computation"},
    "computation": {2: "instruction"},
    "instruction": {1: TEXT, 2: TEXT, 7: "metadata", 11: TEXT},
    "metadata": {1: TEXT, 2: TEXT},
}
"""Fields of XLA programs that stay: what `xspace.hlo` reads, without source lines."""
_OPTIONS: Schema = {"options": dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8, 9), NUMBER)}

_TEXTS = frozenset(
    """
    _ipl_stage_cat _ipl_stage_name algorithm allocator_name annotation autotune autotune_mode context_id data_type
    deduplicated_name deterministic device device_type_string device_vendor dims drop_remainder dtype eager_op edge_name
    equation from func_name gpu_device_name graph_type hlo_category hlo_module hlo_op kernel_annotation kernel_details
    kernel_name kernel_type layout level long_name memcpy_details memory_residency memset_details module_name name
    nvtx_range parallel_copy parallelism ram_usage_megabytes region_type shape shape_with_layout shapes size step_name
    strides tensor_layout tensor_shapes tf_function_call tf_op to type types use_unbounded_threadpool warm_start
    """.split()
) | {"level 0"}
"""Stats whose texts are names of ops, kernels and functions, shapes, or one of few words."""
_UNREADABLE = frozenset({"damaged_capture", "too_many_planes", "too_many_lines"})
_CLEAN_TEXT, _REPLACE_TEXT, _USE_ALIAS, _EMPTY_TEXT, _CLEAN_PROGRAM, _CLEAN_OPTIONS, _CLEAN_THREAD_NAME = range(7)
"""What is done with a text."""
_ACTION_BY_BLOB = {"Hlo Proto": _CLEAN_PROGRAM, "HLO Proto": _CLEAN_PROGRAM, "profile_options": _CLEAN_OPTIONS}

_HOME = rb"(?:/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+|/afs/[\w.]+/user/(?:\w/)*)([\w.@-]{1,64})"
_USER = regex(_HOME)
_ADDRESS = regex(rb"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")
_SOURCE = regex(r"(?:^|_)source(?:_|$)|stack_(?:trace|frame)|hlo_text|command_line|working_dir", re.IGNORECASE)
"""Names of stats that hold source code, or where it lies."""


def redacted(data: Any, host: str, aliases: Mapping[str, str], pseudonyms: Pseudonyms) -> bytes:
    """The XSpace in ``data``, of the host of that name, as strangers may see it.

    Names of hosts are replaced as ``aliases`` says, other words by their pseudonyms.
    Raises `ProblemError` (422) for a damaged capture, of which nobody can say what it holds.
    """
    space = xspace.decode(data, host)
    buf = np.frombuffer(data, np.uint8)
    fields = field_table(_SPACE)
    text_rows, damage = text_fields(buf, fields)
    if damage != wire.NO_DAMAGE or any(problem.code in _UNREADABLE for problem in space.problems):
        problem = Problem("damaged_capture", "A damaged capture cannot be redacted.", "Capture again.", host)
        raise ProblemError(problem, 422)
    alias = aliases[host]
    cleaner = text_cleaner(aliases, alias, space.hostnames, pseudonyms)
    actions = _actions(buf, space, text_rows, cleaner)
    replacers: dict[int, Callable[[bytes], bytes]] = {
        _CLEAN_TEXT: lambda text: cleaner.clean(text.decode("utf-8", "replace")).encode(),
        _REPLACE_TEXT: lambda text: cleaner.name(text.decode("utf-8", "replace"), "text").encode() if text else b"",
        _USE_ALIAS: lambda text: alias.encode(),
        _EMPTY_TEXT: lambda text: b"",
        _CLEAN_PROGRAM: lambda text: _cleaned_message(text, _PROGRAM, cleaner),
        _CLEAN_OPTIONS: lambda text: _cleaned_message(text, _OPTIONS, cleaner),
        _CLEAN_THREAD_NAME: lambda text: cleaner.clean(text.decode("utf-8", "replace"), "thread").encode(),
    }
    return rewritten_message(buf, fields, *_replacements(buf, text_rows, actions, replacers))


def text_cleaner(
    aliases: Mapping[str, str], alias: str, own_names: Iterable[str], pseudonyms: Pseudonyms
) -> TextCleaner:
    """For one host's capture; ``aliases`` are those of all hosts, ``own_names`` what the capture calls its machine."""
    host_aliases = {variant: host_alias for name, host_alias in aliases.items() for variant in _variants(name)}
    own_aliases = {variant: alias for name in own_names for variant in _variants(name)}
    return TextCleaner(pseudonyms, own_aliases | host_aliases)


def _variants(host: str) -> set[str]:
    """A host's name, with and without its domain and the port that file names add."""
    return {host, re.split(r"[.:_]", host)[0], re.sub(r"[:_]\d+$", "", host)} - {""}


def _actions(buf: Array, space: XSpace, text_rows: Array, cleaner: TextCleaner) -> Array:
    """int64[n]: what is done with each text."""
    field = text_rows[:, FIELD]
    actions = np.full(len(text_rows), _CLEAN_TEXT)
    actions[field == _HOSTNAME] = _USE_ALIAS
    actions[field == _THREAD_NAME] = _CLEAN_THREAD_NAME
    stats = np.flatnonzero(np.isin(field, (_STAT_TEXT, _STAT_BYTES, _STAT_REFERENCE)))
    planes = _planes(buf, space)
    example, code = combine(text_rows[stats, OUTERMOST], text_rows[stats, OWNER])
    names = [
        _stat_name(planes[ordinal], key) for ordinal, key in text_rows[stats[example]][:, [OUTERMOST, OWNER]].tolist()
    ]
    is_allowed = np.array([name in _TEXTS or name.endswith("_version") for name in names], bool)[code]
    actions[stats[~is_allowed]] = _REPLACE_TEXT
    blob_actions = np.array([_ACTION_BY_BLOB.get(name, _EMPTY_TEXT) for name in names], np.int64)
    is_bytes = field[stats] == _STAT_BYTES
    actions[stats[is_bytes]] = blob_actions[code[is_bytes]]

    references = stats[(field[stats] == _STAT_REFERENCE) & ~is_allowed]
    example, _ = combine(text_rows[references, OUTERMOST], text_rows[references, START])
    secret_stats = set(map(tuple, text_rows[references[example]][:, [OUTERMOST, START]].tolist()))
    for row in np.flatnonzero(field == _STAT_NAME).tolist() if secret_stats else ():
        ordinal, key = text_rows[row, [OUTERMOST, OWNER]].tolist()
        if (ordinal, key) in secret_stats and not cleaner.knows(_stat_name(planes[ordinal], key)):
            actions[row] = _REPLACE_TEXT
    return actions


def _planes(buf: Array, space: XSpace) -> dict[int, Plane]:
    """The planes by their ordinal among the fields of the whole."""
    fields, _ = wire.fields(buf, np.int64(0), np.int64(len(buf)))
    kinds = fields[:, [wire_tables.NUMBER, wire_tables.WIRE_TYPE]]
    is_plane = (kinds == (field_numbers.SPACE_PLANES, wire.LENGTH)).all(axis=1)
    return dict(zip(np.flatnonzero(is_plane).tolist(), space.planes, strict=True))


def _stat_name(plane: Plane, key: int) -> str:
    return plane.stat_metadata.text.all[plane.stat_metadata.rows.get(key, 0)]


def _replacements(
    buf: Array, text_rows: Array, actions: Array, replacers: Mapping[int, Callable[[bytes], bytes]]
) -> tuple[Array, list[bytes]]:
    """(int64[n], texts): which new text each old one gets; each distinct one is worked out once."""
    rows = np.flatnonzero(text_rows[:, FIELD] != _STAT_REFERENCE)
    starts = first_equal(buf, text_rows[rows, START], SECRET)
    example, code = combine(starts, actions[rows])
    text_index, texts = np.zeros(len(text_rows), np.int64), []
    text_index[rows] = code
    for start, action in zip(starts[example].tolist(), actions[rows[example]].tolist(), strict=True):
        cancellation.check()
        begin, end = payload(buf, np.int64(start))
        texts.append(replacers[action](buf[begin:end].tobytes()))
    return text_index, texts


def _cleaned_message(blob: bytes, schema: Schema, cleaner: TextCleaner) -> bytes:
    """A protobuf message within a stat with all of its texts cleaned; empty where it is damaged."""
    buf, fields = np.frombuffer(blob, np.uint8), field_table(schema)
    text_rows, damage = text_fields(buf, fields)
    if damage != wire.NO_DAMAGE:
        return b""
    replacers = {0: lambda text: cleaner.clean(text.decode("utf-8", "replace"), "op").encode()}
    return rewritten_message(buf, fields, *_replacements(buf, text_rows, np.zeros(len(text_rows), np.int64), replacers))


def users_in(data: Any) -> list[str]:
    """Names of users, as paths anywhere in a capture's bytes tell them, sorted."""
    return sorted({user.decode("utf-8", "replace") for user in _USER.findall(data)})


def addresses_in(data: Any) -> list[str]:
    """IPv4 addresses anywhere in a capture's bytes, sorted."""
    return sorted({address.decode() for address in _ADDRESS.findall(data)})


def source_stat_count(plane: Plane) -> int:
    """How many stats of a plane hold source code, or where it lies."""
    source_rows = [row for row, name in enumerate(plane.stat_metadata.text.all) if _SOURCE.search(name)]
    owners = (plane.stats, plane.metadata.stats, plane.events.stats)
    return sum(int(np.isin(stats.name, source_rows).sum()) for stats in owners)
