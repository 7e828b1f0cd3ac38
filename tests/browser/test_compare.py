"""The page Compare: a base is chosen, both sides are shown, and the address keeps it."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tb_profile_plugin.analysis.compare.load import load, named_source
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.serve.report import report as written
from tb_profile_plugin.store import resolve
from tb_profile_plugin.store.result_cache import ResultCache

Sites = Callable[..., Any]
HOSTILE = "<img src=x onerror=window.hit=1>"


@pytest.mark.browser
def test_two_sessions_beside_each_other(site: Sites, page: Page, traces: Path, tmp_path: Path) -> None:
    for name in ("jax_steps", "jax_async_marked"):
        shutil.copytree(traces / name, tmp_path / name)
    server = site("standalone", tmp_path)
    runs = page.request.get(server.url + "runs").json()
    new, base = (next(run for run in runs if run.startswith(name)) for name in ("jax_steps", "jax_async"))
    page.goto(server.link(run=new, tool="compare"))
    main = server.main(page)
    expect(main.get_by_text("Choose a session to compare with.")).to_be_visible()
    main.get_by_label("Base").select_option(base)
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    asked = {"run": new, "tag": "compare", "base": base}
    parts = page.request.get(f"{server.url}answer", params=asked).json()["tables"]["parts"]["rows"]
    expect(main.locator(".waterfall tbody tr")).to_have_count(parts + 1)
    expect(main.locator(".side-strip circle.in")).to_have_count(16)
    assert "base=" in page.url
    ops = main.locator(".grid", has=page.get_by_label("Only: Part"))
    main.locator(".waterfall").get_by_role("button", name="Compute").click()
    expect(ops.get_by_label("Only: Part")).to_have_value("compute")
    expect(page).to_have_url(re.compile("ops.only.part=compute"))
    page.go_back()
    main.get_by_role("link", name="Both timelines").click()
    expect(main.locator(".tl-canvases")).to_have_count(2)
    page.go_back()
    main.get_by_role("button", name="Swap").click()
    expect(main.locator(".verdict")).to_contain_text("Slower, 86 times as long")
    page.go_back()
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")


@pytest.mark.browser
def test_the_session_before_of_the_same_program_is_suggested(
    site: Sites, page: Page, traces: Path, tmp_path: Path
) -> None:
    programs = {"first": "jax_steps", "second": "keras_fit", "third": "jax_steps", "fourth": "jax_steps"}
    for hour, (name, program) in enumerate(programs.items()):
        shutil.copytree(traces / program, tmp_path / name)
        for file in (tmp_path / name).rglob("*"):
            os.utime(file, (1.8e9 + 3600 * hour, 1.8e9 + 3600 * hour))
    server = site("standalone", tmp_path)
    page.goto(server.link(run="third/run", tool="compare"))
    main = server.main(page)
    main.get_by_role("link", name="Compare with first/run: the same program, captured before").click()
    expect(main.locator(".compare-base select")).to_have_value("first/run")
    expect(main.locator(".waterfall")).to_be_visible()
    expect(main.get_by_role("link", name="captured before")).to_have_count(0)
    page.goto(server.link(run="second/run", tool="compare"))
    expect(main.get_by_text("Choose a session to compare with.")).to_be_visible()
    expect(main.get_by_role("link", name="captured before")).to_have_count(0)


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["standalone", "tensorboard"])
def test_a_report_is_opened_as_one_side(
    site: Sites, page: Page, watch: Any, traces: Path, tmp_path: Path, kind: str
) -> None:
    shutil.copytree(traces / "jax_steps", tmp_path / "jax_steps")
    hostile = tmp_path / f"{HOSTILE}.html"
    hostile.write_text(written(Session(resolve(str(traces / "jax_async_marked"))), True).html, "utf-8")
    server = site(kind, tmp_path)
    page.goto(server.link(run="jax_steps/run", tool="compare"))
    main = server.main(page)
    expect(main.get_by_text("This logdir has no other session.")).to_be_visible()
    chooser = main.get_by_label("Open a report…")
    chooser.set_input_files({"name": "none.html", "mimeType": "text/html", "buffer": b"<p>nothing"})
    expect(main.locator(".problems")).to_contain_text("This file holds no digest. Open a report")
    chooser.set_input_files({"name": "bad.json", "mimeType": "application/json", "buffer": b'{"kind": "digest"}'})
    expect(main.locator(".problems")).to_contain_text("This is not a digest.")
    assert all("bad.json" in fault for fault in watch.faults), "browsers note what the server refuses"
    watch.faults.clear()
    chooser.set_input_files(hostile)
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    expect(main.locator(".compare-base")).to_contain_text(f"Base {hostile.name}")
    expect(main.locator(".problems")).to_have_count(0)
    expect(main.get_by_role("link", name="Both timelines")).to_have_count(0)
    main.get_by_role("button", name="Swap").click()
    expect(main.locator(".verdict")).to_contain_text("Slower, 86 times as long")
    server.body(page).get_by_role("link", name="Summary", exact=True).click()
    server.body(page).get_by_role("link", name="Compare", exact=True).click()
    expect(main.locator(".verdict")).to_contain_text("Slower, 86 times as long")
    main.get_by_role("button", name=f"Close: {hostile.name}").click()
    expect(main.get_by_text("This logdir has no other session.")).to_be_visible()
    assert page.evaluate("() => window.hit") is None


@pytest.mark.browser
def test_two_files_are_compared_with_each_other(site: Sites, page: Page, traces: Path, tmp_path: Path) -> None:
    """One after the other, or both at once; the session that is shown stands beside one alone."""
    shutil.copytree(traces / "keras_fit", tmp_path / "keras_fit")
    server = site("standalone", tmp_path)
    digests = [
        {"name": f"{HOSTILE}{name}.json", "mimeType": "application/json", "buffer": told.encode()}
        for name in ("jax_async_marked", "jax_steps")
        for told in [load(named_source(str(traces / name)), ResultCache(False)).to_json()]
    ]
    page.goto(server.link(run="keras_fit/run", tool="compare"))
    main = server.main(page)
    main.get_by_label("Open a report…").set_input_files(digests[0])
    expect(main.locator(".compare-base")).to_contain_text("new: keras_fit/run")
    main.get_by_label("Open the other side…").set_input_files(digests[1])
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    expect(main.locator(".compare-base")).not_to_contain_text("keras_fit/run")
    expect(main.get_by_label("Open the other side…")).to_have_count(0)
    main.get_by_role("button", name="Swap").click()
    expect(main.locator(".verdict")).to_contain_text("Slower, 86 times as long")
    main.get_by_role("button", name=f"Close: {digests[0]['name']}").click()
    expect(main.locator(".compare-base")).to_contain_text("new: keras_fit/run")
    main.get_by_role("button", name=f"Close: {digests[1]['name']}").click()
    main.get_by_label("Open a report…").set_input_files(digests)
    expect(main.locator(".verdict")).to_contain_text("Faster by 99 %")
    assert page.evaluate("() => window.hit") is None


@pytest.mark.browser
def test_a_file_is_dropped_on_the_page(site: Sites, page: Page, traces: Path) -> None:
    server = site("standalone", traces)
    page.goto(server.link(run="jax_steps/run", tool="compare"))
    drop = page.locator(".drop")
    expect(drop).to_be_visible()
    digest = load(named_source(str(traces / "jax_async_marked")), ResultCache(False)).to_json()
    files = page.evaluate_handle(
        """(text) => {
            const files = new DataTransfer();
            files.items.add(new File([text], "dropped.json"));
            return files;
        }""",
        digest,
    )
    drop.dispatch_event("drop", {"dataTransfer": files})
    expect(server.main(page).locator(".verdict")).to_contain_text("Faster by 99 %")
    expect(server.main(page).locator(".compare-base")).to_contain_text("Base dropped.json")
