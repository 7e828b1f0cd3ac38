"""The baseline as somebody chooses it: on every page, in the address, and named by strangers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import draw
import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]
RUN, BASE = "jax_steps/run", "jax_async_marked/run"
HOSTILE = "<img src=x onerror=window.hit=1>"


@pytest.mark.parametrize("kind", ["standalone", "tensorboard"])
def test_a_chip_gives_tables_differences_on_every_page(site: Sites, page: Page, traces: Path, kind: str) -> None:
    server = site(kind, traces)
    page.goto(server.link(run=RUN, tool="hlo_stats"))
    body, main = server.body(page), server.main(page)
    expect(main.get_by_role("button", name="Self time")).to_be_visible()
    expect(main.get_by_role("button", name="Δ Self time per step")).to_have_count(0)
    body.locator('[data-menu="Baseline"]').click()
    assert RUN not in body.locator(".picker .run").all_inner_texts()
    body.locator(".picker").get_by_text(BASE, exact=True).click()
    expect(main.get_by_role("button", name="Δ Self time per step")).to_be_visible()
    assert f"base={BASE}" in unquote(page.url)
    expect(main.locator("tr.gone")).to_have_count(2)
    main.get_by_label("Only: Match").select_option("gone")
    expect(main.locator("tbody tr")).to_have_count(2)
    body.get_by_role("link", name="Summary", exact=True).click()
    expect(main.locator(".key .more, .key .less").first).to_be_visible()
    main.locator("summary", has_text="All figures").click()
    expect(main.locator(".legend td.more, .legend td.less").first).to_be_visible()
    assert f"base={BASE}" in unquote(page.url)
    body.get_by_role("link", name="Compare", exact=True).click()
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    body.get_by_role("button", name="No baseline").click()
    expect(main.get_by_text("Choose a session to compare with.")).to_be_visible()
    page.go_back()
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")


@pytest.mark.parametrize("tool", ["overview_page", "input_pipeline_analyzer", "pod_viewer"])
def test_steps_are_held_against_those_of_the_baseline(site: Sites, page: Page, traces: Path, tool: str) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run=RUN, tool=tool, base=BASE))
    main = server.main(page)
    expect(main.locator(".chart canvas").first).to_be_visible()
    main.get_by_role("button", name="Show as table").click()
    expect(main.get_by_role("button", name="Δ Step time")).to_be_visible()
    expect(main.get_by_role("button", name="Step time, base")).to_be_visible()
    expect(main.locator("td.less, td.more").first).to_be_visible()
    main.get_by_role("button", name="Show as chart").click()
    expect(main.locator(".chart canvas").first).to_be_visible()


def test_calls_of_the_timeline_are_held_against_those_of_the_baseline(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run=RUN, tool="trace_viewer", base=BASE))
    main = server.main(page)
    expect(main.locator(".tl-beside b")).to_have_text(BASE)
    main.get_by_role("button", name="Flame graph").click()
    expect(main.get_by_text(f"red: more than {BASE}")).to_be_visible()
    expect(main.locator(".flame button").first).to_have_attribute("aria-label", re.compile("against the baseline"))
    main.get_by_role("tab", name="Bottom-up").click()
    expect(main.locator(".calltable td:is(.more, .less)").first).to_be_visible()


@pytest.mark.parametrize("tool", ["overview_page", "why", "framework_op_stats", "op_profile", "hlo_stats"])
def test_a_link_with_a_baseline_that_is_gone_says_so_and_shows_the_page(
    site: Sites, page: Page, traces: Path, tool: str
) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run=RUN, tool=tool, base=HOSTILE))
    expect(server.main(page).locator(".problems")).to_contain_text(
        f"Nothing is comparable with the baseline {HOSTILE}. There is no session"
    )
    expect(page.locator(".baseline")).to_contain_text("not here")
    expect(server.main(page).locator("td.number, .key li").first).to_be_visible()
    assert page.evaluate("() => window.hit") is None and page.locator("img[src='x']").count() == 0


def test_a_hostile_session_is_a_baseline_like_any_other(site: Sites, page: Page, tmp_path: Path) -> None:
    for name in (HOSTILE, "new"):
        run = tmp_path / "plugins" / "profile" / name
        run.mkdir(parents=True)
        drawn = draw.space(draw.GPU.replace("gemm", "<script>window.hit=1<!--" if name == HOSTILE else "gemm"), steps=4)
        (run / "vm.xplane.pb").write_bytes(drawn.SerializeToString())
    server = site("standalone", tmp_path)
    for tool in ("framework_op_stats", "kernel_stats", "why", "trace_viewer"):
        page.goto(server.link(run="new", tool=tool, base=HOSTILE))
        expect(server.main(page)).to_have_attribute("aria-busy", "false")
        expect(page.locator(".baseline")).to_contain_text(HOSTILE)
        shown = ".tl-beside b" if tool == "trace_viewer" else "td.number, .key li"
        expect(server.main(page).locator(shown).first).to_be_visible()
    expect(server.main(page).locator(".tl-beside")).to_contain_text(HOSTILE)
    assert page.evaluate("() => window.hit") is None and page.locator("img[src='x']").count() == 0


def window(url: str) -> tuple[float, float]:
    """Begin and length of what is shown, ps."""
    found = re.search(r"[&]t=([-\d.]+)~([-\d.]+)", url)
    begin, end = (float(each) * 1000 for each in found.groups()) if found else (0.0, 0.0)
    return begin, end - begin


def test_two_timelines_move_together_step_over_step(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run=RUN, tool="trace_viewer", base=BASE))
    main = server.main(page)
    panes = main.locator(".tl-canvases")
    expect(panes).to_have_count(2)
    expect(main.get_by_label(f"Timeline of {BASE}")).to_be_visible()
    main.get_by_label("Step", exact=True).select_option("train 3")
    expect(main.get_by_label("Step of the baseline")).to_have_value("3")
    page.wait_for_url(re.compile(r"step=3"))
    told = page.request.get(f"{server.url}timeline/aligned?run={RUN}&base={BASE}&step=3").json()
    length = told["session"]["end"] - told["session"]["begin"]
    page.wait_for_url(lambda url: window(url) == pytest.approx((told["session"]["begin"] - length / 4, 1.5 * length)))
    for place in (0, 1):
        expect(panes.nth(place).locator("canvas[aria-busy]")).to_have_attribute("aria-busy", "false")
    box = panes.nth(1).bounding_box()
    assert box
    # Dragging below moves what is above.
    begin, span = window(page.url)
    page.mouse.move(box["x"] + 300, box["y"] + box["height"] - 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + box["height"] - 20, steps=3)
    page.mouse.up()
    moved = pytest.approx((begin - 100 / box["width"] * span, span), rel=1e-3)
    page.wait_for_url(lambda url: window(url) == moved and "step=3" in url)
    # What is selected above is selected below, too.
    details = main.locator(".tl-event").get_by_role("heading", name="train", exact=True)
    page.keyboard.press("e")
    expect(details).to_have_count(2)
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    # And a link brings all of it back.
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(main.get_by_label("Step of the baseline")).to_have_value("3")
    page.wait_for_url(lambda url: window(url) == moved)


def test_a_timeline_without_its_baseline_stays(site: Sites, page: Page, traces: Path, watch: Any) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run=RUN, tool="trace_viewer", base=HOSTILE))
    expect(server.main(page).locator(".tl-fault")).to_contain_text(f"There is no session named '{HOSTILE}'.")
    expect(server.main(page).locator(".tl-canvases")).to_have_count(1)
    page.goto(server.link(run=RUN, tool="trace_viewer", base=RUN))
    expect(server.main(page).locator(".tl-fault")).to_contain_text("The baseline is this session itself.")
    assert all("status 40" in fault or "Failed to load" in fault for fault in watch.faults)
    watch.faults.clear()
