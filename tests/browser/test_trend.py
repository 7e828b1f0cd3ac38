"""The page Trend: a history with a step, and a click that compares what lies on either side of it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import histories
import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]
TRACES = Path(__file__).resolve().parent.parent / "traces"
HOSTILE = "<img src=x onerror=window.hit=1>"


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    factors = [1.0] * 6 + [1.1] * 5
    return histories.write(tmp_path, factors, [f"{HOSTILE}{day:02}" for day in range(len(factors))])


def test_a_step_leads_to_the_comparison_of_both_sessions(
    site: Sites, page: Page, names: list[str], tmp_path: Path
) -> None:
    server = site("standalone", tmp_path)
    page.goto(server.link(run=names[3], tool="trend"))
    main = server.main(page)
    expect(main.locator(".verdict")).to_contain_text(f"Since {names[6]}: +10")
    expect(main.locator(".history circle")).to_have_count(11)
    expect(main.locator(".history .jump")).to_have_count(1)
    assert page.evaluate("() => window.hit") is None and page.locator("img[src='x']").count() == 0
    main.get_by_role("link", name=names[6], exact=True).first.click()
    expect(main.locator(".verdict")).to_contain_text("lower by")
    assert f"run={names[6]}" in unquote(page.url) and f"base={names[5]}" in unquote(page.url)
    page.go_back()
    main.locator(".history a").nth(1).click()
    expect(main.locator(".compare-base")).to_contain_text(names[2])
    assert f"base={names[1]}" in unquote(page.url)


def test_another_program_has_a_history_of_its_own(site: Sites, page: Page, names: list[str], tmp_path: Path) -> None:
    shutil.copytree(TRACES / "jax_steps", tmp_path / "other")
    server = site("standalone", tmp_path)
    page.goto(server.link(run=names[3], tool="trend", match="*"))
    main = server.main(page)
    expect(main.locator(".history circle")).to_have_count(11)
    programs = main.locator(".section", has=page.locator(".history")).get_by_role("combobox")
    expect(programs.locator("option")).to_have_count(2)
    programs.select_option(index=1)
    expect(main.locator(".history circle")).to_have_count(1)
    assert "run=other/run" in unquote(page.url) and "match=*" in unquote(page.url)
    page.go_back()
    expect(main.locator(".history circle")).to_have_count(11)


def test_the_chosen_names_are_kept_in_the_address(site: Sites, page: Page, names: list[str], tmp_path: Path) -> None:
    server = site("standalone", tmp_path)
    page.goto(server.link(run=names[3], tool="trend", match="*0[0-4]"))
    expect(server.main(page).locator(".history circle")).to_have_count(5)
