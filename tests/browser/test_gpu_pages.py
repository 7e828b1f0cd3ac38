"""The pages of kernels and of memory on drawn captures: shown, grouped, zoomed, followed to the timeline."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import drawn
import pytest
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]

KERNELS = """
/host:CPU
  main | step[0,900]{_r=1, step_num=1+s}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=8, compute_cap_minor=0, core_count=108, clock_rate=1410000}
  Stream #13(Compute) | ampere_sgemm_128x64_nn[100,60]{tf_op='a/MatMul:MatMul', kernel_details='regs:32 grid:2 block:4'}
  | loop_add_fusion[200,20]{tf_op='a/Add:Add', kernel_details='regs:16 grid:2 block:4'}
  | loop_add_fusion[300,20]{tf_op='b/Add:Add', kernel_details='regs:16 grid:2 block:4'}
"""


def memory_events() -> str:
    parts = []
    for step in range(4):
        for at, kind, heap in ((10, "Allocation", 3000), (500, "Deallocation", 1000)):
            stats = f"allocator_name=GPU_0_bfc, bytes_allocated={heap + step}, bytes_available=9000, addr=7"
            op = "tf_op='big/Conv2D', " if kind == "Allocation" else ""
            parts.append(f"Memory{kind}[{1000 * step + at},0]{{{op}{stats}, allocation_bytes=2000, requested_bytes=9}}")
    marks = " ".join(f"step[{1000 * step},900]{{_r=1, step_num={step}}}" for step in range(4))
    return f"/host:CPU\n  main | {marks}\n  pool | {' '.join(parts)}"


@pytest.fixture(scope="module")
def kernels(site: Sites, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kernels")
    draw.session(folder, vm=draw.space(KERNELS))
    return site("standalone", folder)


def opened(server: Any, page: Page, tool: str) -> Any:
    page.goto(server.link(run="run", tool=tool))
    main = server.main(page)
    expect(main.locator(".verdict")).not_to_be_empty()
    return main


def test_kernels_by_op_and_on_the_timeline(kernels: Any, page: Page) -> None:
    main = opened(kernels, page, "kernel_stats")
    expect(main.locator(".verdict")).to_contain_text("without tensor cores")
    expect(main.locator("tbody tr", has_text="loop_add_fusion")).to_have_count(2)
    main.get_by_label("Grouping").select_option("kernel_name")
    expect(main.locator("tbody tr", has_text="loop_add_fusion")).to_have_count(1)
    expect(page).to_have_url(re.compile("by=kernel_name"))
    main.locator("tbody tr", has_text="loop_add_fusion").click()
    page.get_by_role("dialog").get_by_role("link", name="Timeline").click()
    expect(page).to_have_url(re.compile("tool=trace_viewer.*find=.*loop_add_fusion"))


def test_a_long_table_is_sorted_found_and_scrolled_through(site: Sites, page: Page, tmp_path: Path) -> None:
    draw.session(tmp_path, vm=drawn.many_kernels(6_000))
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="kernel_stats"))
    grid = server.main(page).locator(".grid").first
    expect(grid.locator(".toolbar")).to_contain_text("6,000 rows")
    grid.get_by_role("button", name="Kernel", exact=True).click()
    expect(grid.locator("tbody tr").nth(1)).to_contain_text("kernel_1")
    grid.locator(".scroller").evaluate("element => element.scrollTo(0, element.scrollHeight)")
    expect(grid.locator("tbody tr", has_text="kernel_999")).to_have_count(1)
    grid.get_by_role("searchbox").fill("OP_777")
    expect(grid.locator(".toolbar")).to_contain_text("1 of 6,000 rows")
    expect(grid.locator("tbody tr", has_text="kernel_777")).to_have_count(1)
    grid.get_by_role("button", name="Export").click()
    with page.expect_download() as saved:
        grid.get_by_role("button", name="Export as CSV").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if "kernel_777" in line]) == 1


def test_memory_at_a_moment_and_of_a_part_of_the_time(site: Sites, page: Page, tmp_path: Path) -> None:
    draw.session(tmp_path, vm=draw.space(memory_events()))
    main = opened(site("standalone", tmp_path), page, "memory_profile")
    expect(main.locator(".verdict")).to_contain_text("GPU_0_bfc peaks at")
    expect(main.locator("tbody tr", has_text="big/Conv2D")).to_have_count(1)
    canvas = main.get_by_role("img", name=re.compile("Memory in use"))
    expect(canvas.locator("canvas")).to_be_visible()
    box = canvas.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.24, box["y"] + box["height"] / 2)
    expect(page).to_have_url(re.compile("at="))
    expect(main.get_by_text("Allocations at", exact=False).first).not_to_contain_text("peak")
    expect(main.locator("tbody tr", has_text="big/Conv2D")).to_have_count(0)
    main.get_by_role("button", name="Back to the peak").click()
    expect(main.locator("tbody tr", has_text="big/Conv2D")).to_have_count(1)
    page.keyboard.down("Control")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(page).to_have_url(re.compile("from=.*to="))
    expect(main.get_by_text("From step to step")).to_be_visible()


def test_names_beside_pies_filter_the_kernels(kernels: Any, page: Page) -> None:
    main = opened(kernels, page, "kernel_stats")
    rows = main.locator("tbody tr", has_text=re.compile("sgemm|fusion"))
    expect(rows).to_have_count(3)
    main.locator(".share-bars", has_text="Library").locator(".pick", has_text="cuBLAS").click()
    expect(page).to_have_url(re.compile("kernels.only.library=cuBLAS"))
    expect(rows).to_have_count(1)
    page.go_back()
    main.locator(".share-bars", has_text="highest").locator(".pick", has_text="loop_add_fusion").click()
    expect(page).to_have_url(re.compile("kernels.find=loop_add_fusion"))
    expect(rows).to_have_count(2)


def test_captures_without_gpus_say_why(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    for tool, reason in (("kernel_stats", "names no GPU"), ("memory_profile", "no allocator events")):
        page.goto(server.link(run="custom_loop/run", tool=tool))
        expect(server.main(page)).to_contain_text(reason)


def test_a_slider_replays_one_op(site: Sites, page: Page) -> None:
    """The address keeps which op and how fast; the figures come from the server."""
    captured = Path(__file__).resolve().parents[1] / "planted" / "captured"
    server = site("standalone", captured / "jax_gpu_layers" / "with")
    (run,) = page.request.get(server.url + "runs").json()
    page.goto(server.link(run=run, tool="why"))
    server.main(page).locator("summary", has_text="What if").click()
    section = server.main(page).locator("section", has_text="What if one op were faster?")
    expect(section.locator(".headline")).to_contain_text("at 0.5 times its")
    section.get_by_label("Time of the op in percent").fill("0")
    expect(section.locator(".headline")).to_contain_text("at 0 times its")
    section.get_by_label("Op", exact=True).select_option(index=1)
    expect(section.locator(".headline")).to_contain_text("loop_subtract_fusion")
    assert "scaled_op=loop_subtract_fusion" in page.url
    assert "scaled_to=0" in page.url
    page.reload()
    expect(section.locator(".headline")).to_contain_text("loop_subtract_fusion at 0 times its")
