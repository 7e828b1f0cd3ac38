"""Rows of the pages of PyTorch lead on: to the line, the module, the launch, the event."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import drawn
import pytest
from playwright.sync_api import Locator, Page, expect
from torchtrace import frame, launch, mark, memory, on_device, op, text

Sites = Callable[..., Any]
SHAPES: dict[str, Any] = {"Input Dims": [[4, 2], [2, 2]]}
STEP = (
    mark("ProfilerStep#1", 0, 300),
    frame("train.py(7): step", 0, 290),
    frame("nn.Module: Net_0", 2, 180),
    frame("nn.Module: Linear_0", 10, 140),
    op("aten::addmm", 14, 120, **SHAPES),
    launch(1, 15, 4),
    memory(8 << 20, 20, 4096, 8 << 20),
    on_device(1, 30, 250, "sm80_xmma_gemm_f16f16"),
    op("aten::copy_", 155, 8),
    launch(3, 156, 4),
    on_device(3, 281, 4, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy"),
)


@pytest.fixture(scope="module")
def server(site: Sites, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("torch")
    (folder / "run").mkdir()
    (folder / "run" / "worker.1.pt.trace.json").write_text(text(*STEP), encoding="utf-8")
    return site("standalone", folder)


def card(server: Any, page: Page, tool: str, row: str) -> Locator:
    """The card that a click on a row opens."""
    page.goto(server.link(run="run", tool=tool))
    page.locator(".grid tbody tr", has_text=row).first.click()
    opened = page.get_by_role("dialog")
    expect(opened.locator(".origin")).to_be_visible()
    return opened


@pytest.mark.parametrize(
    ("tool", "row"),
    [("kernel_stats", "gemm"), ("torch_ops", "aten::addmm"), ("memory_profile", "aten::addmm")],
)
def test_a_row_tells_its_line_and_its_module(server: Any, page: Page, tool: str, row: str) -> None:
    origin = card(server, page, tool, row).locator(".origin")
    expect(origin).to_contain_text("train.py:7 step")
    expect(origin).to_contain_text("Net_0 / Linear_0")


def test_a_card_leads_to_the_event_and_to_its_launch(server: Any, page: Page) -> None:
    opened = card(server, page, "kernel_stats", "gemm")
    opened.get_by_role("link", name=re.compile("cudaLaunchKernel")).click()
    expect(page).to_have_url(re.compile("tool=trace_viewer.*event="))
    expect(page.locator(".tl-event h3").first).to_contain_text("cudaLaunchKernel")


def test_an_operator_lists_the_lines_that_call_it(server: Any, page: Page) -> None:
    lines = card(server, page, "torch_ops", "aten::addmm").locator(".calling-lines tbody tr")
    expect(lines).to_have_count(1)
    expect(lines.first).to_contain_text("train.py:7 step")


def test_modules_are_a_tree_whose_rows_open_their_cards(server: Any, page: Page) -> None:
    page.goto(server.link(run="run", tool="torch_ops"))
    tree = page.locator(".optree")
    expect(tree.locator("tbody tr")).to_have_count(2)
    tree.get_by_role("button", name="Linear_0").last.click()
    expect(page.get_by_role("dialog").locator(".origin")).to_contain_text("train.py:7 step")


def test_modules_can_be_a_table(server: Any, page: Page) -> None:
    page.goto(server.link(run="run", tool="torch_ops"))
    page.get_by_label("Modules").select_option(label="as a table")
    expect(page.locator(".grid tbody tr", has_text="Net_0/Linear_0")).to_be_visible()
    expect(page.locator(".optree")).to_have_count(0)


@pytest.mark.parametrize(
    ("tool", "choice", "box"),
    [
        ("torch_ops", "Modules", re.compile("^Linear_0 ")),
        ("memory_profile", "Allocations", re.compile("^train.py:7 step 8.00.MiB")),
    ],
)
def test_modules_and_allocations_can_be_a_flame_graph(
    server: Any, page: Page, tool: str, choice: str, box: re.Pattern[str]
) -> None:
    page.goto(server.link(run="run", tool=tool))
    page.get_by_label(re.compile(f"^{choice}")).first.select_option(label="as a flame graph")
    flame = page.locator(".flame")
    expect(flame.get_by_role("button", name=box)).to_be_visible()
    page.reload()
    expect(flame).to_be_visible()


def test_modules_have_weights_files_and_a_view_from_below(server: Any, page: Page) -> None:
    page.goto(server.link(run="run", tool="torch_ops", modules="callers"))
    modules = page.locator("section", has=page.get_by_role("heading", name="Modules"))
    table = modules.get_by_role("table", name="Modules")
    expect(table.get_by_role("row", name=re.compile("Linear_0"))).to_contain_text("98.4 %")
    modules.get_by_label("Weigh calls by").select_option(label="Host time")
    expect(table.get_by_role("columnheader", name="Host time")).to_be_visible()
    modules.get_by_role("button", name="Save").click()
    with page.expect_download() as file:
        modules.get_by_role("link", name=re.compile("speedscope")).click()
    assert file.value.suggested_filename == "torch_ops_modules_host.speedscope.json"


def test_a_wait_for_a_collective_opens_its_card(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="two_workers/run", tool="communication"))
    waits = page.locator("section", has=page.get_by_role("heading", name="Longest waits"))
    waits.locator(".grid tbody .row-act").first.click()
    opened = page.get_by_role("dialog")
    expect(opened.locator(".figure", has_text="Late worker")).to_contain_text("worker-1")
    opened.locator(".origin").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("tool=trace_viewer.*event="))


def test_collectives_of_a_kind_and_size_open_the_card_of_the_longest(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="two_workers/run", tool="communication"))
    collectives = page.locator("section", has=page.get_by_role("heading", name="Collectives", exact=True))
    collectives.locator(".grid tbody .row-act").first.click()
    opened = page.get_by_role("dialog")
    expect(opened.locator(".figure", has_text="Count")).to_be_visible()
    opened.locator(".origin").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("tool=trace_viewer.*event="))


@pytest.mark.parametrize(
    ("tool", "title", "told"),
    [("kernel_stats", "Copies", "called from"), ("memory_profile", "Allocations that outlive their step", "module")],
)
def test_copies_and_what_outlives_a_step_open_the_card_of_their_event(
    server: Any, page: Page, tool: str, title: str, told: str
) -> None:
    page.goto(server.link(run="run", tool=tool))
    rows = page.locator("section", has=page.get_by_role("heading", name=title, exact=True)).locator(".grid tbody tr")
    rows.first.click()
    expect(page.get_by_role("dialog").locator(".origin")).to_contain_text(told)


def test_a_device_leads_to_its_lanes(server: Any, page: Page) -> None:
    page.goto(server.link(run="run", tool="kernel_stats"))
    devices = page.locator("section", has=page.get_by_role("heading", name="Devices", exact=True))
    devices.locator(".grid tbody tr").first.click()
    expect(page).to_have_url(re.compile("tool=trace_viewer.*lanes=%3D[^&]*%3DGPU:0"))
    expect(page.locator(".tl-labels, .tl-names").first).to_be_visible()


def test_a_part_of_a_workers_step_leads_to_the_step(site: Sites, page: Page, traces: Path) -> None:
    page.goto(site("standalone", traces).link(run="two_workers/run", tool="pod_viewer"))
    parts = page.locator(".legend a")
    parts.filter(has_text="Compute").click()
    expect(page).to_have_url(re.compile("tool=trace_viewer&host=.*[#&]t=.*lanes=/device:"))
    page.go_back()
    parts.filter(has_text="Communication").click()
    expect(page).to_have_url(re.compile("tool=trace_viewer&host=.*[#&]t=.*find=.*Exposed%20communication%7C"))
    expect(page.locator(".tl-search output")).to_have_count(0)


def test_merged_scopes_lead_to_their_ops(site: Sites, page: Page, tmp_path: Path) -> None:
    kernels = " ".join(
        f"gemm[{10 * at},5]{{tf_op='net/layer_{at}/{name}/mul:MatMul'}}"
        for at, name in enumerate(["dense", "dense", "dense", "other"])
    )
    draw.session(tmp_path, host=draw.space(f"/device:GPU:0\n  Stream #7(Compute) | {kernels}"))
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="framework_op_stats", group="scope"))
    page.locator(".grid tbody tr", has_text="net/layer_N/dense/mul").first.click()
    expect(page).to_have_url(re.compile(r"group=op"))
    expect(page.locator(".grid tbody tr")).to_have_count(3)


def test_a_type_of_ops_leads_to_its_ops(server: Any, page: Page) -> None:
    page.goto(server.link(run="run", tool="framework_op_stats", group="type"))
    page.locator(".grid tbody tr").first.click()
    expect(page).to_have_url(re.compile(r"group=op.*ops\.only\.type="))


def test_idle_time_is_offered_where_it_is_drawn(site: Sites, page: Page, tmp_path: Path) -> None:
    draw.session(tmp_path, host=drawn.tpu())
    page.goto(site("standalone", tmp_path).link(run="run", tool="op_profile"))
    tree = page.locator("main .section", has=page.locator(".optree"))
    tree.get_by_text("Include idle time").click()
    expect(tree.get_by_role("cell", name="Idle", exact=True)).to_be_visible()
    tree.get_by_role("combobox").nth(1).select_option(label="as a flame graph")
    expect(page.locator(".flame")).to_be_visible()
    expect(page.get_by_text("Include idle time")).to_have_count(0)
    expect(page.get_by_text("without idle time")).to_be_visible()
