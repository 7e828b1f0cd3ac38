"""An interval of a host's timeline as a still drawing: for a report's first paint, and for print."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ...runtime.messages import localized, shortened
from ...runtime.units import duration
from ...timeline.busiest import BusyLane, Limits, busiest
from ...timeline.tiles import Timeline

_WIDTH, _NAMES_WIDTH, _ROW_HEIGHT = 960, 170, 13
"""Pixels: width of the drawing, width of the lanes' names in it, height of a row of slices."""
_MOST_LANES, _MOST_ROWS = 12, 4
"""Lanes, and rows of each."""
_MOST_SLICES = 1500
"""The most slices; where there are more, neighbours are drawn as one."""
_LETTER_WIDTH = 6.2
"""Pixels: about the mean width of a letter."""
_COLOURS = 6
"""Classes ``c0`` … that the page's style gives colours."""


def picture(timeline: Timeline, begin: int, end: int) -> str:
    """SVG of the lanes that are busiest between two moments, ps; empty where nothing happens there."""
    width = _WIDTH - _NAMES_WIDTH
    lanes = busiest(timeline, begin, end, width, Limits(_MOST_LANES, _MOST_LANES, _MOST_ROWS, _MOST_SLICES))
    if not lanes or end <= begin:
        return ""
    parts: list[str] = []
    top = 0
    for lane in lanes:
        parts += _lane_svg(timeline, lane, top, begin, end)
        top += lane.rows * _ROW_HEIGHT + 6
    axis = f'<text x="{_NAMES_WIDTH}" y="{top + 11}">0</text>'
    axis += f'<text x="{_WIDTH}" y="{top + 11}" text-anchor="end">{escape(duration(end - begin))}</text>'
    label = escape(localized("Timeline of {span_ps}, {count} lanes", span_ps=end - begin, count=len(lanes)))
    head = f'<svg class="lanes" viewBox="0 0 {_WIDTH} {top + 16}" role="img" aria-label="{label}">'
    return "".join([head, *parts, axis, "</svg>"])


def _lane_svg(timeline: Timeline, lane: BusyLane, top: int, begin: int, end: int) -> Iterator[str]:
    yield f'<text x="0" y="{top + 10}">{escape(_cut(lane.title, _NAMES_WIDTH - 6))}</text>'
    scale = (_WIDTH - _NAMES_WIDTH) / (end - begin)
    columns = (lane.slices.begin, lane.slices.end, lane.slices.row, lane.slices.name)
    for slice_begin, slice_end, row, name_index in zip(*(column.tolist() for column in columns), strict=True):
        left, right = (_NAMES_WIDTH + (min(max(time, begin), end) - begin) * scale for time in (slice_begin, slice_end))
        name, y = timeline.names[name_index], top + row * _ROW_HEIGHT
        width = max(0.5, right - left)
        size = f'width="{width:.1f}" height="{_ROW_HEIGHT - 1}"'
        yield f'<rect class="c{name_index % _COLOURS}" x="{left:.1f}" y="{y}" {size}/>'
        if width >= 5 * _LETTER_WIDTH:
            yield f'<text x="{left + 2:.1f}" y="{y + 10}">{escape(_cut(name, width - 4))}</text>'


def _cut(text: str, width: float) -> str:
    """The text, cut to a width in pixels."""
    return shortened(text, max(1, int(width / _LETTER_WIDTH)))
