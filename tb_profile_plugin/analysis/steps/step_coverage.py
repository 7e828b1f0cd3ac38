"""How many steps a capture has, what they cover of it, and what else might be a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formats.columns.gather import gather
from ...model.events.intervals import covered, union
from ...model.events.ownership import work_events
from ...model.host import Host, HostWithSteps, run_window
from ...model.per_host import per_host
from ...model.steps import repeated_calls
from ...model.steps.repeated_calls import Candidate
from ...runtime.arrays import median
from ...runtime.records import NamedTuple

_MOST_CANDIDATES = 20
"""So many that a page can offer."""


class Coverage(NamedTuple):
    """What of a host's capture its steps account for. Times are ps."""

    covered_ps: int
    """In which a step runs, a union."""
    window_ps: int
    """From the first to the last event of the capture, without the profiler's own start and stop."""
    work_ps: int
    """Work of the devices, summed over their streams; where they recorded none, XLA's ops or executors on the host."""
    work_in_steps_ps: int
    """What of that lies in steps."""


def captured_steps(hosts: Sequence[HostWithSteps]) -> float:
    """How many steps the capture holds, mean over the hosts: one that is cut counts by its length, if it is short.

    1 where there is none: then the capture is all there is to count.
    """
    counts = []
    for host in hosts:
        steps = host.steps
        lengths, is_complete = steps.length, steps.complete
        typical = median(lengths[is_complete]) if is_complete.any() else 0.0
        parts = np.minimum(1.0, lengths[~is_complete] / typical) if typical else np.ones(int((~is_complete).sum()))
        counts.append(float(is_complete.sum() + parts.sum()))
    return float(np.mean(counts)) if counts and any(counts) else 1.0


@per_host(keep=True)
def coverage(host: HostWithSteps) -> Coverage:
    """What the steps of one host cover."""
    steps, trace = host.steps, host.trace
    begin, end = union(steps.begin, steps.end)
    work = trace.once(work_events).astype(np.int32)
    work_begin, work_end = gather(trace.begin, work), gather(trace.end, work)
    low, high = run_window(host)
    return Coverage(
        int((end - begin).sum()),
        high - low,
        int((work_end - work_begin).sum()),
        int(covered(work_begin, work_end, begin, end).sum()),
    )


def covered_shares(hosts: Sequence[HostWithSteps]) -> tuple[float | None, float | None]:
    """Shares 0–1 of the hosts' captures, and of their devices' work, that steps account for; None where unknown."""
    coverages = [coverage(host) for host in hosts]
    window_ps, work_ps = sum(host.window_ps for host in coverages), sum(host.work_ps for host in coverages)
    return (
        sum(host.covered_ps for host in coverages) / window_ps if window_ps else None,
        sum(host.work_in_steps_ps for host in coverages) / work_ps if work_ps else None,
    )


def candidates_of_hosts(hosts: Sequence[Host]) -> list[Candidate]:
    """The candidates of all hosts, one for each name, most work first."""
    by_name: dict[str, list[Candidate]] = {}
    for host in hosts:
        for candidate in candidates(host):
            by_name.setdefault(candidate.name, []).append(candidate)
    sums = [
        Candidate(
            name,
            sum(candidate.count for candidate in same_name),
            sum(candidate.work_ps for candidate in same_name),
            sum(candidate.host_ps for candidate in same_name),
        )
        for name, same_name in by_name.items()
    ]
    return sorted(sums, key=lambda candidate: (-candidate.work_ps, -candidate.host_ps, candidate.name))[
        :_MOST_CANDIDATES
    ]


@per_host(keep=True)
def candidates(host: Host) -> list[Candidate]:
    """Names of events that can be chosen as steps (``step_event``) with their figures, most work first."""
    return repeated_calls.candidates(host.trace)[:_MOST_CANDIDATES]
