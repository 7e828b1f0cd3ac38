"""What launched the CPU's ops: XLA and TensorFlow run them on threads of pools."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, Bool
from ...runtime.jit import jit

_MOST_HOPS = 4096
"""So many causes and enclosing events are followed at most: links of a broken capture may form a circle."""


@jit
def launches_of_ops(events: I32, led_to: I32, parent: I32, is_other_work: Bool) -> tuple[I32, I32, Bool]:
    """(launch, start, is_own) of each op: the outermost event on another thread that led to it, and what began there;
    -1 twice without one. ``is_own`` is False for what was done within an event that ``is_other_work``, bool[events].
    """
    launch = np.full(len(events), -1, np.int32)
    start = np.full(len(events), -1, np.int32)
    is_own = np.ones(len(events), np.bool_)
    is_by_parent = False
    for i in range(len(events)):
        event = np.int64(events[i])
        was_by_parent, is_by_parent = is_by_parent, led_to[event] < 0 and not is_other_work[event]
        if was_by_parent and is_by_parent and parent[event] == parent[events[i - 1]]:
            # Most ops follow another one in the same event.
            launch[i], start[i], is_own[i] = launch[i - 1], start[i - 1], is_own[i - 1]
            continue
        hops = 0
        while event >= 0 and hops < _MOST_HOPS:
            hops += 1
            if is_other_work[event]:
                is_own[i] = False
                break
            source = np.int64(led_to[event])
            if source >= 0:
                launch[i], start[i] = source, event
                event = source
            else:
                event = np.int64(parent[event])
    return launch, start, is_own
