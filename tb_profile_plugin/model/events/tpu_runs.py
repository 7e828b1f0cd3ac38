"""Which call enqueued each run of a TPU's programs, by their numbers; and how far its clock is behind the host's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...formats.columns import Plane, XSpace, vocabulary
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.problems import Problem

ENQUEUED = 12
"""Kind of a link from such a call to the run (a context type of TensorFlow)."""
_ENQUEUE_CALL = "DoEnqueueProgram"
_NUMBER_MASK = (1 << 28) - 1
"""The bits of a run's number that both sides state (xprof, ``group_events.cc``)."""


def enqueue_pairs(host: Plane | None, device: Plane) -> tuple[Array, Array]:
    """(calls, runs): int64[k] rows of the host's and the device's events that belong together."""
    empty = np.empty(0, np.int64)
    lines = [line for line, name in enumerate(device.lines.name) if name == vocabulary.XLA_MODULES]
    if host is None or not lines or not host.has_stat(vocabulary.RUN_ID) or not device.has_stat(vocabulary.RUN_ID):
        return empty, empty
    ordinal = int(device.name.rpartition(":")[2])
    calls = host.rows_named(_ENQUEUE_CALL.__eq__)
    calls = calls[host.numbers("device_ordinal", calls, ordinal) == ordinal]
    rows = np.concatenate([np.arange(len(device.events))[device.lines.events(line)] for line in lines])
    call_of_run = dict(zip(_run_keys(host, calls), calls.tolist(), strict=True))
    calls_of_runs = [call_of_run.get(number, -1) for number in _run_keys(device, rows)]
    call = np.array(calls_of_runs, np.int64)
    return call[call >= 0], rows[call >= 0]


def _run_keys(plane: Plane, rows: Array) -> list[tuple[int, int]]:
    """Queue and number of each run; another one for each that states none."""
    run, queue = plane.numbers(vocabulary.RUN_ID, rows, -1), plane.numbers("queue_id", rows, 0)
    number = np.where(run >= 0, run & _NUMBER_MASK, -1 - rows)
    return list(zip(queue.tolist(), number.tolist(), strict=True))


def with_shifted_tpu_clocks(space: XSpace) -> XSpace:
    """The space, with the times of TPUs of which most runs begin before they are enqueued moved until none does.

    That is the least by which their clocks are behind; problems say so.
    """
    host = space.plane(vocabulary.HOST_CPU)
    planes, problems = list(space.planes), list(space.problems)
    for i, plane in enumerate(planes):
        if host is None or not plane.name.startswith(vocabulary.TPU):
            continue
        if not plane.name.removeprefix(vocabulary.TPU).isdigit():
            continue
        calls, rows = enqueue_pairs(host, plane)
        early_ps = host.events.begin[calls] - plane.events.begin[rows]
        if 2 * int((early_ps > 0).sum()) > len(early_ps):
            behind_ps = int(early_ps.max())
            message = Message(
                "The clock of {name} is at least {behind} ms behind the host's, so its times are shifted.",
                name=plane.name,
                behind=f"{behind_ps / 1e9:.3g}",
            )
            problems.append(Problem("device_clock", message, "", "", "info"))
            begin = np.where(plane.events.occurrences > 0, plane.events.begin, plane.events.begin + behind_ps)
            planes[i] = replace(plane, events=replace(plane.events, begin=begin))
    return replace(space, planes=planes, problems=problems) if len(problems) > len(space.problems) else space
