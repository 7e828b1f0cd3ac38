"""PyTorch's traces for strangers: written anew from the parsed events, so that nothing stays that nobody looked at.

What stays is listed: members (`_FLAGS`, `_VERSIONS`, `_DEVICE_NUMBERS`, `_JOB_NUMBERS`), categories, names of arguments
(`_TEXTS`, `_NUMBERS`, `_INTEGER`) and, in names and some arguments' texts, the words of `vocabulary`. Numbers stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..formats.columns import kinds
from ..formats.kineto import categories
from ..formats.kineto.record import Record, read
from ..formats.kineto.tokens import NO_TIME
from ..runtime import cancellation
from ..runtime.memory import MemoryBudget
from ..runtime.regex import regex
from .pseudonyms import Pseudonyms
from .redact import text_cleaner
from .text_cleaner import TextCleaner

_FLAGS = ("schemaVersion", "record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
_VERSIONS = tuple(f"{name}_version" for name in ("cupti", "cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver"))
_VERSION = regex(r"[\d.]{1,32}")
_DEVICE_NUMBERS = frozenset(
    """
    id totalGlobalMem computeMajor computeMinor maxThreadsPerBlock maxThreadsPerMultiprocessor regsPerBlock warpSize
    sharedMemPerBlock numSms regsPerMultiprocessor sharedMemPerMultiprocessor sharedMemPerBlockOptin
    maxSharedMemoryPerMultiProcessor
    """.split()
)
"""Properties of a device that stay; all of them numbers."""
_JOB_NUMBERS = ("rank", "world_size", "pg_count")
_ARROWS = frozenset(b"sf")
"""Phases of events that only draw arrows, which profilers make anew from what the others state: they are left out."""

_TEXTS = frozenset(
    {
        *("Collective name", "dtype", "Input type", "Process Group Description", "Process Group Name", "kind"),
        *("Module Hierarchy", "Trace name", "kernel_backend", "cuda_sync_kind", "labels", "name", "stream"),
    }
)
"""Arguments whose texts are names of types, collectives, groups, modules and threads."""
_NUMBERS = frozenset(
    {
        *("Input Dims", "Input Strides", "grid", "block", "In split size", "Out split size", "Process Group Ranks"),
        *("External id", "external id", "correlation", "Sequence number", "Fwd thread id", "cbid", "cid", "device"),
        *("context", "queued", "bytes", "memory bandwidth (GB/s)", "registers per thread", "shared memory"),
        *("blocks per SM", "warps per SM", "est. achieved occupancy %", "In msg nelems", "Out msg nelems"),
        *("Group size", "Seq", "Comms Id", "Src Rank", "Dst Rank", "Addr", "Bytes", "Device Type", "Device Id"),
        *("Total Allocated", "Total Reserved", "Python id", "Python parent id", "Python module id", "Python thread"),
        *("Trace iteration", "Op count", "wait_on_stream", "wait_on_cuda_event_record_corr_id", "Device", "sort_index"),
        *("wait_on_cuda_event_id", "event_id", "graph id", "graph node id", "channel", "priority", "num_warps"),
        *("num_stages", "Global rank start", "Global rank stride", "fromDevice", "inDevice", "toDevice"),
    }
)
"""Arguments that are numbers, or lists of some."""
_CALL_STACK = "Call stack"
_LIST_OF_NUMBERS = regex(r"[\[\]\d\s,.-]{1,4096}")
_METADATA_EVENTS = ("process_name", "thread_name", "process_labels", "process_sort_index", "thread_sort_index")
_EVENT_NAMES = frozenset({*categories.ABOUT_RECORDING, categories.MEMORY_EVENT, *_METADATA_EVENTS})
_INTEGER = regex(r"-?\d{1,18}")
_LIBRARY = regex(r"(?:(.*)/)?((?:torch|torchvision|importlib)/.*|threading\.py|runpy\.py)", re.DOTALL)
"""Files that come with PyTorch and Python: their own path stays, not where that begins."""
_EVENTS_AT_ONCE = 1 << 14


def redacted(data: Any, host: str, aliases: Mapping[str, str], pseudonyms: Pseudonyms) -> bytes:
    """The trace in ``data``, of the host of that name, as strangers may see it; see `redact.redacted`.

    Raises `ProblemError` (422) for what is larger than the memory limit.
    """
    record = read(data, host, lambda phase, fraction: None)
    cleaner = text_cleaner(aliases, aliases[host], [str(record.header.get("host_name", ""))], pseudonyms)
    budget, pieces = MemoryBudget(host), [_header(record, cleaner)]
    for piece in _TraceWriter(record, cleaner).events():
        budget.take(len(piece))
        pieces.append(piece)
    return b"".join([*pieces, b"\n]}\n"])


def _header(record: Record, cleaner: TextCleaner) -> bytes:
    header = record.header
    members: dict[str, Any] = {name: header[name] for name in _FLAGS if type(header.get(name)) is int}
    members |= {name: value for name in _VERSIONS if _VERSION.fullmatch(str(value := header.get(name, "")))}
    own_name = header.get("host_name")
    if isinstance(own_name, str) and own_name:
        # Of several workers it tells whether they share a machine.
        members["host_name"] = cleaner.name(own_name, "machine")
    base, unit = header.get("baseTimeNanoseconds"), header.get("displayTimeUnit")
    members |= {"baseTimeNanoseconds": base} if type(base) is int else {}
    members |= {"displayTimeUnit": unit} if unit in ("ms", "ns") else {}
    devices = header.get("deviceProperties")
    devices = devices if isinstance(devices, list) else []
    members["deviceProperties"] = [_device(device, cleaner) for device in devices if isinstance(device, dict)]
    job = header.get("distributedInfo")
    if isinstance(job, dict):
        job_entry: dict[str, Any] = {name: job[name] for name in _JOB_NUMBERS if type(job.get(name)) is int}
        version, backend = str(job.get("nccl_version", "")), job.get("backend")
        job_entry |= {"nccl_version": version} if _VERSION.fullmatch(version) else {}
        members["distributedInfo"] = job_entry | (
            {"backend": cleaner.clean(backend)} if isinstance(backend, str) else {}
        )
    return json.dumps(members)[:-1].encode() + b', "traceEvents": ['


def _device(properties: dict[str, Any], cleaner: TextCleaner) -> dict[str, Any]:
    numbers = {name: value for name, value in properties.items() if name in _DEVICE_NUMBERS and type(value) is int}
    name = properties.get("name")
    return numbers | ({"name": cleaner.clean(name)} if isinstance(name, str) else {})


class _TraceWriter:
    """Writes a record's events in their order."""

    def __init__(self, record: Record, cleaner: TextCleaner):
        self.record, self.cleaner = record, cleaner
        self._json_texts: dict[tuple[Callable[[str], str], int], str] = {}
        self._names_and_rules: dict[int, tuple[str, Callable[[str], str]]] = {}

    def events(self) -> Iterator[bytes]:
        """Pieces of the list's inside."""
        record, separator = self.record, b"\n"
        for low in range(0, len(record), _EVENTS_AT_ONCE):
            cancellation.check()
            rows = slice(low, min(low + _EVENTS_AT_ONCE, len(record)))
            texts = (record.phase, record.category, record.name, record.pid, record.tid)
            chunk = (column[rows].tolist() for column in (*texts, record.begin, record.duration))
            bounds = record.first_argument[rows.start : rows.stop + 1].tolist()
            lines = [
                self._event(event, self._arguments(first, last))
                for *event, first, last in zip(*chunk, bounds[:-1], bounds[1:], strict=True)
                if event[0] not in _ARROWS
            ]
            if lines:
                yield separator + ",\n".join(lines).encode("utf-8", "replace")
                separator = b",\n"

    def _event(self, event: Sequence[int], arguments: str) -> str:
        phase, category, name, pid, tid, begin, duration = event
        parts = [f'"ph": "{chr(phase)}"', f'"name": {self._as_json(self._name_rule(category), name)}']
        parts += [f'"cat": {self._as_json(self._clean_category, category)}'] if category else []
        parts += [f'"pid": {self._as_json(self._clean_id, pid)}'] if pid else []
        parts += [f'"tid": {self._as_json(self._clean_id, tid)}'] if tid else []
        parts += [f'"ts": {_microseconds(begin)}'] if begin != NO_TIME else []
        parts += [f'"dur": {_microseconds(duration)}'] if duration != NO_TIME else []
        return f"{{{', '.join(parts)}{arguments}}}"

    def _arguments(self, first: int, last: int) -> str:
        record, parts = self.record, []
        keys = record.key[first:last].tolist()
        for i, key, kind in zip(range(first, last), keys, record.kind[first:last].tolist(), strict=True):
            name, rule = self._name_and_rule(key)
            if kind == kinds.TEXT:
                parts.append(f"{name}: {self._as_json(rule, int(record.value[i]))}")
            elif kind == kinds.INT:
                parts.append(f"{name}: {int(record.value[i])}")
            else:
                number = float(record.value[i : i + 1].view(np.float64)[0])
                parts += [f"{name}: {number!r}"] if np.isfinite(number) else []
        return f', "args": {{{", ".join(parts)}}}' if parts else ""

    def _name_and_rule(self, code: int) -> tuple[str, Callable[[str], str]]:
        """(name as JSON, what is done with texts) of an argument."""
        if code not in self._names_and_rules:
            name = self.record.text_of(code)
            rule: Callable[[str], str]
            if name == _CALL_STACK:
                rule = self._clean_stack
            elif name in _TEXTS:
                rule = self.cleaner.clean
            else:
                rule = self._clean_numbers if name in _NUMBERS else self._pseudonym
            is_readable = name in _TEXTS or name in _NUMBERS or name == _CALL_STACK
            self._names_and_rules[code] = json.dumps(name if is_readable else self.cleaner.clean(name)), rule
        return self._names_and_rules[code]

    def _as_json(self, rule: Callable[[str], str], code: int) -> str:
        """A text as JSON, by what is done with it; each is worked out once."""
        key = rule, code
        if key not in self._json_texts:
            text = rule(self.record.text_of(code))
            is_number = (rule == self._clean_id and _INTEGER.fullmatch(text)) or (
                rule == self._clean_numbers and text[:1] == "["
            )
            self._json_texts[key] = text if is_number else json.dumps(text)
        return self._json_texts[key]

    def _name_rule(self, category: int) -> Callable[[str], str]:
        python = categories.ROLES.get(self.record.text_of(category).lower()) == categories.PYTHON
        return self._clean_frame if python else self._clean_name

    def _clean_name(self, text: str) -> str:
        return text if text in _EVENT_NAMES else self.cleaner.clean(text)

    def _clean_category(self, text: str) -> str:
        return text if text.lower() in categories.ROLES else self.cleaner.clean(text)

    def _clean_id(self, text: str) -> str:
        return text if _INTEGER.fullmatch(text) else self.cleaner.clean(text, "thread")

    def _clean_numbers(self, text: str) -> str:
        compact = "".join(text.split())
        return compact if _LIST_OF_NUMBERS.fullmatch(compact) and _is_list(compact) else self._pseudonym(text)

    def _pseudonym(self, text: str) -> str:
        return self.cleaner.name(text, "text") if text else ""

    def _clean_stack(self, text: str) -> str:
        return ";".join(map(self._clean_frame, text.split(";")))

    def _clean_frame(self, text: str) -> str:
        """``file.py(12): function``."""
        match = categories.FRAME.fullmatch(text)
        if not match:
            return self.cleaner.clean(text, "module" if text.startswith("nn.Module") else "function")
        library = _LIBRARY.fullmatch(match[1])
        file = self.cleaner.clean(library[2] if library else match[1], "file")
        folder = f"{self.cleaner.name(library[1], 'path')}/" if library and library[1] else ""
        return f"{folder}{file}({match[2]}): {self.cleaner.clean(match[3], 'function')}"


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _microseconds(ns: int) -> str:
    micros, thousandths = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{micros}.{thousandths:03d}"
