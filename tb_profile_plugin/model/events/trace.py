"""All events of a capture side by side, with the links between lines."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array
from ...runtime.memo import lazy
from . import gradients
from .links import RUN, Links, find_links
from .nested import Nested


class Trace(Nested):
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
        for first, plane in self.parts:
            if plane.name.startswith(vocabulary.DEVICE):
                answer[first : first + len(plane.events)] = True
        return answer
