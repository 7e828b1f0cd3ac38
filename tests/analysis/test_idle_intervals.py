"""Stretches of time against going through every moment: what covers them, which event tells, what waits are for."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from tb_profile_plugin.analysis.activity import gap_causes
from tb_profile_plugin.analysis.activity.gap_tables import KnownWaits
from tb_profile_plugin.analysis.activity.layers import first_kind
from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.labels import device_timeline
from tb_profile_plugin.model.events.intervals import covered, union
from tb_profile_plugin.runtime.arrays import Array

END = 30
LAW = settings(max_examples=80, derandomize=True)
spans = some.lists(some.tuples(some.integers(0, 20), some.integers(1, 9)), max_size=12)
"""Begin, and how long."""


def columns(drawn: list[tuple[int, int]]) -> tuple[Array, Array]:
    begin = np.array([begin for begin, _ in drawn], np.int64)
    return begin, begin + np.array([takes for _, takes in drawn], np.int64)


@LAW
@given(spans, spans)
def test_what_others_cover_is_counted_moment_by_moment(
    mine: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    (begin, end), (low, high) = columns(mine), union(*columns(others))
    by_hand = [
        sum(bool(((low <= at) & (at < high)).any()) for at in range(b, e)) for b, e in zip(begin, end, strict=True)
    ]
    assert covered(begin, end, low, high).tolist() == by_hand


@LAW
@given(spans, some.data())
def test_the_event_that_began_last_tells_each_moment_of_its_state(
    drawn: list[tuple[int, int]], data: some.DataObject
) -> None:
    begin, end = columns(sorted(drawn, key=lambda span: span[0]))
    state = np.array([data.draw(some.integers(0, 2)) for _ in drawn], np.int8)
    tiles, of_tile = first_kind(begin, end, state, 3, 0, END)
    of_tile[of_tile < 0] = State.UNEXPLAINED
    own = np.arange(100, 100 + len(of_tile), dtype=np.int32)
    intervals = device_timeline._StateIntervals(state, begin, end, np.arange(len(begin), dtype=np.int32))
    edges, found, event = device_timeline._cut_by_intervals(tiles, of_tile, own, intervals)
    assert (edges[0], edges[-1], (np.diff(edges) > 0).all()) == (0, END, True)
    for at in range(END):
        place = np.searchsorted(edges, at, "right") - 1
        tile = np.searchsorted(tiles, at, "right") - 1
        running = [k for k in range(len(begin)) if begin[k] <= at < end[k] and state[k] == of_tile[tile]]
        assert (found[place], event[place]) == (of_tile[tile], max(running, default=own[tile]))


@LAW
@given(spans, spans, some.integers(0, 10), some.integers(1, 20))
def test_of_a_wait_the_first_that_knows_tells(
    first: list[tuple[int, int]], second: list[tuple[int, int]], low: int, takes: int
) -> None:
    known = [union(*columns(each)) for each in (first, second)]
    states, events = (State.PEER, State.CALLBACK), (-1, 7)
    told = tuple(
        np.stack((b, e, np.full(len(b), state), np.full(len(b), event)), axis=1).astype(np.int64)
        for (b, e), state, event in zip(known, states, events, strict=True)
    )
    rows = gap_causes.empty_pieces(100)
    none = np.empty((0, 3), np.int64)
    waits = KnownWaits(none, np.empty(0, np.int32), told[1], told[0], none, 0)
    count = gap_causes._add_wait_pieces.py_func(rows, 0, low, low + takes, 5, waits)  # type: ignore[attr-defined]
    begin, state, event = (column[:count] for column in rows)
    for at in range(low, low + takes):
        place = np.searchsorted(begin, at, "right") - 1
        knows = [k for k, (b, e) in enumerate(known) if ((b <= at) & (at < e)).any()]
        wanted = (states[knows[0]], (5, 7)[knows[0]]) if knows else (State.SYNC, 5)
        assert (state[place], event[place]) == wanted
