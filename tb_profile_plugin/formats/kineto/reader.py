"""From the bytes of a trace to planes: see `kineto.decode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ..columns import kinds, vocabulary
from ..columns.tables import XSpace
from . import categories, chrome, devices, threads
from .drafts import Draft, FileStats, empty_draft, planes
from .record import Record, distinct_codes, read
from .trace_events import NOTHING, TraceEvents, has_role, trace_events

_RENAMED = {vocabulary.CORRELATION: vocabulary.CORRELATION_ID, "external id": vocabulary.EXTERNAL_ID}
_VERSIONS = tuple(f"{name}_version" for name in ("cuda_runtime", "cuda_driver", "cupti", "hip_runtime", "hip_driver"))
_OPTIONS = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
_PYTORCH = "pytorch"


def decode(content: Any, where: str, progress: Callable[[str, float], None]) -> XSpace:
    """As `kineto.decode`."""
    record = read(content, where, lambda phase, fraction: progress(phase, 0.9 * fraction))
    events = trace_events(record, where)
    problems = [*record.problems, *events.problems]
    if has_role(events.role, NOTHING, categories.OTHER).all():
        record = chrome.with_numbers(record)
        drafts = chrome.drafts(events)
        problems += chrome.problems(drafts, where)
    else:
        drafts = _drafts(events, problems, where)
    if not any(len(draft.event) for draft in drafts):
        message = Message("The file holds no events.") if record.header else Message("The file is not a trace.")
        remedy = Message("Profile again, and copy the file after the program has ended.")
        problems.append(Problem("empty_capture", message, remedy, where))
    progress(Message("Decoding"), 1.0)
    file_stats, hostname, origin = _file_stats(record, events.role), record.header.get("host_name"), events.origin_ns
    size = record.size
    # Large, and not needed any more.
    del record, events
    return XSpace(
        planes=planes(drafts, file_stats),
        hostnames=(hostname,) if isinstance(hostname, str) and hostname else (),
        origin_ns=origin,
        problems=tuple(problems),
        size=size,
    )


def _drafts(events: TraceEvents, problems: list[Problem], where: str) -> list[Draft]:
    early_events = threads.events_before_launch(events)
    if len(early_events):
        message = Message(
            "{count} device events begin long before their launch and are left out.", count=len(early_events)
        )
        problems.append(Problem("impossible_times", message, "", where, "warning"))
        events.role[early_events] = NOTHING
    host = threads.draft(events)
    device_drafts = devices.drafts(events)
    ops = threads.Ops(events, host)
    for draft in device_drafts:
        draft.stats += ops.device_stats(draft)
    host.stats += [*ops.stats(), *ops.memory_stats(device_drafts)]
    overhead = threads.overhead(events)
    facts = empty_draft(vocabulary.METADATA)
    facts.facts |= _facts(events.record)
    return [*device_drafts, host, *([overhead] if overhead else []), facts]


def _file_stats(record: Record, role: Array) -> FileStats:
    """The file's stats under the names that the model knows; uses the record up, whose texts become places."""
    name_codes = distinct_codes(record.key)
    names: list[str] = []
    correlation = -1
    number = np.full(len(record.pool_offset) + 1, -1, np.int32)
    for code in name_codes.tolist():
        name = record.text_of(code)
        correlation = code if name == vocabulary.CORRELATION else correlation
        if name:
            number[code] = len(names)
            names.append(_RENAMED.get(name, name))
    key = number[record.key]
    # What only tells about streams is not what a call of the driver led to.
    is_derived = np.repeat(role == categories.DERIVED, np.diff(record.first_argument))
    if correlation >= 0:
        names.append(vocabulary.CORRELATION)
        key[is_derived & (record.key == correlation)] = len(names) - 1
    value: Array = record.value
    is_text = record.kind == kinds.TEXT
    value[is_text] = record.pool_offset[value[is_text]]
    return FileStats(record.first_argument, key, record.kind, value, record.pool, names)


def _facts(record: Record) -> dict[str, Any]:
    """What the trace says about itself, but for names of users, hosts and jobs."""
    header = record.header
    facts: dict[str, Any] = {vocabulary.FRAMEWORK: _PYTORCH}
    facts |= {name: str(header[name]) for name in _VERSIONS if isinstance(header.get(name), int | str)}
    facts |= {name: 1 for name in _OPTIONS if header.get(name)}
    job = header.get("distributedInfo")
    if isinstance(job, dict):
        facts |= {name: job[name] for name in (vocabulary.RANK, vocabulary.WORLD_SIZE) if type(job.get(name)) is int}
        facts |= {name: str(job[name]) for name in ("backend", "nccl_version") if job.get(name)}
    return facts
