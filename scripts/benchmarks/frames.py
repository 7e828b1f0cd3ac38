"""Ten seconds of panning and zooming through a capture in headless Chromium: scripting per frame, and the page's heap.

`frames.py FILE` prints medians; the trace of the browser's own tracer goes to `build/frames.json`.
"""

import bisect
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import served
from playwright.sync_api import Page, sync_playwright

OUT = Path(__file__).resolve().parents[2] / "build" / "frames.json"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
KEYS = [("w", 1600), ("d", 900), ("a", 1200), ("s", 800), ("d", 900), ("w", 1000), ("a", 900), ("s", 2600)]
"""Keys and how many ms each is held."""
SCRIPTING = {"FireAnimationFrame", "FunctionCall", "EventDispatch", "TimerFire", "RunMicrotasks"}


def main(path: str) -> None:
    """Serve the capture, drive the page, print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.xplane.pb").symlink_to(Path(path).resolve())
        with served(folder) as (address, _):
            events, heap, renderer = drive(address)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    frames = per_frame(events)
    middle, late = frames[len(frames) // 2], frames[int(0.95 * len(frames))]
    print(f"{len(frames)} frames drawn with {renderer}, the page's heap {heap / 1e6:.0f} MB")
    print(f"scripting per frame: median {middle:.1f} ms, 95 % below {late:.1f} ms; the browser's trace: {OUT.name}")


def drive(address: str) -> tuple[list[dict[str, Any]], float, str]:
    """(the browser's trace, bytes of heap, kind of renderer)."""
    names = ["chromium", "chromium-browser", "google-chrome"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, names))), args=FLAGS)
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(address)
        page.locator(".tabs a", has_text="Timeline").click()
        canvas = page.locator(".tl-canvases canvas[data-renderer]")
        canvas.wait_for()
        page.wait_for_timeout(3000)
        page.locator(".tl-canvases").hover(position={"x": 600, "y": 300})
        events = traced(page)
        heap = float(page.evaluate("performance.memory.usedJSHeapSize"))
        renderer = str(canvas.get_attribute("data-renderer"))
        browser.close()
    return events, heap, renderer


def traced(page: Page) -> list[dict[str, Any]]:
    """What the browser's tracer records while the keys are held."""
    client = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    done: list[Any] = []
    client.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    client.on("Tracing.tracingComplete", lambda data: done.append(data))
    categories = {"includedCategories": ["devtools.timeline", "v8"]}
    client.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": categories})
    for key, held in KEYS:
        page.keyboard.down(key)
        page.wait_for_timeout(held)
        page.keyboard.up(key)
    client.send("Tracing.end")
    while not done:
        page.wait_for_timeout(100)
    return events


def per_frame(events: Sequence[dict[str, Any]]) -> list[float]:
    """Ms of scripting on the page's main thread from one animation frame to the next, ascending."""
    frames = sorted((event for event in events if event["name"] == "FireAnimationFrame"), key=lambda event: event["ts"])
    starts = [event["ts"] for event in frames]
    thread = frames[0]["pid"], frames[0]["tid"]
    mine = [e for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) == thread and e["name"] in SCRIPTING]
    spent = [0.0] * len(starts)
    until = 0
    for event in sorted(mine, key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= until:  # Otherwise it lies within one that is counted.
            until = event["ts"] + event["dur"]
            frame = bisect.bisect_right(starts, event["ts"]) - 1
            spent[max(frame, 0)] += event["dur"] / 1e3
    return sorted(spent)


if __name__ == "__main__":
    main(sys.argv[1])
