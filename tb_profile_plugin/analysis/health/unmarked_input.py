"""Waiting for input that the marks of the steps leave out: a loop that takes its batch before the step begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.events.intervals import covered, union
from ...model.host import HostWithSteps
from ...model.names.host_events import asks_for_input
from ...model.per_host import per_host
from ...runtime.records import NamedTuple

_NOTABLE_SHARE = 0.05
"""Share of the loop's time from which on the waits are worth a word."""


class InputWaits(NamedTuple):
    """What the thread of the steps waits for its input between one step and the next."""

    host: str
    total_ps: int
    gaps: int
    """How many times there was a step to wait for."""
    loop_ps: int
    """From the first step's begin to the last one's."""

    @property
    def share(self) -> float:
        """Share of the loop's time, 0–1."""
        return self.total_ps / self.loop_ps if self.loop_ps else 0.0

    @property
    def average_ms(self) -> float:
        """Per step, ms."""
        return self.total_ps / self.gaps / 1e9 if self.gaps else 0.0


def longest_waits(hosts: Sequence[HostWithSteps]) -> InputWaits | None:
    """The waits of the host that waits most, where they are notable."""
    notable_waits = [host_waits for host_waits in (waits(host) for host in hosts) if host_waits.share > _NOTABLE_SHARE]
    return max(notable_waits, key=lambda host_waits: host_waits.share, default=None)


@per_host(keep=True)
def waits(host: HostWithSteps) -> InputWaits:
    """The waits of one host; none where no mark of the program tells where its steps begin and end."""
    steps, plane = host.steps, host.cpu
    no_waits = InputWaits(host.name, 0, 0, 0)
    if plane is None or len(steps) < 2 or steps.source == "functions":
        return no_waits
    threads = host.trace.slice_of(plane)
    marks = steps.marker[(steps.marker >= threads.start) & (steps.marker < threads.stop)] - threads.start
    rows = plane.rows_named(asks_for_input)
    rows = rows[np.isin(plane.events.line[rows], plane.events.line[marks])]
    if not len(marks) or not len(rows):
        return no_waits
    gap_begin, gap_end = steps.end[:-1], np.maximum(steps.begin[1:], steps.end[:-1])
    begin = plane.events.begin[rows]
    begin, end = union(begin, begin + plane.events.duration[rows])
    total_ps = int(covered(gap_begin, gap_end, begin, end).sum())
    return InputWaits(host.name, total_ps, len(gap_begin), int(steps.begin[-1] - steps.begin[0]))
