"""Every page in both themes and on a phone: what axe-core reports, what charts are called, what leaves the window."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import draw
import histories
import pytest
from planted_hangs import missing
from playwright.sync_api import BrowserContext, Page, expect

Sites = Callable[..., Any]
AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
DRAWN = "drawn"
CAPTURE_OF = {
    "overview_page": "keras_fit/run",
    "trace_viewer": "torch_training",
    "framework_op_stats": "torch_training",
    "torch_ops": "torch_training",
    "kernel_stats": DRAWN,
    "op_profile": "jax_steps/run",
    "hlo_stats": "jax_steps/run",
    "roofline_model": "jax_steps/run",
    "graph_viewer": "jax_steps/run",
    "memory_profile": "starved_input/run",
    "memory_viewer": "jax_steps/run",
    "input_pipeline_analyzer": "starved_input/run",
    "tf_data_bottleneck_analysis": "starved_input/run",
    "pod_viewer": "two_workers/run",
    "communication": "two_workers/run",
    "compare": "keras_lstm_marked/run",
    "trend": "two_workers/run",
    "not_in_capture": DRAWN,
}
"""A capture for each page that fills it well."""
COLORS = ["color-contrast", "link-in-text-block"]
"""Rules that ask how something is coloured; to the others both themes look alike."""
LOOKS: list[tuple[int, Literal["dark", "light"], list[str] | None]] = [
    (1440, "light", None),
    (1440, "dark", COLORS),
    (390, "dark", None),
    (390, "light", COLORS),
]
"""Widths of the window, themes, and the rules asked if not all; each is one change away from the one before."""
BASE = "keras_lstm_unmarked/run"
"""What the comparison is with."""


@pytest.fixture
def phone_and_desk(new_context: Callable[..., BrowserContext], watch: Any) -> Iterator[Page]:
    """A page into which axe-core may be put, which the content security policy would refuse."""
    context = new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    watch.over(page)
    yield page
    assert watch.faults == []


def drawn_page(server: Any, page: Page) -> None:
    """Wait until all of the page is there."""
    main = server.main(page)
    expect(main).to_have_attribute("aria-busy", "false")
    expect(main.locator("section, .tl-canvases").first).to_be_visible()
    expect(main.locator("[aria-busy=true], .waiting")).to_have_count(0)


def with_axe(page: Page) -> None:
    assert AXE.is_file(), "These tests need axe-core; `scripts/setup tests` installs it."
    page.evaluate(AXE.read_text(encoding="utf-8"))


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """What axe-core reports of all rules or of some, as ``rule: element``."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    report = page.evaluate("options => axe.run(document, options)", options)
    return [f"{rule['id']}: {node['html'][:160]}" for rule in report["violations"] for node in rule["nodes"]]


def holds_in_every_look(page: Page, settled: Callable[[], Any] = lambda: None) -> None:
    """Nothing is reported, and nothing leaves the window, at each width and in each theme."""
    with_axe(page)
    for width, theme, rules in LOOKS:
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 844})
        settled()
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        assert (width, theme, violations(page, rules)) == (width, theme, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_page_is_looked_at(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    tools = page.request.get(server.url + "tools?run=keras_fit/run").json()
    assert {tool["name"] for tool in tools if not tool["shown_on"]} | {"not_in_capture"} == set(CAPTURE_OF)


@pytest.mark.parametrize("tool", CAPTURE_OF)
def test_axe_reports_nothing_and_nothing_leaves_the_window(
    site: Sites, drawn_gpu: Any, phone_and_desk: Page, traces: Path, tool: str
) -> None:
    page = phone_and_desk
    run = CAPTURE_OF[tool]
    server, run = (drawn_gpu, "run") if run == DRAWN else (site("standalone", traces), run)
    page.goto(server.link(run=run, tool=tool, **({"base": BASE} if tool == "compare" else {})))
    drawn_page(server, page)
    holds_in_every_look(page, lambda: drawn_page(server, page))


@pytest.mark.parametrize("tool", ["trend", "compare"])
def test_axe_reports_nothing_of_a_history_with_long_names(
    site: Sites, phone_and_desk: Page, tmp_path: Path, tool: str
) -> None:
    page = phone_and_desk
    names = [f"{'a_model_with_a_long_name_' * 3}{day}" for day in range(3)]
    for day, (name, factor) in enumerate(zip(names, (1.0, 1.1, 1.0), strict=True)):
        histories.write(tmp_path, [factor], [name])
        for file in (tmp_path / "plugins" / "profile" / name).iterdir():
            os.utime(file, (1.8e9 + day, 1.8e9 + day))
    server = site("standalone", tmp_path)
    page.goto(server.link(run=names[-1], tool=tool))
    expect(page.get_by_role("link", name=names[1]).first).to_be_visible()
    holds_in_every_look(page)


def test_a_long_name_of_steps_stays_in_the_window(site: Sites, phone_and_desk: Page, tmp_path: Path) -> None:
    page = phone_and_desk
    name = "execute_" + "8192_context_" * 8
    steps = " ".join(f"{name}[{at},90]{{_r=1, step_num={at}}} work[{at + 5},70]" for at in range(0, 800, 100))
    draw.session(tmp_path, host=draw.space(f"/host:CPU\n  t | {steps}"))
    server = site("standalone", tmp_path)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(server.link(run="run", tool="overview_page"))
    expect(page.locator(".axis figcaption")).to_contain_text(name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("tab", ["Statistics", "Flame graph", "Bottom-up"])
def test_axe_reports_nothing_in_what_a_box_on_the_timeline_shows(
    site: Sites, phone_and_desk: Page, traces: Path, tab: str
) -> None:
    page = phone_and_desk
    server = site("standalone", traces)
    page.goto(server.link(run="torch_training", tool="trace_viewer", find="aten", list="1"))
    drawn_page(server, page)
    expect(page.get_by_role("option").first).to_be_visible()
    page.get_by_role("button", name="Flame graph").click()
    page.get_by_role("tab", name=tab).click()
    expect(page.locator(".tl-selection :is(.flame, .calltable, .grid)")).to_be_visible()
    page.mouse.move(1, 1)
    holds_in_every_look(page, lambda: expect(page.locator(".tip")).to_have_count(0))


@pytest.mark.parametrize("button", ["Session", "Share", "Capture", "Help", "Options"])
def test_axe_reports_nothing_in_what_a_button_opens(
    site: Sites, phone_and_desk: Page, traces: Path, button: str
) -> None:
    page = phone_and_desk
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="overview_page"))
    drawn_page(server, page)
    page.locator("header").get_by_role("button", name=re.compile(f"^{button}")).click()
    expect(page.locator("dialog, .menu-panel").first).to_be_visible()
    expect(page.locator("dialog .loading")).to_have_count(0)
    with_axe(page)
    assert violations(page) == []


def test_charts_are_named_by_what_they_show(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="overview_page"))
    steps = page.get_by_role("img", name=re.compile(r"^Step time of \d+ steps, mean .+, longest step .+ with "))
    expect(steps.locator("canvas").first).to_be_visible()
    page.goto(server.link(run="starved_input/run", tool="memory_profile"))
    headline = page.locator(".verdict").first.inner_text().split("\n")[0].replace("\xa0", " ")
    chart = page.get_by_role("img", name=re.compile("^Memory in use over time. "))
    expect(chart.locator("canvas").first).to_be_visible()
    assert headline in str(chart.get_attribute("aria-label"))


def test_dumps_lead_to_the_page_of_a_hang(site: Sites, phone_and_desk: Page, tmp_path: Path) -> None:
    missing().write(tmp_path / "job7")
    page = phone_and_desk
    page.goto(site("standalone", tmp_path).url)
    with page.expect_popup() as opened:
        page.get_by_role("region", name="Hangs").get_by_role("link", name="job7").click()
    hang = opened.value
    expect(hang.locator("h1")).to_contain_text("Rank 3 never started all_reduce")
    with_axe(hang)
    for width, theme, rules in LOOKS:
        hang.set_viewport_size({"width": width, "height": 900})
        hang.emulate_media(color_scheme=theme)
        assert violations(hang, rules) == []
        assert hang.evaluate("document.documentElement.scrollWidth <= innerWidth")
    hang.get_by_role("link", name="Profiles").click()
    expect(hang.get_by_role("heading", name="No profile here yet")).to_be_visible()
