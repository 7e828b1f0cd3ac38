"""The timeline. Its page asks for what is visible by routes of its own; this JSON is the whole trace, for scripts."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..timeline.chrome import Excerpt, pieces
from ..timeline.one_clock import shifts
from .answers.tool import Param, tool


@tool(
    title="Timeline",
    group="Timeline",
    order=10,
    params=[
        Param("start_time_ms", "0", "Leave out events that end before this time, in ms since the first event."),
        Param(
            "end_time_ms", "0", "Leave out events that begin after this time, in ms since the first event; 0 keeps all."
        ),
        Param("resolution", "0", "Leave out events too short to be seen at this width in pixels; 0 keeps all."),
        Param(
            "clocks",
            "aligned",
            "Clocks of several hosts: aligned by collectives, or raw, as they were recorded.",
            ("aligned", "raw"),
        ),
    ],
    streamed=True,
)
def trace_viewer(
    session: Session, host: str, start_time_ms: str, end_time_ms: str, resolution: str, clocks: str
) -> Iterator[str]:
    """What happened when, on every thread and device?

    The JSON is in the trace-event format, which ui.perfetto.dev and chrome://tracing open.
    """
    begin, end = _number("start_time_ms", start_time_ms), _number("end_time_ms", end_time_ms)
    excerpt = Excerpt(round(begin * 1e9), round(end * 1e9), int(_number("resolution", resolution)))
    shift_ps = shifts(session, host, as_recorded=clocks == "raw")
    return pieces(session.host_by_host(host), excerpt, shift_ps)


def _number(name: str, text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = -1
    if not 0 <= value < 1e9:
        raise problem_error(
            "bad_option",
            Message("{name}={text} is not a number from 0 on.", name=name, text=repr(text)),
            Message("Give 0 or more."),
        )
    return value
