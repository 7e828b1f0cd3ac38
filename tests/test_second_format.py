"""Another input format is a folder beside xspace/: whoever fills the neutral columns is answered by every analysis."""

import json
from typing import Any

import numpy as np

from tb_profile_plugin.analysis import steptime
from tb_profile_plugin.analysis.hostops import host_ops
from tb_profile_plugin.columns import Events, Lines, Plane, Stats, XSpace, kinds, pool
from tb_profile_plugin.columns.tables import EventMetadata, StatMetadata, Text
from tb_profile_plugin.model.host import Host
from tb_profile_plugin.timeline.details import details
from tb_profile_plugin.timeline.search import Pattern, search
from tb_profile_plugin.timeline.tiles import timeline

TRACE = """[
 {"thread": "main", "name": "train", "us": [0, 900], "args": {"_r": 1, "step_num": 0}},
 {"thread": "main", "name": "train", "us": [1000, 900], "args": {"_r": 1, "step_num": 1}},
 {"thread": "pool", "name": "dense/MatMul:MatMul", "us": [100, 300], "args": {"shape": "(f32[8,8])"}},
 {"thread": "pool", "name": "dense/MatMul:MatMul", "us": [1100, 200], "args": {"shape": "(f32[4,4])"}}
]"""


def read(text: str) -> XSpace:
    """The whole reader of a toy format: spans with arguments, by thread and begin."""
    spans: list[dict[str, Any]] = json.loads(text)
    args = [(key, value) for span in spans for key, value in span["args"].items()]
    names, keys, threads = (
        list(dict.fromkeys(found))
        for found in (["", *(s["name"] for s in spans)], ["", *(k for k, _ in args)], [s["thread"] for s in spans])
    )
    buffer, places = pool.filled(value for _, value in args if isinstance(value, str))
    stats = Stats(
        buffer,
        np.cumsum([0, *(len(span["args"]) for span in spans)], dtype=np.int64),
        np.array([keys.index(key) for key, _ in args], np.int32),
        np.array([kinds.TEXT if isinstance(value, str) else kinds.INT for _, value in args], np.uint8),
        np.array([places[value] if isinstance(value, str) else value for _, value in args], np.int64),
    )
    line = np.array([threads.index(span["thread"]) for span in spans], np.int32)
    name = np.array([names.index(span["name"]) for span in spans], np.int32)
    begin, duration = np.array([span["us"] for span in spans], np.int64).T.copy() * 10**6
    events = Events(line, name, begin, duration, np.zeros(len(spans), np.int64), stats)
    zero = np.zeros(len(threads), np.int64)
    first = np.searchsorted(line, np.arange(len(threads) + 1))
    lines = Lines(np.arange(len(threads)), zero, threads, zero, first)
    of_names, blank = Text.of(names), Text.of([""] * len(names))
    metadata = EventMetadata(np.arange(len(names)), of_names, of_names, blank, empty(len(names)))
    return XSpace(
        [Plane(0, "/host:CPU", lines, events, metadata, StatMetadata(np.arange(len(keys)), Text.of(keys)), empty(1))]
    )


def empty(owners: int) -> Stats:
    none = np.empty(0, np.int64)
    return Stats(
        np.empty(0, np.uint8), np.zeros(owners + 1, np.int64), none.astype(np.int32), none.astype(np.uint8), none
    )


def test_steps_ops_and_the_timeline_are_those_of_the_trace() -> None:
    host = Host("toy", read(TRACE))
    assert steptime.over_hosts([host, host])[1][0].average_ms == 0.9
    table = host_ops(host)
    assert [(op.type, op.occurrences, op.total_ps) for op in table.ops if op.name == "dense/MatMul"] == [
        ("MatMul", 2, 500 * 10**6)
    ]
    shown = timeline(host)
    assert [lane.name for lane in shown.lanes] == ["main", "pool"]
    assert len(search(host, Pattern("4,4")).event) == 1
    assert details(host, 2)["name"] == "dense/MatMul:MatMul"
