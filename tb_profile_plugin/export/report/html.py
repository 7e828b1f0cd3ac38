"""Styles, tables and lists of HTML, for what is read without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ...runtime.messages import language, localized, translated


def style(name: str) -> str:
    """The element with the style sheet of that name beside this module, such as ``report.css``."""
    return f"<style>\n{Path(__file__).with_name(name).read_text('utf-8')}</style>"


def page_head(policy: str, title: str) -> str:
    """What a page begins with, up to its title: ``policy`` says what browsers may load, ``title`` is HTML."""
    return (
        f'<!doctype html><html lang="{language()}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>"
    )


def titled_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of HTML; heads with ``#`` stand over numbers. Empty where there are no rows.

    Title and heads are English, and said in the language of whoever asked.
    """
    attributes = [' class="n"' if head.startswith("#") else "" for head in heads]
    cells = zip(heads, attributes, strict=True)
    head = "".join(f'<th scope="col"{attr}>{escape(localized(text.lstrip("#")))}</th>' for text, attr in cells)
    lines = [
        "<tr>" + "".join(f"<td{attr}>{cell}</td>" for cell, attr in zip(row, attributes, strict=True)) + "</tr>"
        for row in rows
    ]
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f"{_heading(title)}{body}" if lines else ""


def bullets(title: str, texts: Iterable[str]) -> str:
    """Texts below each other; empty where there are none."""
    items = "".join(f"<li>{escape(translated(text))}</li>" for text in texts)
    return f"{_heading(title)}<ul>{items}</ul>" if items else ""


def _heading(title: str) -> str:
    return f"<h2>{escape(localized(title))}</h2>" if title else ""
