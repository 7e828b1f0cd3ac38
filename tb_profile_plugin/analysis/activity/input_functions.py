"""Which work threads of a pool do for the input pipeline: the functions of maps and filters, and what runs in them."""

from __future__ import annotations

import numpy as np

from ...formats.columns.gather import gather
from ...model.host import Host
from ...runtime.arrays import I8, I32, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .event_classes import NOTHING
from .states import State

_NOTHING, _INPUT = int(NOTHING), int(State.INPUT)
_NO, _YES = 1, 2
"""Answers of `_led_to_by` for an event; 0 where it has not been looked at."""


class _Events(NamedTuple):
    """Columns of a host's events."""

    parent: I32
    came_from: I32
    state: I8
    """Of its class."""
    elsewhere: Bool
    """Whether it is on another line than the loop's."""
    name: I32


def functions_of_input(host: Host, elsewhere: Array, line_of: Array, classes: Array, came_from: Array) -> Array:
    """bool[events]: what threads do in functions that iterators started; of events on lines ``elsewhere`` than the
    loop's, bool[lines].

    ``classes`` is int8[events], ``line_of`` and ``came_from`` int32[events] as in `thread_classes.Activity`. What
    encloses an op may end after the capture: then ops of its name tell, if all are so.
    """
    trace = host.trace
    asks_for_input: Array = classes == int(State.INPUT)
    if not asks_for_input.any():
        return asks_for_input
    parent = trace.nesting.parent
    is_of_input: Array = _led_to_by(came_from, parent, asks_for_input)
    events = _Events(parent, came_from, classes, gather(elsewhere, line_of), trace.name_of)
    _complete(is_of_input, events, len(trace.names))
    return is_of_input


@jit
def _complete(of_input: Bool, events: _Events, names: Int) -> None:
    """Keep in ``of_input``, of what iterators led to, what is elsewhere; add events that stand alone with names that
    only such work has.
    """
    parent, came_from, state, elsewhere, name_of = events
    inside, outside = np.zeros(names, np.bool_), np.zeros(names, np.bool_)
    alone = 0
    for i in range(len(of_input)):
        of_input[i] = of_input[i] and state[i] != _INPUT and elsewhere[i]
        if of_input[i]:
            inside[name_of[i]] = True
        elif parent[i] < 0 and came_from[i] < 0 and elsewhere[i] and state[i] != _NOTHING and state[i] != _INPUT:
            alone += 1
        else:
            outside[name_of[i]] = True
    if alone == 0:
        return
    for i in range(len(of_input)):
        if inside[name_of[i]] and not outside[name_of[i]]:
            of_input[i] = True


@jit
def _led_to_by(came_from: I32, parent: I32, causes: Bool) -> Bool:
    """bool[events]: whether an event is one of the causes, lies in one, or was led to by one; each looked at once."""
    answers = np.zeros(len(causes), np.int8)
    for event in range(len(causes)):
        at, answer = np.int64(event), np.int8(0)
        while answer == 0:
            if answers[at] != 0:
                answer = answers[at]
            elif causes[at]:
                answer = np.int8(_YES)
            else:
                answers[at] = _NO
                above = np.int64(came_from[at]) if came_from[at] >= 0 else np.int64(parent[at])
                if above < 0:
                    answer = np.int8(_NO)
                else:
                    at = above
        if answer == _YES:
            at = np.int64(event)
            while answers[at] == _NO:
                answers[at] = _YES
                at = np.int64(came_from[at]) if came_from[at] >= 0 else np.int64(parent[at])
                if at < 0:
                    break
            answers[event] = _YES
    is_led_to: Array = answers == _YES
    return is_led_to
