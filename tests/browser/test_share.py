"""The page says what a capture tells before it is given away, and saves it with or without that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import pytest
from playwright.sync_api import Page, expect

CLIPBOARD = (
    "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text; }}})"
)
PLAIN_HTTP = """
Object.defineProperty(navigator, 'clipboard', {value: undefined});
addEventListener('copy', event => { window.copied = event.clipboardData.getData('text/plain'); });
"""
SECRET = """
/host:CPU
  t | train[0,900]{_r=1, step_num=s, source_info='/home/alice/secret.py:3'} load[5,9]{path='/home/alice/x'}
hostname: gpu-box
"""


@pytest.mark.parametrize("kind", ["tensorboard", "standalone"])
def test_a_capture_is_saved_without_what_it_tells(
    site: Callable[..., Any], page: Page, tmp_path: Path, kind: str
) -> None:
    drawn = draw.space(SECRET, steps=3)
    draw.session(tmp_path, **{"gpu-box": drawn, "other": draw.space("/host:CPU\n  t | work[1,2]")})
    server = site(kind, tmp_path)
    page.goto(server.link(run="run", tool="overview_page"))
    body = server.body(page)
    body.get_by_role("button", name="Share").click()
    dialog = body.locator("dialog[open]")
    expect(dialog.get_by_role("row", name="User names")).to_contain_text("alice")
    expect(dialog.get_by_role("row", name="User names")).to_contain_text("taken out")
    with page.expect_download() as saving:
        dialog.get_by_role("link", name="Redacted").click()
    assert saving.value.suggested_filename == "host-1.xplane.pb"
    assert b"alice" not in saving.value.path().read_bytes()
    with page.expect_download() as saving:
        dialog.get_by_role("link", name="As it is").click()
    assert saving.value.path().read_bytes() == drawn.SerializeToString()
    with page.expect_download() as saving:
        dialog.get_by_role("link", name="Report").click()
    assert saving.value.suggested_filename == "report.html"
    assert saving.value.path().read_bytes().startswith(b"<!doctype html>")
    dialog.get_by_role("combobox").select_option("other")
    expect(dialog.get_by_role("row", name="Hosts")).to_contain_text("other")
    expect(dialog.get_by_role("row", name="User names")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(body.get_by_role("button", name="Share")).to_be_focused()


@pytest.mark.parametrize("clipboard", [CLIPBOARD, PLAIN_HTTP], ids=["clipboard", "plain-http"])
def test_the_link_and_the_summary_are_copied(
    site: Callable[..., Any], page: Page, traces: Path, clipboard: str
) -> None:
    page.add_init_script(clipboard)
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="trace_viewer", find="FunctionRun"))
    expect(page.locator(".tl-search output")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    expect(dialog.get_by_role("button", name="Copied")).to_have_count(0)
    assert page.evaluate("window.copied") == page.url and "find=FunctionRun" in page.url
    dialog.get_by_role("button", name="Copy summary").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("window.copied").startswith("**")


def test_the_report_draws_the_window_of_the_timeline(
    site: Callable[..., Any], page: Page, watch: Any, traces: Path, tmp_path: Path
) -> None:
    page.goto(site("standalone", traces).link(run="keras_fit/run", tool="trace_viewer", t="1000~900000"))
    expect(page.locator(".tl-labels")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as saving:
        page.locator("dialog[open]").get_by_role("link", name="Report with this window of the Timeline").click()
    saving.value.save_as(tmp_path / "report.html")
    assert watch.faults == []
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("heading", name="Timeline from 1.00 µs to 900 µs")).to_be_visible()
    expect(page.locator(".window svg").first).to_be_visible()
    watch.faults.clear()


def test_the_report_and_the_summary_cover_the_chosen_steps(
    site: Callable[..., Any], page: Page, watch: Any, traces: Path, tmp_path: Path
) -> None:
    page.add_init_script(CLIPBOARD)
    server = site("standalone", traces)
    page.goto(server.link(run="keras_fit/run", tool="overview_page", steps="10-12"))
    told = page.locator(".extent b").inner_text()
    page.get_by_role("button", name="Share").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("button", name="Copy summary").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    asked = page.request.get(f"{server.url}share/summary", params={"run": "keras_fit/run", "steps": "10-12"}).text()
    assert page.evaluate("window.copied") == asked
    with page.expect_download() as saving:
        dialog.get_by_role("link", name="Report").click()
    saving.value.save_as(tmp_path / "report.html")
    assert watch.faults == []
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator(".extent b")).to_have_text(told)
    expect(page.get_by_label("Over")).to_have_value("10-12")
    watch.faults.clear()
