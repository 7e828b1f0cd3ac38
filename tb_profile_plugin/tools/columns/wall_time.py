"""Where the wall time of a capture goes: in steps, between them, before and after them, and by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...analysis.activity.devices.work import CPU_COMPUTE
from ...analysis.diagnosis.capture_account import PROFILER, begins_with_driver
from ...analysis.diagnosis.catalogue import LABELS
from ...analysis.diagnosis.diagnose import Diagnosis
from ...analysis.steps.host_account import host_account
from ...model.host import HostWithSteps
from ...runtime.messages import Message
from ..answers.answer import Table, by_column, number, ratio, text

_PHASE_LABELS = {
    "capture": Message("From the first to the last device work"),
    "steps": Message("In steps"),
    "between": Message("Between steps"),
    "before": Message("Before the first step"),
    "after": Message("After the last step"),
    "profiler": Message("Profiler start and stop"),
}
_PHASE_LABELS_AHEAD = _PHASE_LABELS | {"before": Message("Before the first step's work")}
"""For hosts that began a step before devices could."""
_PHASE_LABELS_WITHOUT_STEPS = _PHASE_LABELS | {
    "before": Message("Before the first device work"),
    "after": Message("After the last device work"),
}
_PHASE_LABELS_WITHOUT_DEVICES = _PHASE_LABELS | {
    "before": Message("Before the first work"),
    "capture": Message("From the first to the last work"),
    "after": Message("After the last work"),
}
"""For captures of the CPU's work alone."""
_PHASE_LABELS_WITH_DRIVER = _PHASE_LABELS_WITHOUT_STEPS | {
    "before": Message("Before the driver's start"),
    "capture": Message("From the driver's start to the last device work"),
}

ACCOUNTING = Table(
    "accounting",
    "Wall-time breakdown",
    (
        text("host", "Host"),
        text("place", "Place", "Part of the capture, as in the table of places."),
        text("id", "Part", "What the devices do, or why they are idle."),
        text("label", "What", translated=True),
        number("time_ps", "Time", "ps", "Time over the whole capture."),
        number(
            "share",
            "Share",
            "share",
            "Share of the time recorded on this host, without the profiler's own; blank for that.",
        ),
    ),
    doc="Wall time of each host from its first to its last event; each picosecond counts once.",
)

PHASES = Table(
    "places",
    "Wall time by place",
    (
        text(
            "place",
            "Place",
            "Part of the capture: steps, between, before, after, profiler, or capture if there are no steps.",
        ),
        text("label", "Where", translated=True),
        number("time_ps", "Time", "ps", "Time over the whole capture, mean of the hosts shown."),
        number("share", "Share", "share", "Share of the recorded time, without the profiler's own; blank for that."),
    ),
)
"""The phases of `HostAccount`."""


def phase_columns(diagnosis: Diagnosis, hosts: Sequence[HostWithSteps]) -> dict[str, list[Any]]:
    """The columns of `PHASES`."""
    phase_ps = {phase: sum(part.ps for part in diagnosis.accounting if part.phase == phase) for phase in _PHASE_LABELS}
    labels, total_ps = _phase_labels(diagnosis, hosts), sum(phase_ps.values()) - phase_ps[PROFILER]
    rows = [
        (phase, labels[phase], round(ps / len(hosts)), _share(phase, ps, total_ps))
        for phase, ps in phase_ps.items()
        if ps
    ]
    return by_column(PHASES, rows)


def _phase_labels(diagnosis: Diagnosis, hosts: Sequence[HostWithSteps]) -> dict[str, Message]:
    if diagnosis.typical.has_steps:
        begins_ahead = any(host_account(host).begins_ahead for host in hosts)
        return _PHASE_LABELS_AHEAD if begins_ahead else _PHASE_LABELS
    if any(map(begins_with_driver, hosts)):
        return _PHASE_LABELS_WITH_DRIVER
    on_cpu = all(name == CPU_COMPUTE for host in hosts for name in host_account(host).devices)
    return _PHASE_LABELS_WITHOUT_DEVICES if on_cpu else _PHASE_LABELS_WITHOUT_STEPS


def _share(phase: str, ps: int, recorded_ps: int) -> float | None:
    """Of the recorded time; None for the profiler's own, which is not part of that."""
    return None if phase == PROFILER else ratio(ps, recorded_ps)


def accounting_columns(diagnosis: Diagnosis) -> dict[str, list[Any]]:
    """The columns of `ACCOUNTING`."""
    recorded_ps: Counter[str] = Counter()
    for part in diagnosis.accounting:
        recorded_ps[part.host] += part.ps if part.phase != PROFILER else 0
    rows = [
        (part.host, part.phase, part.id, LABELS[part.id], part.ps, _share(part.phase, part.ps, recorded_ps[part.host]))
        for part in diagnosis.accounting
    ]
    return by_column(ACCOUNTING, rows)
