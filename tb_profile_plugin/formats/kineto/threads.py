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
from .nesting import innermost, matched
from .record import distinct
from .view import View

_ON_THREADS = (categories.OP, categories.ANNOTATION, categories.RUNTIME, categories.PYTHON, categories.MEMORY)
_WORKING = (categories.OP, categories.ANNOTATION, categories.RUNTIME)
_THREAD = regex(r"thread (-?\d+) \((.*)\)", re.DOTALL)
_TOO_EARLY_PS = 10**9
"""What seems to run so long before it was launched has a wrong timestamp."""


def draft(view: View) -> Draft:
    """All threads of all processes; ops that work for a module say so."""
    rows = view.having(*_ON_THREADS, categories.OTHER)
    processes = distinct(view.record.pid[view.having(*_ON_THREADS)])
    other = (view.role[rows] == categories.OTHER) & ~np.isin(view.record.pid[rows], processes)
    rows = rows[~other] if len(processes) else rows
    lines, line = _lines(view, rows, len(distinct(view.record.pid[view.having(*_WORKING)])) > 1)
    freed = (view.numbers(rows, "Bytes", default=0) < 0) & (view.role[rows] == categories.MEMORY)
    variant = np.where(freed, -1, view.role[rows].astype(np.int64))
    host = view.draft(vocabulary.HOST_CPU, lines, rows, line, _renamed, variant)
    return host


def _renamed(name: str, variant: int) -> tuple[str, str]:
    if variant == categories.PYTHON:
        return categories.frame_name(name), name if categories.module_name(name) else ""
    if variant == -1:
        return "MemoryDeallocation", ""
    return ("MemoryAllocation", "") if variant == categories.MEMORY else (name, "")


def _lines(view: View, rows: Array, several: bool) -> tuple[list[tuple[int, str]], Array]:
    """(id and name of each thread, the thread of each event)."""
    record = view.record
    thread_names = view.named("thread_name")
    example, line = combine(record.pid[rows], record.tid[rows])
    lines: list[tuple[int, str]] = []
    for at in rows[example].tolist():
        pid, tid = int(record.pid[at]), int(record.tid[at])
        text = view.word(tid)
        match = _THREAD.fullmatch(thread_names.get((pid, tid), ""))
        name = match[2] if match else thread_names.get((pid, tid), "")
        if view.role[at] == categories.PYTHON and (pid, tid) not in thread_names:
            name = "python"
        number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else len(lines)
        process = f" of process {view.word(pid)}" if several else ""
        lines.append((number, f"{name or 'thread'}{process}/{text}"))
    return lines, line


class Ops:
    """Which op, and for which module, every event of the host's threads belongs to."""

    def __init__(self, view: View, host: Draft):
        self._view, self._host = view, host
        event = host.event
        self.is_op = view.role[event] == categories.OP
        self.inside, _ = innermost(host.first_event, host.begin, host.end, self.is_op)
        sequence = view.numbers(event, vocabulary.SEQUENCE_NUMBER)
        backward = self.is_op & (sequence >= 0) & (view.numbers(event, vocabulary.FORWARD_THREAD, default=0) > 0)
        self.module, self.paths = modules.paths(host, self.is_op, sequence, backward)
        self.names: list[str] = []
        self.numbers = self._numbered()

    def _numbered(self) -> Array:
        """int64[n]: which of `names` the op around each event has, with its module; -1 outside of all ops."""
        host = self._host
        inside_op = np.flatnonzero(self.inside >= 0)
        op = self.inside[inside_op]
        module = np.where(self.module[inside_op] > 0, self.module[inside_op], self.module[op])
        example, code = combine(host.named[op], module)
        for at in example.tolist():
            path, name = self.paths[int(module[at])], host.names[int(host.named[op[at]])][0]
            self.names.append(f"{path}/{name}" if path else name)
        answer = np.full(len(host.event), -1, np.int64)
        answer[inside_op] = code
        return answer

    def stats(self) -> list[Stat]:
        """``tf_op`` of the ops that work for a module: the others are named by their events."""
        rows = np.flatnonzero(self.is_op & (self.numbers >= 0) & (self.module > 0))
        return [Stat(vocabulary.TF_OP, rows, kinds.TEXT, self.numbers[rows], self.names)] if len(rows) else []

    def allocations(self, device_drafts: Sequence[Draft]) -> list[Stat]:
        """Of the allocations on the host's threads, some of them in the memories of these devices."""
        capacities = {
            draft.name.removeprefix(vocabulary.DEVICE).replace(":", " "): draft.facts for draft in device_drafts
        }
        sizes = {name: int(facts.get("memory_size", 0)) for name, facts in capacities.items()}
        return allocation_stats(self._view, self._host, self.numbers, self.names, sizes)

    def launched(self, device: Draft) -> list[Stat]:
        """``tf_op`` of what runs on a device: the op around its launch, else the one that it names itself."""
        view, host = self._view, self._host
        work = np.flatnonzero(view.role[device.event] == categories.WORK)
        calls = np.flatnonzero(view.role[host.event] == categories.RUNTIME)
        ids = view.numbers(host.event[calls], "correlation")
        calls, ids = calls[ids > 0], ids[ids > 0]
        position = matched(view.numbers(device.event[work], "correlation"), ids)
        launch = np.where(position >= 0, calls[position], -1) if len(calls) else position
        op = np.where(launch >= 0, self.numbers[launch], -1) if len(host.event) else launch
        ops = np.flatnonzero(self.is_op)
        external = view.numbers(host.event[ops], vocabulary.EXTERNAL_ID, "external id")
        ops, external = ops[external > 0], external[external > 0]
        named = matched(view.numbers(device.event[work], vocabulary.EXTERNAL_ID, "external id"), external)
        op = np.where((op < 0) & (named >= 0), self.numbers[ops[named]], op) if len(ops) else op
        has_op = op >= 0
        return [Stat(vocabulary.TF_OP, work[has_op], kinds.TEXT, op[has_op], self.names)] if has_op.any() else []


def too_early(view: View) -> Array:
    """int64[k]: events of devices that seem to begin long before they were launched."""
    work, calls = view.having(categories.WORK), view.having(categories.RUNTIME)
    ids = view.numbers(calls, "correlation")
    calls, ids = calls[ids > 0], ids[ids > 0]
    if not len(calls):
        return work[:0]
    position = matched(view.numbers(work, "correlation"), ids)
    early = (position >= 0) & (view.begin[work] + _TOO_EARLY_PS < view.begin[calls[position]])
    events: Array = work[early]
    return events


def overhead(view: View) -> Draft | None:
    """The profiler's own time, where it states some."""
    rows = view.having(categories.OVERHEAD)
    if not len(rows):
        return None
    return view.draft(vocabulary.PROFILER_OVERHEAD, [(0, "Overhead")], rows, np.zeros(len(rows), np.int64))
