"""What a capture shows of its program, as far as remedies depend on it."""

from __future__ import annotations

from ...model.devices.properties import device_count
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.regex import regex

TRACED, FUSED, ON_CPU, KERAS = "traced", "fused", "on_cpu", "keras"
"""Python's frames are recorded; one kernel of an optimizer updates many weights; no accelerator is named; Keras trains
or predicts."""
_SHOWN_BY = {TRACED: regex(r"\$"), FUSED: regex(r"aten::_fused_"), KERAS: regex(r"\$?(?:.*\bkeras\b|trainer\.py:)")}
"""Names of events that tell so."""


@per_host(keep=True)
def program_facts(host: Host) -> frozenset[str]:
    """Which of these one host's capture shows."""
    names = host.trace.names
    shown = {fact for fact, pattern in _SHOWN_BY.items() if any(pattern.match(name) for name in names)}
    return frozenset(shown if device_count(host) else shown | {ON_CPU})
