"""What draws the Timeline: a graphics card where there is a quick one, the processor elsewhere."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

Sites = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """One with WebGL."""
    with chromium() as browser:
        yield browser


COLOURS = """async slices => {
    // The page may drop WebGL's pixels once it shows them: they are copied in the frame that draws them.
    window.dispatchEvent(new KeyboardEvent('keydown', {key: 'd'}));
    await new Promise(requestAnimationFrame);
    window.dispatchEvent(new KeyboardEvent('keyup', {key: 'd'}));
    const copy = new OffscreenCanvas(slices.width, slices.height).getContext('2d');
    copy.drawImage(slices, 0, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, slices.width, slices.height).data.buffer)).size;
}"""
QUICK_CARD = "WebGL2RenderingContext.prototype.readPixels = () => {};"
NO_WEBGL = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === 'webgl2' ? null : get.call(this, kind, ...rest);
};"""


@pytest.mark.parametrize(
    ("machine", "renderer"),
    [
        pytest.param("", "2d", id="a-processor-plays-the-card"),
        pytest.param(NO_WEBGL, "2d", id="no-webgl"),
        pytest.param(QUICK_CARD, "webgl", id="a-card-answers-at-once"),
    ],
)
def test_what_is_fast_draws(site: Sites, page: Page, traces: Path, machine: str, renderer: str) -> None:
    page.add_init_script(machine)
    page.goto(site("standalone", traces).link(run="keras_fit/run", tool="trace_viewer"))
    slices = page.locator("canvas[data-renderer]")
    expect(slices).to_have_attribute("data-renderer", renderer)
    expect(page.locator(".tl-canvases canvas[aria-busy]")).to_have_attribute("aria-busy", "false")
    assert slices.evaluate(COLOURS) > 5
