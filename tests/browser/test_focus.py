"""The Tab key on a phone: it follows what is seen, and comes back to what opened a menu or a dialog."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]
FOCUSED = """() => {
    const focused = document.activeElement;
    const box = focused.getBoundingClientRect();
    return {
        name: focused.outerHTML.slice(0, 120),
        top: Math.round(box.top + scrollY),
        bottom: Math.round(box.bottom + scrollY),
        seen: focused.checkVisibility({opacityProperty: true, visibilityProperty: true}) && box.width * box.height > 0,
        inMain: Boolean(focused.closest('main')),
    };
}"""
"""What has the focus, and where it lies on the page, in px."""


@pytest.fixture
def phone(site: Sites, page: Page, traces: Path) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    page.goto(site("standalone", traces).link(run="starved_input/run", tool="overview_page"))
    expect(page.locator(".advice[aria-busy=false] .action").first).to_be_visible()
    expect(page.locator(".axis .lane-name").first).to_be_attached()
    expect(page.locator("main [aria-busy=true], main .waiting")).to_have_count(0)
    return page


def test_tab_goes_down_the_summary_as_it_is_seen(phone: Page) -> None:
    phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    expect(phone.locator("main")).to_be_focused()
    stops = []
    for _ in range(60):
        phone.keyboard.press("Tab")
        focused = phone.evaluate(FOCUSED)
        if not focused["inMain"]:
            break
        stops.append(focused)
    assert len(stops) > 5 and [stop["name"] for stop in stops if not stop["seen"]] == []
    above = [(one["name"], other["name"]) for one, other in pairwise(stops) if other["bottom"] <= one["top"]]
    assert above == []


@pytest.mark.parametrize(
    "opener", ["[data-menu=Session]", "button:has-text('Share')", "[aria-label=Help]", "text=Options"]
)
def test_what_a_button_opens_gives_the_focus_back(phone: Page, opener: str) -> None:
    button = phone.locator("header button").and_(phone.locator(opener))
    button.focus()
    phone.keyboard.press("Enter")
    opened = phone.locator("dialog[open], .menu-panel")
    expect(opened).to_be_visible()
    phone.keyboard.press("Tab")
    # From a dialog's last button the browser's own controls come next, never the page below.
    inside = "shown => shown.contains(document.activeElement) || document.activeElement === document.body"
    assert opened.evaluate(inside)
    phone.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    expect(button).to_be_focused()
