"""The page of a program's graph: drawn by its worker, opened in place, followed, searched and saved."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]
RAN = """
/host:CPU
  tf_XLAEigen/1 | dot.1[10,40]{hlo_op=dot.1, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
  | scale_fusion[60,10]{hlo_op=scale_fusion, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
"""


@pytest.fixture(scope="module")
def server(site: Sites, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("programs")
    space = hlodraw.planted(draw.space(RAN), 7, hlodraw.train())
    draw.session(folder, vm=draw.program(space, 12, "other", **{"evil": "add <img/src=x>:Add"}))
    return site("standalone", folder)


@pytest.fixture
def main(server: Any, page: Page) -> Any:
    page.goto(server.link(run="run", tool="graph_viewer"))
    found = server.main(page)
    expect(found.locator(".verdict")).to_contain_text("dot.1 takes 80")
    return found


def test_it_is_drawn_opened_and_followed(main: Any, page: Page) -> None:
    expect(main.locator(".op .box")).to_have_count(5)
    expect(main.locator(".op-graph aside > h3")).to_have_text("dot.1")
    main.get_by_role("button", name="Open: scale_fusion").click()
    expect(main.locator(".opened text")).to_have_text(re.compile("scale_fusion"))
    expect(main.locator(".op .box", has_text="twice")).to_have_count(1)
    main.locator(".op .box", has_text="shifted").click()
    expect(main.locator(".op-graph aside > h3")).to_have_text("shifted")
    main.get_by_role("button", name="Center it").click()
    expect(main.locator(".section h2").first).to_have_text("Around shifted")
    expect(page).to_have_url(re.compile("node_name=shifted"))
    expect(main.locator(".op .box", has_text="loop")).to_have_count(1)
    page.go_back()
    expect(main.locator(".section h2").first).to_have_text("Around dot.1")


def test_all_programs_are_searched_and_names_are_text(main: Any, page: Page) -> None:
    box = main.get_by_role("searchbox", name="Find an instruction")
    box.fill("add")
    box.press("Enter")
    row = main.locator("tbody tr", has_text="evil").first
    expect(row).to_contain_text("<img/src=x>")
    row.click()
    expect(main.locator(".verdict")).to_contain_text("evil of other")
    expect(main.locator("img")).to_have_count(0)
    expect(main.locator(".op-card")).to_contain_text("<img/src=x>")


def test_the_graph_is_saved(main: Any, page: Page) -> None:
    expect(main.locator(".op .box")).to_have_count(5)
    for name, begin in (
        ("The drawing as SVG", "<svg"),
        ("The graph for Graphviz", "digraph G {"),
        ("The program as text", "HloModule m"),
    ):
        main.get_by_role("button", name="Save", exact=True).click()
        with page.expect_download() as saving:
            main.locator(".items").get_by_text(name).click()
        text = Path(saving.value.path()).read_text()
        assert text.startswith(begin) and "dot.1" in text


def test_an_op_is_the_same_on_every_page(main: Any, page: Page) -> None:
    """HLO stats, op profile, framework ops and the memory's values lead to its events, graph and memory."""
    for tool, row in (("HLO stats", "tbody tr"), ("Framework ops", "tbody tr"), ("Op profile", ".optree .row-act")):
        page.locator(".tabs.pages a", has_text=tool).click()
        main.locator(row, has_text="scale_fusion").first.click()
        dialog = main.get_by_role("dialog")
        expect(dialog.get_by_role("heading", level=2)).to_have_text("scale_fusion")
        expect(dialog.locator(".op-actions a")).to_have_text([re.compile("Timeline"), re.compile("Program graph")])
        if tool != "Op profile":
            dialog.get_by_role("button", name="Close").click()
    dialog.locator(".op-actions a", has_text="Program graph").click()
    expect(main.locator(".section h2").first).to_have_text("Around scale_fusion")


EMPTY = ("op_profile", "hlo_stats", "roofline_model", "memory_viewer", "graph_viewer")


@pytest.mark.parametrize("tool", EMPTY)
def test_pages_without_programs_say_why_and_what_to_do(site: Sites, page: Page, traces: Path, tool: str) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="custom_loop/run", tool=tool))
    state = server.main(page).locator(".state")
    expect(state).to_contain_text("This capture holds no XLA program")
    expect(state).to_contain_text("Capture JAX, PyTorch/XLA or TensorFlow with jit_compile=True")
