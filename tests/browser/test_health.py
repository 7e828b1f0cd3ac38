"""What Capture health finds is marked beside the figures that suffer from it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
from playwright.sync_api import Page, expect

STEPS = "/host:CPU\n  t | train[100,500]{_r=1, step_num=s} work[200,200]"
LATE = STEPS.replace("train[100", "train[800").replace("work[200", "work[900")


def test_a_figure_without_steps_is_marked(site: Callable[..., Any], page: Page, tmp_path: Path) -> None:
    draw.session(tmp_path, a=draw.space("/host:CPU\n  t | work[100,500]"))
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="overview_page"))
    mark = server.main(page).get_by_role("img", name=re.compile("Caution: No step was found")).first
    expect(mark).to_be_visible()
    mark.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("No step was found")


def test_clocks_that_differ_mark_what_lies_between_hosts(site: Callable[..., Any], page: Page, tmp_path: Path) -> None:
    # One host's collectives alone align no clocks.
    communicates = draw.space(f"{STEPS} gloo:all_reduce[450,50]", 5)
    draw.session(tmp_path, a=communicates, b=draw.space(STEPS, 5), c=draw.space(LATE, 5))
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="trace_viewer"))
    mark = server.main(page).locator(".tl-bar").get_by_role("img", name=re.compile("out of sync"))
    expect(mark).to_be_visible()
    page.goto(server.link(run="run", tool="overview_page"))
    environment = server.main(page).locator("summary", has_text="Environment")
    expect(environment).to_be_visible()
    # The folds above it come with the causes, and move it.
    expect(server.main(page).locator("summary", has_text="All causes")).to_be_visible()
    environment.click()
    figures = server.main(page).locator(".figure:has(.doubtful)")
    expect(figures).to_have_count(1)
    expect(figures).to_contain_text("Captured")
