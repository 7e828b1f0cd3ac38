"""A capture whose names are HTML, scripts and worse, on every page: shown as the text that they are."""

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import draw
import pytest
from playwright.sync_api import Page, expect

from tb_profile_plugin.tools import all_tools

SCRIPT = "<script>window.hit=1</script>"
IMAGE = '<img/src=x onerror="window.hit=1">'
NAMES = [SCRIPT, IMAGE, "'\"`;--", "a\0b", "\u202egnp.exe", "{{window.hit=1}}", "javascript:window.hit=1"]


def hostile() -> Any:
    """Host with ops, threads, stats, steps, a kernel and allocations, every name of which is one of these."""
    renamed = {f"name{number}": name for number, name in enumerate(NAMES)}
    ops = " ".join(f"{name}:MatMul[{100 + 90 * i},80]{{x={name}, long_name={name}}}" for i, name in enumerate(renamed))
    kernels = " ".join(f"{name}[{120 + 90 * i},50]{{tf_op={name}}}" for i, name in enumerate(renamed))
    drawn = draw.space(
        f"""
/host:CPU
  name0  | name1[0,900]{{_r=1, step_num=s}} {ops}
  name1  | Iterator::name0[5,3]{{id=1}} MemoryAllocation[20,1]{{allocator_name=name1, bytes_allocated=9, tf_op=name0}}
/device:GPU:0 {{device_vendor=name0}}
  Stream #13(name1) | {kernels}
hostname: {SCRIPT}
error: {IMAGE}
warning: {SCRIPT}
""",
        steps=4,
    )
    for plane in drawn.planes:
        for line in plane.lines:
            line.name = _spelled(line.name, renamed)
        for metadata in plane.event_metadata.values():
            metadata.name = metadata.display_name = _spelled(metadata.name, renamed)
        for stats in [plane.stats, *(event.stats for line in plane.lines for event in line.events)]:
            for stat in stats:
                stat.str_value = _spelled(stat.str_value, renamed) if stat.str_value else ""
    return drawn


def _spelled(text: str, renamed: dict[str, str]) -> str:
    for name, spelled in renamed.items():
        text = text.replace(name, spelled)
    return text


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs") / IMAGE.replace("/", "")
    draw.session(folder, **{"h" + SCRIPT.replace("/", ""): hostile(), "other": hostile()})
    return folder.parent


# In TensorBoard, the same pages below another policy: two of them show that.
@pytest.mark.parametrize(
    ("kind", "tool"),
    [
        *(("standalone", tool) for tool in all_tools()),
        ("tensorboard", "overview_page"),
        ("tensorboard", "trace_viewer"),
    ],
)
def test_names_are_text(site: Callable[..., Any], page: Page, logdir: Path, kind: str, tool: str) -> None:
    server = site(kind, logdir)
    page.goto(server.link(run=f"{IMAGE.replace('/', '')}/run", tool=tool))
    body = server.body(page)
    expect(server.main(page)).to_have_attribute("aria-busy", "false")
    body.locator(".health").click()
    expect(body.locator(".menu-panel .problems")).to_contain_text("onerror")
    assert body.locator("body").evaluate("() => window.hit") is None
    assert body.locator("img[src='x']").count() == 0
    if tool == "why":
        # The page goes there by itself, once causes have come in: until then rows move from under the pointer.
        expect(body.locator("main summary", has_text="All causes")).to_be_in_viewport()
    for row in body.locator("main td, main [data-tip]").all()[:20]:
        if row.is_visible():
            row.hover(force=True, timeout=5000)
    assert body.locator("body").evaluate("() => window.hit") is None
    assert body.locator("img[src='x']").count() == 0


ANCHOR = '<a href="https://evil.example/">Sign in</a>'
CRAFTED = "a" * 39 + "\U0001f600"


def crafted() -> Any:
    """Python functions of which one is named like a link, another in angle brackets; a step with an emoji."""
    drawn = draw.space("/host:CPU\n  t | s[0,900]{_r=1, step_num=s} named[9,300] bare[400,300]", 4)
    for plane in drawn.planes:
        for metadata in plane.event_metadata.values():
            metadata.name = {"named": f"$f.py:1 {ANCHOR}", "bare": "$f.py:2 <lambda>", "s": CRAFTED}.get(
                metadata.name, metadata.name
            )
    return drawn


@pytest.fixture(scope="module")
def crafted_logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crafted")
    draw.session(folder, vm=crafted())
    return folder


def test_the_overview_shows_a_function_named_like_a_link_as_text(
    site: Callable[..., Any], page: Page, crafted_logdir: Path
) -> None:
    server = site("standalone", crafted_logdir)
    page.goto(server.link(run="run", tool="overview_page"))
    actions = server.main(page).locator(".actions-row")
    expect(actions).to_contain_text(ANCHOR)
    expect(actions).to_contain_text("<lambda> (f.py:2)")
    assert server.body(page).locator("a[href*='evil.example']").count() == 0


@pytest.mark.parametrize("query", ["pin=%25", "fold=%", "arrows=%25E0%25A4", "marks=1~2:%"])
def test_no_link_breaks_the_timeline(site: Callable[..., Any], page: Page, crafted_logdir: Path, query: str) -> None:
    server = site("standalone", crafted_logdir)
    page.goto(f"{server.link(run='run', tool='trace_viewer')}&{query}")
    expect(server.main(page).locator(".tl-canvases canvas").first).to_be_visible()
    # It writes its address from then on, and can be opened by that as well.
    page.locator(".tl-tools button").nth(3).click()
    expect(page).to_have_url(re.compile("mode=timing"))
    page.reload()
    expect(server.main(page).locator(".tl-canvases canvas").first).to_be_visible()


def test_a_mark_is_cut_between_characters(site: Callable[..., Any], page: Page, crafted_logdir: Path) -> None:
    server = site("standalone", crafted_logdir)
    page.goto(server.link(run="run", tool="trace_viewer", event="0.0"))
    details = server.main(page).locator(".tl-details")
    expect(details).to_contain_text("Zoom to")
    page.goto(server.link(run="run", tool="trace_viewer", find=CRAFTED, go="1"))
    expect(details).to_contain_text(CRAFTED)
    details.get_by_role("button", name="Mark").click()
    expect(details.locator(".tl-marks input")).to_have_value("a" * 39)
    expect(page).to_have_url(re.compile("marks=.*aaa"))


@pytest.mark.slow
def test_more_kernels_of_one_op_than_a_call_takes_arguments(
    site: Callable[..., Any], page: Page, tmp_path: Path
) -> None:
    drawn = draw.space("/device:GPU:0\n  Stream #13(Compute) | first[0,1]{kernel_details='regs:8', tf_op=a:MatMul}")
    plane = drawn.planes[0]
    [line] = plane.lines
    for number in range(2, 140_002):
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = f"kernel_{number}"
        line.events.add().CopyFrom(line.events[0])
        line.events[-1].metadata_id = number
        line.events[-1].offset_ps = number * 2_000_000
    draw.session(tmp_path, vm=drawn)
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="kernel_stats", by="op_name"))
    expect(server.main(page).locator(".grid tbody tr")).to_contain_text(["a"], timeout=270_000)


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A server of another origin, one page of which holds the given address."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def framed(address: str) -> str:
        (folder / "index.html").write_text(f'<iframe src="{address}" width="1300" height="900"></iframe>')
        (folder / "favicon.ico").touch()
        return f"http://localhost:{server.server_port}/"

    yield framed
    server.shutdown()
    server.server_close()


def test_capture_refuses_inside_a_page_of_another_server(
    site: Callable[..., Any], page: Page, crafted_logdir: Path, foreign: Callable[[str], str]
) -> None:
    server = site("tensorboard", crafted_logdir)
    page.goto(server.link(run="run", tool="overview_page"))
    server.body(page).get_by_role("button", name="Capture", exact=True).click()
    expect(server.body(page).locator("dialog.capture #capture-places")).to_be_visible()
    page.goto(foreign(server.link(run="run", tool="overview_page")))
    body = page.frame_locator("iframe").frame_locator("iframe")
    body.get_by_role("button", name="Capture", exact=True).click()
    dialog = body.locator("dialog.capture")
    expect(dialog).to_contain_text("embedded in another server")
    expect(dialog.locator("form, input")).to_have_count(0)
    with page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Open in a new tab").click()
    alone = server.body(opened.value)
    alone.get_by_role("button", name="Capture", exact=True).click()
    expect(alone.locator("dialog.capture #capture-places")).to_be_visible()
