"""How many of the steps have what a fact is about."""

from __future__ import annotations

import numpy as np

from ....model.host import HostWithSteps
from ....runtime.arrays import Array, distinct


def are_in_most_steps(host: HostWithSteps, events: Array) -> bool:
    """Whether some of these events, int64[k], begin in most steps, or after each of these before the next."""
    step = distinct(np.searchsorted(host.steps.begin, host.trace.begin[events], "right") - 1)
    return 2 * int((step >= 0).sum()) > len(host.steps) > 0
