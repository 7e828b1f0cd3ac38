"""A report opened from a disk without a network: every page, both themes, without scripts, and printed."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import draw
import pytest
from playwright.sync_api import BrowserContext, Page

import tb_profile_plugin
from tb_profile_plugin.runtime.messages import FOLDER, localized, use_language
from tb_profile_plugin.serve.report import report

pytestmark = pytest.mark.browser
TRACES = Path(__file__).resolve().parent.parent / "traces"
HOSTILE = "</script><script>document.title='taken'</script><!--<img src=x onerror=\"document.title='taken'\">"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "r.html"
    path.write_text(report(tb_profile_plugin.open(TRACES / "two_workers")).html, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def context(new_context: Callable[..., BrowserContext], request: pytest.FixtureRequest) -> BrowserContext:
    return new_context(offline=True, **getattr(request, "param", {}))


def faults(page: Page) -> list[str]:
    found: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else found.append(request.url),
    )
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda message: found.append(message.text))
    return found


def all_opened(page: Page) -> list[str]:
    """Open every page of every group; return how the pages call themselves."""
    opened = []
    groups = page.get_by_role("navigation", name="Pages").locator("a")
    groups.first.wait_for()
    for group in groups.all():
        group.click()
        page.locator(".tabs a[aria-current]", has_text=re.compile(f"^{re.escape(group.inner_text())}$")).wait_for()
        for shown in page.locator(".tabs.pages a").all() or [group]:
            shown.click()
            page.locator(".tabs a[aria-current=page]", has_text=shown.inner_text()).wait_for()
            page.locator("main[aria-busy=false] :is(section, .verdict, .state, .compare-base)").first.wait_for()
            opened.append(page.title().partition(" · ")[0])
            assert page.get_by_text("This is not in the report.").count() == 0, opened
    return opened


def test_a_report_speaks_its_own_language(context: BrowserContext, tmp_path: Path) -> None:
    with use_language("zh"):
        text = report(tb_profile_plugin.open(TRACES / "starved_input")).html
        group, waiting = localized("Input"), localized("Waiting for input")
    (tmp_path / "zh.html").write_text(text, encoding="utf-8")
    page = context.new_page()
    found = faults(page)
    page.goto((tmp_path / "zh.html").as_uri())
    page.locator(".tabs a", has_text=group).first.wait_for()
    assert waiting in page.locator(".key").first.inner_text()
    table = json.loads((FOLDER / "pages.zh.json").read_text("utf-8"))["Show as table"]
    assert page.get_by_role("button", name=table).count() > 0
    assert found == []


@pytest.mark.parametrize("context", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_every_page_opens_from_a_disk(context: BrowserContext, file: str) -> None:
    page = context.new_page()
    found = faults(page)
    page.goto(file)
    page.locator(".tabs a").first.wait_for()
    opened = all_opened(page)
    assert {"Summary", "Framework ops", "Pod", "Communication", "Not in this capture"} <= set(opened)
    page.get_by_role("link", name="Summary").click()
    page.locator(".action h3").first.wait_for()
    assert page.locator(".still").is_hidden()
    for name in ("Share", "Capture"):
        assert page.get_by_role("button", name=name, exact=True).count() == 0
    assert found == []


def test_what_it_does_not_hold_is_told(context: BrowserContext, file: str) -> None:
    page = context.new_page()
    page.goto(f"{file}#v=1&run=session&tool=overview_page&o.steps=all")
    page.goto(f"{file}#v=1&run=session&tool=overview_page&host=host-2")
    page.get_by_text("This is not in the report.").wait_for()


@pytest.mark.parametrize("context", [{"java_script_enabled": False}], indirect=True)
def test_it_reads_without_scripts(context: BrowserContext, file: str) -> None:
    page = context.new_page()
    found = faults(page)
    page.goto(file)
    assert page.locator("h1").inner_text().startswith("Exposed communication")
    assert page.locator(".still h2").all_inner_texts()[:3] == [
        "Figures",
        "Where the time goes",
        "Causes and remedies",
    ]
    assert page.locator(".still svg.lanes text").first.is_visible()
    assert page.locator(".still svg rect").count() > 1 and found == []


@pytest.mark.parametrize("context", [{"color_scheme": "dark"}], indirect=True)
def test_it_prints_dark_on_white(context: BrowserContext, file: str, tmp_path: Path) -> None:
    page = context.new_page()
    page.goto(file)
    page.locator(".tabs a").first.wait_for()
    page.emulate_media(media="print")
    assert page.locator(".still h1").is_visible() and page.locator(".app").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.still')).color") == "rgb(0, 0, 0)"
    wide = page.evaluate("document.querySelector('.still').scrollWidth <= document.documentElement.clientWidth")
    assert wide and page.pdf(format="A4", landscape=True).startswith(b"%PDF")


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "both.html"
    new, base = (tb_profile_plugin.open(TRACES / name) for name in ("jax_steps", "jax_async_marked"))
    path.write_text(report(new, base=base).html, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("context", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_both_sessions_of_a_report_open_against_each_other(context: BrowserContext, before_and_after: str) -> None:
    page = context.new_page()
    found = faults(page)
    page.goto(before_and_after)
    page.locator(".baseline").get_by_text("base", exact=True).wait_for()
    assert page.url.endswith("run=session&tool=overview_page&base=base")
    ways = ("a base", "the other way round", "no base")
    for way in ways:
        if way == ways[1]:
            page.get_by_role("navigation", name="Pages").locator("a", has_text="Compare").click()
            page.get_by_role("button", name="Swap").click()
            page.locator(".verdict", has_text="Slower, 86 times as long").wait_for()
        if way == ways[2]:
            page.get_by_role("button", name="No baseline").click()
        assert "Comparison" in all_opened(page)
    assert found == []


def test_a_link_to_a_view_keeps_its_own_base(context: BrowserContext, before_and_after: str) -> None:
    page = context.new_page()
    page.goto(f"{before_and_after}#v=1&run=session&tool=why")
    page.locator("main .verdict").first.wait_for()
    assert "base=" not in page.url and page.get_by_role("button", name="No baseline").count() == 0


def test_before_and_after_are_printed(context: BrowserContext, before_and_after: str) -> None:
    page = context.new_page()
    page.goto(before_and_after)
    page.locator(".tabs a").first.wait_for()
    page.emulate_media(media="print")
    assert page.get_by_text("Before and after", exact=True).is_visible() and page.locator(".app").is_hidden()
    assert page.get_by_text("Faster by 99 %").first.is_visible()
    table = page.locator("table", has=page.get_by_role("columnheader", name="Before")).last
    assert table.get_by_role("columnheader").all_inner_texts() == ["Op", "Part", "Before", "After", "Difference"]
    assert page.evaluate("document.querySelector('.still').scrollWidth <= document.documentElement.clientWidth")


def test_names_are_text(context: BrowserContext, tmp_path: Path) -> None:
    drawn = draw.space(
        "/host:CPU\n  python | train[0,90]{_r=1} evil[10,30]{hlo_op=x, hlo_module=m}", steps=3, every=100
    )
    for event in drawn.planes[0].lines[0].events:
        for stat in event.stats:
            stat.str_value = stat.str_value and HOSTILE
    path = tmp_path / "r.html"
    path.write_text(report(draw.session(tmp_path, host=drawn), as_is=True).html, encoding="utf-8")
    page = context.new_page()
    found = faults(page)
    page.goto(path.as_uri())
    page.locator("main").get_by_text("onerror").first.wait_for()
    assert "taken" not in page.title() and found == []
