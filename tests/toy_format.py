"""A whole format of captures, as small as one can be: spans with arguments, by thread and begin, in JSON."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tb_profile_plugin.formats.columns import Events, Lines, Plane, Stats, XSpace, kinds, pool
from tb_profile_plugin.formats.columns.tables import EventMetadata, StatMetadata
from tb_profile_plugin.formats.columns.text import Text

STREAMED = False


def host_of(name: str) -> str | None:
    return name.removesuffix(".toy") if name.endswith(".toy") else None


def is_certain(name: str) -> bool:
    return name != "unsure.toy"


def is_by_product(name: str) -> bool:
    return name.startswith("copy")


def sessions(names: Iterable[str], is_run: bool, head: Callable[[str], bytes]) -> Iterable[tuple[str, tuple[str, ...]]]:
    found = tuple(names)
    return [("", found)] if found else []


def reads(head: bytes) -> bool:
    return head.startswith(b'[\n {"thread"')


def decode(
    buffer: Any, where: str = "", progress: Callable[[str, float], None] = lambda phase, fraction: None
) -> XSpace:
    return read(bytes(buffer).decode())


def read(text: str) -> XSpace:
    spans: list[dict[str, Any]] = json.loads(text)
    args = [(key, value) for span in spans for key, value in span["args"].items()]
    names, keys, threads = (
        list(dict.fromkeys(found))
        for found in (["", *(s["name"] for s in spans)], ["", *(k for k, _ in args)], [s["thread"] for s in spans])
    )
    buffer, places = pool.pooled(value for _, value in args if isinstance(value, str))
    stats = Stats(
        buffer,
        np.cumsum([0, *(len(span["args"]) for span in spans)], dtype=np.int32),
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
        np.empty(0, np.uint8), np.zeros(owners + 1, np.int32), none.astype(np.int32), none.astype(np.uint8), none
    )
