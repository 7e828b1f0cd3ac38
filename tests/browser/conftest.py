"""A real TensorBoard and a standalone server; pages fail the test for faults that a visitor would not notice."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import draw
import drawn
import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Locator, Page, expect, sync_playwright
from tensorboards import address_of

from tb_profile_plugin.store import Logdir

ROOT = Path(__file__).resolve().parent.parent.parent
TRACES = ROOT / "tests" / "traces"
PUBLIC = ROOT.parent / "shared" / "profiles"
"""Captures from all over the world that lie beside a checkout on some machines; they are no part of the project."""
TIMEOUT_MS = 90_000
"""What a page may take: the machine is of any speed, and the first capture after an install waits for the compiler."""
expect.set_options(timeout=TIMEOUT_MS)

CHROMIUMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
"""The first draws no window around a page, which costs the others most of the time of a short test."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
COMMANDS = {
    "tensorboard": ["-m", "tensorboard.main", "--logdir"],
    "standalone": ["-m", "tb_profile_plugin", "serve"],
}


@dataclass
class Site:
    """A running server, and where its views lie."""

    kind: str
    url: str
    process: subprocess.Popen[str]

    def link(self, **view: str) -> str:
        """The address of a view: ``run``, ``tool``, ``host``."""
        if self.kind == "standalone":
            return self.url + "#" + "&".join(f"{key}={quote(value)}" for key, value in view.items())
        pairs = [f"p.profile.{key}={quote(value)}" for key, value in view.items()]
        return self.url + "#" + "&".join(["profile", *pairs])

    def body(self, page: Page) -> Page | FrameLocator:
        """What holds our page: the tab's frame in TensorBoard, the page itself on its own."""
        return page if self.kind == "standalone" else page.frame_locator("iframe")

    def main(self, page: Page) -> Locator:
        return self.body(page).locator("main")


def start(kind: str, logdir: Path | str, *flags: str, cache: Path) -> Site:
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[kind], str(logdir), "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"TB_PROFILE_CACHE_DIR": str(cache)},
    )
    address, _ = address_of(process)
    return Site(kind, address, process)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """Start a server, or return the one that serves the same already; what one has answered, the others find."""
    started: dict[tuple[object, ...], Site] = {}
    cache = tmp_path_factory.mktemp("answers")

    def get(kind: str, logdir: Path | str, *flags: str) -> Site:
        key = (kind, str(logdir), *flags)
        if key not in started:
            started[key] = start(kind, logdir, *flags, cache=cache)
        return started[key]

    yield get
    for each in started.values():
        each.process.terminate()
        each.process.communicate(timeout=30)


@pytest.fixture(scope="session")
def drawn_gpu(site: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server of one session, ``run``, drawn as of a GPU."""
    folder = tmp_path_factory.mktemp("gpu")
    draw.session(folder, host=drawn.nvidia())
    return site("standalone", folder)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Callable[..., Browser]]:
    """Starts a browser, with further flags."""
    path = next((found for found in map(shutil.which, CHROMIUMS) if found), None)
    assert path, "These tests drive Chromium; `scripts/setup tests` installs it."
    with sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])


@pytest.fixture(scope="session")
def browser(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """One without WebGL: the processor plays the card, and each Timeline that opens finds out that it is a slow one."""
    with chromium("--disable-software-rasterizer") as browser:
        yield browser


@dataclass
class Watch:
    """What a page did that it must not do."""

    faults: list[str] = field(default_factory=list)

    def over(self, page: Page) -> None:
        page.on("request", lambda request: self._request(request.url))
        page.on("response", lambda response: self._status(response.status, response.url))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", lambda message: self._console(message.type, message.text, message.location["url"]))

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in ("127.0.0.1", "localhost"):
            self.faults.append(f"foreign request: {url}")

    def _status(self, status: int, url: str) -> None:
        if status >= 400:
            self.faults.append(f"status {status}: {url}")

    def _console(self, kind: str, text: str, source: str) -> None:
        # Breaches of the content security policy come this way, too. TensorBoard's own bundle warns about itself.
        theirs = kind == "warning" and urlsplit(source).path.endswith("/index.js") and "/data/plugin/" not in source
        # Without a graphics card the browser remarks on its own slow copies.
        driver = kind == "warning" and "GL Driver Message" in text and "Performance" in text
        if kind in ("error", "warning") and not theirs and not driver:
            self.faults.append(f"console {kind}: {text} ({source})")


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Makes contexts with Playwright's options; they are closed after the test."""
    with ExitStack() as stack:

        def opened(**options: Any) -> BrowserContext:
            context = browser.new_context(**options)
            stack.callback(context.close)
            context.set_default_timeout(TIMEOUT_MS)
            return context

        yield opened


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    return new_context(viewport={"width": 1400, "height": 1000})


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Iterator[Page]:
    page = context.new_page()
    watch.over(page)
    yield page
    assert watch.faults == []


def names(logdir: Path) -> list[str]:
    return sorted(session.name for session in Logdir(str(logdir)).sessions())


def bundled() -> list[str]:
    """A session of each folder of bundled captures: those of tf.data differ only in their input pipelines."""
    return list({name.partition("/")[0]: name for name in names(TRACES)}.values())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", bundled())
    if "public_run" in metafunc.fixturenames:
        metafunc.parametrize("public_run", names(PUBLIC))


@pytest.fixture
def traces() -> Path:
    return TRACES


@pytest.fixture
def runs() -> list[str]:
    """Some sessions, for TensorBoard: what it frames is what the other server shows of all."""
    return bundled()[::4]


@pytest.fixture
def public_traces() -> Path:
    return PUBLIC


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
