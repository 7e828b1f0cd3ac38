"""A part of the timeline as a report shows it: a drawing for each host that has events there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from ..export.report.picture import picture
from ..model.session import Session
from ..runtime.messages import localized
from ..runtime.records import NamedTuple
from ..timeline.tiles import timeline

_MOST_HOSTS = 8
"""Hosts that are drawn."""


class ReportWindow(NamedTuple):
    """A range of time on one clock."""

    begin: int
    """ps since the first event of the hosts that are shown."""
    end: int
    """ps."""
    shifts: Mapping[str, int]
    """By host: ps that are added to its own times to bring them onto that clock."""


def window_html(session: Session, window: ReportWindow) -> str:
    """The window of the first `_MOST_HOSTS` hosts as HTML; raises `ProblemError` for a host that cannot be read."""
    title = localized("Timeline from {begin_ps} to {end_ps}", begin_ps=window.begin, end_ps=window.end)
    pictures = "".join(_pictures(session, window)) or f"<p>{escape(localized('Nothing was recorded then.'))}</p>"
    return (
        '<article class="still window"><details open>'
        f"<summary><h2>{escape(title)}</h2></summary>{pictures}</details></article>"
    )


def _pictures(session: Session, window: ReportWindow) -> Iterator[str]:
    for host in [name for name in session.hosts if name in window.shifts][:_MOST_HOSTS]:
        shift = window.shifts[host]
        svg = picture(timeline(session.host(host)), window.begin - shift, window.end - shift)
        if svg:
            yield f"<h3>{escape(host)}</h3>{svg}" if len(window.shifts) > 1 else svg
