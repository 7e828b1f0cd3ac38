"""What each page of a capture weighs on the wire in headless Chromium with nothing in its cache: compressed, kB.

`pages.py FILE` prints a line a page: scripts with their styles, answers, all of it, and how many requests.
"""

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from measure import served
from playwright.sync_api import Browser, sync_playwright

NAMES = ["chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"]
KINDS = {"Script": "scripts", "Stylesheet": "scripts", "Fetch": "answers", "XHR": "answers"}
TIMEOUT_MS = 120_000
SETTLED_MS = 1500
"""After the last answer, until a page counts as complete."""


def main(path: str) -> None:
    """Serve the capture, and print what each of its pages weighs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run").mkdir()
        Path(folder, "run", Path(path).name).symlink_to(Path(path).resolve())
        with served(folder) as (address, _):
            weigh(address)


def weigh(address: str) -> None:
    """Print a line for each page that the capture has."""
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        request = browser.new_context().request
        run = request.get(f"{address}sessions").json()["sessions"][0]["run"]
        tools = request.get(f"{address}tools?run={quote(run)}", timeout=TIMEOUT_MS).json()
        print(f"{'page':32}{'scripts':>9}{'answers':>9}{'all':>9}{'requests':>10}")
        for tool in (tool for tool in tools if not (tool["unavailable"] or tool["shown_on"])):
            # What is worked out meanwhile would not be counted.
            request.get(f"{address}answer?run={quote(run)}&tag={tool['name']}&part=1", timeout=TIMEOUT_MS)
            received = open_page(browser, f"{address}#run={quote(run)}&tool={tool['name']}")
            columns = [received[kind] / 1e3 for kind in ("scripts", "answers", "all")]
            print(f"{tool['name']:32}" + "".join(f"{column:9.1f}" for column in columns) + f"{received['requests']:10}")
        browser.close()


def open_page(browser: Browser, address: str) -> Counter[str]:
    """Bytes by kind, and how many requests, until the page is there."""
    received: Counter[str] = Counter()
    kinds: dict[str, str] = {}
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")

    def count(event: dict[str, Any]) -> None:
        received[kinds.get(event["requestId"], "others")] += int(event["encodedDataLength"])
        received["all"] += int(event["encodedDataLength"])
        received["requests"] += 1

    devtools.on(
        "Network.responseReceived", lambda event: kinds.update({event["requestId"]: KINDS.get(event["type"], "others")})
    )
    devtools.on("Network.loadingFinished", count)
    page.goto(address)
    page.locator("main[aria-busy=false]").wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(SETTLED_MS)
    context.close()
    return received


if __name__ == "__main__":
    main(sys.argv[1])
