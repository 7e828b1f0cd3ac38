"""The Summary, and the way from it to every page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

Sites = Callable[..., Any]
FIRST_SCREEN = 500
SIZES: list[ViewportSize] = [{"width": 390, "height": 844}, {"width": 1440, "height": 900}]
"""Of a phone's window, in which pages are opened, and of one on a desk."""


def test_the_first_remedy_stands_on_the_first_screen(site: Sites, page: Page, traces: Path, run: str) -> None:
    server = site("standalone", traces)
    main = server.main(page)
    page.set_viewport_size(SIZES[0])
    page.goto(server.link(run=run, tool="overview_page"))
    for size in SIZES:
        page.set_viewport_size(size)
        expect(main.locator(".actions-row, .folds .fold").first).to_be_visible()
        expect(main.locator("[aria-busy=true], .waiting")).to_have_count(0)
        cards = main.locator(".action h3")
        assert cards.count() <= 3
        if cards.count():
            box = cards.first.bounding_box()
            assert box and box["y"] <= FIRST_SCREEN, size
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_typical_step_lies_below_the_bar_on_its_axis(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="overview_page"))
    axis = server.main(page).locator(".axis")
    expect(axis.locator("canvas").first).to_be_visible()
    bar, lane = axis.locator(".stackbar").bounding_box(), axis.locator("canvas").first.bounding_box()
    assert bar and lane and (bar["x"], bar["width"]) == pytest.approx((lane["x"], lane["width"]))
    axis.get_by_role("link", name="Timeline").click()
    expect(page).to_have_url(re.compile(r"[&.]t="))


def test_an_old_link_to_the_causes_opens_them(drawn_gpu: Any, page: Page) -> None:
    page.goto(drawn_gpu.link(run="run", tool="why"))
    fold = drawn_gpu.main(page).locator("details.fold[open]")
    expect(fold.get_by_role("heading", name="All causes")).to_be_in_viewport()
    expect(fold.locator(".hints .hint").first).to_be_visible()
    assert page.locator(".tabs a[aria-current=page]").inner_text() == "Summary"


def test_an_open_fold_is_kept_in_the_address(drawn_gpu: Any, page: Page) -> None:
    page.goto(drawn_gpu.link(run="run", tool="overview_page"))
    summary = drawn_gpu.main(page).locator("summary", has_text="Environment")
    # Until causes stand above it, the line may move away from under the pointer.
    expect(drawn_gpu.main(page).locator("summary", has_text="All causes")).to_be_visible()
    summary.click()
    expect(page).to_have_url(re.compile("open=environment"))
    page.reload()
    expect(drawn_gpu.main(page).locator(".figure").first).to_be_visible()
    summary.click()
    expect(page).not_to_have_url(re.compile("open="))


def test_what_a_capture_lacks_stands_in_one_place(drawn_gpu: Any, page: Page) -> None:
    page.goto(drawn_gpu.link(run="run", tool="overview_page"))
    away = page.get_by_role("link", name=re.compile(r"Not in this capture \(\d+\)"))
    many = int(re.findall(r"\d+", away.inner_text())[0])
    away.click()
    main = drawn_gpu.main(page)
    expect(main.get_by_role("heading", name=f"{many} pages have nothing to show for this capture")).to_be_visible()
    expect(main.locator("tbody th > div")).to_have_count(many)
    page.goto(drawn_gpu.link(run="run", tool="tf_data_bottleneck_analysis"))
    expect(main.locator(".state")).to_be_visible()
    expect(main.get_by_role("heading", name=f"{many - 1} more pages have")).to_be_visible()


def test_keys_reach_groups_and_their_pages(drawn_gpu: Any, page: Page) -> None:
    page.goto(drawn_gpu.link(run="run", tool="overview_page"))
    expect(page).to_have_title(re.compile("^Summary"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for key in "go":
        page.keyboard.press(key)
    expect(page).to_have_title(re.compile("^Framework ops"))
    page.keyboard.press("2")
    expect(page).to_have_title(re.compile("^Kernels"))
    expect(page.locator("h1")).to_have_text(re.compile("^Kernels"))


@pytest.mark.parametrize("tool", ["overview_page", "not_in_capture", "framework_op_stats", "kernel_stats", "compare"])
def test_nothing_scrolls_sideways_on_a_phone(drawn_gpu: Any, page: Page, tool: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(drawn_gpu.link(run="run", tool=tool))
    expect(drawn_gpu.main(page)).to_have_attribute("aria-busy", "false")
    expect(drawn_gpu.main(page).locator("section, p").first).to_be_visible()
    expect(drawn_gpu.main(page).locator("[aria-busy=true], .waiting")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
