"""From a figure to its events, and what a reader chose in the address."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]
RUN = "custom_loop/run"


def opened(site: Any, page: Page, **view: str) -> Any:
    page.goto(site.link(**view))
    main = site.main(page)
    expect(main).to_have_attribute("aria-busy", "false")
    expect(main.locator(".section").first).to_be_visible()
    return main


def window(page: Page) -> tuple[float, float]:
    """The timeline's window in ns."""
    expect(page).to_have_url(re.compile(r"[&.]t="))
    begin, end = re.search(r"[&.]t=([\d.-]+)~([\d.-]+)", unquote(page.url)).groups()  # type: ignore[union-attr]
    return float(begin), float(end)


@pytest.mark.parametrize("kind", ["tensorboard", "standalone"])
def test_a_column_of_the_step_graph_leads_to_that_step(site: Sites, page: Page, traces: Any, kind: str) -> None:
    server = site(kind, traces)
    main = opened(server, page, run=RUN, tool="overview_page")
    steps = page.request.get(answer_url(server, "overview_page")).json()["tables"]["steps"]
    values = {column["id"]: column["values"] for column in steps["columns"]}
    chart = main.locator(".chart").first
    expect(chart.locator("canvas").first).to_be_visible()
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.6})
    begin, end = window(page)
    times = [(at * 1e6, long * 1e6) for at, long in zip(values["begin_ms"], values["duration_ms"], strict=True)]
    assert any(begin == pytest.approx(at - 0.04 * long, abs=1) and end > at + long for at, long in times)
    expect(server.body(page).locator(".timeline")).to_be_visible()
    page.go_back()
    expect(server.main(page).locator(".chart").first).to_be_visible()


def answer_url(server: Any, tool: str) -> str:
    folder = "data/plugin/profile/" if server.kind == "tensorboard" else ""
    return f"{server.url}{folder}answer?run={RUN}&tag={tool}&host=ALL_HOSTS"


def test_the_keyboard_leads_from_an_op_to_its_first_event(site: Sites, page: Page, traces: Any) -> None:
    server = site("standalone", traces)
    main = opened(server, page, run=RUN, tool="framework_op_stats")
    row = main.locator(".grid tbody .row-act").first
    name = row.text_content()
    row.focus()
    page.keyboard.press("Enter")
    link = server.body(page).get_by_role("dialog").get_by_role("link", name="Timeline")
    link.focus()
    page.keyboard.press("Enter")
    expect(server.main(page).locator(".tl-event")).to_contain_text(name)
    expect(server.main(page).locator("input[type=search]").first).to_have_value(re.compile(re.escape(re.escape(name))))
    expect(page).to_have_url(re.compile("[&.]event="))


def test_a_node_of_a_pipeline_leads_to_its_longest_call(site: Sites, page: Page, traces: Any) -> None:
    server = site("standalone", traces)
    main = opened(server, page, run=RUN, tool="tf_data_bottleneck_analysis")
    node = main.locator(".graph [role=button]").first
    name = node.locator(".title").text_content()
    node.focus()
    page.keyboard.press("Enter")
    expect(main.locator(".node-details")).to_contain_text(name)
    page.reload()
    main.locator(".node-details a").click()
    expect(server.main(page).locator(".tl-event")).to_contain_text(f"::{name}")


@pytest.mark.parametrize("kind", ["tensorboard", "standalone"])
def test_tables_keep_their_order_and_filter(site: Sites, page: Page, traces: Any, kind: str) -> None:
    server = site(kind, traces)
    main = opened(server, page, run=RUN, tool="framework_op_stats")
    rows = main.locator(".grid tbody tr")
    everything = rows.count()
    main.locator(".grid thead button", has_text="Operation").click()
    main.locator(".grid input[type=search]").fill("iterator")
    expect(main.locator(".grid .toolbar")).to_contain_text("of")
    few = rows.count()
    assert 0 < few < everything
    main.locator(".grid .toolbar select").last.select_option(index=1)
    page.reload()
    main = server.main(page)
    expect(main.locator(".grid input[type=search]")).to_have_value("iterator")
    expect(main.locator(".grid th[aria-sort=ascending]")).to_contain_text("Operation")
    page.go_back()
    expect(main.locator(".grid .toolbar select").last).to_have_value("")
    expect(main.locator(".grid input[type=search]")).to_have_value("iterator")
    assert rows.count() == few


def test_dragging_over_steps_chooses_them_for_all_pages(site: Sites, page: Page, traces: Any) -> None:
    server = site("standalone", traces)
    main = opened(server, page, run=RUN, tool="overview_page")
    chart = main.locator(".chart").first
    expect(chart.locator("canvas").first).to_be_visible()
    # The lanes above it come later, and move it.
    expect(main.get_by_text(re.compile("^Lanes:"))).to_be_visible()
    box = chart.bounding_box()
    x, y = box["width"] * 0.3, box["height"] * 0.5
    # Hovering waits until the page has stopped moving.
    chart.hover(position={"x": x, "y": y})
    page.mouse.down()
    chart.hover(position={"x": x + box["width"] * 0.2, "y": y})
    expect(main.locator(".band")).to_be_visible()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"[&.]steps=\d+-\d+"))
    expect(server.body(page).locator("main .chart").first).to_be_visible()
    for name in ("Timeline", "Input"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(r"[&.]steps=\d+-\d+"))
    page.go_back()
    page.go_back()
    main.get_by_role("button", name="Typical steps again").click()
    expect(page).not_to_have_url(re.compile(r"[&.]steps="))
