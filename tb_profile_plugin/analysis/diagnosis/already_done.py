"""What a capture has already, so that nobody is told to do what was done."""

from __future__ import annotations

from ...model.host import Host
from ...model.per_host import per_host

TRACED, FUSED = "traced", "fused"
"""Python's frames are recorded; one kernel of an optimizer updates many weights."""
_BEGINS = {TRACED: "$", FUSED: "aten::_fused_"}
"""How names of events begin that tell so."""


@per_host(keep=True)
def done(host: Host) -> frozenset[str]:
    """Which of these one host's capture shows."""
    names = host.trace.names
    return frozenset(what for what, begin in _BEGINS.items() if any(name.startswith(begin) for name in names))
