"""What flight recorders tell of a hang, as a page of HTML that needs neither a network nor scripts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ...analysis.hang import sentences
from ...analysis.hang.groups import ProcessGroup, rank_ranges
from ...analysis.hang.table import Cell, RankTable, table
from ...formats.flight_recorder import COMPLETED, ENDED, SCHEDULED, STARTED
from ...runtime.messages import localized, translated
from .hang import HangAnalysis, details, divergence, frame_text, group_title, hints, stacks, visible_groups
from .html import bullets, page_head, style

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_COLUMNS_BEFORE = 11
"""Collectives that tables show before the one that matters."""


def page(analysis: HangAnalysis, home: str = "") -> str:
    """The file; ``home`` is the address of the pages of profiles, if a server has them."""
    title = escape(translated(sentences.headline(analysis.verdict)))
    return "\n".join(
        [
            f"{page_head(_POLICY, title)}{style('hang.css')}</head><body><main><h1>{title}</h1>",
            f'<p><a href="{escape(home)}">{escape(localized("Profiles"))}</a></p>' if home else "",
            *_body(analysis),
            "</main></body></html>",
        ]
    )


def _body(analysis: HangAnalysis) -> Iterator[str]:
    verdict = analysis.verdict
    yield bullets("", (*details(verdict), *hints(analysis), *map(str, analysis.problems)))
    for group in visible_groups(verdict):
        yield from _table_html(group, table(group, divergence(verdict, group), _COLUMNS_BEFORE))
    for stack in stacks(verdict):
        lines = "".join(f"<li>{escape(frame_text(frame))}</li>" for frame in stack.frames)
        yield f"<h2>{escape(translated(stack.title))}</h2><ol>{lines}</ol>"


def _table_html(group: ProcessGroup, grid: RankTable) -> Iterator[str]:
    """Ranks × collectives; what is not as it should be has a colour besides its word."""
    title = escape(translated(group_title(group)))
    yield f'<h2>{title}</h2><div class="wide" role="region" aria-label="{title}" tabindex="0"><table>'
    heads = zip(grid.sequences, grid.operations, strict=True)
    cells = "".join(f'<th scope="col"><b>{number}</b>{escape(name)}</th>' for number, name in heads)
    yield f'<thead><tr><th scope="col">{escape(localized("ranks"))}</th>{cells}</tr></thead><tbody>'
    for row in grid.rows:
        cells = "".join(
            f'<td class="{_cell_class(cell)}">{escape(sentences.cell_text(cell))}</td>' for cell in row.cells
        )
        yield f'<tr><th scope="row">{rank_ranges(row.ranks)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _cell_class(cell: Cell) -> str:
    if cell.operation:
        return "bad"
    if cell.state in (COMPLETED, ENDED):
        return "done"
    return "wait" if cell.state in (STARTED, SCHEDULED) else "bad"
