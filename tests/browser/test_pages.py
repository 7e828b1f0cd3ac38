import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

Sites = Callable[..., Any]

KINDS = ["tensorboard", "standalone"]
BOTH = pytest.mark.parametrize("kind", KINDS)


def settled(site: Any, page: Page) -> Any:
    """The content, once it is there."""
    main = site.main(page)
    expect(main).to_have_attribute("aria-busy", "false")
    expect(main.locator("section, .verdict").first).to_be_visible()
    return main


def background(site: Any, page: Page) -> str:
    return str(site.body(page).locator("body").evaluate("body => getComputedStyle(body).backgroundColor"))


def lightness(color: str) -> float:
    return sum(float(part) for part in re.findall(r"[\d.]+", color)[:3]) / 3


def opens_overview(server: Any, page: Page, run: str) -> None:
    page.goto(server.link(run=run, tool="overview_page"))
    told = page.request.get(data_url(server, f"answer?run={run}&tag=overview_page")).json()["headline"]["text"]
    expect(server.body(page).locator("header.frame")).to_contain_text(run)
    main = settled(server, page)
    expect(main.locator(".verdict")).to_contain_text(told)
    for heading in ["All figures", "Environment"]:
        expect(main.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(main.locator(".state.error")).to_have_count(0)


def test_the_overview_of_every_bundled_capture(site: Sites, page: Page, traces: Path, run: str) -> None:
    opens_overview(site("standalone", traces), page, run)


def test_tensorboard_leads_from_overview_to_overview(
    site: Sites, page: Page, traces: Path, runs: list[str], subtests: pytest.Subtests
) -> None:
    for run in runs:
        with subtests.test(run=run):
            opens_overview(site("tensorboard", traces), page, run)


def test_the_overview_of_every_public_capture(site: Sites, page: Page, public_traces: Path, public_run: str) -> None:
    server = site("standalone", public_traces)
    page.goto(server.link(run=public_run, tool="overview_page"))
    main = settled(server, page)
    expect(main.locator(".verdict, .state")).not_to_have_count(0)
    if public_run.startswith("mangled/"):
        expect(server.body(page).locator(".health")).to_be_visible()


@BOTH
def test_the_first_visit_shows_the_newest_session(site: Sites, page: Page, traces: Path, kind: str) -> None:
    server = site(kind, traces)
    page.goto(server.url)
    settled(server, page)
    newest = page.request.get(data_url(server, "sessions")).json()["sessions"][0]["run"]
    expect(server.body(page).locator(".picker-button")).to_contain_text(newest)
    expect(page).to_have_url(re.compile("run="))


def data_url(server: Any, route: str) -> str:
    return str(server.url + ("data/plugin/profile/" if server.kind == "tensorboard" else "") + route)


def test_dark_mode_follows_tensorboard(site: Sites, page: Page, traces: Path) -> None:
    server = site("tensorboard", traces)
    page.goto(server.link())
    settled(server, page)
    assert lightness(background(server, page)) > 200
    page.evaluate("document.body.classList.add('dark-mode')")
    expect(server.body(page).locator("html")).to_have_attribute("data-theme", "dark")
    assert lightness(background(server, page)) < 80


def test_dark_mode_follows_the_system_on_its_own(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.emulate_media(color_scheme="dark")
    page.goto(server.link())
    settled(server, page)
    assert lightness(background(server, page)) < 80


@BOTH
def test_a_link_to_a_missing_session_says_so(site: Sites, page: Page, traces: Path, kind: str) -> None:
    server = site(kind, traces)
    page.goto(server.link(run="no/such run+ü", tool="overview_page"))
    main = server.main(page)
    expect(main).to_contain_text("No such session")
    expect(main).to_contain_text("no/such run+ü")
    main.locator("a").first.click()
    expect(settled(server, page).locator(".verdict")).to_be_visible()


@BOTH
def test_an_empty_logdir_says_what_was_searched_and_shows_what_appears_without_a_restart(
    site: Sites, page: Page, tmp_path: Path, traces: Path, kind: str
) -> None:
    (tmp_path / "train/plugins/profile/r0").mkdir(parents=True)
    server = site(kind, tmp_path)
    page.goto(server.link())
    main = server.main(page)
    expect(main).to_contain_text(str(tmp_path))
    expect(main).to_contain_text("train/plugins/profile/r0")
    run = tmp_path / "plugins/profile/r1"
    run.mkdir(parents=True)
    source = next(traces.rglob("*.xplane.pb*"))
    (run / source.name).write_bytes(source.read_bytes())
    expect(settled(server, page).locator(".verdict")).to_be_visible()


@BOTH
def test_a_damaged_capture_is_told(site: Sites, page: Page, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plugins/profile/r1/vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff" * 4000)
    server = site(kind, tmp_path)
    page.goto(server.link(run="r1"))
    settled(server, page)
    expect(server.body(page).locator(".health, .state").first).to_be_visible()


@BOTH
def test_reload_and_a_copied_link_keep_the_view(
    site: Sites, context: BrowserContext, page: Page, traces: Path, kind: str, watch: Any
) -> None:
    server = site(kind, traces)
    page.goto(server.link())
    settled(server, page)
    oldest = page.request.get(data_url(server, "sessions")).json()["sessions"][-1]["run"]
    body = server.body(page)
    body.locator(".picker-button").click()
    body.locator("button.session").last.click()
    expect(body.locator(".picker-button")).to_contain_text(oldest)
    settled(server, page)
    page.reload()
    settled(server, page)
    expect(server.body(page).locator(".picker-button")).to_contain_text(oldest)
    if kind == "tensorboard":
        assert "#profile" in page.url
    other = context.new_page()
    watch.over(other)
    other.goto(page.url)
    expect(server.body(other).locator(".picker-button")).to_contain_text(oldest)


@BOTH
def test_back_and_forward(site: Sites, page: Page, traces: Path, kind: str) -> None:
    server = site(kind, traces)
    page.goto(server.link())
    settled(server, page)
    button = server.body(page).locator(".picker-button")
    sessions = page.request.get(data_url(server, "sessions")).json()["sessions"]
    first, last = sessions[0]["run"], sessions[-1]["run"]
    button.click()
    server.body(page).locator("button.session").last.click()
    expect(button).to_contain_text(last)
    page.go_back()
    expect(button).to_contain_text(first)
    settled(server, page)
    page.go_forward()
    expect(button).to_contain_text(last)
    settled(server, page)


@BOTH
def test_the_keyboard_reaches_tools_and_sessions(site: Sites, page: Page, traces: Path, kind: str) -> None:
    server = site(kind, traces)
    page.goto(server.link(tool="no_such_tool"))
    body = server.body(page)
    expect(server.main(page)).to_contain_text("no_such_tool")
    tab = body.locator("nav.tabs a").first
    tab.focus()
    page.keyboard.press("Enter")
    expect(tab).to_have_attribute("aria-current", "page")
    settled(server, page)
    tab.focus()
    page.keyboard.press("s")
    expect(body.locator("input[type=search]").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(body.locator("button.session")).to_have_count(0)


def test_below_a_path_prefix(site: Sites, page: Page, traces: Path, watch: Any) -> None:
    server = site("tensorboard", traces, "--path_prefix", "/deep/er")
    assert server.url.endswith("/deep/er/")
    page.goto(server.link())
    expect(settled(server, page).locator(".verdict")).to_be_visible()
    # TensorBoard's own fonts miss the prefix.
    watch.faults = [fault for fault in watch.faults if "/font-roboto/" not in fault and "404" not in fault]
