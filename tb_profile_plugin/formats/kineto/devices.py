"""The planes of devices: their streams, what ran there and how it was launched, and what is known of the devices."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...runtime.arrays import Array, distinct
from ...runtime.regex import regex
from ..columns import kinds, vocabulary
from ..columns.codes import combine
from . import categories
from .drafts import Draft, Stat, empty_draft
from .record import distinct_codes
from .trace_events import TraceEvents

_DERIVED_LINE_ID = vocabulary.FIRST_DERIVED_LINE + 300
"""The first of 80 ids for lines that only tell about streams, among those that XSpace reserves for such lines."""
_DERIVED_NAMES = {1: "Annotations", 2: "Synchronisation", 3: "Counted kernels"}
"""Names of such lines, by the kind that `_derived_kinds` gives."""
_NO_STREAM = 2**32 - 1
"""What CUPTI says, some as -1, of what waits for a whole device: ``CUPTI_SYNCHRONIZATION_INVALID_VALUE``."""
_COPY_NAME = regex(r"Memcpy (\w)to(\w)|Copy(\w)\w+To(\w)")
_MEMSET = "Memset"
_MEMORY_KINDS = regex(r"\((\w+) -> (\w+)\)")
_LAUNCH_ARGUMENTS = ("registers per thread", "shared memory", "grid", "block", "est. achieved occupancy %")


def drafts(trace: TraceEvents) -> list[Draft]:
    """One for each device that recorded something; of a capture where none did, one for each that it names."""
    rows = trace.with_role(categories.WORK, categories.DERIVED)
    device = trace.integers(rows, "device", default=-1)
    device_of_pid = _last_number(trace, trace.record.pid)
    device = np.where(device >= 0, device, device_of_pid[trace.record.pid[rows]])
    drafts = [_draft(trace, rows[device == number], int(number)) for number in distinct(device).tolist()]
    stated = trace.record.header.get("deviceProperties")
    properties = [entry for entry in stated if isinstance(entry, dict)] if isinstance(stated, list) else []
    if not drafts:
        drafts = [empty_draft(f"{vocabulary.GPU}{number}") for number in range(len(properties))]
    for draft in drafts:
        number = draft.name.removeprefix(vocabulary.GPU)
        matching = [entry for entry in properties if str(entry.get("id")) == number]
        # Where only some devices are visible to a process, they are numbered anew.
        matching = matching or (properties if len(properties) == 1 else [])
        draft.facts |= _facts(matching[0]) if matching else {}
    return drafts


def _last_number(trace: TraceEvents, codes: Array) -> Array:
    """int64[texts]: the number that ends each text, e.g. 7 of ``stream 7``, for those that are used; 0 elsewhere."""
    answer = np.zeros(len(trace.record.pool_offset), np.int64)
    for code in distinct_codes(codes).tolist():
        match = re.search(r"-?\d{1,15}$", trace.text_of(code))
        answer[code] = int(match[0]) if match else 0
    return answer


def _draft(trace: TraceEvents, rows: Array, number: int) -> Draft:
    """The plane of the device of that number, whose events are in these rows (int64[n])."""
    record = trace.record
    stream = trace.integers(rows, "stream", default=-(1 << 62))
    stream = np.where(stream > -(1 << 62), stream, _last_number(trace, record.tid)[record.tid[rows]])
    derived_kind = np.where(trace.role[rows] == categories.WORK, 0, _derived_kinds(trace)[record.category[rows]])
    example, line = combine(derived_kind, stream)
    order = np.lexsort((stream[example], derived_kind[example]))
    line = np.argsort(order)[line]
    lines: list[tuple[int, str]] = []
    for i, row in enumerate(example[order].tolist()):
        stream_id = int(stream[row])
        if derived_kind[row]:
            stream_suffix = f" #{stream_id}" if 0 <= stream_id < _NO_STREAM else ""
            lines.append((_DERIVED_LINE_ID + i % 80, _DERIVED_NAMES[derived_kind[row]] + stream_suffix))
        else:
            lines.append((stream_id, f"Stream #{stream_id}({','.join(_work_kinds(trace, rows[line == i]))})"))
    draft = trace.draft(f"{vocabulary.GPU}{number}", lines, rows, line)
    draft.stats += [*_kernel_details(trace, draft), *_copy_details(trace, draft)]
    return draft


def _derived_kinds(trace: TraceEvents) -> Array:
    """int8[texts]: the key of `_DERIVED_NAMES` for each category of what only tells about streams."""
    answer = np.full(len(trace.record.pool_offset), 2, np.int8)
    for code in distinct_codes(trace.record.category).tolist():
        category = trace.text_of(code)
        answer[code] = 1 if "annotation" in category else 3 if category == vocabulary.TORCH_COUNTER_RANGE else 2
    return answer


def _work_kinds(trace: TraceEvents, rows: Array) -> list[str]:
    """The kinds of work of a stream's events, as the tracers of CUPTI and ROCm write them into its name."""
    labels = set()
    for code in distinct_codes(trace.record.name[rows]).tolist():
        name = trace.text_of(code)
        match = _COPY_NAME.match(name)
        parts = [part for part in match.groups() if part] if match else []
        labels.add(f"Memcpy{'2'.join(parts)}" if match else "Memset" if name.startswith(_MEMSET) else "Compute")
    return sorted(labels)


def _kernel_details(trace: TraceEvents, draft: Draft) -> list[Stat]:
    """``kernel_details`` as CUPTI's tracer writes them, of all that it ran but copies; empty where none are stated.

    AMD's tracers state no sizes of kernels that a graph launched.
    """
    record = trace.record
    is_kernel = np.array(
        [not _COPY_NAME.match(name) and not name.startswith(_MEMSET) for name, _, _ in draft.names], bool
    )
    kernels = np.flatnonzero(is_kernel[draft.name_index] & (trace.role[draft.event] == categories.WORK))
    if not len(kernels):
        return []
    argument_rows = np.stack([trace.arguments(draft.event[kernels], name) for name in _LAUNCH_ARGUMENTS])
    value = np.where(argument_rows >= 0, record.value[argument_rows], -1)
    example, code = combine(*value)
    details = []
    for i in example.tolist():
        rows = argument_rows[:, i].tolist()
        registers, shared_bytes, occupancy = (_number(trace, rows[index]) for index in (0, 1, 4))
        parts = [f"regs:{registers:.0f}"] if registers is not None else []
        parts += [f"static_shared:0 dynamic_shared:{shared_bytes:.0f}"] if shared_bytes is not None else []
        parts += [
            f"{name}:{sizes}" for name, index in (("grid", 2), ("block", 3)) if (sizes := _triple(trace, rows[index]))
        ]
        parts += [f"occ_pct:{occupancy:.12g}"] if occupancy is not None else []
        details.append(" ".join(parts))
    return [Stat(vocabulary.KERNEL_DETAILS, kernels, kinds.TEXT, code, details)]


def _number(trace: TraceEvents, row: int) -> float | None:
    """The number that an argument is; None for row -1, and for a text."""
    kind = int(trace.record.kind[row]) if row >= 0 else 0
    value = trace.record.value[row : row + 1]
    return float(value[0]) if kind == kinds.INT else float(value.view(np.float64)[0]) if kind == kinds.DOUBLE else None


def _triple(trace: TraceEvents, row: int) -> str:
    """``2,1,1`` of an argument ``[2, 1, 1]``; empty for row -1, and for anything else."""
    if row < 0 or trace.record.kind[row] != kinds.TEXT:
        return ""
    parts = trace.text_of(int(trace.record.value[row])).strip("[] ").split(",")
    return ",".join(part.strip() for part in parts) if len(parts) == 3 else ""


def _copy_details(trace: TraceEvents, draft: Draft) -> list[Stat]:
    """``memcpy_details`` of the copies that state their bytes."""
    size_bytes = trace.integers(draft.event, "bytes")
    is_copy_name = np.array([bool(_COPY_NAME.match(name)) for name, _, _ in draft.names], bool)
    rows = np.flatnonzero(is_copy_name[draft.name_index] & (size_bytes >= 0))
    example, code = combine(size_bytes[rows], draft.name_index[rows])
    texts = []
    for row in rows[example].tolist():
        match = _MEMORY_KINDS.search(draft.names[int(draft.name_index[row])][0])
        memory_kinds = f"kind_src:{match[1].lower()} kind_dst:{match[2].lower()} " if match else ""
        texts.append(f"{memory_kinds}size:{int(size_bytes[row])}")
    return [Stat(vocabulary.MEMCPY_DETAILS, rows, kinds.TEXT, code, texts)] if len(rows) else []


def _facts(properties: dict[str, Any]) -> dict[str, Any]:
    """What a device states about itself, in the terms of XSpace's GPU planes."""
    name = str(properties.get("name") or "")
    is_amd = properties.get("warpSize") == 64 or "AMD" in name
    kineto_names = {
        "compute_cap_major": "computeMajor",
        "compute_cap_minor": "computeMinor",
        "core_count": "numSms",
        "memory_size": "totalGlobalMem",
    }
    numbers = {fact: properties.get(kineto_name) for fact, kineto_name in kineto_names.items()}
    facts: dict[str, Any] = {key: value for key, value in numbers.items() if isinstance(value, int)}
    if properties.get("computeMajor") is not None:
        facts["device_vendor"] = "AMD" if is_amd else "Nvidia"
    if name:
        facts["gpu_device_name"] = name
    return facts
