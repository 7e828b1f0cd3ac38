"""Who calls for an event: the lines of Python and the modules around it; of a device's event, around its launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.events.links import GRADIENT, LAUNCH, Links
from ...model.host import Host
from ...model.names.host_events import is_frame
from ...runtime.arrays import I64, Bool
from ...runtime.records import NamedTuple
from ...runtime.regex import regex

CALL_STACK = "Call stack"
"""Stat of ops until torch 1.11: frames from the innermost, ``file.py(12): function;…``."""
_LIBRARY_FILE = regex(
    r"(?:^|.*/)(?:torch|torchvision|importlib|threading\.py|runpy\.py|torchinductor_\w+|c[a-z2-7]{51}\.py)(?:/|$)"
    r"|<|.*built-in"
)
"""Files whose frames are not the program's own; Inductor names those that it writes after their content."""
_FRAME = regex(r"\$?(?P<file>[^;]*?)(?:\((?P<old>\d+)\)|:(?P<line>\d+)):? (?P<function>[^;]*)")
_MOST_FRAMES = 100
"""Recursion could make stacks of any depth."""


class Callers(NamedTuple):
    """From where in the program an event is called."""

    line: str
    """``file.py:12 function``: the innermost line of the program itself; empty where none is known."""
    module: str
    """Path of modules, e.g. ``Net_0/Conv2d_0``; empty where none is known."""
    frames: list[str]
    """Lines of Python, the program's own and others, from the innermost; 100 at most."""


def user_line(frames: Sequence[str]) -> str:
    """``file.py:12 function`` of the first frame that is the program's own; empty for none."""
    for frame in frames:
        match = _FRAME.fullmatch(frame.strip())
        if match and not _LIBRARY_FILE.match(match["file"]):
            return f"{match['file']}:{match['line'] or match['old']} {match['function']}"
    return ""


def has_user_lines(plane: Plane) -> bool:
    """Whether some of its events are frames of Python, or ops with stacks."""
    return plane.has_stat(CALL_STACK) or any(map(is_frame, plane.names))


def user_lines(plane: Plane) -> tuple[I64, list[str]]:
    """(int64[n], lines): which line each event tells by its name or its stack; 0 is none, for which line 0 is empty."""
    line_of_name = [user_line([name]) if is_frame(name) else "" for name in plane.names]
    stat = plane.stat(CALL_STACK)
    codes, stacks = stat.codes if len(stat) else (np.zeros(0, np.int64), [])
    line_of_stack = [user_line(stack.split(";")) for stack in stacks]
    number_of_line = {line: i for i, line in enumerate(dict.fromkeys(["", *line_of_name, *line_of_stack]))}
    line_number = np.array([number_of_line[line] for line in line_of_name], np.int64)[plane.events.name]
    line_number[stat.owner] = np.array([number_of_line[line] for line in line_of_stack], np.int64)[codes]
    return line_number, list(number_of_line)


def callers(host: Host, event: int) -> Callers:
    """The callers of an event, by its number in the host's trace.

    Of an op that computes gradients, which a thread of its own runs, they are the callers of the op whose gradients
    these are.
    """
    frames: list[str] = []
    modules: list[str] = []
    for enclosing in _enclosing(host, event):
        name = host.trace.name(enclosing)
        if name.startswith(vocabulary.PYTHON_FRAME + vocabulary.TORCH_MODULE):
            modules.append(name.removeprefix(vocabulary.PYTHON_FRAME + vocabulary.TORCH_MODULE))
        elif is_frame(name):
            frames.append(name)
        elif not frames:
            # Stacks are complete: those of ops further out would repeat it.
            frames += _stack(host, enclosing)
    texts = [frame.removeprefix(vocabulary.PYTHON_FRAME) for frame in frames[:_MOST_FRAMES]]
    return Callers(user_line(frames), "/".join(reversed(modules)), texts)


class CallingLines(NamedTuple):
    """The innermost line of the program itself around each of some events."""

    call: I64
    """int64[k]: the launch of each event, or itself where it has none; -1 where no line of the host is known."""
    frame: I64
    """int64[k]: the frame, or the op with a stack, that tells the line; -1 for none."""
    text: I64
    """int64[k]: row in ``texts``; row 0 is empty, for events of which no line is known."""
    texts: list[str]
    """As `user_line` has them."""


def calling_lines(host: Host, events: I64) -> CallingLines:
    """`Callers.line` of each of the events, by their numbers in the host's trace: for many of them."""
    line_number, texts = np.zeros(len(host.trace), np.int64), [""]
    if host.cpu is not None and len(events):
        line_number[host.trace.slice_of(host.cpu)], texts = user_lines(host.cpu)
    if len(texts) == 1:
        unknown = np.full(len(events), -1, np.int64)
        return CallingLines(unknown, unknown, np.zeros(len(events), np.int64), texts)
    calls = _launches(host, events)
    nearest = _innermost_marked(host, calls, line_number > 0)
    rows = np.flatnonzero(nearest < 0)
    if len(rows):
        nearest[rows] = _innermost_marked(host, _forward_ops(host, calls[rows]), line_number > 0)
    return CallingLines(calls, nearest, np.where(nearest >= 0, line_number[nearest], 0), texts)


def _stack(host: Host, event: int) -> list[str]:
    """The frames that an op itself tells of, from the innermost."""
    plane, row = host.trace.plane_of(event)
    stack = str(plane.event_facts(row).get(CALL_STACK, ""))
    return [f"{vocabulary.PYTHON_FRAME}{frame.strip()}" for frame in stack.split(";") if frame]


def _enclosing(host: Host, event: int) -> Iterator[int]:
    """The event, or its launch, and the events that enclose it, from the innermost.

    Then the op whose gradients it is part of, and the events that enclose that.
    """
    parent = host.trace.nesting.parent
    call = _launches(host, np.array([event], np.int64))
    for innermost in (call, _forward_ops(host, call)):
        enclosing = int(innermost[0])
        while enclosing >= 0:
            yield enclosing
            enclosing = int(parent[enclosing])


def _launches(host: Host, events: I64) -> I64:
    """int64[k]: the launch of each of the events, or itself where it has none."""
    launch = _link_sources(host.trace.links, events, LAUNCH)
    return np.where(launch >= 0, launch, events)


def _forward_ops(host: Host, events: I64) -> I64:
    """int64[k]: the op of the forward pass whose gradients each event is part of; -1 for none."""
    links = host.trace.arrows
    is_gradient = np.zeros(len(host.trace), bool)
    is_gradient[links.target[links.kind == GRADIENT]] = True
    return _link_sources(links, _innermost_marked(host, events, is_gradient), GRADIENT)


def _innermost_marked(host: Host, events: I64, is_marked: Bool) -> I64:
    """int64[k]: the innermost marked event that is or encloses each one; -1 for none. ``is_marked`` is bool[n]."""
    parent = host.trace.nesting.parent
    nearest = events.copy()
    while (unmarked := np.flatnonzero((nearest >= 0) & ~is_marked[nearest])).size:
        nearest[unmarked] = parent[nearest[unmarked]]
    return nearest


def _link_sources(links: Links, events: I64, kind: int) -> I64:
    """int64[k]: the event that a link of that kind leads from to each one; -1 for none."""
    targets, sources = links.by_target
    of_kind = np.flatnonzero(links.kind[links.target_order] == kind)
    if not len(of_kind):
        return np.full(len(events), -1, np.int64)
    link = of_kind[np.minimum(np.searchsorted(targets[of_kind], events), len(of_kind) - 1)]
    return np.where(targets[link] == events, sources[link].astype(np.int64), -1)
