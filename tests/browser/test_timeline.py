"""The Timeline as somebody uses it, on our own captures and on a drawn one of a GPU."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drawn
import pytest
from playwright.sync_api import Locator, Page, expect

Sites = Callable[..., Any]
FRAMES = "async many => { while (many--) await new Promise(requestAnimationFrame) }"
"""Waits until the page was drawn so many times."""


class Timeline:
    """The page of one session."""

    def __init__(self, server: Any, page: Page, run: str, **options: str):
        self.page = page
        page.goto(server.link(run=run, tool="trace_viewer", **options))
        self.body = server.body(page)
        self.canvas: Locator = self.body.locator(".tl-canvases")
        expect(self.body.locator(".tl-canvases canvas[data-renderer]")).to_be_visible()
        expect(self.body.locator(".tl-label").first).to_be_visible()
        self.drawn()

    def drawn(self) -> None:
        """Wait until all that is in view is fetched and drawn."""
        expect(self.canvas.locator("canvas[aria-busy]")).to_have_attribute("aria-busy", "false")

    def drag(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """From one place of the canvas to another."""
        box = self.canvas.bounding_box()
        assert box
        self.page.mouse.move(box["x"] + x0, box["y"] + y0)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + (x0 + x1) / 2, box["y"] + (y0 + y1) / 2)
        self.page.mouse.move(box["x"] + x1, box["y"] + y1)
        self.page.mouse.up()

    def search(self, text: str) -> None:
        self.page.keyboard.press("/")
        self.body.locator(".tl-search input").fill(text)
        expect(self.body.locator(".tl-search output")).to_be_visible()

    def until(self, holds: Callable[[str], bool]) -> None:
        """Wait for what the address comes to; it is written a moment after the last move."""
        self.page.wait_for_url(holds)

    @property
    def window(self) -> tuple[float, float] | None:
        return window(self.page.url)


def moved_from(before: tuple[float, float] | None) -> Callable[[str], bool]:
    return lambda url: window(url) != before


def window(url: str) -> tuple[float, float] | None:
    """The shown window in ns, as the URL tells it."""
    found = re.search(r"[&.]t=([\d.-]+)~([\d.-]+)", url)
    return (float(found[1]), float(found[2])) if found else None


def length_of(window: tuple[float, float] | None) -> float:
    """How many ns a window shows; none for the whole capture."""
    return window[1] - window[0] if window else 0


@pytest.fixture
def gpu(drawn_gpu: Any, page: Page) -> Timeline:
    return Timeline(drawn_gpu, page, "run")


@pytest.fixture
def cpu(site: Sites, page: Page, traces: Path) -> Timeline:
    return Timeline(site("standalone", traces), page, "keras_fit/run")


def shows_lanes(timeline: Timeline) -> None:
    expect(timeline.body.locator(".tl-label.section").first).to_be_visible()
    expect(timeline.body.locator(".tl-label.lane").first).to_be_visible()
    expect(timeline.body.locator(".tl-fault, .state.error")).to_have_count(0)


def test_every_bundled_capture_shows_its_lanes(site: Sites, page: Page, traces: Path, run: str) -> None:
    shows_lanes(Timeline(site("standalone", traces), page, run))


def test_tensorboard_leads_from_timeline_to_timeline(
    site: Sites, page: Page, traces: Path, runs: list[str], subtests: pytest.Subtests
) -> None:
    for run in runs:
        with subtests.test(run=run):
            timeline = Timeline(site("tensorboard", traces), page, run)
            expect(timeline.body.locator(".tl-canvases[data-left]")).to_have_count(0)
            timeline.drawn()
            shows_lanes(timeline)
            timeline.canvas.evaluate("canvases => canvases.dataset.left = 1")


def test_zoom_to_a_named_op_and_select_it(cpu: Timeline) -> None:
    cpu.search("FunctionRun")
    cpu.page.keyboard.press("Enter")
    expect(cpu.body.locator(".tl-event h3").first).to_have_text("FunctionRun")
    expect(cpu.body.locator(".tl-search output")).to_contain_text("1 of")
    first = cpu.body.locator(".tl-facts").text_content() or ""
    cpu.page.keyboard.press("Enter")
    expect(cpu.body.locator(".tl-search output")).to_contain_text("2 of")
    expect(cpu.body.locator(".tl-facts")).not_to_have_text(first)
    cpu.page.keyboard.press("Shift+Enter")
    expect(cpu.body.locator(".tl-search output")).to_contain_text("1 of")
    expect(cpu.body.locator(".tl-facts")).to_have_text(first)
    facts = dict(zip(*(cpu.body.locator(f".tl-facts {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
    value, unit = facts["Duration"].split()
    length_ns = float(value) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    cpu.canvas.locator("canvas").last.focus()
    cpu.page.keyboard.press("f")
    # The search before moved the window, too, and may write the address after this key.
    cpu.until(lambda url: length_of(window(url)) == pytest.approx(2.5 * length_ns, rel=0.01))


def test_the_launch_arrow_leads_to_the_kernel_and_back(gpu: Timeline) -> None:
    gpu.search("cuLaunchKernel")
    gpu.page.keyboard.press("Enter")
    link = gpu.body.locator(".tl-links .tl-link")
    expect(gpu.body.locator(".tl-links")).to_contain_text("launch")
    launch = gpu.body.locator(".tl-facts").inner_text()
    assert "Stream" not in launch
    link.first.click()
    expect(gpu.body.locator(".tl-facts")).to_contain_text("Stream #")
    expect(gpu.body.locator(".tl-links")).to_contain_text("comes from")
    link.first.click()
    expect(gpu.body.locator(".tl-facts")).not_to_contain_text("Stream #")
    assert gpu.body.locator(".tl-facts").inner_text() == launch


def place_of(timeline: Timeline, lane: str) -> float:
    """Height of the middle of a lane's first row on the canvas."""
    label, canvas = (
        timeline.body.locator(".tl-label.lane", has_text=lane).first.bounding_box(),
        timeline.canvas.bounding_box(),
    )
    assert label and canvas
    height: float = label["y"] - canvas["y"] + 8
    return height


def test_a_click_on_a_gap_tells_why_the_device_is_idle(gpu: Timeline) -> None:
    expect(gpu.body.locator(".tl-label.lane", has_text="Busy")).to_be_visible()
    card = gpu.body.locator(".tl-gap")
    gpu.canvas.click(position={"x": 2, "y": place_of(gpu, "Stream #")})
    expect(card.locator("h3")).to_contain_text("GPU:0 idle for")
    shares = [float(text.replace("%", "").replace("<", "")) for text in card.locator("td:last-child").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=1)
    first = card.inner_text()
    gpu.page.keyboard.press("]")
    expect(card).not_to_have_text(first, use_inner_text=True)
    expect(card).to_contain_text("launched by")
    gpu.page.keyboard.press("[")
    expect(card).to_have_text(first, use_inner_text=True)


def test_lanes_that_tell_why_devices_are_idle_can_be_left_out(gpu: Timeline) -> None:
    idle = gpu.body.locator(".tl-label.section", has_text="why idle")
    expect(idle).to_have_count(1)
    gpu.body.get_by_role("button", name="Show").click()
    gpu.body.get_by_label("Why devices are idle").click()
    expect(idle).to_have_count(0)
    gpu.page.reload()
    expect(gpu.body.locator(".tl-label.lane").first).to_be_visible()
    gpu.drawn()
    expect(idle).to_have_count(0)


def test_the_same_pixels_after_a_reload(gpu: Timeline) -> None:
    gpu.body.get_by_label(re.compile("^Pin to the top: Stream #34")).click(force=True)
    gpu.body.locator(".tl-label.section .tl-fold").first.click()
    gpu.search("MatMul")
    gpu.page.keyboard.press("Enter")
    gpu.until(lambda url: "event=" in url and window(url) is not None)
    gpu.body.locator(".tl-search input").blur()
    gpu.page.mouse.move(5, 5)
    expect(gpu.body.locator(".tl-hover")).to_have_count(0)
    gpu.drawn()
    url, pixels = gpu.page.url, gpu.canvas.screenshot()
    gpu.page.reload()
    expect(gpu.body.locator(".tl-event")).to_be_visible()
    expect(gpu.body.locator(".tl-search output")).to_be_visible()
    gpu.drawn()
    assert gpu.page.url == url
    assert gpu.canvas.screenshot() == pixels


def test_keys_move_and_zero_shows_all(cpu: Timeline) -> None:
    cpu.canvas.hover(position={"x": 500, "y": 200})
    for key in "wdas":
        before = cpu.window
        cpu.page.keyboard.down(key)
        cpu.page.evaluate(FRAMES, 10)
        cpu.page.keyboard.up(key)
        cpu.until(moved_from(before))
    cpu.page.keyboard.press("0")
    cpu.until(lambda url: window(url) is None)
    expect(cpu.body.locator(".menu-panel")).to_have_count(0)  # s zooms here, and opens no session picker.


def test_a_box_gives_statistics(cpu: Timeline) -> None:
    cpu.page.keyboard.press("1")
    cpu.drag(100, 120, 900, 300)
    table = cpu.body.locator(".tl-selection")
    expect(table).to_contain_text("selected")
    expect(table.locator("tbody tr").first).to_be_visible()
    for label in ["Count", "Total time", "Self", "Average", "Shortest", "Longest"]:
        expect(table.locator("thead")).to_contain_text(label)
    cpu.page.keyboard.press("Escape")
    expect(table).to_have_count(0)


def test_calls_of_a_box_are_a_flame_graph(gpu: Timeline) -> None:
    gpu.body.get_by_role("button", name="Flame graph").click()
    flame = gpu.body.locator(".flame")
    box = flame.get_by_role("button")
    expect(flame.get_by_role("button", name=re.compile("^cuLaunchKernel")).first).to_be_visible()
    whole = box.count()
    step = flame.get_by_role("button", name=re.compile("^train"))
    step.click()
    expect(step).to_have_attribute("style", re.compile("width: 100%"))
    assert box.count() < whole
    step.click()
    expect(box).to_have_count(whole)
    gpu.body.get_by_label("Weigh calls by").select_option("Device time launched")
    expect(flame.get_by_role("button", name=re.compile("^cuLaunchKernel"))).to_contain_text("cuLaunchKernel")
    gpu.body.get_by_role("tab", name="Bottom-up").click()
    callers = gpu.body.locator(".calltable tbody tr")
    expect(callers).to_have_count(2)
    expect(callers.first).to_contain_text("cuLaunchKernel")
    callers.first.get_by_role("button").click()
    expect(callers.nth(1)).to_contain_text("MatMul")
    gpu.until(lambda url: "tab=callers" in url and "weight=device" in url and "box=" in url)
    gpu.page.reload()
    expect(callers).to_have_count(2)
    gpu.body.get_by_role("button", name="Save").click()
    with gpu.page.expect_download() as download:
        gpu.body.get_by_text("Collapsed stacks").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 560 * 1_000_000 * drawn.STEPS


def test_an_interval_is_measured_named_kept_and_removed(cpu: Timeline) -> None:
    cpu.page.keyboard.press("4")
    cpu.drag(300, 150, 500, 150)
    marks = cpu.body.locator(".tl-marks li")
    expect(marks).to_have_count(1)
    marks.locator("input").fill("warm up")
    marks.locator("input").press("Enter")
    cpu.until(lambda url: "warm" in url)
    cpu.page.reload()
    expect(marks).to_have_count(1)
    expect(marks.locator("input")).to_have_value("warm up")
    marks.get_by_label("Remove the mark").click()
    expect(marks).to_have_count(0)


def test_search_looks_on_all_threads_and_in_stats(cpu: Timeline) -> None:
    cpu.search("run")
    lanes = set()
    facts = cpu.body.locator(".tl-facts")
    shown = ""
    for _ in range(12):
        cpu.body.locator(".tl-search input").press("Enter")
        expect(facts).not_to_have_text(shown, use_inner_text=True)
        shown = facts.inner_text()
        lanes.add(facts.locator("div", has_text="Lane").inner_text())
    assert len(lanes) > 1
    cpu.body.get_by_label("Regular expression").click()
    cpu.body.locator(".tl-search input").fill("^ExecutorState::Proc.*s$")
    expect(cpu.body.locator(".tl-search output")).not_to_have_text("none")


def test_all_matches_are_listed_and_lead_to_their_events(gpu: Timeline) -> None:
    gpu.search("cuLaunchKernel")
    gpu.body.get_by_role("button", name="list", exact=True).click()
    hits = gpu.body.get_by_role("option")
    expect(hits).to_have_count(3 * drawn.STEPS)
    expect(hits.first).to_contain_text("cuLaunchKernel")
    hits.nth(2).click()
    expect(gpu.body.locator(".tl-event h3").first).to_have_text("cuLaunchKernel")
    expect(gpu.body.locator(".tl-search output")).to_contain_text("3 of")
    expect(gpu.body.get_by_role("option", selected=True)).to_have_count(1)
    gpu.until(lambda url: "list=1" in url)


def test_lanes_are_hidden_and_shown_again(gpu: Timeline) -> None:
    stream = gpu.body.locator(".tl-label.lane", has_text="Stream #34")
    expect(stream).to_have_count(1)
    gpu.body.get_by_label(re.compile("^Hide: Stream #34")).click(force=True)
    expect(stream).to_have_count(0)
    gpu.until(lambda url: "hide=" in url)
    gpu.page.reload()
    expect(gpu.body.get_by_text("Hidden (1)")).to_be_visible()
    gpu.drawn()
    expect(stream).to_have_count(0)
    gpu.body.get_by_text("Hidden (1)").click()
    gpu.body.get_by_text("Show all").click()
    expect(stream).to_have_count(1)


def test_a_link_moves_to_the_first_hit_and_to_an_event(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    timeline = Timeline(server, page, "keras_fit/run", find="FunctionRun", go="1")
    expect(timeline.body.locator(".tl-search output")).to_contain_text("1 of")
    expect(timeline.body.locator(".tl-event h3").first).to_have_text("FunctionRun")
    timeline.until(lambda url: "event=" in url and "go=1" not in url)
    found = re.search(r"event=([\d.]+)", page.url)
    assert found
    again = Timeline(server, page, "keras_fit/run", event=found[1], go="1")
    expect(again.body.locator(".tl-event h3").first).to_have_text("FunctionRun")
    again.until(lambda url: "go=1" not in url)


def test_wheel_minimap_and_lane_filter(cpu: Timeline) -> None:
    cpu.canvas.hover(position={"x": 400, "y": 200})
    cpu.page.keyboard.down("Control")
    cpu.page.mouse.wheel(0, -600)
    cpu.page.keyboard.up("Control")
    cpu.until(lambda url: window(url) is not None)
    zoomed = cpu.window
    cpu.drag(400, 14, 600, 14)
    cpu.until(moved_from(zoomed))
    cpu.body.get_by_label("Filter lanes").fill("no such lane")
    expect(cpu.body.locator(".tl-label")).to_have_count(0)
    cpu.body.get_by_label("Filter lanes").fill("python")
    expect(cpu.body.locator(".tl-label.lane").first).to_contain_text("python")


def test_colours_by_library_are_part_of_the_link(cpu: Timeline) -> None:
    slices = cpu.body.locator("canvas[data-renderer]")
    before = slices.evaluate("slices => slices.toDataURL()")
    cpu.body.get_by_role("button", name="Show").click()
    cpu.body.get_by_label("Colours").select_option("library")
    cpu.until(lambda url: "colour=library" in url)
    cpu.page.evaluate(FRAMES, 3)
    chosen = slices.evaluate("slices => slices.toDataURL()")
    assert chosen != before
    cpu.page.reload()
    expect(cpu.body.get_by_role("button", name="Show (1)")).to_be_visible()


def test_several_hosts_side_by_side(site: Sites, page: Page, traces: Path) -> None:
    timeline = Timeline(site("standalone", traces), page, "two_workers/run")
    for host in ("worker-0", "worker-1"):
        threads = timeline.body.locator(".tl-label.section", has_text=f"{host} /host:CPU")
        expect(threads).to_have_count(1)
        expect(timeline.body.locator(".tl-label.section", has_text=f"{host} CPU compute, why idle")).to_have_count(1)
        threads.locator(".tl-fold").click()


def test_the_export_is_the_trace_event_format(cpu: Timeline) -> None:
    cpu.body.get_by_role("button", name="Export", exact=True).click()
    with cpu.page.expect_download() as download:
        cpu.body.get_by_text("Whole trace").click()
    trace = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert {"X", "M"} <= {event["ph"] for event in trace["traceEvents"]}
