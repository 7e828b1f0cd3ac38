"""Links that lead back to what encloses them: the walks over groups and eager calls keep to the room that they have.

The kernels run as plain Python here, where writing beyond an array fails.
"""

from typing import Any

import numpy as np

from tb_profile_plugin.analysis.ops.host_ops import _mark_eager
from tb_profile_plugin.model.events.groups import _fill_group, _Links, _Nest
from tb_profile_plugin.model.events.links import _onward

grouping: Any = _fill_group
marking: Any = _mark_eager
EVENTS = 12
LAST = np.full(EVENTS, EVENTS, np.int32)
"""Each event encloses all that come after it."""


def test_what_waits_to_be_grouped_waits_once() -> None:
    """From the innermost event links lead to all that enclose it, each of which belongs to whoever leads to it."""
    source, target = np.full(EVENTS - 1, EVENTS - 1, np.int32), np.arange(EVENTS - 1, dtype=np.int32)[::-1].copy()
    is_async, is_xla_cpu_op, group_of = np.zeros(EVENTS, bool), np.ones(EVENTS, bool), np.full(EVENTS, -1, np.int32)
    nest, links = _Nest(LAST, is_async, is_xla_cpu_op), _Links(source, target, _onward(source, target))
    grouping.py_func(EVENTS - 1, 3, nest, links, group_of, np.empty(len(source), np.int32))
    assert group_of.tolist() == [3] * EVENTS


def test_what_waits_to_be_marked_waits_once() -> None:
    """From a call links lead to events elsewhere, and then to those that enclose it."""
    others = 8
    last = np.concatenate((LAST, np.arange(EVENTS, EVENTS + others) + 1)).astype(np.int32)
    call = EVENTS - 1
    target = np.array([*range(EVENTS, EVENTS + others), *range(1, call)], np.int32)
    source = np.full(len(target), call, np.int32)
    mark = np.zeros(len(last), np.int8)
    calls, single = np.array([call], np.int64), np.array([True])
    marking.py_func(calls, single, last, source, target, _onward(source, target), mark)
    assert mark.tolist() == [0] + [1] * (len(last) - 1)
