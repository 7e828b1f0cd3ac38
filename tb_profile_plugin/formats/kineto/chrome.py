"""Traces in Chrome's format that are not PyTorch's: each process is a plane, each thread a line, and that is all.

Those of TensorFlow and JAX call their processes as XSpace calls its planes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ...runtime.regex import regex
from ..columns import kinds, vocabulary
from ..columns.codes import combine
from . import categories
from .drafts import Draft
from .record import Record
from .trace_events import TraceEvents

_INTEGER = regex(r"-?\d{1,18}")


def problems(drafts: Sequence[Draft], where: str) -> list[Problem]:
    """What a trace cannot tell that was made of an XSpace."""
    if not any(
        draft.name.startswith((vocabulary.DEVICE, vocabulary.HOST_CPU)) and len(draft.event) for draft in drafts
    ):
        return []
    message = Message("This trace was converted from a capture and lacks its devices, XLA programs and more.")
    return [Problem("derived_trace", message, "Open the *.xplane.pb that it was made from.", where, "info")]


def with_numbers(record: Record) -> Record:
    """The record, with whole numbers that are written as texts as numbers: TensorFlow and JAX write all of them so."""
    texts = np.flatnonzero(record.kind == kinds.TEXT)
    codes, code_index = np.unique(record.value[texts], return_inverse=True)
    code_index = code_index.reshape(-1)
    matches = [_INTEGER.fullmatch(record.text_of(code)) for code in codes.tolist()]
    number_of_code = np.array([int(match[0]) if match else 0 for match in matches], np.int64)
    is_integer = np.array([match is not None for match in matches], bool)[code_index]
    kind, value = record.kind.copy(), record.value.copy()
    kind[texts[is_integer]], value[texts[is_integer]] = kinds.INT, number_of_code[code_index[is_integer]]
    return replace(record, kind=kind, value=value)


def drafts(trace: TraceEvents) -> list[Draft]:
    """The planes, devices first."""
    rows = trace.with_role(categories.OTHER)
    processes, threads = trace.metadata_names("process_name"), trace.metadata_names("thread_name")
    record = trace.record
    example, process_of_row = combine(record.pid[rows])
    processes_of_planes: dict[str, list[int]] = {}
    for process, row in enumerate(rows[example].tolist()):
        pid = int(record.pid[row])
        name = processes.get((pid, 0), "") or trace.text_of(pid)
        plane = (
            name.partition(" ")[0] if name.startswith((vocabulary.DEVICE, vocabulary.HOST_CPU)) else vocabulary.HOST_CPU
        )
        processes_of_planes.setdefault(plane, []).append(process)
    return [
        _draft(trace, name, rows[np.isin(process_of_row, plane_processes)], threads)
        for name, plane_processes in sorted(processes_of_planes.items())
    ]


def _draft(trace: TraceEvents, name: str, rows: Array, threads: dict[tuple[int, int], str]) -> Draft:
    record = trace.record
    example, line = combine(record.pid[rows], record.tid[rows])
    lines: list[tuple[int, str]] = []
    for row in rows[example].tolist():
        pid, tid = int(record.pid[row]), int(record.tid[row])
        number = trace.text_of(tid)
        thread_name = threads.get((pid, tid)) or number or "thread"
        lines.append((int(number) if number.isdecimal() and len(number) < 19 else len(lines), thread_name))
    return trace.draft(name, lines, rows, line)
