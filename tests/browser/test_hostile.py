"""A capture whose names are HTML, scripts and worse, on every page: shown as the text that they are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import pytest
from playwright.sync_api import Page, expect

from tb_profile_plugin.tools import find

LONG = 90_000
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
    [*(("standalone", tool) for tool in find()), ("tensorboard", "overview_page"), ("tensorboard", "trace_viewer")],
)
def test_names_are_text(site: Callable[..., Any], page: Page, logdir: Path, kind: str, tool: str) -> None:
    server = site(kind, logdir)
    page.goto(server.link(run=f"{IMAGE.replace('/', '')}/run", tool=tool))
    body = server.body(page)
    expect(server.main(page)).to_have_attribute("aria-busy", "false", timeout=LONG)
    expect(body.locator(".health")).to_contain_text("onerror", timeout=LONG)
    assert body.locator("body").evaluate("() => window.hit") is None
    assert body.locator("img[src='x']").count() == 0
    for row in body.locator("main td, main [data-tip]").all()[:20]:
        if row.is_visible():
            row.hover(force=True, timeout=5000)
    assert body.locator("body").evaluate("() => window.hit") is None
    assert body.locator("img[src='x']").count() == 0
