"""Workers: who is late stands first, any two are compared, and a collective leads to the Timeline of both."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draw
import pytest
import torchtrace
from playwright.sync_api import Page, expect

Sites = Callable[..., Any]

RANKS = 80


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir with one session of many ranks, of which one waits longer for its input."""
    folder = tmp_path_factory.mktemp("many")
    for rank in range(RANKS):
        late = 300.0 * (rank == 7)
        events: list[dict[str, Any]] = []
        for step in range(4):
            at, number = 2000.0 * step, 10 * step + 1
            events += [torchtrace.mark(f"ProfilerStep#{step}", at, 1950)]
            events += [torchtrace.on_host("user_annotation", "enumerate(DataLoader)#next", at + 5, 50 + late)]
            events += [torchtrace.launch(number, at + 60 + late), torchtrace.on_device(number, at + 70 + late, 200)]
            events += [torchtrace.launch(number + 1, at + 90 + late)]
            name, stated = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {"Seq": step, "Process Group Name": "0"}
            begin = at + 280 + late
            events += [torchtrace.on_device(number + 1, begin, at + 1000 - begin, name, **stated)]
        header = {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS}}
        path = folder / f"rank{rank}.{torchtrace.BASE_NS}.pt.trace.json"
        path.write_text(json.dumps(json.loads(torchtrace.text(*events, **header))), encoding="utf-8")
    return folder


def test_the_late_worker_is_first_and_is_compared_with_any(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces / "two_workers")
    page.goto(server.link(run="run", tool="pod_viewer"))
    body = server.body(page)
    rows = body.locator(".worker-matrix tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("worker-1")
    expect(rows.first).to_have_class("chosen")
    expect(body.get_by_role("heading", name="worker-1 compared with worker-0")).to_be_visible()
    rows.nth(1).get_by_role("button").click()
    expect(body.get_by_role("heading", name="worker-0 compared with worker-1")).to_be_visible()


def test_a_collective_leads_to_the_timeline_of_the_first_and_the_last(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces / "two_workers")
    page.goto(server.link(run="run", tool="communication"))
    server.body(page).locator(".arrival-chart tbody a").first.click()
    lanes = server.body(page).get_by_placeholder("Filter lanes")
    expect(lanes).to_have_value("=worker-0|=worker-1")


def test_missing_ranks_are_named(site: Sites, page: Page, many: Path, tmp_path: Path) -> None:
    for rank in (0, 1, 3):
        shutil.copy(many / f"rank{rank}.{torchtrace.BASE_NS}.pt.trace.json", tmp_path)
    server = site("standalone", tmp_path)
    for tool in ("pod_viewer", "communication"):
        page.goto(server.link(run=tmp_path.name, tool=tool))
        problem = server.main(page).locator(".problem")
        expect(problem).to_contain_text(f"{RANKS - 3} of {RANKS} ranks are missing: 2, 4, 5 and {RANKS - 6} more.")


def test_of_many_workers_there_is_a_heat_map(site: Sites, page: Page, many: Path) -> None:
    server = site("standalone", many)
    page.goto(server.link(run=many.name, tool="pod_viewer"))
    body = server.body(page)
    stripes = body.locator(".worker-heat .stripes > div")
    expect(stripes).to_have_count(RANKS)
    heading = body.get_by_role("heading", name="compared with")
    expect(heading).to_contain_text("rank 7 compared with")
    stripes.nth(3).click()
    expect(heading).not_to_contain_text("rank 7 compared with")


@pytest.mark.parametrize("kind", ["standalone", "tensorboard"])
def test_sessions_are_joined_and_split_where_they_are_chosen(
    site: Sites, page: Page, traces: Path, tmp_path: Path, kind: str
) -> None:
    for worker in ("worker-0", "worker-1"):
        (capture,) = (traces / "two_workers").rglob(f"{worker}.xplane.pb*")
        run = tmp_path / worker[-1] / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        shutil.copy(capture, run)
    server = site(kind, tmp_path)
    page.goto(server.link(run="0/run", tool="communication"))
    body = server.body(page)
    picker = body.locator(".picker-button")
    expect(picker).to_contain_text("1 host")
    picker.click()
    body.get_by_role("button", name="Join 1/run with the chosen session").click()
    expect(picker).to_contain_text("2 hosts")
    expect(picker).to_contain_text("joined of 2")
    expect(body.locator(".arrival-chart").first).to_be_visible()
    picker.click()
    body.get_by_role("button", name="Split 0/run").click()
    expect(picker).to_contain_text("1 host")


def test_the_timeline_aligns_clocks_and_its_link_keeps_raw_times(site: Sites, page: Page, tmp_path: Path) -> None:
    """All-reduces end together, by a clock of the second host that is 57 µs ahead."""
    for name, at, begin, length in (("first", 0, 10, 40), ("second", 57, 99, 8)):
        stream = f"Stream #7 | ncclDevKernel_AllReduce[{begin},{length}]"
        text = f"/device:GPU:0\n  {stream}\n/host:CPU\n  python | train[{at},99]{{_r=1, step_num=s}}"
        draw.session(tmp_path, **{name: draw.space(text, steps=6, every=200)})
    server = site("standalone", tmp_path)
    page.goto(server.link(run="run", tool="trace_viewer"))
    body = server.body(page)
    clocks = body.get_by_label("Align clocks, ±")
    expect(clocks).to_be_checked()
    doubt = body.locator(".tl-bar .doubtful")
    expect(doubt).to_have_count(0)
    with page.expect_request(re.compile(r"timeline/slices.*clocks=raw")):
        clocks.uncheck()
    page.wait_for_url(re.compile("clocks=raw"))
    page.reload()
    expect(clocks).not_to_be_checked()
    expect(doubt).to_be_visible()
    body.get_by_role("combobox", name="Host").select_option("second")
    expect(body.locator(".tl-label").first).to_be_visible()
    expect(clocks).to_have_count(0)
