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
from .view import View

_INTEGER = regex(r"-?\d{1,18}")


def problems(drafts: Sequence[Draft], where: str) -> list[Problem]:
    """What a trace cannot tell that was made of an XSpace."""
    if not any(
        draft.name.startswith((vocabulary.DEVICE, vocabulary.HOST_CPU)) and len(draft.event) for draft in drafts
    ):
        return []
    message = Message("This trace was converted from a capture and lacks its devices, XLA programs and more.")
    remedy = Message("Open the *.xplane.pb that it was made from.")
    return [Problem("derived_trace", message, remedy, where, "info")]


def with_numbers(record: Record) -> Record:
    """The same with whole numbers that are written as texts as numbers: TensorFlow and JAX write all of them so."""
    texts = np.flatnonzero(record.kind == kinds.TEXT)
    codes, code_index = np.unique(record.value[texts], return_inverse=True)
    is_integer = np.array([_INTEGER.fullmatch(record.text_of(code)) is not None for code in codes.tolist()], bool)
    number = np.array(
        [int(record.text_of(code)) if ok else 0 for code, ok in zip(codes.tolist(), is_integer, strict=True)], np.int64
    )
    kind, value = record.kind.copy(), record.value.copy()
    integers = texts[is_integer[code_index.reshape(-1)]]
    kind[integers], value[integers] = kinds.INT, number[code_index.reshape(-1)][is_integer[code_index.reshape(-1)]]
    return replace(record, kind=kind, value=value)


def drafts(view: View) -> list[Draft]:
    """The planes, devices first."""
    rows = view.with_role(categories.OTHER)
    processes, threads = view.metadata_names("process_name"), view.metadata_names("thread_name")
    record = view.record
    example, of_row = combine(record.pid[rows])
    numbers_of_planes: dict[str, list[int]] = {}
    for number, at in enumerate(rows[example].tolist()):
        pid = int(record.pid[at])
        name = processes.get((pid, 0), "") or view.text_of(pid)
        plane = (
            name.partition(" ")[0] if name.startswith((vocabulary.DEVICE, vocabulary.HOST_CPU)) else vocabulary.HOST_CPU
        )
        numbers_of_planes.setdefault(plane, []).append(number)
    return [
        _draft(view, name, rows[np.isin(of_row, numbers)], threads)
        for name, numbers in sorted(numbers_of_planes.items())
    ]


def _draft(view: View, name: str, rows: Array, threads: dict[tuple[int, int], str]) -> Draft:
    record = view.record
    example, line = combine(record.pid[rows], record.tid[rows])
    lines: list[tuple[int, str]] = []
    for at in rows[example].tolist():
        pid, tid = int(record.pid[at]), int(record.tid[at])
        number = view.text_of(tid)
        name_of_thread = threads.get((pid, tid)) or number or "thread"
        lines.append((int(number) if number.isdecimal() and len(number) < 19 else len(lines), name_of_thread))
    return view.draft(name, lines, rows, line)
