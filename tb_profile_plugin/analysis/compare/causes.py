"""The diagnoses of both sides, side by side."""

from __future__ import annotations

from ...runtime.messages import Message, message
from ...runtime.records import record
from ..diagnosis.catalogue import LABELS
from ..digest.record import LATE_PEER
from .side import Side, Sides


@record
class CauseChange:
    """A cause of slow steps on both sides, ps per step: means over captures."""

    id: str
    label: Message
    base_ps: int
    new_ps: int

    @property
    def delta_ps(self) -> int:
        """How much more it takes on the new side."""
        return self.new_ps - self.base_ps


def late_hosts(side: Side) -> list[str]:
    """The hosts that the others wait for in the captures of a side, by their places."""
    late_causes = [cause for digest in side.digests for cause in digest.causes if cause.id == LATE_PEER]
    return sorted({name for cause in late_causes for name, _ in cause.names})


def causes(sides: Sides) -> list[CauseChange]:
    """All causes of either side, by how much they changed."""
    sums_ps: dict[str, list[float]] = {}
    for side_index, side in enumerate(sides):
        for digest in side.digests:
            for cause in digest.causes:
                sums_ps.setdefault(cause.id, [0.0, 0.0])[side_index] += cause.per_step_ps / len(side.digests)
    all_causes = [CauseChange(id, message(LABELS[id]), round(base), round(new)) for id, (base, new) in sums_ps.items()]
    return sorted(all_causes, key=lambda cause: (-abs(cause.delta_ps), cause.id))
