"""Which of several hosts was the slowest in the steps that all of them took."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.host import HostWithSteps
from ...runtime.messages import Message, all_of
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_MS
from ..steps.step_time import host_steps

_NOTABLE_RATIO = 1.02
"""Hosts that wait for each other in every step end it together: what differs by less is not theirs."""


class HostComparison(NamedTuple):
    """How one of several hosts went through its steps."""

    host: str
    steps: int
    """Complete ones."""
    average_ms: float
    """Average of its complete steps."""
    slowest: int
    """How many of the shared steps took longest here, by `_NOTABLE_RATIO`."""


def host_comparison(hosts: Sequence[HostWithSteps]) -> tuple[int, list[HostComparison]]:
    """How many steps are complete on all hosts, and each host's part in them; nothing to tell with a single host."""
    if len(hosts) < 2:
        return 0, []
    by_host = [host_steps(host) for host in hosts]
    durations_by_host = [
        dict(zip(steps.number[steps.complete].tolist(), steps.duration_ps[steps.complete].tolist(), strict=True))
        for steps in by_host
    ]
    shared = set(durations_by_host[0]).intersection(*durations_by_host[1:])
    slowest_counts = [0] * len(hosts)
    for number in shared:
        host_durations = [durations[number] for durations in durations_by_host]
        *_, second_longest, longest = sorted(host_durations)
        if longest > _NOTABLE_RATIO * second_longest:
            slowest_counts[host_durations.index(longest)] += 1
    return len(shared), [
        HostComparison(host.name, len(durations), sum(durations.values()) / len(durations) / PS_PER_MS, times_slowest)
        for host, durations, times_slowest in zip(hosts, durations_by_host, slowest_counts, strict=True)
        if durations
    ]


def slowest_host_sentence(shared: int, compared: Sequence[HostComparison]) -> Message:
    """What `host_comparison` found in words: which host was the slowest most often, or that there is nothing to say."""
    if not shared:
        return Message("no step is complete on all hosts, so they cannot be compared")
    most_often = max(host.slowest for host in compared)
    names = [host.host for host in compared if host.slowest == most_often]
    if not most_often:
        return Message(
            "{count, plural, one {equally fast in the shared step} other {equally fast in all {count} shared steps}}",
            count=shared,
        )
    if len(names) > 2:
        return Message("{count} hosts were the slowest equally often", count=len(names))
    return Message(
        "{hosts} {count, plural, one {was} other {were each}} the slowest in {most} of {steps, plural, one {# step} "
        "other {# steps}}",
        hosts=all_of(names),
        count=len(names),
        most=most_often,
        steps=shared,
    )
