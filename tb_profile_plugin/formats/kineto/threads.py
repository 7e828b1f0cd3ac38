"""The plane of the host's threads, and which op launched what runs on devices."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import Array
from ...runtime.regex import regex
from ..columns import kinds, vocabulary
from ..columns.codes import combine
from . import categories, modules
from .allocations import stats as allocation_stats
from .drafts import Draft, Stat
from .nesting import innermost, last_match
from .record import distinct_codes
from .trace_events import TraceEvents

_THREAD_ROLES = (categories.OP, categories.ANNOTATION, categories.RUNTIME, categories.PYTHON, categories.MEMORY)
"""Roles of events on threads of the host."""
_PYTORCH_ROLES = (categories.OP, categories.ANNOTATION, categories.RUNTIME)
"""Roles that only a process has that runs PyTorch."""
_THREAD_NAME = regex(r"thread (-?\d+) \((.*)\)", re.DOTALL)
_TOO_EARLY_PS = 10**9
"""What seems to run so long before it was launched has a wrong timestamp."""


def draft(trace: TraceEvents) -> Draft:
    """All threads of all processes; ops that work for a module say so."""
    rows = trace.with_role(*_THREAD_ROLES, categories.OTHER)
    processes = distinct_codes(trace.record.pid[trace.with_role(*_THREAD_ROLES)])
    is_foreign = (trace.role[rows] == categories.OTHER) & ~np.isin(trace.record.pid[rows], processes)
    rows = rows[~is_foreign] if len(processes) else rows
    has_many_processes = len(distinct_codes(trace.record.pid[trace.with_role(*_PYTORCH_ROLES)])) > 1
    lines, line = _thread_lines(trace, rows, has_many_processes)
    is_deallocation = (trace.integers(rows, "Bytes", default=0) < 0) & (trace.role[rows] == categories.MEMORY)
    variant = np.where(is_deallocation, -1, trace.role[rows].astype(np.int64))
    return trace.draft(vocabulary.HOST_CPU, lines, rows, line, _renamed, variant)


def _renamed(name: str, variant: int) -> tuple[str, str]:
    """(name, display name or empty) of an event; the variant is its role, or -1 for a deallocation."""
    if variant == categories.PYTHON:
        return categories.frame_name(name), name if categories.module_name(name) else ""
    if variant == -1:
        return "MemoryDeallocation", ""
    return ("MemoryAllocation", "") if variant == categories.MEMORY else (name, "")


def _thread_lines(trace: TraceEvents, rows: Array, with_process: bool) -> tuple[list[tuple[int, str]], Array]:
    """((id, name) of each thread, int64[n] index of each event's thread); names say the process where asked to."""
    record = trace.record
    thread_names = trace.metadata_names("thread_name")
    example, line = combine(record.pid[rows], record.tid[rows])
    lines: list[tuple[int, str]] = []
    for row in rows[example].tolist():
        pid, tid = int(record.pid[row]), int(record.tid[row])
        text = trace.text_of(tid)
        match = _THREAD_NAME.fullmatch(thread_names.get((pid, tid), ""))
        name = match[2] if match else thread_names.get((pid, tid), "")
        if trace.role[row] == categories.PYTHON and (pid, tid) not in thread_names:
            name = "python"
        number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else len(lines)
        process = f" of process {trace.text_of(pid)}" if with_process else ""
        # Kineto writes half of a thread's 64-bit handle, and signed, where it does not know the system's number.
        text_of_number = str(number % 2**32) if -(2**31) <= number < 0 else text
        lines.append((number, f"{name or 'thread'}{process}/{text_of_number}"))
    return lines, line


class Ops:
    """Which op, and for which module, every event of the host's threads belongs to."""

    def __init__(self, trace: TraceEvents, host: Draft):
        self._trace, self._host = trace, host
        event = host.event
        self.is_op = trace.role[event] == categories.OP
        """bool[n], as the others by event of the host."""
        self.op_of_event, _ = innermost(host.first_event, host.begin, host.end, self.is_op)
        sequence = trace.integers(event, vocabulary.SEQUENCE_NUMBER)
        backward = self.is_op & (sequence >= 0) & (trace.integers(event, vocabulary.FORWARD_THREAD, default=0) > 0)
        self.module, self.paths = modules.paths(host, self.is_op, sequence, backward)
        """int64[n] and list: the path of the module that each event belongs to; path 0 is empty."""
        self.names: list[str] = []
        """Names of ops behind the paths of their modules, each once."""
        self.name_number = self._number_names()

    def _number_names(self) -> Array:
        """Fill `names`; returns int64[n]: which of them the op around each event has, -1 outside of all ops."""
        host = self._host
        inside_op = np.flatnonzero(self.op_of_event >= 0)
        op = self.op_of_event[inside_op]
        module = np.where(self.module[inside_op] > 0, self.module[inside_op], self.module[op])
        example, code = combine(host.name_index[op], module)
        for row in example.tolist():
            path, name = self.paths[int(module[row])], host.names[int(host.name_index[op[row]])][0]
            self.names.append(f"{path}/{name}" if path else name)
        answer = np.full(len(host.event), -1, np.int64)
        answer[inside_op] = code
        return answer

    def stats(self) -> list[Stat]:
        """``tf_op`` of the ops that work for a module: the others are named by their events."""
        rows = np.flatnonzero(self.is_op & (self.name_number >= 0) & (self.module > 0))
        return [Stat(vocabulary.TF_OP, rows, kinds.TEXT, self.name_number[rows], self.names)] if len(rows) else []

    def memory_stats(self, device_drafts: Sequence[Draft]) -> list[Stat]:
        """The stats of allocations on the host's threads, some of which lie in the memories of these devices."""
        capacities = {
            draft.name.removeprefix(vocabulary.DEVICE).replace(":", " "): draft.facts for draft in device_drafts
        }
        sizes = {name: int(facts.get("memory_size", 0)) for name, facts in capacities.items()}
        return allocation_stats(self._trace, self._host, self.name_number, self.names, sizes)

    def device_stats(self, device: Draft) -> list[Stat]:
        """``tf_op`` of what runs on a device: the op around its launch, else the one that it names itself."""
        trace, host = self._trace, self._host
        work = np.flatnonzero(trace.role[device.event] == categories.WORK)
        calls = np.flatnonzero(trace.role[host.event] == categories.RUNTIME)
        launch = _rows_by_id(trace, device.event[work], host.event[calls], calls, "correlation")
        name_of = np.where(launch >= 0, self.name_number[launch], -1) if len(host.event) else launch
        ops = np.flatnonzero(self.is_op)
        op = _rows_by_id(trace, device.event[work], host.event[ops], ops, vocabulary.EXTERNAL_ID, "external id")
        name_of = np.where((name_of < 0) & (op >= 0), self.name_number[op], name_of) if len(ops) else name_of
        has_op = name_of >= 0
        return [Stat(vocabulary.TF_OP, work[has_op], kinds.TEXT, name_of[has_op], self.names)] if has_op.any() else []


def _rows_by_id(trace: TraceEvents, events: Array, candidates: Array, rows: Array, *names: str) -> Array:
    """int64[k]: of the last candidate with the same positive id as each event its entry in ``rows``; -1 for none.

    Ids are the integer arguments of these names, of which an event has one.
    """
    ids = trace.integers(candidates, *names)
    rows, ids = rows[ids > 0], ids[ids > 0]
    position = last_match(trace.integers(events, *names), ids)
    return np.where(position >= 0, rows[position], -1) if len(rows) else position


def events_before_launch(trace: TraceEvents) -> Array:
    """int64[k]: rows of events of devices that seem to begin long before they were launched."""
    work, calls = trace.with_role(categories.WORK), trace.with_role(categories.RUNTIME)
    if not len(calls):
        return work[:0]
    launch = _rows_by_id(trace, work, calls, calls, "correlation")
    is_early = (launch >= 0) & (trace.begin[work] + _TOO_EARLY_PS < trace.begin[launch])
    return work[is_early]


def overhead(trace: TraceEvents) -> Draft | None:
    """The profiler's own time, where it states some."""
    rows = trace.with_role(categories.OVERHEAD)
    if not len(rows):
        return None
    return trace.draft(vocabulary.PROFILER_OVERHEAD, [(0, "Overhead")], rows, np.zeros(len(rows), np.int64))
