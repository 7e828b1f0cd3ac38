"""A report's page: what can be read without scripts and in print, and the pages themselves with their answers."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from typing import Any

from ...analysis.steps.choice_names import TYPICAL
from ...runtime.messages import ENGLISH, language, localized, pages_catalogue, translated
from ...runtime.problems import problem_error
from ...runtime.records import NamedTuple
from ...tools.answers.answer import Json
from .before_after import before_after
from .html import bullets, page_head, style, titled_table
from .summary import advice_evidence, cause_cost, figure, has_steps, hosts_and_steps

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
    summary: Json, cover: Cover, script: str, packed: bytes, embedded: str = "", charts: str = "", notices: str = ""
) -> str:
    """The file: ``summary`` as `summary.summary` makes it, the cover, the bundle, compressed answers.

    ``embedded`` is an element of data that pages do not read, ``charts`` HTML for the end of what is there without
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
    styles = style("report.css")
    return "\n".join(
        [
            f'{page_head(_POLICY.format(digest=digest), title)}<link rel="icon" href="data:,">{styles}</head><body>',
            _static_summary(summary, cover, charts),
            cover.window,
            f'<script type="application/octet-stream" id="answers"{data} data-lang="{language()}">{answers}</script>',
            _messages_script(),
            embedded,
            f"<!--\n{escape(notices, quote=False)}-->",
            f"<script>{script}</script></body></html>",
        ]
    )


def _messages_script() -> str:
    """What the pages' own texts say in the report's language; English they say by themselves."""
    if language() == ENGLISH:
        return ""
    texts = json.dumps(pages_catalogue(), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="messages">{texts}</script>'


def _static_summary(summary: Json, cover: Cover, charts: str) -> str:
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
            bullets("Other advice", [f"{row['text']} {advice_evidence(row)}" for row in summary["advice"]]),
            titled_table(
                "Ops by self time", ("Op", "Where", "#All steps", "#Share", "#Count"), map(_op, summary["ops"])
            ),
            bullets("Doubts", [f"{finding['message']} {finding['remedy']}" for finding in summary["findings"]]),
            charts,
            "</article>",
        ]
    )


def _metric(metric: dict[str, Any]) -> tuple[str, str]:
    return escape(metric["label"]), figure(metric["value"], metric["unit"])


def _part(part: dict[str, Any]) -> tuple[str, ...]:
    share = part["share"] or 0.0
    rectangle = f'<rect width="{100 * share:.2f}" height="7"/>'
    bar_svg = f'<svg viewBox="0 0 100 7" preserveAspectRatio="none" aria-hidden="true">{rectangle}</svg>'
    return escape(part["label"]), figure(part["average_ms"], "ms"), figure(part["share"], "share"), bar_svg


def _op(op: dict[str, Any]) -> tuple[str, ...]:
    times = figure(op["self_ms"], "ms"), figure(op["share"], "share")
    return f"<code>{escape(op['name'])}</code>", escape(localized(op["place"])), *times, f"{op['occurrences']:,}"


def _causes(summary: Json) -> str:
    items = []
    for cause in summary["causes"]:
        remedy = f" <b>→ {escape(cause['remedy'])}</b>" if cause["remedy"] else ""
        about = localized("{cost}. {text}", cost=cause_cost(cause, has_steps(summary)), text=cause["text"])
        items.append(f"<li><b>{escape(cause['label'])}</b>: {escape(about)}{remedy}</li>")
    return f"<h2>{escape(localized('Causes and remedies'))}</h2><ol>{''.join(items)}</ol>" if items else ""
