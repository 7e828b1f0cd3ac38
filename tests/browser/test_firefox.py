"""Every page opens in Firefox: it shows its answer, and the console stays silent."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import firefox
import pytest

from tb_profile_plugin import tools

Sites = Callable[..., Any]
# One worker runs all of these: Firefox takes as long to start as ten pages take to open.
pytestmark = pytest.mark.xdist_group("firefox")
SHOWN = "document.querySelector('main[aria-busy=false] :is(section, .verdict, .state, .tl-label)')?.textContent"
DRAWN = "document.querySelector('.tl-canvases canvas[aria-busy=false]')?.previousSibling.dataset.renderer"


@pytest.fixture(scope="module", params=["webgl", "2d"])
def fox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """Firefox with WebGL, as if a graphics card drew it, and without."""
    assert firefox.path(), "These tests drive Firefox; `scripts/setup tests` installs it."
    prefs = {"webgl.disabled": request.param == "2d", "webgl.force-enabled": request.param == "webgl"}
    with firefox.firefox(tmp_path_factory.mktemp("firefox"), prefs) as found:
        found.run_first("() => { WebGL2RenderingContext.prototype.readPixels = () => {}; }")
        yield request.param, found


def test_the_timeline_is_drawn(fox: tuple[str, Any], site: Sites, traces: Path) -> None:
    kind, browser = fox
    browser.open(site("standalone", traces).link(run="keras_fit/run", tool="trace_viewer"))
    assert browser.until(DRAWN) == kind
    assert browser.evaluate("document.querySelectorAll('.tl-label.lane').length") > 1
    assert browser.faults == []


# Only the Timeline is drawn by WebGL.
@pytest.mark.parametrize("fox", ["webgl"], indirect=True)
@pytest.mark.parametrize("tool", list(tools.all_tools()))
def test_every_page_opens(fox: tuple[str, Any], site: Sites, traces: Path, tool: str) -> None:
    _, browser = fox
    browser.open(site("standalone", traces).link(run="keras_fit/run", tool=tool))
    assert browser.until(SHOWN)
    assert browser.evaluate("[...document.querySelectorAll('.state.error')].map((each) => each.innerText)") == []
    assert browser.faults == []


@pytest.mark.parametrize("fox", ["webgl"], indirect=True)
def test_what_the_console_says_is_noticed(fox: tuple[str, Any], site: Sites, traces: Path) -> None:
    _, browser = fox
    browser.open(site("standalone", traces).link(run="keras_fit/run", tool="overview_page"))
    browser.evaluate("console.error('as drawn')")
    browser.evaluate("fetch('nothing/there').then(() => 0)")
    assert [fault.split(":")[0] for fault in browser.faults] == ["console error", "status 404"]
