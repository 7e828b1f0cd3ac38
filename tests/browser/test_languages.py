"""Languages of the pages: how one is chosen, and that every text comes from its catalogue and has room."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tb_profile_plugin.runtime.messages import FOLDER, catalogue_key

Sites = Callable[..., Any]
CHINESE, JAPANESE = (json.loads((FOLDER / f"pages.{code}.json").read_text("utf-8")) for code in ("zh", "ja"))
SEEN = """() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  for (const name of ["aria-label", "data-tip", "title", "placeholder"])
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name));
  return texts;
}"""
BETWEEN = re.compile(r" · |[\n,;:()]|[<±+−-]?\d[\d.\u202f,]*\s?(?:%|[µmn]?s\b|[kMG]i?B\b|B\b)?")
"""What stands between names and sentences of the server in a text."""
SAME = {"CPU", "Python", "σ", "Key"}


def longer(text: str) -> str:
    """As a language of many letters has it, and to be told from English."""
    letters = len(re.sub(r"\{\w+, plural, one \{[^{}]*\} |[{}#]", "", text))
    return f"[{text}{'~' * (letters * 2 // 5 + 1)}]"


def strange(text: str, answers: str) -> list[str]:
    """Parts of a text that neither the catalogue nor the server has."""
    if set("[]~") & set(text):
        return []
    parts = [part.strip() for part in BETWEEN.split(text)]
    return [
        part for part in parts if re.search(r"[A-Za-z]{2}", part) and part not in SAME and part.lower() not in answers
    ]


@pytest.mark.parametrize("tool", ["overview_page", "trace_viewer"])
def test_every_text_is_of_the_catalogue_and_has_room(site: Sites, page: Page, traces: Path, tool: str) -> None:
    texts = {catalogue_key(text): longer(text) for text in JAPANESE}
    answers: list[str] = []

    def english(route: Route) -> None:
        """What the server says, in English; the catalogue alone is another language's."""
        if "/messages?" in route.request.url:
            route.fulfill(json=texts)
            return
        answer = route.fetch(url=route.request.url.replace("lang=ja", "lang=en"))
        if "json" in answer.headers["content-type"]:
            answers.append(answer.text())
        route.fulfill(response=answer)

    page.route(re.compile(r"[?&]lang=ja"), english)
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool=tool, lang="ja"))
    shown = ".folds .fold" if tool == "overview_page" else ".tl-label"
    expect(server.main(page).locator(shown).first).to_be_visible()
    expect(server.main(page).locator("[aria-busy=true], .waiting")).to_have_count(0)
    found = page.evaluate(SEEN)
    assert any("~" in text for text in found)
    assert [part for text in found for part in strange(text, "\n".join(answers).lower())] == []
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def test_a_chart_that_is_not_redrawn_yet_does_not_widen_the_page(site: Sites, page: Page, traces: Path) -> None:
    page.add_init_script(
        """const Observer = ResizeObserver;
        ResizeObserver = class extends Observer {
          constructor(redraw) { super((...sizes) => window.still || redraw(...sizes)); }
        };"""
    )
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="overview_page"))
    expect(server.main(page).locator("canvas").first).to_be_visible()
    page.evaluate("window.still = true")
    page.set_viewport_size({"width": 1024, "height": 900})
    page.wait_for_function("innerWidth === 1024 && document.documentElement.scrollWidth <= innerWidth")


def test_the_browser_chooses_the_language_and_the_menu_another(
    site: Sites, new_context: Callable[..., BrowserContext], traces: Path
) -> None:
    server = site("standalone", traces)
    context = new_context(locale="ja-JP")
    page = context.new_page()
    page.goto(server.link(run="keras_fit/run", tool="framework_op_stats"))
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    page.get_by_role("button", name=JAPANESE["Language"], exact=True).click()
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page).to_have_url(re.compile("lang=zh"))
    expect(page.get_by_role("button", name=CHINESE["Language"], exact=True)).to_be_visible()
    page.goto(server.link(run="keras_fit/run", tool="overview_page"))
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
