"""The page Compare: a base is chosen, both sides are shown, and the address keeps it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]


@pytest.mark.browser
def test_two_sessions_beside_each_other(site: Sites, page: Page, traces: Path, tmp_path: Path) -> None:
    for name in ("jax_steps", "jax_async_marked"):
        shutil.copytree(traces / name, tmp_path / name)
    server = site("standalone", tmp_path)
    runs = page.request.get(server.url + "runs").json()
    new, base = (next(run for run in runs if run.startswith(name)) for name in ("jax_steps", "jax_async"))
    page.goto(server.link(run=new, tool="compare"))
    main = server.main(page)
    expect(main.get_by_text("Choose a session to compare this one with.")).to_be_visible()
    main.get_by_label("Base").select_option(base)
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    expect(main.locator(".waterfall tbody tr")).to_have_count(10)
    expect(main.locator(".side-strip circle.in")).to_have_count(16)
    assert "base=" in page.url
    ops = main.locator(".grid", has=page.get_by_label("Only this Part"))
    main.locator(".waterfall").get_by_role("button", name="Compute").click()
    expect(ops.get_by_label("Only this Part")).to_have_value("Compute")
    page.go_back()
    main.get_by_role("link", name="Both timelines").click()
    expect(main.locator(".tl-canvases")).to_have_count(2, timeout=90_000)
    page.go_back()
    main.get_by_role("button", name="Swap").click()
    expect(main.locator(".verdict")).to_contain_text("Slower by")
    page.go_back()
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
