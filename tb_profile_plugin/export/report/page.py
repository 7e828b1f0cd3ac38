"""A report's page: what can be read without scripts and in print, and the pages themselves with their answers."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from typing import Any, NamedTuple

from ...analysis.steps.step_choice import TYPICAL
from ...runtime.messages import ENGLISH, language, localized, pages_catalogue, translated
from ...runtime.problems import problem_error
from ...tools.answers.answer import Json
from .before_after import before_after
from .html import bullets, titled_table
from .summary import cost_of, figure, has_steps, hosts_and_steps

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
"""Nothing is loaded, and no script runs but ours."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --quiet: #59616b; --paper: #fff; --line: #d5d9df; --fill: #b44500; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --quiet: #a3abb6; --paper: #202124; --line: #44484f; --fill: #ff9d52; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
[data-live] .still:not(.window) { display: none; }
.window h2, .window h3 { display: inline-block; margin: .25rem 0; }
.still { color: var(--ink); max-width: 60rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: break-word; }
.still code, .still td:first-child { overflow-wrap: anywhere; }
.still .notes { margin-bottom: 1rem; white-space: pre-wrap; border-left: 3px solid var(--line); padding-left: .75rem; }
.still h1 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .5rem; }
.still ul { list-style: disc; padding-left: 1.25rem; }
.still ol { list-style: decimal; padding-left: 1.25rem; }
.still h2 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
.still table { border-collapse: collapse; width: 100%; }
.still th, .still td { border-bottom: 1px solid var(--line); padding: .2rem .5rem .2rem 0; text-align: left; }
.still .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.still .quiet { color: var(--quiet); }
.still svg { display: block; width: 10rem; height: .7rem; }
.still rect { fill: var(--fill); }
.still svg.lanes { width: 100%; height: auto; }
.lanes text { fill: var(--ink); font: 10px system-ui, sans-serif; }
.lanes rect { stroke: var(--paper); stroke-width: .3; }
.lanes .c0 { fill: #9dc3f0; } .lanes .c1 { fill: #f3c08b; } .lanes .c2 { fill: #a9d6a4; }
.lanes .c3 { fill: #e6a9b4; } .lanes .c4 { fill: #c9b6e4; } .lanes .c5 { fill: #d8cf8f; }
@media (prefers-color-scheme: dark) {
  .lanes .c0 { fill: #2b5788; } .lanes .c1 { fill: #7d4f1c; } .lanes .c2 { fill: #33663a; }
  .lanes .c3 { fill: #7a3846; } .lanes .c4 { fill: #56418a; } .lanes .c5 { fill: #635b1c; }
}
@page { margin: 16mm; }
@media print {
  :root { color-scheme: light; --ink: #000; --quiet: #444; --paper: #fff; --line: #999; --fill: #b44500; }
  html, body { background: #fff !important; }
  [data-live] .still:not(.window) { display: block; }
  .app { display: none !important; }
  .still { max-width: none; padding: 0; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  .still .quiet { color: #444; }
  .still svg.lanes { break-inside: avoid; }
  .lanes text { fill: #000; }
  .lanes .c0 { fill: #9dc3f0; } .lanes .c1 { fill: #f3c08b; } .lanes .c2 { fill: #a9d6a4; }
  .lanes .c3 { fill: #e6a9b4; } .lanes .c4 { fill: #c9b6e4; } .lanes .c5 { fill: #d8cf8f; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


class Cover(NamedTuple):
    """What stands before the figures: texts of whoever made the report, and where they come from."""

    title: str = ""
    notes: str = ""
    about: str = ""
    """Sentences: when it was captured, with which versions, whether it is redacted."""
    base: str = ""
    """The session from before, which the pages open with as their base."""
    comparison: Json = None
    """What the tool ``compare`` answers about that; None without one."""
    steps: str = TYPICAL
    """Those that figures go over, which the pages open with as their choice."""
    window: str = ""
    """HTML of a part of the timeline, which stays above the pages; empty for none."""


def page(
    summary: Json, cover: Cover, script: str, packed: bytes, embedded: str = "", drawn: str = "", notices: str = ""
) -> str:
    """The file: ``summary`` as `summary.summary` makes it, the cover, the bundle, compressed answers.

    ``embedded`` is an element of data that pages do not read, ``drawn`` HTML for the end of what is there without
    scripts, ``notices`` the text that licences ask to be handed on with the bundle.

    Raises `ProblemError` for a bundle that would end its own element.
    """
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        raise problem_error("bad_bundle", "The pages cannot be combined into one file.", "Report this bug.")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    view = {"base": cover.base, "steps": "" if cover.steps == TYPICAL else cover.steps}
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in view.items() if value)
    answers = base64.b64encode(packed).decode()
    title = escape(cover.title or localized("Profile of {session}", session=summary["session"]))
    return "\n".join(
        [
            '<!doctype html><html lang="' + language() + '"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest=digest)}">',
            '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">',
            f'<title>{title}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head><body>',
            _still(summary, cover, drawn),
            cover.window,
            f'<script type="application/octet-stream" id="answers"{data} data-lang="{language()}">{answers}</script>',
            _messages(),
            embedded,
            f"<!--\n{escape(notices, quote=False)}-->",
            f"<script>{script}</script></body></html>",
        ]
    )


def _messages() -> str:
    """What the pages' own texts say in the report's language; English they say by themselves."""
    if language() == ENGLISH:
        return ""
    texts = json.dumps(pages_catalogue(), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="messages">{texts}</script>'


def _still(summary: Json, cover: Cover, drawn: str) -> str:
    verdict, facts = summary["verdict"], summary["facts"]
    made_by = localized("Made by {program}.", program=summary["made_by"])
    return "\n".join(
        [
            '<article class="still">',
            f"<h1>{escape(cover.title)}</h1>" if cover.title else "",
            f'<p class="notes">{escape(cover.notes)}</p>' if cover.notes else "",
            f"<h1>{escape(verdict['text'] or localized('Nothing can be said of this capture.'))}</h1>",
            f"<p>{escape(verdict['doubt'])}</p>" if verdict["doubt"] else "",
            f'<p class="quiet">{escape(summary["session"])}: {escape(hosts_and_steps(facts))} '
            f"{escape(translated(cover.about))} {escape(made_by)}</p>",
            before_after(cover.comparison, cover.base, summary["session"]) if cover.comparison else "",
            titled_table("Figures", ("Figure", "#Value"), map(_metric, summary["metrics"])),
            titled_table("Where the time goes", ("Part", "#Time", "#Share", ""), map(_part, summary["parts"])),
            _causes(summary),
            titled_table(
                "Ops by self time", ("Op", "Where", "#All steps", "#Share", "#Count"), map(_op, summary["ops"])
            ),
            bullets("Doubts", [f"{finding['message']} {finding['remedy']}" for finding in summary["findings"]]),
            drawn,
            "</article>",
        ]
    )


def _metric(metric: dict[str, Any]) -> tuple[str, str]:
    return escape(metric["label"]), figure(metric["value"], metric["unit"])


def _part(part: dict[str, Any]) -> tuple[str, ...]:
    share = part["share"] or 0.0
    bar = f'<rect width="{100 * share:.2f}" height="7"/>'
    drawn = f'<svg viewBox="0 0 100 7" preserveAspectRatio="none" aria-hidden="true">{bar}</svg>'
    return escape(part["label"]), figure(part["average_ms"], "ms"), figure(part["share"], "share"), drawn


def _op(op: dict[str, Any]) -> tuple[str, ...]:
    times = figure(op["self_ms"], "ms"), figure(op["share"], "share")
    return f"<code>{escape(op['name'])}</code>", escape(localized(op["place"])), *times, f"{op['occurrences']:,}"


def _causes(summary: Json) -> str:
    items = []
    for cause in summary["causes"]:
        remedy = f" <b>→ {escape(cause['remedy'])}</b>" if cause["remedy"] else ""
        about = localized("{cost}. {text}", cost=cost_of(cause, has_steps(summary)), text=cause["text"])
        items.append(f"<li><b>{escape(cause['label'])}</b>: {escape(about)}{remedy}</li>")
    return f"<h2>{escape(localized('Causes and remedies'))}</h2><ol>{''.join(items)}</ol>" if items else ""
