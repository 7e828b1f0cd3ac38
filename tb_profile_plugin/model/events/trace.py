"""All events of a capture side by side, with the links between lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array, distinct
from ...runtime.memo import lazy
from . import gradients
from .event_table import EventTable
from .links import RUN, Links, find_links


class Trace(EventTable):
    """Events that nest, and what led to what."""

    @lazy
    def links(self) -> Links:
        """What led to what on another line, see `links.find_links`."""
        return find_links(self)

    @lazy
    def arrows(self) -> Links:
        """The links and what is drawn beside them, see `gradients.with_gradients`."""
        return gradients.with_gradients(self, self.links)

    @lazy
    def is_xla_cpu_op(self) -> Array:
        """bool[n]: ops of XLA on the CPU, which belong to whoever dispatched their run, not to what encloses them."""
        answer = np.zeros(len(self), bool)
        answer[self.links.target[self.links.kind == RUN]] = True
        return answer

    @lazy
    def on_device(self) -> Array:
        """bool[n]: what devices recorded, and runs of XLA on the CPU, which nobody waits for either."""
        answer = self.is_xla_cpu_op.copy()
        for offset, plane in self.parts:
            if plane.name.startswith(vocabulary.DEVICE):
                answer[offset : offset + len(plane.events)] = True
        return answer

    def nearest_named(self, events: Array, matches: Callable[[str], object]) -> Array:
        """int64[k]: the innermost event around each one whose name is wanted, -1 for none."""
        parent = self.nesting.parent
        # By name, once it was asked for: 1 where it is wanted, else 0.
        is_wanted = np.full(len(self.names), -1, np.int8)
        nearest, rows = np.full(len(events), -1, np.int64), np.arange(len(events))
        outer = parent[events]
        while len(rows):
            rows, outer = rows[outer >= 0], outer[outer >= 0]
            name = self.name_of[outer]
            for row in distinct(name[is_wanted[name] < 0]).tolist():
                is_wanted[row] = bool(matches(self.names[row]))
            is_match = is_wanted[name] == 1
            nearest[rows[is_match]] = outer[is_match]
            rows, outer = rows[~is_match], parent[outer[~is_match]]
        return nearest
