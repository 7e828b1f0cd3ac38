"""Small things that a visitor stumbles over: names of files, candidates, keys, what covers what."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

Sites = Callable[..., Any]


@pytest.fixture
def cpu(site: Sites, traces: Path) -> Any:
    return site("standalone", traces)


def box(of: Locator) -> FloatRect:
    found = of.bounding_box()
    assert found
    return found


def window(url: str) -> tuple[float, float] | None:
    """The shown window in ns, as the URL tells it."""
    found = re.search(r"[&.]t=([\d.-]+)~([\d.-]+)", url)
    return (float(found[1]), float(found[2])) if found else None


def timeline(server: Any, page: Page, run: str) -> Any:
    """The timeline of a session, drawn."""
    page.goto(server.link(run=run, tool="trace_viewer"))
    body = server.body(page)
    expect(body.locator(".tl-canvases canvas[aria-busy]")).to_have_attribute("aria-busy", "false")
    return body


def test_a_row_leads_to_its_longest_event_on_a_device(drawn_gpu: Any, page: Page) -> None:
    page.goto(drawn_gpu.link(run="run", tool="framework_op_stats"))
    row = drawn_gpu.body(page).locator("tbody tr", has_text="Device").first
    row.locator(".row-act").first.click()
    body = drawn_gpu.body(page)
    body.get_by_role("dialog").get_by_role("link", name="Timeline").click()
    expect(body.locator(".tl-search output")).to_contain_text("1 of")
    expect(body.get_by_role("button", name="longest first")).to_have_attribute("aria-pressed", "true")
    expect(body.locator(".tl-facts")).not_to_contain_text("python")


def test_keys_select_an_event_and_a_tap_zooms(cpu: Any, page: Page) -> None:
    body = timeline(cpu, page, "keras_fit/run")
    body.locator(".tl-canvases canvas").last.focus()
    page.keyboard.press("e")
    expect(body.locator(".tl-event h3").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.wait_for_url(lambda url: window(url) is None)
    page.keyboard.press("w")
    page.wait_for_url(lambda url: window(url) is not None)
    first = window(page.url)
    page.keyboard.press("w")
    page.wait_for_url(lambda url: window(url) != first)
    second = window(page.url)
    assert first and second
    assert second[1] - second[0] < 0.9 * (first[1] - first[0])


def test_menus_of_the_timeline_name_formats_and_only_arrows_that_are_there(drawn_gpu: Any, page: Page) -> None:
    body = timeline(drawn_gpu, page, "run")
    body.get_by_role("button", name="Export").click()
    items = body.locator(".menu-panel .items a")
    assert [" ".join(text.split()) for text in items.all_inner_texts()] == [
        "Whole trace (.json)",
        "Visible part (.json)",
    ]
    assert box(items.nth(1))["y"] >= box(items.nth(0))["y"] + box(items.nth(0))["height"]
    page.keyboard.press("Escape")
    body.get_by_role("button", name="Show").click()
    kinds = body.locator(".menu-panel .tl-check")
    expect(kinds).to_have_count(4)
    assert [text.strip() for text in kinds.all_inner_texts()] == [
        "Why devices are idle",
        "critical path",
        "launch",
        "producer and consumer",
    ]


def test_the_title_names_page_and_session(cpu: Any, page: Page) -> None:
    page.goto(cpu.link(run="keras_fit/run", tool="overview_page"))
    expect(page).to_have_title("Summary · keras_fit/run · Profile")


def test_options_offer_what_the_capture_has(cpu: Any, page: Page) -> None:
    page.goto(cpu.link(run="custom_loop/run", tool="overview_page"))
    body = cpu.body(page)
    body.get_by_role("button", name="Options").click()
    listed = body.locator("#param-step_event-candidates option")
    expect(listed.first).to_be_attached()
    assert all(option.get_attribute("value") for option in listed.all())


def test_the_copy_button_covers_no_code_and_fit_shows_the_whole_graph(cpu: Any, page: Page) -> None:
    page.goto(cpu.link(run="starved_input/run", tool="tf_data_bottleneck_analysis"))
    body = cpu.body(page)
    code, button = body.locator(".code pre").first, body.locator(".code .button").first
    expect(code).to_be_visible()
    assert box(code)["x"] + box(code)["width"] <= box(button)["x"]
    page.set_viewport_size({"width": 700, "height": 900})
    fit = body.get_by_role("button", name=re.compile("^Fit$"))
    expect(fit).to_be_enabled()
    fit.click()
    frame = box(body.locator(".graph-frame"))
    for node in body.locator(".graph-frame .box").all():
        place = box(node)
        assert frame["x"] - 1 <= place["x"]
        assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1


def test_a_name_in_a_list_of_shares_filters_the_table(cpu: Any, page: Page) -> None:
    page.goto(cpu.link(run="keras_fit/run", tool="framework_op_stats"))
    body = cpu.body(page)
    name = body.locator(".share-bars .pick").first
    text = name.inner_text()
    name.click()
    expect(body.locator("main input[data-filter], main input[type=search]").first).to_have_value(text)


def test_workers_arrive_at_collectives(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces / "two_workers")
    page.goto(server.link(run="run", tool="communication"))
    chart = server.body(page).locator(".arrival-chart")
    expect(chart.locator("tbody tr")).to_have_count(6)
    expect(chart.locator(".worker-arrives.late")).to_have_count(6)
    first = chart.locator("tbody tr").first
    assert box(first.locator(".late"))["x"] > box(first.locator(".worker-arrives").first)["x"] + 20
    expect(first).to_contain_text("worker-1")
    page.goto(server.link(run="run", tool="pod_viewer"))
    body = server.body(page)
    expect(body.locator(".verdict").first).to_contain_text("worker-1 is last in 6 of 6 collectives")
    expect(body.locator(".slider input")).to_have_value("4")
