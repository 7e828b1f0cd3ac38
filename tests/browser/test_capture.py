"""The Capture dialog against real programs that train, and against servers of our own making."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from frameworks import python, trained
from playwright.sync_api import Page, expect
from profilers import closed_port, fake

__all__ = ["closed_port", "fake", "python"]

Sites = Callable[..., Any]
Fakes = Callable[..., Any]
BOTH = pytest.mark.parametrize("kind", ["tensorboard", "standalone"])


@pytest.fixture(scope="module")
def training(python: str) -> Iterator[str]:
    with trained(python, "tensorflow") as address:
        yield address


@pytest.fixture(scope="module")
def training_too(python: str) -> Iterator[str]:
    with trained(python, "jax") as address:
        yield address


def opened(site: Any, page: Page) -> Any:
    """The dialog, once its button is pressed."""
    page.goto(site.link())
    body = site.body(page)
    body.get_by_role("button", name="Capture", exact=True).click()
    dialog = body.locator("dialog.capture")
    expect(dialog).to_be_visible()
    return dialog


def press(dialog: Any, name: str) -> None:
    dialog.get_by_role("button", name=name).click()


@pytest.mark.slow
@BOTH
def test_a_training_is_captured_and_its_steps_are_shown(
    site: Sites, page: Page, tmp_path: Path, training: str, kind: str
) -> None:
    server = site(kind, tmp_path)
    dialog = opened(server, page)
    dialog.locator("#capture-places").fill(training)
    dialog.locator("#capture-duration").fill("600")
    press(dialog, "Capture")
    expect(dialog).to_be_hidden()
    main = server.main(page)
    expect(main.locator(".verdict").first).to_be_visible()
    expect(server.body(page).locator(".picker-button")).to_contain_text(re.compile(r"\d+ steps"))
    expect(page).to_have_url(re.compile("tool=overview_page"))
    # What was typed is there again after a reload.
    page.reload()
    server.body(page).get_by_role("button", name="Capture", exact=True).click()
    expect(server.body(page).locator("#capture-places")).to_have_value(training)
    expect(server.body(page).locator("#capture-duration")).to_have_value("600")


@pytest.mark.slow
def test_two_workers_and_a_dead_one(
    site: Sites, page: Page, tmp_path: Path, training: str, training_too: str, closed_port: int
) -> None:
    server = site("standalone", tmp_path)
    dialog = opened(server, page)
    dialog.locator("#capture-places").fill(f"{training}, localhost:{closed_port}, {training_too}")
    press(dialog, "Capture")
    expect(dialog.locator(".answers")).to_contain_text(f"localhost:{closed_port}: Nothing listens there.")
    press(dialog, "Capture the 2 of 3 that answer")
    expect(dialog).to_contain_text("2 of 3 workers returned a capture.")
    expect(dialog.locator(".worker.done")).to_have_count(2)
    expect(dialog.locator(".worker.failed")).to_contain_text("Nothing listens there.")
    press(dialog, "Open the session")
    expect(server.body(page).locator(".picker-button")).to_contain_text("2 hosts")
    expect(server.main(page).locator(".verdict").first).to_be_visible()


@BOTH
def test_progress_and_stop(site: Sites, page: Page, tmp_path: Path, fake: Fakes, kind: str) -> None:
    server = site(kind, tmp_path)
    worker = fake()
    dialog = opened(server, page)
    dialog.locator("#capture-places").fill(worker.address)
    dialog.locator("#capture-duration").fill("60000")
    press(dialog, "Capture")
    expect(dialog.locator(".worker.capturing")).to_contain_text(re.compile(r"5\d\.\d s left"))
    press(dialog, "Continue in the background")
    running = server.body(page).get_by_role("button", name="Capturing…")
    running.click()
    expect(dialog.locator(".worker.capturing")).to_be_visible()
    press(dialog, "Stop and save the recording")
    expect(dialog).to_be_hidden()
    expect(server.body(page).locator(".picker-button")).to_contain_text("1 host")


def test_a_capture_that_fails_says_why(site: Sites, page: Page, tmp_path: Path, fake: Fakes) -> None:
    server = site("standalone", tmp_path)
    worker = fake(capture=b"")
    dialog = opened(server, page)
    dialog.locator("#capture-places").fill(worker.address)
    dialog.locator("#capture-duration").fill("100")
    dialog.locator("#capture-num_retry").fill("0")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Capture failed.")
    expect(dialog.locator(".worker.failed")).to_contain_text("Nothing was recorded during the capture.")
    press(dialog, "Back")
    expect(dialog.locator("#capture-places")).to_have_value(worker.address)


def test_what_is_typed_wrong_is_said_at_its_field(site: Sites, page: Page, tmp_path: Path) -> None:
    server = site("standalone", tmp_path)
    dialog = opened(server, page)
    dialog.locator("#capture-places").fill("localhost")
    dialog.locator("#capture-duration").fill("-1")
    expect(dialog.locator("#capture-places-fault")).to_contain_text("names no port")
    expect(dialog.locator("#capture-duration-fault")).to_contain_text("from 1 to 600,000")
    expect(dialog.get_by_role("button", name="Capture", exact=True)).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert list(tmp_path.iterdir()) == []


def test_the_button_can_be_switched_off(site: Sites, page: Page, tmp_path: Path) -> None:
    server = site("standalone", tmp_path, "--hide-capture")
    page.goto(server.link())
    expect(server.main(page)).to_contain_text("No profile here yet")
    expect(server.main(page)).to_contain_text("tb-profile capture localhost:6009")
    expect(server.body(page).get_by_role("button", name="Capture")).to_have_count(0)
