"""Which work threads of a pool do for the input pipeline: the functions of maps and filters, and what runs in them."""

from __future__ import annotations

import numpy as np

from ...formats.columns.gather import gather
from ...model.host import Host
from ...runtime.arrays import I8, I32, Array, Bool, Int
from ...runtime.jit import jit
from .event_classes import NOTHING
from .states import State

_NOTHING, _INPUT = int(NOTHING), int(State.INPUT)
_NO, _YES = 1, 2
"""Answers of `_are_led_to` for an event; 0 where it has not been looked at."""


def functions_of_input(host: Host, is_off_loop: Array, line_of: Array, classes: Array, came_from: Array) -> Array:
    """bool[events]: what threads do in functions that iterators started; of events on lines that the
    loop's thread is not on, ``is_off_loop`` (bool[lines]).

    ``classes`` is int8[events], ``line_of`` and ``came_from`` int32[events] as in `thread_classes.Activity`. What
    encloses an op may end after the capture: then ops of its name tell, if all are so.
    """
    trace = host.trace
    asks_for_input: Array = classes == int(State.INPUT)
    if not asks_for_input.any():
        return asks_for_input
    parent = trace.nesting.parent
    is_of_input: Array = _are_led_to(came_from, parent, asks_for_input)
    is_event_off_loop = gather(is_off_loop, line_of)
    _restrict_to_names(is_of_input, parent, came_from, classes, is_event_off_loop, trace.name_of, len(trace.names))
    return is_of_input


@jit
def _restrict_to_names(
    of_input: Bool, parent: I32, came_from: I32, classes: I8, is_off_loop: Bool, name_of: I32, names: Int
) -> None:
    """Keep in ``of_input``, of what iterators led to, what is off the loop's thread; add events that stand alone with
    names that only such work has.
    """
    is_input_name, is_other_name = np.zeros(names, np.bool_), np.zeros(names, np.bool_)
    alone = 0
    for i in range(len(of_input)):
        of_input[i] = of_input[i] and classes[i] != _INPUT and is_off_loop[i]
        if of_input[i]:
            is_input_name[name_of[i]] = True
        elif parent[i] < 0 and came_from[i] < 0 and is_off_loop[i] and classes[i] != _NOTHING and classes[i] != _INPUT:
            alone += 1
        else:
            is_other_name[name_of[i]] = True
    if alone == 0:
        return
    for i in range(len(of_input)):
        if is_input_name[name_of[i]] and not is_other_name[name_of[i]]:
            of_input[i] = True


@jit
def _are_led_to(came_from: I32, parent: I32, causes: Bool) -> Bool:
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
