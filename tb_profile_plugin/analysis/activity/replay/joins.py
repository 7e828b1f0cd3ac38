"""Joins: moments from which on a stream goes on, or a call returns, since what it waited for on other streams is over.

A join takes no time. Where a program makes a stream wait for another one, one stands between two events of the stream;
where nobody recorded that, it is inferred from what began late and just after something else had ended.

A *place* of the program (in code a site) is where it launches the same after the same; each time it comes there is a
*pass*. What is so at some passes of a place is so at all of them, also where nothing had to wait.
"""

from __future__ import annotations

import numpy as np

from ....formats.columns import vocabulary
from ....formats.columns.codes import combine
from ....model.events.event_table import MISSING
from ....model.host import Host
from ....runtime.arrays import I64, Array, Bool, I64Matrix
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..known_waits import stream_wait_calls
from .device_activities import FAR_AHEAD, LAUNCHER, LONG_AGO, OTHER_STREAM, SAME_STREAM, DeviceEvents
from .launch_order import FirstLaunches, LaunchOrder, index_after, indices_after
from .stream_waits import CLOCK_PS, LATE_PS, NEAR_PS, StreamWaits, inferred_stream_waits

_MOST_CONTRADICTING = 0.02
"""Share of the passes of a place that may contradict a wait."""
_NEIGHBOUR_LAUNCHES, _MOST_OTHER_STREAMS = 3, 4
"""So many launches before a call and after it tell which streams it is about; of others the first so many."""


class Joins(NamedTuple):
    """Columns of j joins, which are counted after d events."""

    at: Array
    """int64[j] ps."""
    key: Array
    """int64[j] ps: when it was asked for."""
    stream: Array
    """int32[j]: the stream that waits; the number after the last stream where a call waits instead of a stream."""
    call: Array
    """int32[j]: the call by which the stream waits, or -1."""
    waits: Array
    """int32[j, 3]: events and joins that each waits for; the interval that ends with the call is filled in later."""
    line_waits: Array
    """int64[k, 2]: (join, stream) where nothing was launched before on the stream that it waits for: had the capture
    begun earlier, something had."""


def joins(
    host: Host,
    events: DeviceEvents,
    order: LaunchOrder,
    launches: FirstLaunches,
    previous: Array,
    lags: tuple[Array, Array],
) -> tuple[Joins, Array]:
    """(joins, what each event follows on its stream, int32[d]): the latter is ``previous`` with joins put in."""
    ready_ps = _ready_ps(events, previous, *lags)
    recorded = _recorded_waits(host, events, order, launches, ready_ps)
    ready_ps[recorded.waiting] = np.maximum(ready_ps[recorded.waiting], recorded.at)
    return _joins_of_waits(
        events, order, previous, recorded, inferred_stream_waits(host, events, order, launches, ready_ps)
    )


def _ready_ps(events: DeviceEvents, previous: Array, group: Array, lags: Array) -> Array:
    """int64[d] ps: from when on each event's launch and its stream let it begin."""
    launched = np.minimum(events.launch_end + lags[group, LAUNCHER], events.begin)
    end = events.end[previous]
    follows = np.where(previous >= 0, np.minimum(end + lags[group, SAME_STREAM], events.begin), LONG_AGO)
    return np.maximum(np.where(events.launch >= 0, launched, LONG_AGO), follows)


def _recorded_waits(
    host: Host, events: DeviceEvents, order: LaunchOrder, launches: FirstLaunches, ready_ps: Array
) -> StreamWaits:
    """The waits that calls made streams wait for."""
    trace = host.trace
    calls, thread = events.calls_by_thread(trace, stream_wait_calls(host))
    has_launches = launches.first[thread] < launches.first[thread + 1]
    calls, thread = calls[has_launches], thread[has_launches]
    if len(calls) and len(order.first) > 2:
        stream_pair = _stream_pairs(host, events, order, launches, ready_ps, calls, thread)
    else:
        stream_pair = np.full((len(calls), 2), -1, np.int64)
    has_pair = stream_pair[:, 0] >= 0
    calls, stream_pair = calls[has_pair], stream_pair[has_pair]
    return _waits_of_calls(events, order, trace.begin[calls], trace.end[calls], calls, stream_pair)


def _stream_pairs(
    host: Host,
    events: DeviceEvents,
    order: LaunchOrder,
    launches: FirstLaunches,
    ready_ps: Array,
    calls: Array,
    thread: Array,
) -> Array:
    """int64[k, 2]: which stream each call makes wait, and for which one; -1 where that is not known.

    It is as stated for any call of its place, else the pair of streams that none of the calls contradicts and that
    explains most, else the stream that is launched on next, for the one that was launched on before.
    """
    stream_pair = np.full((len(calls), 2), -1, np.int64)
    call_ps = host.trace.begin[calls]
    index = launches.first_index_from(thread, call_ps)
    site, site_and_rank, example_rank = _sites(host, events, launches, index, thread)
    stated = _stated_pairs(host, calls)
    by_site_and_rank = np.argsort(site_and_rank, kind="stable")
    first = np.searchsorted(site_and_rank[by_site_and_rank], np.arange(len(example_rank) + 1))
    used_streams = np.flatnonzero(np.diff(order.first))[:_MOST_OTHER_STREAMS].tolist()
    streams = events.stream[launches.event]
    pairs_by_site: dict[int, set[tuple[int, int]]] = {}
    for site_rank in np.argsort(example_rank, kind="stable").tolist():
        rows = by_site_and_rank[first[site_rank] : first[site_rank + 1]]
        stated_pairs = [stated[call] for call in calls[rows].tolist() if call in stated]
        site_pairs = pairs_by_site.setdefault(int(site[rows[0]]), set())
        best_pair: tuple[int, int] | None
        if stated_pairs:
            best_pair = max(sorted(set(stated_pairs)), key=stated_pairs.count)
        else:
            last = int(rows[-1])
            low, high = launches.first[thread[last]], launches.first[thread[last] + 1]
            next_streams = streams[index[last] : min(index[last] + _NEIGHBOUR_LAUNCHES, high)].tolist()
            last_streams = streams[max(index[last] - _NEIGHBOUR_LAUNCHES, low) : index[last]][::-1].tolist()
            candidates = [
                (stream, awaited)
                for stream in dict.fromkeys(next_streams)
                for awaited in dict.fromkeys([*last_streams, *used_streams])
                if stream != awaited and (stream, awaited) not in site_pairs
            ]
            best_pair = _best_pair(candidates, call_ps[rows], events, order, ready_ps)
        if best_pair is not None:
            site_pairs.add(best_pair)
            stream_pair[rows] = best_pair
    return stream_pair


def _sites(
    host: Host, events: DeviceEvents, launches: FirstLaunches, index: Array, thread: Array
) -> tuple[Array, Array, list[int]]:
    """(site, site and rank, rank of each site and rank), int64[k], int64[k] and a list: the place of the program at
    which each call stands, by the launches beside it, and which of several between the same two launches it is.
    """
    names = host.trace.name_of[events.event]
    _, site = combine(*(launches.names_at(names, thread, index + offset) for offset in (-2, -1, 0)))
    is_first = np.append(True, (np.diff(index) != 0) | (np.diff(thread) != 0))
    rows = np.arange(len(index))
    rank = rows - np.maximum.accumulate(np.where(is_first, rows, 0))
    example, site_and_rank = combine(site, rank)
    return site, site_and_rank, rank[example].tolist()


def _best_pair(
    pairs: list[tuple[int, int]], call_ps: Array, events: DeviceEvents, order: LaunchOrder, ready_ps: Array
) -> tuple[int, int] | None:
    """The pair (stream, awaited stream) that explains most of the calls, which begin at ``call_ps`` (int64[k]); of
    several one on one device, then the first; None where all are contradicted.
    """
    if not pairs:
        return None
    score = _pair_scores(np.array(pairs, np.int64), call_ps, order, events.begin, events.end, ready_ps)
    possible = np.flatnonzero(score[:, 1] <= _MOST_CONTRADICTING * len(call_ps))
    device = np.zeros(len(order.first) - 1, np.int64)
    device[events.stream] = events.device
    ranks = [(score[k, 0], device[pairs[k][0]] == device[pairs[k][1]], -k) for k in possible.tolist()]
    return pairs[-max(ranks)[2]] if ranks else None


def _stated_pairs(host: Host, calls: Array) -> dict[int, tuple[int, int]]:
    """By call (stream, awaited stream), where the profiler says so."""
    number = host.trace.numbers(vocabulary.CORRELATION_ID, calls)
    by_number = dict(zip(number[number != MISSING].tolist(), calls[number != MISSING].tolist(), strict=True))
    pair_of_call: dict[int, tuple[int, int]] = {}
    line = 0
    for plane in host.trace.planes:
        names = plane.lines.name
        if plane in host.gpus and plane.has_stat(vocabulary.WAIT_ON_STREAM):
            streams = {id: line + i for i, id in enumerate(plane.lines.id.tolist()) if names[i].startswith("Stream")}
            rows = plane.stat(vocabulary.WAIT_ON_STREAM).owner
            columns = (vocabulary.CORRELATION, vocabulary.STREAM, vocabulary.WAIT_ON_STREAM)
            for call, *pair in zip(*(plane.numbers(name, rows, MISSING).tolist() for name in columns), strict=True):
                if call in by_number and all(id in streams for id in pair) and pair[0] != pair[1]:
                    pair_of_call[by_number[call]] = streams[pair[0]], streams[pair[1]]
        line += len(names)
    return pair_of_call


def _waits_of_calls(
    events: DeviceEvents, order: LaunchOrder, begin: Array, end: Array, calls: Array, stream_pair: Array
) -> StreamWaits:
    """The waits of calls by which the first stream of each pair waits for the second."""
    stream, awaited_stream = np.ascontiguousarray(stream_pair.T)
    index = indices_after(stream, begin, order)
    waiting = order.events_at(stream, index)
    awaited = order.events_at(awaited_stream, indices_after(awaited_stream, begin - 1, order) - 1)
    previous_event = order.events_at(stream, index - 1)
    at = np.maximum(end, np.where(previous_event >= 0, events.end[previous_event], LONG_AGO))
    at = np.maximum(at, np.where(awaited >= 0, events.end[awaited], LONG_AGO))
    until = np.where(waiting >= 0, events.begin[waiting], FAR_AHEAD)
    is_possible = (awaited < 0) | (events.end[awaited] <= until)
    awaited = np.where(awaited >= 0, awaited, ~awaited_stream)
    waits = StreamWaits(np.minimum(at, until), begin, calls, stream, waiting, awaited)
    return StreamWaits(*(column[is_possible] for column in waits))


def _joins_of_waits(
    events: DeviceEvents, order: LaunchOrder, previous: Array, *waits: StreamWaits
) -> tuple[Joins, Array]:
    """`joins` of these waits, each behind what came before it on its stream."""
    at, key, call, stream, waiting, awaited = (np.concatenate(column) for column in zip(*waits, strict=True))
    rank = np.repeat(np.arange(len(waits)), [len(group.at) for group in waits])
    rows = np.lexsort((key, rank, waiting, stream))
    at, key, call, stream, waiting, awaited = (column[rows] for column in (at, key, call, stream, waiting, awaited))
    count, numbers = len(events.begin), np.arange(len(at), dtype=np.int32)
    follows = np.append(False, (stream[1:] == stream[:-1]) & (waiting[1:] == waiting[:-1]))[: len(at)]
    last = order.events_at(stream, order.first[stream + 1] - 1)
    all_waits = np.full((len(at), 3), -1, np.int32)
    all_waits[:, SAME_STREAM] = np.where(waiting >= 0, previous[waiting], last)
    all_waits[follows, SAME_STREAM] = numbers[follows] - 1 + count
    at = latest_so_far(at, follows)
    all_waits[:, OTHER_STREAM] = np.maximum(awaited, -1)
    previous_or_join = previous.copy()
    # Of several joins before one event the last is what that follows.
    previous_or_join[waiting[waiting >= 0]] = numbers[waiting >= 0] + count
    before_capture = np.flatnonzero(awaited < 0)
    line_waits = np.stack((before_capture, ~awaited[before_capture]), axis=1)
    return Joins(at, key, stream.astype(np.int32), call.astype(np.int32), all_waits, line_waits), previous_or_join


@jit
def latest_so_far(end: I64, follows: Bool) -> I64:
    """int64[k] ps: the latest end so far, within each run of rows that follow one another."""
    latest = end.copy()
    for i in range(1, len(end)):
        if follows[i]:
            latest[i] = max(latest[i], latest[i - 1])
    return latest


@jit
def _pair_scores(pairs: I64Matrix, call_ps: I64, order: LaunchOrder, begin: I64, end: I64, ready_ps: I64) -> I64Matrix:
    """int64[pairs, 2]: how many of the calls a pair explains, and how many contradict it.

    It explains a call whose next event began just after the awaited one had ended, and not before that; it is
    contradicted where the next event began while the awaited one still ran.
    """
    scores = np.zeros((len(pairs), 2), np.int64)
    first, rows = order.first, order.rows
    for k in range(len(pairs)):
        stream, awaited_stream = pairs[k, 0], pairs[k, 1]
        for i in range(len(call_ps)):
            following = index_after(stream, call_ps[i], order)
            awaited = index_after(awaited_stream, call_ps[i] - 1, order) - 1
            if following < first[stream + 1] and awaited >= first[awaited_stream]:
                event, awaited_event = rows[following], rows[awaited]
                slack_ps = begin[event] + CLOCK_PS - end[awaited_event]
                scores[k, 1] += slack_ps < 0
                scores[k, 0] += end[awaited_event] > ready_ps[event] - LATE_PS and 0 <= slack_ps <= NEAR_PS
    return scores
